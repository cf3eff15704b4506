"""The layers of adc import only what they may: read from the import statements."""

import ast
import functools
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Layer -> what it may import besides the standard library. A name allows what lies below it.
MAY_IMPORT = {
    "adc.ir": {"adc.ir", "numpy"},  # (and SciPy by name, where a program uses it)
    "adc.passes": {"adc.ir", "adc.passes", "numpy", "scipy"},
    "adc.frontend": {"adc.ir", "adc.frontend", "adc.library", "numpy"},
    # (What runs beside compiled code.)
    "adc.library.mpi.channels": {"adc.ir.errors", "adc.library", "mpi4py", "numpy"},
    "adc.library.mpi.native": {"adc.ir", "llvmlite", "mpi4py", "numpy"},
    "adc.library.mpi.ranks": {"adc.ir.errors", "adc.library", "numpy"},
    "adc.library": {"adc.library", "numpy", "scipy"},  # (inside functions, which are lowered)
    "adc.backend": {
        "adc.ir",
        "adc.backend",
        "llvmlite",
        "numba",
        "numpy",
        "scipy",
        "threadpoolctl",
    },
    "adc.inspect": {
        "adc.ir",
        "adc.passes",
        "adc.inspect",
        "graphviz",
        "matplotlib",
        "pygraphviz",
        "rich",
    },
    "adc.distributed": {
        "adc",
        "cloudpickle",
        "dask",
        "distributed",
        "numpy",
        "optree",
        "threadpoolctl",
    },
    "adc.torch": {"adc", "numpy", "torch"},
    "adc.jax": {"adc", "jax", "numpy"},
    "adc": {"adc", "numpy", "optree", "rich", "scipy"},
}
# Packages in which one may import only those before it.
ROOMS = {
    "adc.ir.analysis": (
        "activity",
        "sizes",
        "dependence",
        "memory",
        "linearity",
        "inexact",
        "target",
        "costs",
    ),
    "adc.passes": (
        "numbers",
        "scalar",
        "ad",
        "loops",
        "memory",
        "remat",
        "target",
        "unchanged",
        "stages",
        "pipeline",
    ),
    "adc.frontend": (
        "syntax",
        "inputs",
        "core",
        "values",
        "control",
        "numpy",
        "language",
        "loops",
        "transforms",
        "calls",
        "scipy",
        "attempts",
        "entry",
    ),
    "adc.backend": ("numba_api", "runtime", "common", "cpu", "cuda", "python"),
}
# No folder has more modules, or it is hard to find one's way in it.
LARGEST = 15
FOLDERS = {"adc": "adc", "ir": "adc.ir", "passes": "adc.passes"}


def modules(folders: Mapping[str, str] = FOLDERS) -> Iterator[tuple[str, Path]]:
    """Yield the dotted name and the path of every module of the package."""
    for folder, package in folders.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            inner = path.relative_to(ROOT / folder).with_suffix("").parts
            # Where pathlib follows links, `adc/ir` and `adc/passes` would come a second time.
            if folder == "adc" and inner[0] in FOLDERS:
                continue
            yield ".".join([package, *inner]).removesuffix(".__init__"), path


@functools.cache
def imports(source: str, package: str) -> tuple[tuple[int, str], ...]:
    """Return line and full name of all that is imported, also inside functions.

    `package` is what a relative import starts from.
    """
    return tuple(_imports(ast.parse(source), package))


def _imports(tree: ast.Module, package: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parent = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parent, *filter(None, [base])])
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}"


def below(name: str, top: str) -> bool:
    """Tell whether the dotted `name` is `top` or lies below it."""
    return name == top or name.startswith(top + ".")


def offences(module: str, package: str, source: str) -> list[str]:
    """List the imports of a module that its layer may not have."""
    layer = next((layer for layer in MAY_IMPORT if below(module, layer)), "adc")
    return [
        f"{module}:{line}: {layer} may not import {name}"
        for line, name in imports(source, package)
        if name.split(".")[0] not in sys.stdlib_module_names
        and not any(below(name, allowed) for allowed in MAY_IMPORT[layer])
    ]


def arrows(modules: dict[str, tuple[str, str]]) -> dict[str, set[str]]:
    """Return which of `modules`, given with their packages and sources, each imports.

    Imports for type checking only and those inside functions count.
    """

    def target(name: str) -> str:
        while name and name not in modules:
            name = name.rpartition(".")[0]
        return name

    return {
        module: {target(name) for _, name in imports(source, package)} - {"", module}
        for module, (package, source) in modules.items()
    }


def reached(module: str, graph: dict[str, set[str]]) -> set[str]:
    """Return all that a module imports, or that what it imports does."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        more = graph[waiting.pop()] - found
        found |= more
        waiting += more
    return found


def circular(graph: dict[str, set[str]]) -> list[str]:
    """List the arrows that lie on a circle."""
    below = {module: reached(module, graph) for module in graph}
    return [
        f"{module} -> {other}"
        for module, others in sorted(graph.items())
        for other in sorted(others)
        if module in below[other]
    ]


def package_of(module: str, path: Path) -> str:
    return module if path.name == "__init__.py" else module.rpartition(".")[0]


MODULES = dict(modules())


@pytest.mark.parametrize("module", MODULES)
def test_layer_imports_only_what_it_may(module: str) -> None:
    path = MODULES[module]
    assert offences(module, package_of(module, path), path.read_text()) == []


def test_no_modules_import_each_other_in_circles() -> None:
    own = {name: package_of(name, path) for name, path in MODULES.items()}
    graph = arrows({name: (own[name], path.read_text()) for name, path in MODULES.items()})
    assert circular(graph) == []


@pytest.mark.parametrize("layer", ROOMS)
def test_rooms_import_only_those_before_them(layer: str) -> None:
    rooms = ROOMS[layer]

    def place(name: str) -> int:
        return rooms.index(name.removeprefix(f"{layer}.").split(".")[0])

    inside = {name: path for name, path in MODULES.items() if name.startswith(f"{layer}.")}
    graph = arrows(
        {name: (package_of(name, path), path.read_text()) for name, path in inside.items()}
    )
    assert [
        f"{module} -> {other}"
        for module, others in graph.items()
        for other in others
        if place(other) > place(module)
    ] == []


# Of the tests, too.
PLANNED = MODULES | dict(modules({"tests": "tests"}))


# What is written by a program, and tests that are named as SciPy's packages are.
WITHOUT_PLAN = ("tests.golden", "tests.unit.library.scipy")


def test_no_folder_is_too_large() -> None:
    sizes = Counter(
        package_of(name, path)
        for name, path in PLANNED.items()
        if path.name not in ("__init__.py", "conftest.py") and not name.startswith(WITHOUT_PLAN)
    )
    assert {name: size for name, size in sizes.items() if size > LARGEST} == {}


def plan(module: str) -> str:
    """Return the docstring of a package, with that of the package around it."""
    around = module.rpartition(".")[0]
    texts = [PLANNED[name].read_text() for name in (module, around) if name in PLANNED]
    return "\n".join(ast.get_docstring(ast.parse(text)) or "" for text in texts)


def unnamed(module: str, text: str) -> list[str]:
    """List what a package holds that a plan does not name."""
    inside = [name for name in PLANNED if name.rpartition(".")[0] == module]
    last = {name.rpartition(".")[2] for name in inside} - {"__main__", "conftest"}
    return [each for each in sorted(last) if not re.search(rf"\b{each}(/|\.py)?`", text)]


@pytest.mark.parametrize(
    "module",
    [
        name for name, path in PLANNED.items()
        if path.name == "__init__.py" and not name.startswith(WITHOUT_PLAN)
    ],
)  # fmt: skip
def test_the_docstring_of_a_folder_names_its_files(module: str) -> None:
    assert unnamed(module, plan(module)) == []


def test_a_file_without_a_line_is_found() -> None:
    text = plan("adc.passes.remat.proof").replace("`tape`", "")
    assert unnamed("adc.passes.remat.proof", text) == ["tape"]


def test_a_circle_is_found() -> None:
    graph = arrows(
        {
            "adc.a": ("adc", "from adc import b"),
            "adc.b": ("adc", "def f():\n    from adc.c import g"),
            "adc.c": ("adc", "if TYPE_CHECKING:\n    from .a import h"),
            "adc.d": ("adc", "import adc.a"),
        }
    )
    assert circular(graph) == ["adc.a -> adc.b", "adc.b -> adc.c", "adc.c -> adc.a"]


@pytest.mark.parametrize(
    "path", sorted((ROOT / "examples").rglob("*.py")), ids=lambda path: str(path.name)
)
def test_examples_use_public_names_only(path: Path) -> None:
    names = [name for _, name in imports(path.read_text(), "") if below(name, "adc")]
    public = ("adc", "adc.distributed", "adc.jax", "adc.torch")
    inner = [layer for layer in MAY_IMPORT if layer not in public]
    assert [name for name in names if any(below(name, layer) for layer in inner)] == []
    assert [name for name in names if any(part.startswith("_") for part in name.split("."))] == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("adc.ir.core", "import numba"),
        ("adc.ir.core", "from adc.passes import dce"),
        ("adc.ir.core", "from adc import passes"),
        ("adc.ir.core", "import adc"),
        ("adc.ir.core", "from .. import passes"),
        ("adc.ir.core", "from ..passes.dce import dce"),
        ("adc.passes.scalar.dce", "from ir import core"),
        ("adc.passes.scalar.dce", "def f():\n    import numba.core"),
        ("adc.passes.scalar.dce", "from adc.frontend import parse"),
        ("adc.passes.scalar.dce", "import adc.backend.common.emit"),
        ("adc.frontend.parse", "if TYPE_CHECKING:\n    from adc.passes.scalar.dce import dce"),
        ("adc.frontend.parse", "import scipy"),
        ("adc.backend.common.emit", "import adc.irrelevant"),
        ("adc.compiler.driver", "import numba"),
        ("adc.compiler.driver", "import passes.dce"),
    ],
)
def test_a_forbidden_import_is_found(module: str, source: str) -> None:
    assert offences(module, module.rpartition(".")[0], source) != []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("adc.ir.ops.scalar", "from ..opdef import row"),
        ("adc.ir.ops.scalar", "from adc.ir import opdef"),
        ("adc.passes.remat.remat", "import scipy.optimize"),
        ("adc.backend.common.emit", "from numba.extending import intrinsic"),
        ("adc.compiler.driver", "from adc.backend import emit"),
    ],
)
def test_an_allowed_import_passes(module: str, source: str) -> None:
    assert offences(module, module.rpartition(".")[0], source) == []
