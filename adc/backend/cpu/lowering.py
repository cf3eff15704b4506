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
from collections.abc import Sequence
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from adc.backend.common import syntax, vector_math
from adc.backend.cpu.inference import Types
from adc.backend.cpu.instructions import Function
from adc.backend.cpu.values import HOMES, Scalar, flat_result, flat_types
from adc.backend.numba_api import (
    CompilerBase,
    Intrinsic,
    JITCodeLibrary,
    Lower,
    NativeLowering,
    NoPythonBackend,
    PassManager,
    config,
    numba_ir,
    register_pass,
)

# Basic blocks of code of which LLVM unrolls the loops: several times as many as a page of code has.
_MOST_UNROLLED = 1000
# The most blocks of the function that reads the arguments of a call, if it is optimised.
_MOST_OPTIMISED = 600
# How Numba names it.
_ENTRY = "_ZN7cpython"


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
        self.globals = names
        self.functions = {each.name: each for each in functions}
        self._resolved: dict[Any, Any] = {}
        self._code: dict[Any, Any] = {}
        self._typed: dict[Any, Types] = {}
        self._made: dict[Any, Any] = {}
        self._scopes: dict[str, tuple[Any, Any]] = {}

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
            unique = self.llvm.get_unique_name(f"adc_{name}")
            made = self._made[key] = ir.Function(self.llvm, kind, unique)
            made.linkage = "internal"
            if is_part:
                made.attributes.add("noinline")
            Function(self, name, args, made, homes).run()
        return self._made[key]


class _Lower(Lower):  # type: ignore[misc]  # a class of a module without types
    """Lowers the main function of an emitted file, and with it all others."""

    def __init__(self, program: Module, *args: Any, **kwargs: Any) -> None:
        self._program = program
        super().__init__(*args, **kwargs)

    def init(self) -> None:
        """Prepare nothing: there is no code of Numba's."""

    def lower_normal_function(self, fndesc: Any) -> None:
        self._program.context, self._program.llvm = self.context, self.module
        setattr(self.module, vector_math.MASKED, self._program.is_masked())
        self.function = self.context.declare_function(self.module, fndesc)
        args = tuple(fndesc.argtypes)
        homes = ["", *["argument"] * (len(args) - 1)]  # the first is the state
        writer = Function(self._program, fndesc.qualname, args, self.function, homes)
        self.builder = writer.builder
        self.call_helper = self.call_conv.init_call_helper(self.builder)
        writer.run()


class _Library(JITCodeLibrary):  # type: ignore[misc]  # as above
    """Optimises a module once: there are no references whose counting could be saved.

    With `NUMBA_OPT=0` it optimises nothing, which takes a third of the time.
    """

    def add_llvm_module(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout
        self._final_module.link_in(ll_module)

    def _optimize_final_module(self) -> None:
        codegen = self._codegen
        if not config.OPT:
            for function in self._final_module.functions:
                if not function.is_declaration:
                    _leave(function)
            return
        # Loops are analysed better by the whole pipeline if functions are tidy before it.
        tidy: Any = llvm.create_new_function_pass_manager()
        tidy.add_sroa_pass()
        tidy.add_simplify_cfg_pass()
        tidy.add_instruction_combine_pass()
        tidying = codegen._pass_builder()
        defined = [each for each in self._final_module.functions if not each.is_declaration]
        size = sum(map(_size, defined))
        for function in [*defined]:
            # Numba's code for the arguments of a call runs once: hundreds take seconds to optimise.
            if function.name.startswith(_ENTRY) and _size(function) > _MOST_OPTIMISED:
                _leave(function)
                defined.remove(function)
        for function in defined:
            tidy.run(function, tidying)
        options: Any = llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization = bool(config.LOOP_VECTORIZE)
        # Several vectors at once are no faster here, and their loops take long to compile.
        options.loop_interleaving = False
        # Some percent of the time of a loop, and a third of the time to compile many.
        options.loop_unrolling = size <= _MOST_UNROLLED
        options.slp_vectorization = bool(config.SLP_VECTORIZE)
        builder: Any = llvm.create_pass_builder(codegen._tm, options)
        builder.getModulePassManager().run(self._final_module, builder)


def _leave(function: Any) -> None:
    """Let LLVM make machine code of a function as it stands; not of one that is always inlined."""
    if b"alwaysinline" in list(function.attributes):
        return
    for attribute in ("noinline", "optnone"):
        function.add_function_attribute(attribute)


def _size(function: Any) -> int:
    return sum(1 for _ in function.blocks)


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
        state.library = _Library(state.targetctx.codegen(), function.func_qualname)
        state.library.enable_object_caching()
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
