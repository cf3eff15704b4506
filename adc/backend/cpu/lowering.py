"""From the tree of emitted code to LLVM's language.

Emitted code is a small part of Python: variables that keep their type, `range` loops, elements of
arrays, calls of functions with known types. Numba would infer the types of every statement, count
references of every variable and describe an array by all its fields to get at one element; this
took most of the time to compile. Here variables have the types that the emitter gave them, one
that is assigned once is a value, and an element is an address with a load or a store. What single
operations and calls mean is still asked of Numba, once for each combination of types.

Arrays of the workspace, tapes and views own nothing. Arrays that own their memory, which are those
made by `fresh`, returned by functions or passed in, are counted: a variable holds a reference until
it is assigned again or the function ends.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from adc.backend.common import syntax, vector_math
from adc.backend.cpu.inference import Types
from adc.backend.cpu.instructions import Function
from adc.backend.cpu.library import Groups, Library
from adc.backend.cpu.values import HOMES, Scalar, flat_result, flat_types
from adc.backend.numba_api import (
    CompilerBase,
    Intrinsic,
    Lower,
    NativeLowering,
    NoPythonBackend,
    PassManager,
    numba_ir,
    register_pass,
)


class _Distinct(ir.MDValue):  # type: ignore[misc]  # a class of a module without types
    """A node of metadata that is not the same as another one with the same content."""

    def __init__(self, module: Any, values: Sequence[Any]) -> None:
        super().__init__(module, values, name=str(len(module.metadata)))

    def descr(self, buf: list[str]) -> None:
        buf.append("distinct ")
        super().descr(buf)

    __eq__ = object.__eq__
    __ne__ = object.__ne__
    __hash__ = object.__hash__


class Module:
    """The functions of one emitted file, translated as they are called.

    `names` are what the file has imported, and its constants.
    """

    def __init__(
        self, functions: Sequence[syntax.Function], names: dict[str, Any], typing: Any
    ) -> None:
        self.typing = typing
        self.context: Any = None  # known when types are
        self.llvm: Any = None
        self.groups: Any = None
        self.mark = ""  # what no other module's names have
        self.globals = names
        self.functions = {each.name: each for each in functions}
        self._resolved: dict[Any, Any] = {}
        self._code: dict[Any, Any] = {}
        self._typed: dict[Any, Types] = {}
        self._made: dict[Any, Any] = {}
        self._scopes: dict[str, tuple[Any, Any]] = {}
        self._needed: dict[str, list[bool]] = {}

    def signature(self, function: Any, args: tuple[Any, ...]) -> Any:
        """Return the signature of a call of an intrinsic, or of a function that Numba knows."""
        return self._resolve(function, args)[0]

    def _resolve(self, function: Any, args: tuple[Any, ...]) -> Any:
        key = (function, args)
        if key not in self._resolved:
            if isinstance(function, Intrinsic):
                self._resolved[key] = function.define(self.typing, *args)
            else:
                kind = self.typing.resolve_value_type(function)
                self._resolved[key] = (kind.get_call_type(self.typing, args, {}), kind)
        return self._resolved[key]

    def code(self, builder: Any, function: Any, types: tuple[Any, ...], args: list[Any]) -> Any:
        """Write a call of an intrinsic, or of a function that Numba knows."""
        sig, how = self._resolve(function, types)
        if isinstance(function, Intrinsic):
            return how(self.context, builder, sig, args)
        key = (function, types)
        if key not in self._code:
            self._code[key] = self.context.get_function(how, sig)
        impl = self._code[key]
        result = impl(builder, args)
        self.context.add_linking_libs(getattr(impl, "libs", ()))
        return result

    def apply(self, builder: Any, function: Any, args: Sequence[Any]) -> Scalar:
        """Write an operation on scalars, which are converted to what it takes."""
        kinds = tuple(arg.type for arg in args)
        sig = self.signature(function, kinds)
        values = [
            arg.value if arg.type == ty else self.context.cast(builder, arg.value, arg.type, ty)
            for arg, ty in zip(args, sig.args, strict=True)
        ]
        return Scalar(sig.return_type, self.code(builder, function, kinds, values))

    def types_of(self, name: str, args: tuple[Any, ...]) -> Types:
        if (name, args) not in self._typed:
            self._typed[name, args] = found = Types(self, self.functions[name], args)
            found.run()
        return self._typed[name, args]

    def scopes(self, home: str) -> tuple[Any, Any]:
        """Return LLVM's lists of the scope of one home of memory, and of those of all others."""
        if home not in self._scopes:
            nodes = self._homes()
            for each in HOMES:
                others = [nodes[other] for other in HOMES if other != each]
                pair = self.llvm.add_metadata([nodes[each]]), self.llvm.add_metadata(others)
                self._scopes[each] = pair
        return self._scopes[home]

    def all_scopes(self) -> Any:
        """Return LLVM's list of the scopes of all homes of memory."""
        return self.llvm.add_metadata([*self._homes().values()])

    def _homes(self) -> dict[str, Any]:
        domain = self.llvm.add_metadata(["adc"])  # the same each time: LLVM has one
        return {each: self.llvm.add_metadata([f"adc {each}", domain]) for each in HOMES}

    def access_group(self) -> Any:
        """Return a name for the loads and stores of one loop."""
        return _Distinct(self.llvm, [])

    def loop_hints(self, group: Any, vectors: bool = False) -> Any:
        """Return what tells LLVM that no iteration of a loop needs what another one does.

        That is, by the loads and stores of a group. A loop of few iterations is to become `vectors`
        before it is unrolled: else the loop around it might, which gathers and scatters.
        """
        notes = [self._note("llvm.loop.parallel_accesses", group)]
        if vectors:
            # What follows holds for the loop over vectors, which is unrolled.
            done = self._note("llvm.loop.isvectorized", ir.Constant(ir.IntType(32), 1))
            notes.append(self._note("llvm.loop.unroll.disable"))
            notes.append(self._note("llvm.loop.vectorize.followup_vectorized", done))
        loop = _Distinct(self.llvm, [])
        loop.operands = (loop, *notes)
        return loop

    def _note(self, kind: str, *values: Any) -> Any:
        return self.llvm.add_metadata([ir.MetaDataString(self.llvm, kind), *values])

    def is_masked(self) -> bool:
        """Whether there is a negative constant so large that its exponential is 0: a mask."""

        def value(expr: syntax.Expr) -> Any:
            match expr:
                case syntax.Constant(value):
                    return value
                case syntax.Global(name):
                    return self.globals.get(name)
                case syntax.Unary("-", syntax.Constant(int(value) | float(value))):
                    return -value
            return None

        constants = (
            value(each)
            for function in self.functions.values()
            for stmt in syntax.walk(function.body)
            for expr in syntax.expressions(stmt)
            for each in syntax.parts(expr)
        )
        return any(isinstance(c, float) and c <= -vector_math.LARGE for c in constants)

    def function(self, name: str, args: tuple[Any, ...], homes: Sequence[str] = ()) -> Any:
        """Return the LLVM function that the function `name` is for arguments of some types.

        A part is one for each combination of homes of the arrays that it is given.
        """
        is_part = self.functions[name].is_part
        if not is_part:
            homes = ()
        key = (name, args, tuple(homes))
        if key not in self._made:
            result = self.types_of(name, args).result
            given = args
            if self.functions[name].is_flat:
                result, given = flat_result(result), flat_types(args)
            kind = self.context.call_conv.get_function_type(result, given)
            unique = self.llvm.get_unique_name(f"adc_{self.mark}_{name}")
            made = self._made[key] = ir.Function(self.llvm, kind, unique)
            made.linkage = "internal"
            if is_part:
                made.attributes.add("noinline")
            self.groups.begin(made)
            Function(self, name, args, made, homes).run()
            self._needed[made.name] = _needed(made)
            self.groups.add(made, is_part and not self.functions[name].is_loop)
        return self._made[key]

    def given(self, function: Any, args: Sequence[Any]) -> list[Any]:
        """Return the arguments of a call, but anything for those that the function does not use.

        LLVM leaves them out by itself where it sees the function and all of its calls.
        """
        needed = self._needed.get(function.name)
        if needed is None:
            return [*args]  # it is being written
        return [
            arg if is_needed else ir.Constant(arg.type, ir.Undefined)
            for arg, is_needed in zip(args, needed, strict=True)
        ]


def _needed(function: Any) -> list[bool]:
    """Return which arguments a function uses."""
    used: set[int] = set()
    for block in function.blocks:
        for each in block.instructions:
            used.update(map(id, each.operands))
            if isinstance(each, ir.PhiInstr):
                used.update(id(value) for value, _ in each.incomings)
    return [id(arg) in used for arg in function.args]


class _Lower(Lower):  # type: ignore[misc]  # a class of a module without types
    """Lowers the main function of an emitted file, and with it all others."""

    def __init__(self, program: Module, *args: Any, **kwargs: Any) -> None:
        self._program = program
        super().__init__(*args, **kwargs)

    def init(self) -> None:
        """Prepare nothing: there is no code of Numba's."""

    def lower_normal_function(self, fndesc: Any) -> None:
        program = self._program
        program.context, program.llvm = self.context, self.module
        program.mark = hashlib.sha256(fndesc.llvm_func_name.encode()).hexdigest()[:16]
        program.groups = self.library.groups = Groups(self.module, self.library.codegen)
        setattr(self.module, vector_math.MASKED, self._program.is_masked())
        self.function = self.context.declare_function(self.module, fndesc)
        args = tuple(fndesc.argtypes)
        homes = ["", *["argument"] * (len(args) - 1)]  # the first is the state
        writer = Function(self._program, fndesc.qualname, args, self.function, homes)
        self.builder = writer.builder
        self.call_helper = self.call_conv.init_call_helper(self.builder)
        try:
            writer.run()
        except BaseException:
            program.groups.abandon()
            raise
        program.groups.end()


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):  # type: ignore[misc]  # as above
    """Finds the types of emitted code and lowers it."""

    _name = "adc_lowering"

    def run_pass(self, state: Any) -> bool:
        state.flags.no_cfunc_wrapper = True  # nobody calls it from C
        function = state.func_id
        code: tuple[syntax.Function, ...] = state.pipeline.code
        if not code:
            raise NotImplementedError("emitted code is compiled from the tree that `emit` returns")
        self._program = Module(code, function.func.__globals__, state.typingctx)
        args = tuple(state.args)
        state.return_type = self._program.types_of(function.func_name, args).result
        names = function.arg_names
        state.typemap = {f"arg.{name}": ty for name, ty in zip(names, args, strict=True)}
        state.calltypes, state.lifted = {}, ()
        place = numba_ir.Loc(function.filename, function.firstlineno)
        state.func_ir = numba_ir.FunctionIR(
            {0: None}, False, function, place, {}, function.arg_count, names
        )
        state.library = Library(state.targetctx.codegen(), function.func_qualname)
        return bool(super().run_pass(state))

    @property
    def lowering_class(self) -> Any:
        return functools.partial(_Lower, self._program)


class Compiler(CompilerBase):  # type: ignore[misc]  # as above
    """Compiles emitted code."""

    code: tuple[syntax.Function, ...] = ()

    def define_pipelines(self) -> list[Any]:
        manager = PassManager("adc")
        manager.add_pass(_Lowering, "types and LLVM's language")
        manager.add_pass(NoPythonBackend, "machine code")
        manager.finalize()
        return [manager]


def compiler_of(functions: tuple[syntax.Function, ...]) -> type[Compiler]:
    """Return what compiles the functions of an emitted file."""
    return type("Compiler", (Compiler,), {"code": functions})
