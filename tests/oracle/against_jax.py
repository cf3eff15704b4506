"""Compares gradients of the corpus of array programs with JAX's, where JAX can express them.

    python -m tests.oracle.against_jax PYTHON [MODULE …]

PYTHON is an interpreter that has JAX; the modules are those of the corpus, by default
``kernel_programs``. There ``np`` means ``jax.numpy`` and stores become
``.at[…].set``; a program that JAX does not take even so (masks of unknown length, loops that depend
on traced values, views that share memory) is skipped and counted.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import pickle
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np


def _programs(modules: Sequence[str]) -> list[Any]:
    folders = {
        "array_programs": "arrays", "function_programs": "arrays", "stack_programs": "arrays",
        "kernel_programs": "loops", "carried_programs": "loops", "stencil_programs": "loops",
        "language_programs": "language.containers", "list_programs": "language.containers",
        "zip_programs": "language.containers",
    }  # fmt: skip
    found: list[Any] = []
    for name in modules:
        module = importlib.import_module(f"tests.corpus.{folders[name]}.{name}")
        found += getattr(module, name.upper())
    return found


# --- adc's side -----------------------------------------------------------------------------------


def _gradients(path: Path, modules: Sequence[str]) -> None:
    from tests.oracle import chain as chains

    found: dict[str, Any] = {}
    for program in _programs(modules):
        if not program.argnums:
            continue
        try:
            chain = chains.Chain.of(program.fn, program.make_args(), program.argnums)
            results = chains.run(chain.adjoint, chains.fresh(chain.inputs))
        except Exception as error:  # tuples of arguments and the like are checked elsewhere
            print(f"{program.name}: {type(error).__name__}")
            continue
        found[program.name] = [np.asarray(g) for g in chain.gradient(results)]
    path.write_bytes(pickle.dumps(found))


# --- JAX's side -----------------------------------------------------------------------------------


class _Stores(ast.NodeTransformer):
    """Turns ``a[i] = v`` into ``a = a.at[i].set(v)``."""

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
            return self._at(node, node.targets[0], "set", node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if isinstance(node.target, ast.Subscript):
            read = ast.Subscript(node.target.value, node.target.slice, ast.Load())
            value = ast.BinOp(read, node.op, node.value)
            return self._at(node, node.target, "set", value)
        return node

    def _at(self, node: ast.stmt, target: ast.Subscript, how: str, value: ast.expr) -> ast.stmt:
        base = ast.unparse(target.value)
        text = f"{base} = {base}.at[{ast.unparse(target.slice)}].{how}({ast.unparse(value)})"
        return ast.copy_location(ast.parse(text).body[0], node)


def _translated(fn: Any, jnp: Any) -> Any:
    tree = ast.parse(textwrap.dedent(inspect.getsource(fn)))
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    tree = ast.fix_missing_locations(_Stores().visit(tree))
    namespace = dict(fn.__globals__) | {"np": jnp}
    for name, value in fn.__globals__.items():
        if inspect.isfunction(value) and value.__module__ == fn.__module__ and name[0] != "_":
            namespace[name] = _Later(value, jnp)
    shared = namespace.get("weighted")
    if inspect.isfunction(shared):
        namespace["weighted"] = _Later(shared, jnp)
    exec(compile(tree, inspect.getfile(fn), "exec"), namespace)
    return namespace[definition.name]


class _Later:
    """A helper that is translated when it is first called."""

    def __init__(self, fn: Any, jnp: Any) -> None:
        self.fn, self.jnp = fn, jnp
        self.made: Any = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.made is None:
            self.made = _translated(self.fn, self.jnp)
        return self.made(*args, **kwargs)


def _compare(path: Path, modules: Sequence[str]) -> int:
    import jax  # type: ignore[import-not-found,unused-ignore]  # only in the other interpreter

    jax.config.update("jax_enable_x64", True)
    ours = pickle.loads(path.read_bytes())
    agree: list[str] = []
    differ: list[str] = []
    skipped = 0
    for program in _programs(modules):
        if program.name not in ours:
            continue
        args = [
            jax.numpy.asarray(a) if isinstance(a, np.ndarray) else a for a in program.make_args()
        ]
        try:
            fn = _translated(program.fn, jax.numpy)
            value = float(fn(*args))
            if not np.isclose(value, float(program.fn(*program.make_args())), rtol=1e-9):
                skipped += 1  # the translation computes something else: memory was shared
                continue
            theirs = jax.grad(fn, argnums=tuple(program.argnums))(*args)
        except Exception:
            skipped += 1
            continue
        leaves = jax.tree_util.tree_leaves(theirs)
        single = any(np.asarray(g).dtype == np.float32 for g in ours[program.name])
        rtol = 1e-4 if single else 1e-8
        same = len(leaves) == len(ours[program.name]) and all(
            np.allclose(a, b, rtol=rtol, atol=rtol * (1.0 + np.abs(b).max(initial=0.0)))
            for a, b in zip(ours[program.name], leaves, strict=True)
        )
        (agree if same else differ).append(program.name)
        print(program.name, "agrees" if same else "DIFFERS", flush=True)
    print(f"{len(agree)} agree, {len(differ)} differ, {skipped} that JAX does not take")
    print("kernels:", ", ".join(name for name in agree if name.endswith(("_slices", "_loops"))))
    if differ:
        print("differ:", ", ".join(differ))
    return 1 if differ else 0


def main() -> int:
    """Compute the gradients here, compare them there."""
    if sys.argv[1] == "--compare":
        return _compare(Path(sys.argv[2]), sys.argv[3:])
    modules = sys.argv[2:] or ["kernel_programs"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gradients"
        _gradients(path, modules)
        root = str(Path(__file__).parents[2])
        return subprocess.run(
            [sys.argv[1], "-W", "ignore", "-m", "tests.oracle.against_jax", "--compare", str(path),
             *modules],
            cwd=root, env={**os.environ, "PYTHONPATH": root}, check=False,
        ).returncode  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
