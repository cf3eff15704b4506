"""A mutant in the functions of this process: their code is replaced, in place."""

from __future__ import annotations

import ast
import functools
import gc
from collections import Counter
from pathlib import Path
from types import CodeType, FunctionType

from tests.mutation.mutants import Mutant, applied

Key = tuple[str, str, int]


def key_of(code: CodeType) -> Key:
    """Return what identifies the code of a function: file, name and line."""
    return code.co_filename, code.co_qualname, code.co_firstlineno


def plant(root: Path, mutant: Mutant) -> int:
    """Let the functions of this process be those of a mutant; return how many have changed."""
    path = root / mutant.path
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {str(path), *(str(each) for each in _links(root, path))}
    found = 0
    codes: dict[str, dict[tuple[str, int], CodeType]] = {}
    for name in names:
        module = compile(applied(tree, mutant.position, mutant.variant), name, "exec")
        inside = _within(module)
        # Of two lambdas in one line nobody knows which is which.
        often = Counter(key_of(code)[1:] for code in inside)
        codes[name] = {key_of(code)[1:]: code for code in inside if often[key_of(code)[1:]] == 1}
    gc.unfreeze()  # what is frozen is not among the objects
    for each in gc.get_objects():
        # By its type: objects of other packages warn where they are asked for their class.
        if type(each) is FunctionType and each.__code__.co_filename in codes:
            new = codes[each.__code__.co_filename].get(key_of(each.__code__)[1:])
            if new is not None and new != each.__code__:
                if len(new.co_freevars) == len(each.__code__.co_freevars):
                    each.__code__ = new
                    found += 1
    for each in gc.get_objects():
        if type(each) is functools._lru_cache_wrapper:
            each.cache_clear()
    return found


def _links(root: Path, path: Path) -> list[Path]:
    """Return the names of a file by way of `adc`, where `ir` and `passes` are links."""
    return [root / "adc" / path.relative_to(root)]


def _within(code: CodeType) -> list[CodeType]:
    found = [each for each in code.co_consts if isinstance(each, CodeType)]
    return [*found, *(inner for each in found for inner in _within(each))]


__all__ = ["Key", "key_of", "plant"]
