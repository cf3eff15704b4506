"""`scipy.stats`: methods of its distributions, distributions with fixed parameters, summaries.

SciPy's distributions are objects. A method is found by the name of its distribution and its own.
One of a single variable is computed by a function of numbers that is lifted to arrays, so a density
of an array becomes part of the loop that needs it. Those of vectors are functions of arrays.
"""

from __future__ import annotations

import ast
import importlib
import sys
import types
from typing import Any

import numpy as np

from adc.frontend.control import program
from adc.frontend.core import outside
from adc.frontend.core.bindings import (
    NONE,
    ArrayRef,
    Binding,
    Lazy,
    NamedTuple,
    Num,
    RecordOf,
    Static,
    TupleOf,
    static,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.inputs.instances import is_distribution
from adc.frontend.inputs.places import Item, Place
from adc.frontend.numpy import library, linear, ufuncs
from adc.frontend.numpy.plain import composed
from adc.frontend.values import arguments, arrays, elementwise
from adc.frontend.values.arguments import Handler
from adc.ir.errors import TypeMismatchError
from adc.ir.types import F64
from adc.library.scipy.stats import summaries

_PACKAGE = "adc.library.scipy.stats"
# The module of each distribution, and its shapes.
_CONTINUOUS = {
    "norm": ("continuous", ""), "cauchy": ("continuous", ""), "laplace": ("continuous", ""),
    "logistic": ("continuous", ""), "expon": ("continuous", ""), "lognorm": ("continuous", "s"),
    "uniform": ("continuous", ""), "weibull_min": ("continuous", "c"),
    "gumbel_r": ("continuous", ""), "pareto": ("continuous", "b"), "halfnorm": ("continuous", ""),
    "halfcauchy": ("continuous", ""), "invgauss": ("lifetimes", "mu"),
    "recipinvgauss": ("lifetimes", "mu"), "fatiguelife": ("lifetimes", "c"),
    "skewnorm": ("skewed", "a"), "t": ("shaped", "df"), "gamma": ("shaped", "a"),
    "invgamma": ("shaped", "a"), "beta": ("shaped", "a b"), "chi2": ("shaped", "df"),
    "f": ("shaped", "dfn dfd"), "truncnorm": ("shaped", "a b"), "vonmises": ("shaped", "kappa"),
}  # fmt: skip
_DISCRETE = {
    "bernoulli": "p", "binom": "n p", "nbinom": "n p", "poisson": "mu", "geom": "p",
}  # fmt: skip
# Parameters, and those of each method before them.
_MULTIVARIATE = {
    "multivariate_normal": (
        "mean? cov? allow_singular?", {"logpdf": "x", "pdf": "x", "entropy": ""}
    ),
    "multivariate_t": (
        "loc? shape? df? allow_singular?", {"logpdf": "x", "pdf": "x", "entropy": ""}
    ),
    "dirichlet": (
        "alpha", {"logpdf": "x", "pdf": "x", "mean": "", "var": "", "entropy": ""}
    ),
    "multinomial": ("n p", {"logpmf": "x", "pmf": "x"}),
    "wishart": (
        "df? scale?", {"logpdf": "x", "pdf": "x", "mean": "", "var": "", "entropy": ""}
    ),
}  # fmt: skip
NAMES = (*_CONTINUOUS, *_DISCRETE, *_MULTIVARIATE)

_OF_X = ("cdf", "logcdf", "sf", "logsf", "ppf", "isf")
_OF_NOTHING = ("mean", "var", "std", "median", "entropy")
_METHODS = {
    True: {"pdf": "x", "logpdf": "x"}, False: {"pmf": "k", "logpmf": "k"},
}  # fmt: skip
# What a method needs that a distribution may not have.
_NEEDS = {"median": "ppf", "isf": "ppf", "sf": "cdf", "std": "var", "logcdf": "cdf", "logsf": "sf"}
_HINTS = {
    "rvs": "draw with `np.random.Generator`, outside of the distribution",
    "fit": "maximise the sum of `logpdf`, whose gradient adc computes",
    "expect": "sum or integrate in a loop",
    "interval": "call `ppf` for its two ends",
    "support": "write the ends, as functions of the parameters",
    "stats": "call `mean` and `var`",
    "moment": "call `mean` and `var`",
    "entropy": "SciPy integrates there; integrate in a loop, or use another distribution",
    "cdf": "SciPy integrates there; integrate in a loop, or use another distribution",
}
_ELSE = "`adc supported` lists the distributions; compute it outside the differentiated function"


def _row(name: str) -> Any:
    module = _CONTINUOUS[name][0] if name in _CONTINUOUS else "discrete"
    return getattr(importlib.import_module(f"{_PACKAGE}.{module}"), name)


def _has(row: Any, method: str) -> bool:
    """Whether a distribution has a method of its own, or one that follows from others."""
    own = getattr(row, method, None)
    if own is None or method in ("median", "std"):
        return method in _NEEDS and _has(row, _NEEDS[method])
    if own.__func__.__module__ != f"{_PACKAGE}.univariate" or method in ("pdf", "logpdf"):
        return True
    return method in _NEEDS and _has(row, _NEEDS[method])


def _refused(what: str, method: str) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        hint = _HINTS.get(method, _ELSE)
        if method.startswith("_"):
            hint = f"call the public method, `scipy.stats.{what.replace('._', '.')}`"
        raise lo.unsupported(f"`scipy.stats.{what}`", node, hint)

    return handler


# -- one variable ----------------------------------------------------------------------------------


def _parameters(name: str) -> str:
    if name in _CONTINUOUS:
        return f"{_CONTINUOUS[name][1]} loc? scale?"
    return f"{_DISCRETE[name]} loc?"


def _strong(lo: Lowerer, item: Binding, what: str, node: ast.Call) -> Binding:
    """Return a number as NumPy makes an array of it; what was left out is None."""
    if arguments.is_none(item):
        return NONE
    operand = elementwise.number(lo, item, node, what)
    if operand.type.kind not in "biuf":
        raise TypeMismatchError(f"{what} is not defined for complex numbers", lo.span(node))
    return Num(ufuncs.strong(lo, operand))


def _univariate(name: str, method: str) -> Handler:
    continuous = name in _CONTINUOUS
    first = "q" if method in ("ppf", "isf") else {**_METHODS[continuous]}.get(method, "x")
    if method in _OF_NOTHING:
        first = ""
    elif not continuous and method not in ("ppf", "isf"):
        first = "k"
    spec = f"{first} {_parameters(name)}"
    names = [word.rstrip("?") for word in spec.split()]
    what = f"`scipy.stats.{name}.{method}`"

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        row = _row(name)
        if not _has(row, method):
            raise lo.unsupported(what, node, _HINTS.get(method, _ELSE))
        given = arguments.match(lo, spec, args, kwargs, node)
        module: Any = importlib.import_module(f"{_PACKAGE}.univariate")
        fn = None if continuous else getattr(module, f"discrete_{method}", None)
        fn = fn or getattr(module, method)
        for word in spec.split():
            if not word.endswith("?") and arguments.is_none(given[word]):
                raise TypeMismatchError(f"{what} needs a number for {word!r}", lo.span(node))
        items = [arrays.as_operand(lo, given.get(each, NONE), node) for each in names]

        def compute(numbers: list[Binding]) -> Binding:
            exact = [_strong(lo, item, what, node) for item in numbers]
            if method == "entropy":  # SciPy computes it of Python's numbers
                exact = [
                    Num(lo.convert(each.operand, F64)) if isinstance(each, Num) else each
                    for each in exact
                ]
            held = dict(zip(names, exact, strict=True))
            before = [held.pop(first)] if first else []
            loc, scale = held.pop("loc"), held.pop("scale", NONE)
            shapes = TupleOf(tuple(held.values()))
            with lo.at(node):
                found = program.call_function(
                    lo, fn, [Static(row), *before, loc, scale, shapes], {}, node
                )
            return elementwise.value_of(lo, found, node)

        found = elementwise.lift(lo, items, compute, node)
        return Num(found.operand) if isinstance(found, Num) else found

    return handler


# -- several variables -----------------------------------------------------------------------------


def _multivariate(name: str, method: str) -> Handler:
    parameters, methods = _MULTIVARIATE[name]
    spec = f"{methods[method]} {parameters}"

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        given = arguments.match(lo, spec, args, kwargs, node)
        given = {key: item for key, item in given.items() if not arguments.is_none(item)}
        lenient = arguments.flag(lo, given.pop("allow_singular", None), node, "`allow_singular`")
        module: Any = importlib.import_module(f"{_PACKAGE}.multivariate")
        prepared: dict[str, Binding] = {}
        for key, item in given.items():
            item = arrays.as_operand(lo, item, node)
            array = isinstance(item, ArrayRef | Lazy)
            prepared[key] = elementwise.base_of(lo, item, node) if array else item  # type: ignore[arg-type]
            if lenient and key in ("cov", "shape"):
                prepared[key] = linear.run(lo, module.regular, [prepared[key]], {}, node)
        return linear.run(lo, getattr(module, f"{name}_{method}"), [], prepared, node)

    return handler


# -- calls -----------------------------------------------------------------------------------------


def _name_of(owner: Any) -> str:
    """Return the name of one of SciPy's distributions; it is empty for any other."""
    found = sys.modules.get("scipy.stats")
    for name in (getattr(owner, "name", ""), type(owner).__name__.removesuffix("_gen")):
        public = getattr(found, name, None) if isinstance(name, str) else None
        if public is owner:
            return name
        same = public is not None and type(public) is type(owner)
        if same and all(getattr(public, k, 0) == getattr(owner, k, 0) for k in ("a", "b")):
            return name
    return ""


def _method(name: str, method: str) -> Handler:
    if method == "freeze":
        return _freezing(name)
    if name in _MULTIVARIATE:
        known = method in _MULTIVARIATE[name][1]
        return _multivariate(name, method) if known else _refused(f"{name}.{method}", method)
    known = method in (*_OF_X, *_OF_NOTHING)
    if name in _CONTINUOUS or name in _DISCRETE:
        if known or method in _METHODS[name in _CONTINUOUS]:
            return _univariate(name, method)
    return _refused(f"{name}.{method}", method)


def _all_parameters(name: str) -> str:
    return _MULTIVARIATE[name][0] if name in _MULTIVARIATE else _parameters(name)


def _freezing(name: str) -> Handler:
    """Return the handler of a call of a distribution, which fixes its parameters."""

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        args, kwargs = elementwise.all_materialised(lo, args, kwargs, node)
        spec = _all_parameters(name)
        given = arguments.match(lo, spec, args, kwargs, node)
        words = [word.rstrip("?") for word in spec.split()]
        while words and arguments.is_none(given.get(words[-1])):
            words.pop()
        # Where a location is left out it is 0, as in SciPy, in results as well.
        if name not in _MULTIVARIATE and "scale" in words:
            given.setdefault("loc", lo.num(0))
        items = [given.get(word, NONE) for word in words]
        dist = getattr(sys.modules["scipy.stats"], name)
        made: Any = importlib.import_module(f"{_PACKAGE}.frozen").Frozen
        return NamedTuple(
            made, RecordOf(("_dist", "_parameters"), (Static(dist), TupleOf(tuple(items))))
        )

    return handler


# What holds the parameters of a distribution of vectors.
_ATTRIBUTES = {
    "multivariate_normal": ("mean", "cov", "allow_singular"),
    "multivariate_t": ("loc", "shape", "df", "allow_singular"),
    "dirichlet": ("alpha",), "multinomial": ("n", "p"), "wishart": ("df", "scale"),
}  # fmt: skip


def _captured(
    lo: Lowerer, owner: Any, place: Place | None, node: ast.Call
) -> tuple[list[Binding], dict[str, Binding]]:
    """Return the parameters that a captured distribution was made with, read at every call."""

    def read(value: Any, *steps: str | Item) -> Binding:
        if place is not None:
            return outside.reach(lo, place.to(*steps), value)
        if isinstance(value, np.ndarray):
            raise lo.unsupported(
                "a distribution that has arrays as parameters, and no name of its own,", node,
                "give it a global name, or make it inside the differentiated function",
            )  # fmt: skip
        return static(value)

    if isinstance(getattr(owner, "args", None), tuple):
        args = [read(value, "args", Item(k)) for k, value in enumerate(owner.args)]
        kwargs = {key: read(value, "kwds", Item(key)) for key, value in owner.kwds.items()}
        return args, kwargs
    name = _name_of(owner._dist)
    kwargs = {key: read(getattr(owner, key), key) for key in _ATTRIBUTES.get(name, ())}
    return [], kwargs


def _called(
    lo: Lowerer, callee: Static, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding | None:
    """Lower a call of a method of a distribution; return None for any other callee."""
    method = callee.value
    if not isinstance(method, types.MethodType) or not is_distribution(method.__self__):
        return None
    owner = method.__self__
    dist = getattr(owner, "dist", getattr(owner, "_dist", owner))
    called = method.__name__
    name = _name_of(dist)
    if not name:
        name = getattr(dist, "name", None) or type(dist).__name__
        return _refused(f"{name}.{called}", called)(lo, args, kwargs, node)
    if dist is not owner:
        place = callee.place
        if place is not None:
            place = Place(place.root, place.path[:-1])
        held, named = _captured(lo, owner, place, node)
        args, kwargs = [*args, *held], {**kwargs, **named}
    return _method(name, called)(lo, args, kwargs, node)


# What becomes part of the program: axes, and which formula is taken.
_CONSTANTS = ("axis", "order", "ddof", "bias", "fisher", "keepdims")
library.enter_named({f"scipy.stats.{name}": _freezing(name) for name in NAMES})
library.enter_named(
    {
        f"scipy.stats.{name}": composed.in_python(getattr(summaries, name), _CONSTANTS)
        for name in summaries.__all__
    }
)
library.enter_named({"scipy.stats.mstats.mquantiles": composed.in_python(summaries.mquantiles)})
library.enter_objects(_called)

__all__ = ["NAMES"]
