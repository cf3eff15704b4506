"""Differentiate calls by what is declared of the callee, not by its statements.

A callee may have a `CustomRule` by a user, or be `Derived`: a derivative of another function. The
derivatives of these are again derivatives of the same function. With ``f`` a function of ``x``
that returns one number, ``g`` its gradient and ``D[v]`` a derivative along ``v``, ::

    r = D[v] g(x)         r.dot  =  D[v] D[x.dot] g(x)  +  D[v.dot] g(x)
                          x.ct  +=  D[v] D[r.ct] g(x)
                          v.ct  +=  D[r.ct] g(x)

because derivatives commute. Reverse over reverse is forward over reverse: no second tape exists.

Where a user's rule says what a derivative is, they need not commute. Then ``r.ct`` times `g` is the
derivative ``h`` of `f` along ``r.ct``, in forward mode, in which a reverse rule is transposed. The
cotangent of `x` is the gradient of ``h``: reverse over forward.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from adc.ir.analysis.linearity import Degree, Nonlinear, nonlinear
from adc.ir.builder import Builder, zero
from adc.ir.core import Call, CustomRule, Derived, Function, Operand, Value, derivative_type
from adc.ir.errors import NotDifferentiableError, Span
from adc.ir.functions import contracted, reached, users_name, without_prints
from adc.ir.types import Array
from adc.ir.walk import Names, substitute_stmt

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
        name = self.fresh(f"{of.name}_d{len(along) + 1}")
        made = Derived(name, "reverse", without_prints(of) if along else of, wrt, along)
        self.declared[name] = made
        return made

    def fresh(self, base: str) -> str:
        """Return a name that no function has."""
        name, count = base, 1
        while name in self._taken:
            count += 1
            name = f"{base}_{count}"
        self._taken.add(name)
        return name

    def along(self, of: Function, wrt: tuple[int, ...]) -> Function:
        """Return the derivative of the first result of `of` along directions for `wrt`.

        It has the parameters of `of`, then the directions.
        """
        slope = Derived(f"{of.name}_slope", "forward", without_prints(of), wrt)
        names = Names.of(of)
        dots = [
            Value(names.fresh(f"{of.params[k].name}.dot"), derivative_type(of.params[k].type))
            for k in wrt
        ]
        results = tuple(Value(names.fresh("r"), ty) for ty in slope.result_types())
        params = (*of.params, *dots)
        call = Call(results, names.fresh("C0"), slope.name, params)
        name = f"{of.name}_along"
        return Function(name, params, (call,), (results[len(of.results)],), derived=(slope,))

    def transposed(self, rule: CustomRule, wrt: tuple[int, ...], loc: Span | None) -> Derived:
        """Return the transpose of a tangent function, which is linear: it maps cotangents."""
        assert rule.kind == "valued"
        tangent = self._whole(rule.functions[0])
        half = len(tangent.results) - sum(r.type.kind == "f" for r in tangent.results) // 2
        moving = range(half, len(tangent.results))
        count = len(tangent.params) - len(rule.positions)
        problem = nonlinear(tangent, tangent.params[count:], moving)
        if problem is not None:
            raise _not_linear(users_name(tangent.name), problem, loc)
        return self.get(contracted(without_prints(reached(tangent)), moving), wrt, ())

    def pushed(self, fn: Function) -> Derived:
        """Return the transpose of a reverse function, which is linear: it maps tangents."""
        reverse, cts = self._reverse(fn)
        of = contracted(without_prints(reached(reverse)), range(len(reverse.results)))
        return self.get(of, tuple(cts), ())

    def problem(self, fn: Function) -> Nonlinear | None:
        """Return why a reverse function is not linear in the cotangents, None if it is."""
        reverse, cts = self._reverse(fn)
        params = [reverse.params[k] for k in cts]
        return nonlinear(reverse, params, range(len(reverse.results)))

    def no_forward(self, callee: Function, loc: Span | None) -> NotDifferentiableError:
        """Return the error for a function whose reverse rule cannot be transposed."""
        problem = self.problem(callee)
        line = f" (line {problem.loc.line})" if problem and problem.loc else ""
        return NotDifferentiableError(
            f"{users_name(callee.name)}() has a rule for reverse mode only, which is not linear in "
            f"the cotangents{line}",
            loc,
            "give it one for forward mode: `jvp=` of `adc.external`, or `adc.custom_jvp`, "
            "which serves both modes",
        )

    def _reverse(self, fn: Function) -> tuple[Function, range]:
        """Return the reverse function, and where it takes cotangents: behind what was kept."""
        assert fn.rule is not None
        record, reverse = (self.functions[name] for name in fn.rule.functions[:2])
        kept = len(record.results) - len(fn.results)
        return self._whole(reverse.name), range(kept, len(reverse.params))

    def _whole(self, name: str) -> Function:
        # The rule's own function is among its callees: the rule may call it.
        callees = tuple(self.functions.values())
        return replace(self.functions[name], callees=callees, derived=self.all())


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


def with_tangents(fn: Function) -> Function:
    """Return `fn` with a tangent function for every rule that has a reverse function alone.

    That one is linear, or it stays alone: tangents are mapped by its transpose. ::

        fn square_tangent(%x: f64, %x.dot: f64) -> f64, f64 {
          %y %kept = call square_record(%x)
          %y.dot = call square_reverse_weighted_d1(%kept, 0, %x.dot)
          return %y %y.dot
        }
    """
    found = [each for each in fn.callees if each.rule is not None and _lacks_tangent(each.rule)]
    if not found:
        return fn
    known = Derivatives(fn)
    callees = {each.name: each for each in fn.callees}
    for each in found:
        assert each.rule is not None
        if known.problem(each) is not None:
            continue
        recorder = callees[each.rule.functions[0]]
        plain = replace(recorder, name=known.fresh(f"{recorder.name}_kept"), rule=None)
        name = known.fresh(f"{users_name(each.name)}_tangent")
        made = _pushed(each, plain, name, known.pushed(each))
        callees |= {plain.name: plain, name: made}
        functions = (*each.rule.functions, name)
        callees[each.name] = replace(each, rule=replace(each.rule, functions=functions))
    return replace(fn, callees=tuple(callees.values()), derived=known.all())


def valued(fn: Function, tangent: Function) -> Function:
    """Return the function whose tangent function is given, with the value that that one returns.

    Code that is differentiated calls it, so that the rule says what second derivatives are.
    """
    assert fn.rule is not None
    count = len(tangent.params) - len(fn.rule.positions)
    params, dots = tangent.params[:count], tangent.params[count:]
    builder = Builder(Names.of(tangent))
    zeros: dict[Value, Operand] = {
        dot: _zeros(builder, params[k]) for k, dot in zip(fn.rule.positions, dots, strict=True)
    }
    body = (*builder.stmts, *(substitute_stmt(stmt, zeros) for stmt in tangent.body))
    results = tuple(
        zeros.get(each, each) if isinstance(each, Value) else each
        for each in tangent.results[: len(fn.results)]
    )
    rule = replace(fn.rule, kind="valued")
    return Function(f"{fn.name}_value", params, body, results, rule=rule)


def _lacks_tangent(rule: CustomRule) -> bool:
    return rule.kind == "vjp" and bool(rule.functions) and rule.tangent is None


def _pushed(fn: Function, recorder: Function, name: str, transposed: Derived) -> Function:
    """Return the tangent function of `fn`, by the transpose of its reverse function."""
    assert fn.rule is not None
    builder = Builder(Names.of(fn))
    params = [builder.value(param.name, param.type) for param in fn.params]
    dots = [
        builder.value(f"{params[k].name}.dot", derivative_type(params[k].type))
        for k in fn.rule.positions
    ]
    found = tuple(builder.value("r", result.type) for result in recorder.results)
    builder.emit(Call(found, builder.names.fresh("C0"), recorder.name, tuple(params)))
    own, kept = found[: len(fn.results)], found[len(fn.results) :]
    floats = [value for value in own if value.type.kind == "f"]
    cts = [_zeros(builder, value) for value in floats]
    slopes = tuple(builder.value("r.dot", derivative_type(value.type)) for value in floats)
    args = (*kept, *cts, *dots)
    builder.emit(Call(slopes, builder.names.fresh("C0"), transposed.name, args))
    return Function(name, (*params, *dots), tuple(builder.stmts), (*own, *slopes))


def _zeros(builder: Builder, value: Value) -> Operand:
    ty = derivative_type(value.type)
    if not isinstance(ty, Array):
        return zero(ty)
    sizes = [builder.apply("dim", value, params=(k,), hint="n") for k in range(ty.rank)]
    return builder.apply("full", zero(ty.element), *sizes, params=(ty.dtype,), hint="ct")


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


def commute(of: Function) -> bool:
    """Whether derivatives of a function commute: no rule of a user says what they are."""
    inner = (each for derived in of.derived for each in derived.of.callees)
    rules = (each.rule for each in (of, *of.callees, *inner))
    return all(rule is None or rule.exact for rule in rules)


__all__ = ["Derivatives", "commute", "no_rule", "not_covered", "valued", "with_tangents"]
