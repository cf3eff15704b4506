"""Differentiate calls by what is declared of the callee, not by its statements.

A callee may have a `CustomRule` by a user, or be `Derived`: a derivative of another function. The
derivatives of these are again derivatives of the same function. With ``f`` a function of ``x``
that returns one number, ``g`` its gradient and ``D[v]`` a derivative along ``v``, ::

    r = D[v] g(x)         r.dot  =  D[v] D[x.dot] g(x)  +  D[v.dot] g(x)
                          x.ct  +=  D[v] D[r.ct] g(x)
                          v.ct  +=  D[r.ct] g(x)

because derivatives commute. Reverse over reverse is forward over reverse: no second tape exists.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from adc.ir.analysis.linearity import Degree, Nonlinear, nonlinear
from adc.ir.core import CustomRule, Derived, Function
from adc.ir.errors import NotDifferentiableError, Span
from adc.ir.functions import contracted, reached, users_name, without_prints

Groups = tuple[tuple[int, ...], ...]


class Derivatives:
    """The derivatives of functions that a function calls; asking for one may add it."""

    def __init__(self, fn: Function) -> None:
        self.functions: Mapping[str, Function] = {each.name: each for each in fn.callees}
        self.declared = {each.name: each for each in fn.derived}
        self._taken = {*self.functions, *self.declared, fn.name}

    def all(self) -> tuple[Derived, ...]:
        return tuple(self.declared.values())

    def opaque(self, name: str) -> Derived | Function | None:
        """Return the declaration of a callee; None if its statements are differentiated."""
        if name in self.declared:
            return self.declared[name]
        found = self.functions.get(name)
        return found if found is not None and found.rule is not None else None

    def get(self, of: Function, wrt: tuple[int, ...], along: Groups) -> Derived:
        """Return a derivative of `of`, in reverse mode."""
        for each in self.declared.values():
            if (each.mode, each.wrt, each.along) == ("reverse", wrt, along) and each.of == of:
                return each
        name = base = f"{of.name}_d{len(along) + 1}"
        count = 1
        while name in self._taken:
            count += 1
            name = f"{base}_{count}"
        self._taken.add(name)
        made = Derived(name, "reverse", without_prints(of) if along else of, wrt, along)
        self.declared[name] = made
        return made

    def transposed(self, rule: CustomRule, wrt: tuple[int, ...], loc: Span | None) -> Derived:
        """Return the transpose of a tangent function, which is linear: it maps cotangents."""
        assert rule.kind == "jvp"
        tangent = self.functions[rule.functions[0]]
        # The rule's own function is among its callees: the rule may call it.
        tangent = replace(tangent, callees=tuple(self.functions.values()), derived=self.all())
        half = len(tangent.results) - sum(r.type.kind == "f" for r in tangent.results) // 2
        moving = range(half, len(tangent.results))
        count = len(tangent.params) - len(rule.positions)
        problem = nonlinear(tangent, tangent.params[count:], moving)
        if problem is not None:
            raise _not_linear(users_name(tangent.name), problem, loc)
        return self.get(contracted(without_prints(reached(tangent)), moving), wrt, ())


def _not_linear(name: str, problem: Nonlinear, loc: Span | None) -> NotDifferentiableError:
    """Return the error for a tangent rule that cannot be transposed."""
    if problem.degree is Degree.NONLINEAR:
        return NotDifferentiableError(
            f"the rule of {name}() is not linear in the tangents, so that it has no reverse mode",
            problem.loc or loc,
            "add up tangents, each times what depends on the primals alone, and keep the two in "
            "arrays of their own; a rule that iterates on tangents needs `adc.custom_vjp`",
        )
    return NotDifferentiableError(
        f"the tangent that the rule of {name}() returns has a part that does not depend on the "
        "tangents, so that it has no reverse mode",
        problem.loc or loc,
        "a tangent is zero where the tangents of all arguments are zero",
    )


def not_covered(callee: Function, position: int, loc: Span | None) -> NotDifferentiableError:
    """Return the error for a value that a function depends on and its rule does not mention."""
    name = callee.params[position].name.split(".")[0]  # not of one part of a complex number
    return NotDifferentiableError(
        f"the rule of {users_name(callee.name)}() says nothing about {name!r}, which the function "
        "uses",
        loc,
        "pass it as an argument of the function, so that the rule can give its derivative",
    )


def no_rule(callee: Function, loc: Span | None) -> NotDifferentiableError:
    """Return the error for a function outside that has no derivative."""
    name = users_name(callee.name)
    return NotDifferentiableError(
        f"{name}() is called as it is, and an argument depends on what is differentiated",
        loc,
        f"give it a rule, `adc.external({name}, vjp=..., jvp=...)`, or pass "
        "`adc.stop_gradient(x)` for `x` if its derivative is zero",
    )


def check_symmetric(of: Function, loc: Span | None) -> None:
    """Raise where a user's rule is involved: derivatives by it need not commute."""
    for each in (of, *of.callees):
        if each.rule is not None and not each.rule.exact:
            raise NotDifferentiableError(
                f"a gradient is differentiated in reverse, and {users_name(each.name)}() in it has "
                "a rule of its own",
                loc,
                "use `adc.hvp`, `adc.jvp` or `adc.jacfwd` of the gradient: second derivatives that "
                "follow a custom rule are taken forward over reverse",
            )


__all__ = ["Derivatives", "check_symmetric", "no_rule", "not_covered"]
