"""The parts of Numba that adc generates code with, as `Any`: Numba's own types cover some of it."""

from __future__ import annotations

from typing import Any

import numba.core.cgutils
import numba.core.codegen
import numba.core.compiler
import numba.core.types
import numba.core.typing.templates
import numba.extending
import numba.np.arrayobj

cgutils: Any = numba.core.cgutils
types: Any = numba.core.types
signature: Any = numba.core.typing.templates.signature
intrinsic: Any = numba.extending.intrinsic
register_jitable: Any = numba.extending.register_jitable
make_array: Any = numba.np.arrayobj.make_array
populate_array: Any = numba.np.arrayobj.populate_array
empty_array: Any = numba.np.arrayobj._empty_nd_impl


_CompilerBase: Any = numba.core.compiler.CompilerBase
_JITCodeLibrary: Any = numba.core.codegen.JITCodeLibrary

# Passes for what emitted code does not contain: closures, comprehensions, array expressions,
# branches on the types of arguments.
_UNUSED = (
    "inline_closure_likes", "nopython_rewrites", "dead_branch_prune", "rewrite_semantic_constants",
    "inline_inlinables", "with_lifting",
)  # fmt: skip


class Compiler(_CompilerBase):  # type: ignore[misc]  # a class of a module without types
    """Numba's compiler without the passes that emitted code has no use for."""

    def define_pipelines(self) -> list[Any]:
        builder: Any = numba.core.compiler.DefaultPassBuilder
        manager = builder.define_nopython_pipeline(self.state)
        from adc.backend.lowering import Lowering

        manager.passes = [
            (Lowering, text) if each.name() == "native_lowering" else (each, text)
            for each, text in manager.passes
            if each.name() not in _UNUSED
        ]
        manager._finalized = False
        manager.finalize()
        return [manager]


class PartCompiler(Compiler):
    """Compiles a part of a function (`outline`): to LLVM's language, and no further.

    The function links the parts, and optimises and translates all of them together.
    """

    def define_pipelines(self) -> list[Any]:
        codegen = self.state.targetctx.codegen()
        self.state.library = _PartLibrary(codegen, self.state.func_id.func_qualname)
        return super().define_pipelines()


class _PartLibrary(_JITCodeLibrary):  # type: ignore[misc]  # as above
    def add_llvm_module(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout
        self._final_module.link_in(ll_module)

    def finalize(self) -> None:
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0  # nobody calls a part by its address

    @property
    def codegen(self) -> Any:
        return _NoEnvironment()


class _NoEnvironment:
    """Stands for the code generator where Numba would tell a part of Python objects it uses."""

    def set_env(self, name: str, env: Any) -> None:
        pass
