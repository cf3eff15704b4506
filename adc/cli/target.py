"""The target of a command: ``FILE.py:FUNCTION`` as a derivative with sample arguments."""

from __future__ import annotations

import argparse
import ast
import importlib.util
import inspect
import re
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from adc.api import jacrev, value_and_grad
from adc.api.derivative import Derivative, Jitted
from adc.api.sweeps import Pullback
from adc.cli import options
from adc.compiler import planning
from adc.compiler.driver import Compilation, Plans
from adc.frontend.inputs.places import Arguments
from adc.ir.errors import NonScalarError
from adc.ir.types import DTYPES, HALF, STORED_HALF, Array, Scalar, parse_type
from adc.options import Options, PlanOptions
from adc.passes.remat.plan import Plan

# Extents of sample arrays whose size is not given.
_EXTENT = 4
_INTEGER = 3
_GENERATORS: dict[str, Callable[[int], Any]] = {
    "Generator": np.random.default_rng,
    "np.random.Generator": np.random.default_rng,
    "RandomState": np.random.RandomState,
    "np.random.RandomState": np.random.RandomState,
}
_DTYPES = (*DTYPES, HALF)
_SIZED = re.compile(r"(?P<dtype>\w+)\s*\[(?P<axes>[\d:,\s]*)\](?P<layout>[AF]?)")


class UsageError(Exception):
    """The command line is invalid."""


@dataclass(frozen=True)
class Subject:
    """A derivative, arguments to call it with, and every stage but machine code."""

    derivative: Derivative
    args: tuple[Any, ...]
    made: Compilation

    @property
    def values(self) -> Arguments:
        return self.derivative._code.match(self.args, {})

    def plan(self) -> Plan:
        """Return the plan, with numbers for the arguments."""
        return planning.described(self.derivative._code, self.values, self.made)

    def plans(self) -> Plans:
        """Return the plans for any budget."""
        return planning.plans(self.derivative._code, self.values)

    def within(self, memory: int, plans: Plans) -> Derivative:
        """Return the derivative with a budget, of these plans."""
        made = self.derivative
        found = made._made_of(made.__wrapped__, replace(made._options, memory=memory))
        found._code.planned = plans
        return found

    def sizes(self) -> dict[str, int | tuple[int, ...]]:
        """Return integers and shapes among the arguments, by parameter of the code."""
        return planning.sizes(self.derivative._code, self.values, self.made)


def find(args: argparse.Namespace) -> Subject:
    """Return the target that the options name.

    Raises
    ------
    UsageError
        If there is no such function, or its arguments cannot be told.
    """
    file, colon, name = args.function.rpartition(":")
    if not colon or not file.endswith(".py"):
        raise UsageError(f"{args.function!r} is not FILE.py:FUNCTION")
    module = _load(Path(file))
    found = _attribute(module, file, name)
    if args.command == "check" and isinstance(found, Jitted):
        found = found.py_func  # what there is to check is its derivative
    derivative = _derivative(found, args)
    given = _arguments(derivative.__wrapped__, module, file, args)
    try:
        inspect.signature(derivative.__wrapped__).bind(*given)
    except TypeError as error:
        raise UsageError(f"{name}(): {error}") from None
    try:
        made = _compilation(derivative, given)
    except NonScalarError:
        if isinstance(found, Derivative):
            raise
        # A function of more results than one float.
        derivative = jacrev(found, _argnums(args), **options.compiled(args))
        made = _compilation(derivative, given)
    return Subject(derivative, given, made)


def _compilation(derivative: Derivative, args: tuple[Any, ...]) -> Compilation:
    code = derivative._code
    return planning.compilation(code, code.match(args, {}))


def _load(path: Path) -> Any:
    """Run a file as a module (not as `__main__`), with its folder on the path."""
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    sys.path.insert(0, str(path.parent.absolute()))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # which is where `dataclass` looks
    spec.loader.exec_module(module)
    return module


def _attribute(module: Any, file: str, name: str) -> Any:
    found = module
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise UsageError(f"{file} has no function {name!r}") from None
    return found


def _derivative(found: Any, args: argparse.Namespace) -> Derivative:
    if isinstance(found, types.MethodType) and isinstance(found.__func__, Derivative):
        method = found.__func__
        bound = types.MethodType(method.__wrapped__, found.__self__)
        found = method._made_of(bound, method._options)
    if not isinstance(found, Derivative):
        if isinstance(found, Pullback):
            raise UsageError(
                f"{args.function} is what adc.vjp returned: "
                "name the function that was differentiated"
            )
        if not callable(found):
            raise UsageError(
                f"{args.function} is not a function, but {_kind(found)}: name the function itself"
            )
        made: Derivative = value_and_grad(found, _argnums(args), **options.compiled(args))
        return made
    if args.argnums is not None:
        raise UsageError(f"--argnums: {args.function} is differentiated already")
    given = options.compiled(args)
    for name in ("remat", "memory", "offload"):
        if name in given and isinstance(found, Jitted):
            raise UsageError(f"--{name}: {found!r} has no reverse code, and so no plan")
    if not given:
        return found
    # What is given replaces the derivative's own options, and those that it excludes.
    excluded = {name: None for name in ("remat", "memory") if {"remat", "memory"} & given.keys()}
    if "target" in given:
        excluded |= dict.fromkeys(("offload", "parallel"))
    checked = Options.of("adc", PlanOptions, given)
    chosen = {name: getattr(checked, name) for name in {**excluded, **given}}
    return found._made_of(found.__wrapped__, replace(found._options, **chosen))


def _kind(value: Any) -> str:
    name = type(value).__name__
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def _argnums(args: argparse.Namespace) -> int | tuple[int, ...]:
    return 0 if args.argnums is None else args.argnums


# -- arguments -------------------------------------------------------------------------------------


def _arguments(
    fn: Callable[..., Any], module: Any, file: str, args: argparse.Namespace
) -> tuple[Any, ...]:
    if args.example is not None:
        make = _attribute(module, file, args.example)
        if isinstance(make, types.FunctionType):
            try:
                inspect.signature(make).bind()
            except TypeError as error:
                raise UsageError(
                    f"--example: {args.example}() cannot be called without arguments: {error}"
                ) from None
        made = make() if callable(make) else None
        if not isinstance(made, tuple):
            raise UsageError(
                f"--example: {args.example} is not a function that returns the tuple of arguments"
            )
        return made
    if args.args is not None:
        return samples(_split(args.args))
    texts: list[str] = []
    for name, param in inspect.signature(fn).parameters.items():
        if param.default is not param.empty or param.kind in (
            param.VAR_POSITIONAL,
            param.VAR_KEYWORD,
        ):
            continue
        annotation = param.annotation
        text = annotation.strip("'\"") if isinstance(annotation, str) else None
        if isinstance(annotation, type):
            text = annotation.__name__
        if annotation is param.empty or text is None or not _is_type(text):
            raise UsageError(
                f"the type of {name!r} is not known: give --args, or --example, or annotate it "
                f'like `{name}: float` or `{name}: "f64[:]"`'
            )
        texts.append(text)
    return samples(texts)


def _split(text: str) -> list[str]:
    """Return the parts between commas that stand outside brackets and quotes."""
    parts, depth, quote = [""], 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        depth += (sign in "([{") - (sign in ")]}") if not quote else 0
        if sign == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]


def _is_type(text: str) -> bool:
    if text in _GENERATORS:
        return True
    try:
        _parse(text)
    except ValueError:
        return False
    return True


def _parse(text: str) -> tuple[Scalar | Array, tuple[int, ...]]:
    """Return a type and the shape of a sample of it."""
    if text.startswith(STORED_HALF):
        raise ValueError(f"not a type of programs: {text!r}")
    sized = _SIZED.fullmatch(text)
    if sized is None:
        return parse_type(text), ()
    axes = [part.strip() for part in sized["axes"].split(",") if part.strip()]
    ty = parse_type(f"{sized['dtype']}[{', '.join(':' * len(axes))}]{sized['layout']}")
    return ty, tuple([_EXTENT if part == ":" else int(part) for part in axes])


def samples(texts: Sequence[str]) -> tuple[Any, ...]:
    """Return an argument for each type or value; the result is deterministic.

    >>> samples(["int", "f64[2]", "'ab'"])
    (3, array([0.76978671, 0.54097352]), 'ab')
    """
    rng = np.random.default_rng(0)
    return tuple([_sample(text, rng) for text in texts])


def _sample(text: str, rng: np.random.Generator) -> Any:
    if not _is_type(text):
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError):
            raise UsageError(
                f"{text!r} is neither a type nor a value; types are bool, int, float, "
                f"{', '.join(_DTYPES)}, Generator, RandomState, and arrays like f64[:, :]"
            ) from None
    if text in _GENERATORS:
        return _GENERATORS[text](0)
    ty, shape = _parse(text)
    if isinstance(ty, Array):
        return _array(ty, shape, rng)
    if ty.weak:
        return {"b": True, "i": _INTEGER, "f": float(rng.uniform(0.5, 1.5))}[ty.kind]
    value = rng.uniform(0.5, 1.5) if ty.kind == "f" else _INTEGER
    return ty.numpy.type(value)


def _array(ty: Array, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    # Floats near 1 suit logarithms and roots, integers below the extent suit indices.
    draw = rng.uniform(0.5, 1.5, shape) if ty.kind == "f" else rng.integers(0, _EXTENT, shape)
    made = draw.astype(ty.numpy)
    if ty.layout == "C":
        return made
    # Arrays that are not contiguous: every second element along the last axis.
    wide: np.ndarray[Any, Any] = np.repeat(made, 2, axis=-1)
    return wide[..., ::2]
