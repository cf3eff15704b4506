"""Machine code as bytes: what one process compiles, and others load."""

from __future__ import annotations

import marshal
import pickle
from types import CodeType
from typing import Any

from adc.backend.cpu.library import load
from adc.backend.numba_api import CompileResult, NoCache, dumps


class Kept(NoCache):  # type: ignore[misc]  # a class of a module without types
    """What Numba asks for machine code, and tells of what it has compiled.

    Numba's own cache has files for this, an index and another for the code, besides the source. One
    sequence of bytes can be checked, and written, at once.

    Parameters
    ----------
    module : bytes
        The compiled source, in the form of `marshal`; empty if it is not known.
    machine : bytes
        The machine code, in the form of `pickle`; empty before anything is compiled.
    """

    def __init__(self, module: bytes = b"", machine: bytes = b"") -> None:
        self.module, self.machine = module, machine

    @property
    def code(self) -> CodeType | None:
        """The compiled source, if it is known."""
        if not self.module:
            return None
        code: CodeType = marshal.loads(self.module)
        return code

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the machine code, or None if nothing is kept."""
        if not self.machine:
            return None
        target_context.refresh()
        parts, objects = pickle.loads(self.machine)
        load(target_context.codegen(), objects)
        return CompileResult._rebuild(target_context, *parts)

    def save_overload(self, signature: Any, made: Any) -> None:
        """Keep what was compiled, unless it has addresses of this process in it."""
        if not made.library.has_dynamic_globals:
            self.machine = dumps((made._reduce(), made.library.objects))
