"""Random generators: how they are made and found, their methods, and the rows of draws."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from adc.frontend.core import bindings, numbers, outside
from adc.frontend.core.bindings import (
    NONE,
    ArrayRef,
    Binding,
    Bound,
    NamedTuple,
    Num,
    RecordOf,
    Static,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.inputs import flatten, instances
from adc.frontend.numpy.random import distributions, draws, integers
from adc.frontend.numpy.random.draws import LEGACY, METHODS, U64
from adc.frontend.values import arguments, elementwise
from adc.frontend.values.arguments import Handler, is_none
from adc.ir.builder import integer
from adc.ir.core import Literal, Operand
from adc.ir.errors import TypeMismatchError
from adc.ir.opdef import OPS
from adc.ir.ops.ziggurat import DTYPE_OF
from adc.library import random, twister

# They enter methods.
assert distributions
assert integers
# Functions of `np.random` that are no methods of its generator, and what they do.
_FUNCTIONS = {"seed": "seed", "sample": "random_sample", "ranf": "random_sample"}


def attribute(lo: Lowerer, owner: NamedTuple, name: str, node: ast.AST) -> Binding:
    """Lower an attribute of a generator: a method."""
    _method_of(lo, owner, name, node)
    return Bound(owner, name)


def of_seed(lo: Lowerer, owner: NamedTuple, name: str, node: ast.AST) -> Binding:
    """Lower the number that a `SeedSequence` is made from."""
    (held,) = owner.record.items
    if name == "entropy" and is_none(held):
        what = "`.entropy` of a `SeedSequence` without a seed"
        numbers.leave(lo, what, node, draws.SEEDLESS)
    if name != "entropy" or owner.record.keys != (name,):
        raise lo.unsupported(
            f"`.{name}` of a {owner.cls.__name__}", node, "create generators from numbers"
        )
    return held


def method(
    lo: Lowerer, bound: Bound, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of a method."""
    owner = bound.owner
    assert isinstance(owner, NamedTuple)
    return _method_of(lo, owner, bound.name, node)(lo, [owner, *args], kwargs, node)


def _method_of(lo: Lowerer, owner: NamedTuple, name: str, node: ast.AST) -> Handler:
    """Return what lowers a method of a generator."""
    methods = LEGACY if bindings.is_legacy(owner) else METHODS
    if name not in methods:
        what = f"`.{name}` of a random generator"
        if bindings.is_legacy(owner):
            what = f"`.{name}` of a `RandomState`"
            if hasattr(np.random.Generator, name):
                raise lo.unsupported(what, node, "draw from the result of `np.random.default_rng`")
        raise lo.unsupported(what, node, f"adc has {', '.join(sorted(methods))}")
    return methods[name]


# -- generators ------------------------------------------------------------------------------------


def of_module(
    lo: Lowerer, callee: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding | None:
    """Lower a call of something of `np.random`; return None for anything else."""
    if not (getattr(callee, "__module__", None) or "").startswith("numpy.random"):
        return None
    if callee is np.random.default_rng:
        return _default_rng(lo, args, kwargs, node)
    if instances.is_legacy_class(callee):
        return _random_state(lo, args, kwargs, node)
    name = getattr(callee, "__name__", str(callee))
    if name in _MADE:
        return _MADE[name](lo, args, kwargs, node)
    if name in _FUNCTIONS:
        state = outside.global_generator(lo)
        return method(lo, Bound(state, _FUNCTIONS[name]), args, kwargs, node)
    raise lo.unsupported(
        f"`np.random.{name}`", node, "pass the result of `np.random.default_rng` as an argument"
    )


def _default_rng(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower ``np.random.default_rng(seed)``."""
    given = arguments.match(lo, "seed?", args, kwargs, node)
    seed = given.get("seed")
    if seed is not None and bindings.is_generator(seed):
        if bindings.is_legacy(seed):
            raise lo.unsupported(
                "a `Generator` with the bits of a `RandomState`",
                node,
                "draw from the `RandomState`",
            )
        return seed
    if isinstance(seed, NamedTuple) and bindings.is_seed(seed):
        (held,) = seed.record.items
        if isinstance(held, ArrayRef):
            return bindings.generator_of(held)
        seed = held
    if is_none(seed):
        return bindings.generator_of(NONE)
    operand = _seed(lo, seed, node)
    with lo.at(node):
        ok = numbers.apply(lo, "ge", operand, numbers.zero_of(numbers.scalar_type(operand)))
        numbers.check(lo, ok, "ValueError", "expected non-negative integer")
        if not isinstance(operand, Literal):
            made = draws.call(lo, random.seeded, [Num(draws.word(lo, operand))], node)
            assert isinstance(made, ArrayRef)
            return bindings.generator_of(made)
        found = flatten.words(np.random.default_rng(int(operand.value))).tolist()
        words = lo.builder.apply("full", Literal(0, U64), integer(len(found)), params=("u64",))
        for k, word in enumerate(found):
            words = lo.builder.store(words, [integer(k)], Literal(word, U64))
        return bindings.generator_of(lo.new_array(words, (integer(len(found)),), "rng"))


def _seed_sequence(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower ``np.random.SeedSequence(seed)``, of a number."""
    seed = arguments.match(lo, "entropy?", args, kwargs, node).get("entropy")
    if not is_none(seed):
        seed = Num(_seed(lo, seed, node))
    return NamedTuple(np.random.SeedSequence, RecordOf(("entropy",), (seed or NONE,)))


def _pcg64(lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call) -> Binding:
    """Lower ``np.random.PCG64(seed)``."""
    made = _default_rng(lo, args, kwargs, node)
    assert isinstance(made, NamedTuple)
    return NamedTuple(np.random.PCG64, made.record)


def _generator(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower ``np.random.Generator(bits)``."""
    bits = arguments.match(lo, "bit_generator", args, kwargs, node)["bit_generator"]
    if not (isinstance(bits, NamedTuple) and bits.cls is np.random.PCG64):
        raise lo.unsupported(
            f"a random generator with the bits of {kind_of(bits)}", node, "use `np.random.PCG64`"
        )
    return _default_rng(lo, [bits], {}, node)


_MADE: dict[str, Handler] = {
    "SeedSequence": _seed_sequence, "PCG64": _pcg64, "Generator": _generator
}  # fmt: skip


def _random_state(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower ``np.random.RandomState(seed)``."""
    given = arguments.match(lo, "seed?", args, kwargs, node)
    if is_none(given.get("seed")):
        return bindings.generator_of(NONE, np.random.RandomState)
    operand = _seed(lo, given.get("seed"), node)
    with lo.at(node):
        made = draws.call(lo, twister.seeded, [Num(draws.word(lo, operand))], node)
        assert isinstance(made, ArrayRef)
        return bindings.generator_of(made, np.random.RandomState)


@draws.legacy("generator seed?", "seed")
def _reseeded(lo: Lowerer, given: arguments.Given, node: ast.Call) -> Binding:
    """Lower ``generator.seed(seed)``."""
    operand = _seed(lo, given.get("seed"), node)
    with lo.at(node):
        words = draws.state_of(lo, given["generator"], node)
        draws.call(lo, twister.seed, [words, Num(draws.word(lo, operand))], node)
    return Static(None)


def _seed(lo: Lowerer, seed: Binding | None, node: ast.Call) -> Operand:
    """Return a seed, an integer."""
    if is_none(seed):
        raise lo.unsupported("a random generator without a seed", node, draws.SEEDLESS)
    assert seed is not None
    operand = elementwise.number(lo, seed, node, "a seed")
    if operand.type.kind not in "iu":
        raise TypeMismatchError(f"a seed must be an integer, not {kind_of(seed)}", lo.span(node))
    return operand


def _row(name: str) -> Handler:
    """Lower a function of `adc.library.random` that stands for a row."""

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        operands = [elementwise.number(lo, arg, node) for arg in args]
        return Num(lo.builder.apply(name, *operands))

    return handler


ROWS: dict[Any, Handler] = {
    getattr(random, name): _row(name)
    for name in ("pcg64_high", "pcg64_word", "mt19937_word", "bits_of_float", "float_of_bits",
                 "libm_exp", "libm_expm1", "libm_log", "libm_log1p", "libm_pow", "by_rejection",
                 *DTYPE_OF)
}  # fmt: skip
assert {fn.__name__ for fn in ROWS} <= set(OPS)
