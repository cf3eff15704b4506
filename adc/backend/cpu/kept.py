"""Machine code as bytes: what one process compiles, and others load."""

from __future__ import annotations

import marshal
import pickle
from types import CodeType
from typing import Any

from adc.backend.cpu.library import Library
from adc.backend.numba_api import NoCache, compile_result, dumps


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
        found = pickle.loads(self.machine)
        codegen = target_context.codegen()
        library = Library.loaded(codegen, found["name"], found["objects"])
        fndesc, environment = found["fndesc"], found["environment"]
        made = compile_result(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=library,
            entry_point=target_context.get_executable(library, fndesc, environment),
            fndesc=fndesc,
            environment=environment,
            signature=found["signature"],
            objectmode=False,
            referenced_envs=found["environments"],  # machine code has their addresses
        )
        for each in made.referenced_envs:
            codegen.set_env(each.env_name, each)
        return made

    def save_overload(self, signature: Any, made: Any) -> None:
        """Keep what was compiled, unless it has addresses of this process in it."""
        if made.library.has_dynamic_globals:
            return
        made.fndesc.typemap = made.fndesc.calltypes = None  # nobody asks any more
        self.machine = dumps(
            {
                "name": made.library.name,
                "objects": made.library.objects,
                "fndesc": made.fndesc,
                "environment": made.environment,
                "signature": made.signature,
                "environments": made._find_referenced_environments(),
            }
        )
