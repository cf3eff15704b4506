"""From LLVM's language to machine code: what LLVM optimises, and on which threads.

LLVM takes half of the time that a long program takes to compile. Its functions are handed over in
groups while others are still translated. Each group is a module of its own, in a context of its
own, so that threads can compile them side by side. `llvmlite` would let one thread at a time call
LLVM, which has no need of that where contexts differ.

Which functions are a group does not depend on the number of threads: the machine code is the same
on any number of cores.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from adc.backend.numba_api import JITCodeLibrary, cgutils, config, unlocked
from adc.backend.runtime import threads

# Basic blocks of code of which LLVM unrolls the loops: several times as many as a page of code has.
_MOST_UNROLLED = 1000
# The most blocks of the function that reads the arguments of a call, if it is optimised.
_MOST_OPTIMISED = 600
# How Numba names it.
_ENTRY = "_ZN7cpython"
# Instructions of a group, at least: helpers that several groups call are compiled in each.
_GROUP = 3000
# The most instructions of a function that LLVM may inline.
_SMALL = 100
# What follows an @ or a ! in LLVM's language.
_NAMED = re.compile(r'@"((?:[^"\\]|\\.)*)"')
_NOTED = re.compile(r"!(\d+)")
_VARIANT = "vector-function-abi-variant"


class Groups:
    """Functions of a module that are compiled apart from it, in groups.

    Parameters
    ----------
    module : llvmlite.ir.Module
        In it functions become declarations when their group is handed over.
    codegen : object
        Numba's, which tells the machine.
    """

    def __init__(self, module: ir.Module, codegen: Any) -> None:
        self.blocks = 0  # of functions that were handed over
        self._written = 0  # of all functions
        self._module, self._codegen = module, codegen
        self._open: set[str] = set()
        self._large: set[str] = set()
        self._waiting: list[ir.Function] = []
        self._objects: list[Future[bytes]] = []
        self._threads: ThreadPoolExecutor | None = None

    def begin(self, function: ir.Function) -> None:
        """Note that a function is being written."""
        self._open.add(function.name)

    def add(self, function: ir.Function, is_part: bool) -> None:
        """Take a function that is written.

        One that is small, and no part, is written again where it is called.
        """
        self._open.remove(function.name)
        self._written += len(function.blocks)
        if not is_part and _instructions(function) < _SMALL:
            return
        self._large.add(function.name)
        self._waiting.append(function)
        if self._written > _MOST_UNROLLED:
            self._hand_over(unroll=False)

    def end(self) -> None:
        """Compile what is left, but for what is too little to be a group."""
        left = sum(len(each.blocks) for each in self._module.functions)
        self._hand_over(unroll=self.blocks + left <= _MOST_UNROLLED)
        if self._threads is not None:
            self._threads.shutdown(wait=False)

    def abandon(self) -> None:
        """Compile nothing more."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)

    def objects(self) -> list[bytes]:
        """Wait for the machine code, and return it: an object for each group."""
        return [each.result() for each in self._objects]

    def _hand_over(self, unroll: bool) -> None:
        group: list[ir.Function] = []
        size = 0
        for function in self._waiting:
            group.append(function)
            size += _instructions(function)
            if size >= _GROUP:
                self.blocks += sum(len(each.blocks) for each in group)
                text = self._text(group)
                self._objects.append(self._begun(text, unroll))
                group, size = [], 0
        self._waiting = group

    def _begun(self, text: str, unroll: bool) -> Future[bytes]:
        if self._threads is None:
            # Groups differ in size: with one for each core, the last ones would run alone.
            self._threads = ThreadPoolExecutor(2 * threads.most(), "adc-llvm")
        try:
            return self._threads.submit(_compiled, text, self._codegen, unroll)
        except RuntimeError:  # no thread can be started, such as when the interpreter ends
            made: Future[bytes] = Future()
            made.set_result(_compiled(text, self._codegen, unroll))
            return made

    def _text(self, group: Sequence[ir.Function]) -> str:
        """Return a module with a group of functions, which are declared only in this one from here.

        Small functions are written again. What they and others call is declared.
        """
        module = self._module
        own = {each.name for each in group}
        lines: dict[str, str] = {}
        todo = [*own]
        while todo:
            name = todo.pop()
            if name in lines:
                continue
            found = module.globals[name]
            if not isinstance(found, ir.Function):
                lines[name] = str(found)
            elif name in own:
                found.linkage = _EXPORTED
                lines[name] = str(found)
            elif found.is_declaration:
                lines[name] = str(found)
            elif name in self._open or name in self._large or _is_large(found):
                found.linkage = _EXPORTED
                lines[name] = _declaration(found)
                continue
            else:
                lines[name] = str(found)
            todo += _NAMED.findall(lines[name])
        for each in group:
            each.blocks.clear()
            each.linkage = ""
        text = "\n".join(lines[name] for name in module.globals if name in lines)
        head = [f'target triple = "{module.triple}"', f'target datalayout = "{module.data_layout}"']
        whole: str = cgutils.normalize_ir_text("\n".join([*head, text, *self._notes(text)]))
        return whole

    def _notes(self, text: str) -> Iterator[str]:
        """Yield the metadata that a text mentions, and what these mention."""
        seen: set[str] = set()
        todo = _NOTED.findall(text)
        while todo:
            number = todo.pop()
            if number not in seen:
                seen.add(number)
                line = str(self._module.metadata[int(number)])
                todo += _NOTED.findall(line)
                yield line


# Modules may define it each for itself, and none drops it for want of calls.
_EXPORTED = "weak_odr"


def _instructions(function: ir.Function) -> int:
    return sum(len(block.instructions) for block in function.blocks)


def _is_large(function: ir.Function) -> bool:
    """Whether a helper is called, never inlined, and its body tells LLVM nothing about a call."""
    names = set(function.attributes)
    is_called = "noinline" in names and function.linkage in ("linkonce_odr", _EXPORTED)
    return is_called and not any(_VARIANT in each for each in names)


def _declaration(function: ir.Function) -> str:
    blocks, linkage = function.blocks, function.linkage
    function.blocks, function.linkage = [], ""
    try:
        return str(function)
    finally:
        function.blocks, function.linkage = blocks, linkage


def _compiled(text: str, codegen: Any, unroll: bool) -> bytes:
    """Return a module's text as an object, for the machine of `codegen`."""
    context = llvm.create_context()
    with _parsed(text, context) as module:
        module.verify()
        machine = _machine(codegen)
        _optimise(module, machine, unroll)
        return _object(module, machine)


def _parsed(text: str, context: Any) -> Any:
    with llvm.ffi.OutputString() as message:
        made = unlocked("LLVMPY_ParseAssembly")(context, text.encode("latin1"), message)
        if message:
            raise RuntimeError(f"LLVM does not read what was made for it: {message}")
    return llvm.ModuleRef(made, context)


def _machine(codegen: Any) -> Any:
    """Return a description of the machine like that of `codegen`, for one thread."""
    options: dict[str, Any] = {"opt": config.OPT, "features": codegen._tm_features}
    codegen._customize_tm_options(options)
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(**options)


def _optimise(module: Any, machine: Any, unroll: bool) -> None:
    """Optimise a module once: there are no references whose counting could be saved.

    With `NUMBA_OPT=0` nothing is optimised, which takes a third of the time.
    """
    defined = [each for each in module.functions if not each.is_declaration]
    if not config.OPT:
        for function in defined:
            _leave(function)
        return
    options: Any = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = bool(config.LOOP_VECTORIZE)
    # Several vectors at once are no faster here, and their loops take long to compile.
    options.loop_interleaving = False
    # Some percent of the time of a loop, and a third of the time to compile many.
    options.loop_unrolling = unroll
    options.slp_vectorization = bool(config.SLP_VECTORIZE)
    builder: Any = llvm.create_pass_builder(machine, options)
    # Loops are analysed better by the whole pipeline if functions are tidy before it.
    tidy: Any = llvm.create_new_function_pass_manager()
    tidy.add_sroa_pass()
    tidy.add_simplify_cfg_pass()
    tidy.add_instruction_combine_pass()
    for function in defined:
        # Numba's code for the arguments of a call runs once: hundreds take seconds to optimise.
        if function.name.startswith(_ENTRY) and _size(function) > _MOST_OPTIMISED:
            _leave(function)
        else:
            unlocked("LLVMPY_RunNewFunctionPassManager")(tidy, function, builder)
    manager = builder.getModulePassManager()
    unlocked("LLVMPY_RunNewModulePassManager")(manager, module, builder)


def _leave(function: Any) -> None:
    """Let LLVM make machine code of a function as it stands; not of one that is always inlined."""
    if b"alwaysinline" in list(function.attributes):
        return
    for attribute in ("noinline", "optnone"):
        function.add_function_attribute(attribute)


def _size(function: Any) -> int:
    return sum(1 for _ in function.blocks)


def _object(module: Any, machine: Any) -> bytes:
    """Return machine code as the bytes of a file."""
    with llvm.ffi.OutputString() as message:
        made = unlocked("LLVMPY_TargetMachineEmitToMemory")(machine, module, 1, message)
        if not made:
            raise RuntimeError(f"LLVM makes no machine code: {message}")
    try:
        size = llvm.ffi.lib.LLVMPY_GetBufferSize(made)
        return ctypes.string_at(llvm.ffi.lib.LLVMPY_GetBufferStart(made), size)
    finally:
        llvm.ffi.lib.LLVMPY_DisposeMemoryBuffer(made)


class Library(JITCodeLibrary):  # type: ignore[misc]  # a class of a module without types
    """The machine code of an emitted file: a module of LLVM's, and groups apart from it."""

    groups: Groups | None = None
    objects: tuple[bytes, ...] = ()

    def add_llvm_module(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout
        self._final_module.link_in(ll_module)

    def _optimize_final_module(self) -> None:
        module = self._final_module
        size = sum(_size(each) for each in module.functions if not each.is_declaration)
        if self.groups is not None:
            size += self.groups.blocks
        _optimise(module, self._codegen._tm, size <= _MOST_UNROLLED)

    def _finalize_final_module(self) -> None:
        # This thread does its part before it waits for others. Nothing is known to the engine
        # before all of it is there: it would end the process for what is missing.
        own = _object(self._final_module, self._codegen._tm)
        groups = () if self.groups is None else self.groups.objects()
        self.groups = None  # they hold all of the translation
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._load([*groups, own])

    @classmethod
    def loaded(cls, codegen: Any, name: str, objects: Sequence[bytes]) -> Library:
        """Return a library with the machine code of another one."""
        made = cls(codegen, name)
        made._load(objects)
        return made

    def _load(self, objects: Sequence[bytes]) -> None:
        # If the engine made an object of the module, it would tell Python in a callback, in which
        # an interrupt is lost.
        for each in objects:
            self._codegen._engine._ee.add_object_file(llvm.ObjectFileRef.from_data(each))
        self.objects = tuple(objects)
        self._finalize_specific()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of a function that is in an object: the engine knows of no module."""
        self._ensure_finalized()
        address: int = self._codegen._engine.get_function_address(name)
        return address


__all__ = ["Groups", "Library"]
