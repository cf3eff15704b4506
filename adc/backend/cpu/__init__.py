"""From buffer form to a callable: emitted code, compiled by means of Numba, called with care.

==============  ====================================================================================
`inference`     types of arrays in emitted code, and who owns their memory
`values`        its values in LLVM's language, and the variables that hold them
`expressions`   expressions of emitted code as LLVM's instructions, and what they call
`instructions`  an emitted function: its statements
`streaming`     rows of large results, written past the cache
`lowering`      these as a module that Numba compiles and caches
`library`       the module as machine code: groups of its functions, compiled on threads
`target`        what Numba compiles it with
`profile`       emitted code that notes which line runs
`sampler`       a thread that reads what it has noted
`kept`          machine code as bytes, for a cache
`callable`      derivatives called from a user's own ``@njit`` code, `direct`: without the
                interpreter
==============  ====================================================================================

`build` turns emitted code into machine code and `Kernel` calls it; `compile` does both. What is
compiled is the tree, with what its text imports. The text is executed from memory: a file of it
would be code that another process can change.
"""

from __future__ import annotations

import ast
import builtins
import ctypes
import functools
import hashlib
import linecache
import operator
import platform
import re
import sys
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any, Protocol

import llvmlite
import llvmlite.binding as llvm
import numba
import numpy as np

from adc.backend.common import vector_math
from adc.backend.common.emit import Emitted, Site, emit
from adc.backend.cpu.kept import Kept
from adc.backend.cpu.lowering import compiler_of
from adc.backend.cpu.target import Dispatcher
from adc.backend.numba_api import (
    WORDS,
    compiler_lock,
    config,
    is_tried,
    numba_type,
    types,
    unfit,
)
from adc.backend.runtime import gemm, layouts, outside
from adc.backend.runtime import threads as thread_pool
from adc.backend.runtime.memory import Memory
from adc.backend.runtime.state import State, word_value, word_values
from adc.ir.core import ELEMENT, Function
from adc.ir.errors import AdcError, Span
from adc.ir.text import effects, raising
from adc.ir.text.outside import Outside
from adc.ir.text.parser import parse
from adc.ir.types import STORED_HALF, Array, Scalar, Type, parse_type

_restore: Any = ctypes.pythonapi.PyErr_Restore
_restore.restype, _restore.argtypes = None, [ctypes.c_void_p] * 3


class Source(Protocol):
    """What an emitter has written."""

    @property
    def name(self) -> str: ...

    @property
    def source(self) -> str: ...


def module_of(emitted: Source, key: str = "", code: CodeType | None = None) -> ModuleType:
    """Return the module of emitted source, executed; `code` is the source compiled before.

    Its name is made of the source and a key. Numba makes names of machine code of it and of a count
    of what a process has compiled. What two processes have compiled of the same source must not
    have the same, where a third one loads both.
    """
    digest = hashlib.sha256(f"{key}{emitted.source}".encode()).hexdigest()[:16]
    name = f"adc_kernel_{emitted.name}_{digest}"
    module = ModuleType(name)
    module.__file__ = f"<{name}>"
    exec(code or compiled_source(emitted, module.__file__), module.__dict__)
    return module


def compiled_source(emitted: Source, file: str) -> CodeType:
    """Return the code of emitted source, under the name of a file."""
    code: CodeType = builtins.compile(emitted.source, file, "exec")
    return code


def target() -> tuple[str, ...]:
    """Return what machine code depends on besides the source: compilers, settings, processor."""
    settings = ("OPT", "CPU_NAME", "CPU_FEATURES", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK")
    return (*_compilers(), *(str(getattr(config, name, None)) for name in settings))


@functools.cache
def _compilers() -> tuple[str, ...]:
    return (
        numba.__version__,
        llvmlite.__version__,
        np.__version__,
        platform.python_version(),
        platform.machine(),
        llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(),
        vector_math.vector_library(),
    )


@functools.cache
def processor() -> str:
    """Return the name and the features of the processor, as a digest that has the name in it."""
    name = llvm.get_host_cpu_name()
    parts = (platform.machine(), name, llvm.get_host_cpu_features().flatten())
    return f"{name}-{hashlib.sha256(repr(parts).encode()).hexdigest()[:12]}"


def about() -> dict[str, str]:
    """Return what machine code is made by and for, in words."""
    return {
        "LLVM": ".".join(map(str, llvm.llvm_version_info)),
        "processor": f"{llvm.get_host_cpu_name()} ({platform.machine()})",
        "vector library": vector_math.vector_library(),
        "BLAS": gemm.library(),
    }


def build(emitted: Emitted, key: str = "", kept: Kept | None = None) -> Any:
    """Return the machine code of emitted source: what is `kept`, or compiled, and then kept there.

    Raises
    ------
    NotImplementedError
        If nothing is kept, and there is no tree to compile.
    UnfitPackageError
        If nobody has tried this version of Numba, and it does not pass a small test.
    """
    if not is_tried():
        _try_numba()
    return _built(emitted, key, kept)


_TRIAL = """
fn trial(%x: f64[:]) -> f64 {
  %n = dim[0] %x
  %s = for L0 %k in 0 to %n carrying (%s.1 = 0.0:f64) {
    %v = load %x[%k]
    %w = tanh %v
    %s.2 = add %s.1 %w
    yield %s.2
  }
  return %s
}
"""


@functools.cache
def _try_numba() -> None:
    """Compile and run a small function, where nobody has tried this version of Numba yet."""
    x = np.linspace(-1.0, 2.0, 7)
    try:
        emitted = emit(parse(_TRIAL))
        (found,) = Kernel(emitted, _built(emitted))(x)
    except Exception as error:
        raise unfit(f"it does not compile a small function: {error!r}") from error
    if not np.allclose(found, np.sum(np.tanh(x)), rtol=1e-13):
        raise unfit("it compiles a small function to one that returns something else")


def _built(emitted: Emitted, key: str = "", kept: Kept | None = None) -> Any:
    module = module_of(emitted, key, None if kept is None else kept.code)
    if emitted.shares:
        thread_pool.start()
    if emitted.multiplies:
        import adc.backend.runtime.lapack  # noqa: F401  # tells LLVM where BLAS is
    made: Any = getattr(module, emitted.name)
    compiler = compiler_of(emitted.code)
    dispatcher = Dispatcher(made.py_func, targetoptions=made.targetoptions, pipeline_class=compiler)
    if kept is not None:
        dispatcher._cache = kept
    state = types.Array(types.int64, 1, "C")
    given = (
        WORDS if k in emitted.tables else numba_type(ty) for k, ty in enumerate(emitted.params)
    )
    sys.modules[module.__name__] = module  # Numba looks for it
    held = compiler_lock.is_locked()
    try:
        dispatcher.compile((state, *given))
    finally:
        # Numba releases its lock in a Python function. If an exception of a signal handler, such as
        # a KeyboardInterrupt, arrives before that begins, other threads would wait for ever.
        while compiler_lock.is_locked() and not held:
            compiler_lock.release()
        del sys.modules[module.__name__]
    dispatcher.disable_compile()
    return dispatcher


# --- arguments and results ------------------------------------------------------------------------


class _Borrowed:
    """An array that cannot be written, offered as one that can: compiled code only reads it."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        self.__array_interface__ = dict(
            array.__array_interface__, data=(array.__array_interface__["data"][0], False)
        )


def _array(ty: Array, arg: Any) -> Any:
    array = np.asarray(arg).astype(ty.numpy, casting="safe", copy=False)
    layout = {"C": array.flags.c_contiguous, "F": array.flags.f_contiguous, "A": True}[ty.layout]
    if not (layout and array.flags.aligned):
        array = np.array(array, order="F" if ty.layout == "F" else "C")
    if array.ndim != ty.rank:
        raise TypeError(f"an array of rank {ty.rank} is wanted, not {array.ndim}")
    return array if array.flags.writeable else np.asarray(_Borrowed(array))


def _array_converter(ty: Array) -> Callable[[Any], Any]:
    dtype, rank = ty.numpy, ty.rank
    # What an array must be so that code takes it as it is: aligned, to be written, by its layout.
    as_it_is = operator.attrgetter({"C": "carray", "F": "farray", "A": "behaved"}[ty.layout])

    if ty.dtype == STORED_HALF:
        return lambda arg: _array(ty, arg).view(np.uint16)

    def convert(arg: Any) -> Any:
        if (
            type(arg) is np.ndarray
            and arg.dtype == dtype
            and arg.ndim == rank
            and as_it_is(arg.flags)
        ):
            return arg
        return _array(ty, arg)

    return convert


def converter(ty: Type) -> Callable[[Any], Any]:
    """Return what makes an argument what Numba takes for `ty`."""
    if isinstance(ty, Array):
        return _array_converter(ty)
    simple: dict[str, Callable[[Any], Any]] = {"f64": float, "i64": operator.index, "b1": bool}
    if ty.kind in "iu" and ty.dtype != "i64":
        return lambda value: ty.numpy.type(operator.index(value))
    return simple.get(ty.dtype, ty.numpy.type)


def deliverer(ty: Type) -> Callable[[Any], Any]:
    """Return what makes a result of compiled code one of type `ty`: Python's if it is weak."""
    if isinstance(ty, Array):
        if ty.dtype == STORED_HALF:
            return lambda value: value.view(np.float16)
        return lambda value: value
    simple: dict[str, Callable[[Any], Any]] = {"f": float, "i": int, "b": bool}
    return simple[ty.kind] if ty.weak else ty.numpy.type


def _is_delivered(ty: Type) -> bool:
    """Whether Numba returns arrays, or Python's numbers, for results of type `ty`."""
    if isinstance(ty, Array):
        return ty.dtype != STORED_HALF
    return ty.weak and ty.dtype in ("f64", "i64", "b1")


# --- errors ---------------------------------------------------------------------------------------


def raise_at(span: Span | None, error: BaseException) -> None:
    """Raise an error as if in a range of the user's source, under the calls that lead there."""
    first, *rest = [_frame(each) for each in (span or Span("<adc>", 1)).chain()]
    first(error, rest)


def raise_outside(call: Outside, error: BaseException) -> None:
    """Raise an exception of a function outside, with the line that calls it in its traceback."""
    if isinstance(error, AdcError) and error.span in (None, call.span):
        error.span = call.span
        raise error  # adc's own
    raise_at(call.span, error)


@functools.cache
def _frame(span: Span, last: str = "raise error") -> Callable[[Any, Sequence[Any]], None]:
    """Return a function that calls the next one, or raises, in a range of the user's source."""
    text = f"def f(error, rest):\n if rest: return rest[0](error, rest[1:])\n {last}"
    tree = ast.parse(text)
    place = {
        "lineno": span.line,
        "col_offset": span.column,
        "end_lineno": span.end_line or span.line,
        "end_col_offset": span.end_column or span.column,
    }
    for node in ast.walk(tree):
        for name in place.keys() & set(node._attributes):
            setattr(node, name, place[name])
    # Notebooks and debuggers show the function from its first line on.
    tree.body[0].lineno = _first_line(span)
    namespace: dict[str, Any] = {}
    exec(builtins.compile(tree, span.file, "exec"), namespace)
    frame: Any = namespace["f"]
    name = span.function or "<adc>"
    code = frame.__code__.replace(co_name=name, co_qualname=name)
    modules = [each for each in list(sys.modules.values()) if is_of_file(each, span.file)]
    # Warnings are counted in the globals of the module.
    return FunctionType(code, vars(modules[0]) if modules else namespace)


def _first_line(span: Span) -> int:
    """Return the line where the function around a range begins, or its own if that is not found."""
    begins = re.compile(rf"\s*(async\s+)?def\s+{re.escape(span.function)}\b")
    lines = linecache.getlines(span.file)[: span.line]
    return next((k for k in range(len(lines), 0, -1) if begins.match(lines[k - 1])), span.line)


def is_of_file(module: Any, file: str) -> bool:
    """Whether a module was made from a file."""
    return isinstance(module, ModuleType) and vars(module).get("__file__") == file


def values_of(words: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """Return the numbers whose words were left, of the types with these names."""
    found = []
    for word, name in zip(words, names, strict=False):
        ty = parse_type(name)
        value = word_value(int(word), ty.dtype)
        found.append(value.item() if isinstance(ty, Scalar) and ty.weak else value)
    return found


def perform(
    to: str, template: str, values: Sequence[Any], arrays: list[Any], span: Span | None
) -> Any:
    """Do what a print says, as if in the line of the user's source where it stands."""
    if effects.raises(to):
        raise_at(span, effects.raised(to, template, values, arrays))
    return effects.carry_out(to, template, values, arrays, functools.partial(_run_at, span))


def _run_at(span: Span | None, action: Callable[[], None]) -> None:
    """Call a function as if in a range of the user's source, under the calls that lead there."""
    first, *rest = [_frame(each, "error()") for each in (span or Span("<adc>", 1)).chain()]
    first(action, rest)


def _perform_quietly(
    to: str, template: str, values: Sequence[Any], arrays: list[Any], span: Span | None
) -> Any:
    """Do what a print says, unless somebody would see it."""
    if effects.is_seen(to):
        return None
    return perform(to, template, values, arrays, span)


def say(sites: Sequence[Site], words: np.ndarray[Any, Any], quiet: bool = False) -> Any:
    """Do what the words in the log of a call say, and return the last result."""
    found = None
    teller = effects.Effects(_perform_quietly if quiet else perform)
    at = 0
    while at < len(words):
        number = int(words[at])
        site = sites[number - 1]
        size = len(site.types)
        count = teller.missing(size) if site.to == ELEMENT else 1
        block = words[at : at + count * (1 + size)].reshape(count, 1 + size)
        if site.to == ELEMENT and (block[:, 0] == number).all():
            # (the usual case: one loop has passed all elements)
            numbers = word_values(block[:, 1:].ravel(), parse_type(site.types[0]).dtype)
            values = list(numbers)
        else:
            block = block[:1]
            values = values_of(block[0, 1:].tolist(), site.types)
        found = teller.tell(site.to, site.message, values, site.loc)
        at += block.size
    return found


def raise_site(site: Site, words: Sequence[Any], calls: Sequence[Site] = ()) -> None:
    """Raise the error of a check that failed, and left these words; `calls` led there, last first.

    That is, those calls that are not part of the place of the check.
    """
    error = raising.made(site.error, site.message, values_of(words, site.types))
    span = site.loc
    for call in calls:
        span = span and span.called(call.loc)
    raise_at(span, error)


# --- calls ----------------------------------------------------------------------------------------


class Kernel:
    """A compiled function: call it with NumPy scalars and arrays, get a tuple of results.

    Calls may come from several threads at once, each has its own memory. The arguments are never
    written, the arrays returned belong to the caller. With `offload` tapes are in files. `table`
    has the functions outside that it calls. The state has some more `words` at its end. One that is
    `quiet` prints, logs and warns of nothing.
    """

    def __init__(
        self, emitted: Emitted, code: Any, offload: bool = False,
        table: Mapping[int, Outside] = MappingProxyType({}), words: int = 0, quiet: bool = False,
    ) -> None:  # fmt: skip
        self.emitted = emitted
        self.offload = offload
        self.code = code
        # Arguments are of the types that it takes: Numba need not look for code that takes them.
        (compiled,) = code.overloads.values()
        self._run = compiled.entry_point
        self.converters = [
            layouts.addresses(ty)
            if isinstance(ty, Array) and k in emitted.tables
            else converter(ty)
            for k, ty in enumerate(emitted.params)
        ]
        # What Numba returns is of the type that is wanted, except for NumPy's numbers.
        self._out = [
            (k, deliverer(ty)) for k, ty in enumerate(emitted.results) if not _is_delivered(ty)
        ]
        self.operands = max([len(site.types) for site in emitted.sites], default=0) + words
        self._returned = list(enumerate(emitted.returned))
        prints = any(not site.error for site in emitted.sites)
        self._say = functools.partial(say, emitted.sites, quiet=quiet) if prints else None
        self._external = outside.Table(table, raise_outside) if table else None
        # Threads that loops are shared among, where the code has such loops.
        self.threads = 1
        self._limits_blas = False
        self._local = threading.local()
        # Not a WeakSet: that cannot be read while another thread changes it.
        self._memories: list[weakref.ref[Memory]] = []

    def share(self, threads: int | None) -> None:
        """Share loops among so many threads, or as many as there are."""
        # Threads of loops and those of BLAS would wait for each other, spinning.
        alone = not self.emitted.multiplies or thread_pool.blas_threads() == 1
        if self.emitted.shares and (alone or self.emitted.multiplies_in_threads):
            self.threads = thread_pool.most() if threads is None else threads
            self._limits_blas = not alone

    def _memory(self) -> Memory:
        """Return the memory of this thread, locked."""
        memory: Memory | None = getattr(self._local, "memory", None)
        if memory is None or not memory.lock.acquire(blocking=False):
            # The first call; or another thread is releasing the memory at this very moment; or
            # this is a signal handler, called in the middle of a call.
            used = self.emitted.tapes
            external = self._external.addresses if self._external is not None else None
            memory = Memory(
                self.operands, used, len(self._returned), self.offload, self._say, external
            )
            memory.lock.acquire()
            self._memories.append(weakref.ref(memory, self._memories.remove))
            self._local.memory = memory
        return memory

    def __call__(self, *args: Any, reserved: Mapping[str, int] | None = None) -> tuple[Any, ...]:
        """Run the code; `reserved` are the bytes that it needs of tapes, where they are known.

        Raises
        ------
        DiskError
            If tapes are in files, and there is no room for them.
        """
        convert = self.converters
        if len(args) != len(convert):
            raise TypeError(f"{self.emitted.name} takes {len(convert)} arguments, not {len(args)}")
        return self.run([make(arg) for make, arg in zip(convert, args, strict=True)], reserved)

    def run(self, given: list[Any], reserved: Mapping[str, int] | None = None) -> tuple[Any, ...]:
        """Run the code on arguments that are what `converters` make of them."""
        if self.threads == 1:
            return self._call(given, reserved, 1)
        with thread_pool.team(self.threads) as threads:
            if threads == 1 or not self._limits_blas:
                return self._call(given, reserved, threads)
            with thread_pool.one_for_blas():
                return self._call(given, reserved, threads)

    def _call(
        self, given: list[Any], reserved: Mapping[str, int] | None, threads: int
    ) -> tuple[Any, ...]:
        memory = self._memory()
        try:
            memory.begin(reserved, threads)
            found = self._run(memory.state, *given)
            status = memory.status
            if status:
                self._fail(memory)
            if memory.prepared:
                found = list(found)
                for k, place in self._returned:
                    block = memory.taken(k)
                    if block is not None:
                        found[place] = block.array(found[place])
        except SystemError as error:
            # There was no memory, or a signal handler raised an exception, while arrays were made
            # of the results: Numba goes on, and the interpreter finds a result beside an exception.
            raise error.__cause__ or error from None
        except MemoryError:
            if memory.status:  # that is why
                self._fail(memory)
            raise
        finally:
            try:
                memory.end()
            except BaseException:  # of a signal handler, in the middle of it
                memory.end()
                raise
            finally:
                memory.lock.release()
        if self._out:
            found = list(found)
            for k, deliver in self._out:
                found[k] = deliver(found[k])
        return tuple(found)

    def _fail(self, main: Memory) -> None:
        memory = main.failed
        state, status = memory.state, memory.status
        if status == State.NO_MEMORY:
            raise MemoryError("the program needs more memory than there is")
        sites = self.emitted.sites
        callers = memory.callers + (main.callers if memory is not main else [])
        calls = [sites[each - 1] for each in callers]
        if status == State.NO_STACK:
            text = "maximum recursion depth exceeded: the stack of this thread ends"
            raise_at(calls[0].loc if calls else None, RecursionError(text))
        if status == State.INTERRUPTED:
            error = [int(word) or None for word in state[State.ERROR : State.ERROR + 3]]
            _restore(*error)  # raises: the interpreter looks for an error after every such call
        raise_site(sites[status - 1], state[State.OPERANDS :].tolist(), calls)

    @property
    def peak(self) -> int | None:
        """Bytes of workspace and tapes in memory that the last call of this thread used."""
        memory: Memory | None = getattr(self._local, "memory", None)
        return None if memory is None else memory.peak

    @property
    def states(self) -> list[np.ndarray[Any, Any]]:
        """The states of the last call of this thread: its own, and those of its helpers."""
        memory: Memory = self._local.memory
        return [memory.state, *(worker.state for worker in memory.workers)]

    @property
    def disk(self) -> int | None:
        """Bytes of tapes in files that the last call of this thread used."""
        memory: Memory | None = getattr(self._local, "memory", None)
        return None if memory is None else memory.disk

    @property
    def nbytes(self) -> int:
        """Bytes that the kernel holds between calls, in all threads."""
        return sum(memory.nbytes for memory in self._alive())

    def release_memory(self) -> None:
        """Give back the memory held between calls, that of calls now running aside."""
        for memory in self._alive():
            if memory.lock.acquire(blocking=False):
                try:
                    memory.release()
                finally:
                    memory.lock.release()

    def _alive(self) -> list[Memory]:
        found = [ref() for ref in list(self._memories)]
        return [memory for memory in found if memory is not None]


def compile(fn: Function, kept: Kept | None = None, *, offload: bool = False) -> Kernel:
    """Return a kernel for `fn`, which is in buffer form.

    Parameters
    ----------
    fn
        The result of `storage`.
    kept
        Where machine code is found, or kept.
    offload
        Whether tapes are in files.
    """
    emitted = emit(fn)
    return Kernel(emitted, build(emitted, kept=kept), offload)


__all__ = ["Kept", "Kernel", "build", "compile", "module_of", "processor", "target"]
