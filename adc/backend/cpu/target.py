"""What Numba compiles emitted code with: its CPU target, without what emitted code does not use.

Numba's own contexts load all that it knows (SciPy for linear algebra, random numbers, dictionaries,
strings) before they compile anything, which takes longer than to compile a short function. Emitted
code needs the operators of scalars; the rest is `adc.backend`'s own.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from adc.backend.numba_api import (
    CPUContext,
    CPUDispatcher,
    CPUTarget,
    PythonAPI,
    TypingContext,
    compile_nrt_functions,
    runtime_system,
    templates,
)


class _Typing(TypingContext):  # type: ignore[misc]  # a class of a module without types
    """Knows the types of builtin functions that are not written in Python."""

    def _load_builtins(self) -> None:
        builtin = templates.Registry()
        builtin.globals += [
            (value, ty)
            for value, ty in templates.builtin_registry.globals
            if not any(hasattr(each, "_overload_func") for each in getattr(ty, "templates", ()))
        ]
        self.install_registry(builtin)

    def load_additional_registries(self) -> None:
        """Load nothing more."""

    @cached_property
    def _loaded(self) -> None:
        self._load_builtins()

    def refresh(self) -> None:
        """Load the builtin functions, once."""
        return self._loaded


_NDARRAY = "adc_ndarray"
llvm.add_symbol(_NDARRAY, id(np.ndarray))


class _PythonAPI(PythonAPI):  # type: ignore[misc]  # as above
    """Makes arrays of results without a call of Python.

    Numba finds the type of an array by a function in Python. The interpreter would call handlers of
    signals there, and what they raise would be lost in Numba's next error.
    """

    def serialize_object(self, obj: Any) -> Any:
        return np.ndarray if obj is np.ndarray else super().serialize_object(obj)

    def unserialize(self, structptr: Any) -> Any:
        if structptr is np.ndarray:
            return self.get_c_object(_NDARRAY)
        return super().unserialize(structptr)


class _Context(CPUContext):  # type: ignore[misc]  # as above
    def load_additional_registries(self) -> None:
        """Load the counting of references; operators are builtin."""
        runtime_system.initialize(self)
        self._counting  # noqa: B018 - once

    @cached_property
    def _counting(self) -> Any:
        """The functions that count references, where this target's engine finds them.

        Numba compiles them once, for the target that comes first: for its own, if a function of
        Numba's was compiled before. Objects that call what their engine lacks are linked without
        a word, and then call address 0.
        """
        own = runtime_system.library
        return own if own.codegen is self.codegen() else compile_nrt_functions(self)

    def get_python_api(self, builder: Any) -> Any:
        return _PythonAPI(self, builder)


class _Target(CPUTarget):  # type: ignore[misc]  # as above
    @cached_property
    def _toplevel_typing_context(self) -> Any:
        return _Typing()

    @cached_property
    def _toplevel_target_context(self) -> Any:
        return _Context(self.typing_context, self._target_name)


class Dispatcher(CPUDispatcher):  # type: ignore[misc]  # as above
    """Compiles a function of an emitted file, and calls it."""

    targetdescr = _Target("cpu")
