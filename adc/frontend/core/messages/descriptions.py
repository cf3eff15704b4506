"""What errors call bindings: ``a number (f64)``, ``a list``, ``function 'f'``."""

from __future__ import annotations

import numpy as np

from adc.frontend.core.bindings import (
    Among,
    ArrayRef,
    Binding,
    Bound,
    Cell,
    Closure,
    DefaultRef,
    DequeRef,
    DictRef,
    DictView,
    Directional,
    Growing,
    Handle,
    Itself,
    Knot,
    Lazy,
    LeftOut,
    ListRef,
    Maybe,
    NamedTuple,
    Nested,
    Num,
    ObjectRef,
    OneOf,
    OrderedRef,
    Perhaps,
    Pooled,
    Pullback,
    Pushforward,
    RecordOf,
    Ruled,
    SetRef,
    Static,
    Transformed,
    TupleOf,
    Unbound,
    Unstable,
    VarsRef,
    Words,
    is_unset,
)
from adc.frontend.inputs import complexes


def kind_of(binding: Binding) -> str:
    """Return a description of a binding for errors."""
    match binding:
        case Num(operand=operand):
            return f"a number ({operand.type})"
        case ArrayRef(object=obj, view=()):
            return f"an array ({obj.type})"
        case ArrayRef(object=obj, view=(stage, *_)) if not stage.dims:
            return f"a 0-d array ({obj.type.element})"
        case ArrayRef(object=obj, view=(stage, *_)):
            return f"a view of rank {len(stage.dims)} of an array ({obj.type})"
        case Lazy(type=ty, dims=dims):
            return f"an array ({ty}, rank {len(dims)})"
        case TupleOf(items=items):
            return f"a tuple of {len(items)}"
        case Cell(type=ty, sizes=tuple(sizes)):
            return f"arrays ({ty}, rank {len(sizes)})"
        case Cell(type=ty):
            return f"numbers ({ty})"
        case Growing(element=Cell() as cell):
            return f"one of {kind_of(cell)}"
        case Growing(element=element):
            return f"one of {kind_of(element).removeprefix('a ').replace('tuple', 'tuples')}"
        case Nested(cls=cls):
            return f"a {cls.__name__}"
        case Handle(like=like):
            return kind_of(like)
        case Pooled(keys=keys):
            return kind_of(RecordOf(keys, ()))
        case RecordOf(keys=keys):
            return f"one with {', '.join(map(repr, keys)) or 'nothing'}"
        case DequeRef():
            return "a deque"
        case ListRef():
            return "a list"
        case SetRef():
            return "a set"
        case VarsRef():
            return "what `vars` returns"
        case OrderedRef():
            return "an OrderedDict"
        case DefaultRef(keeps=keeps):
            return "a defaultdict" if keeps else "a Counter"
        case DictRef():
            return "a dict"
        case DictView(name=name):
            return f"the {name} of a dict"
        case NamedTuple(cls=complexes.Whole):
            return "a complex number or array"
        case ObjectRef(cls=cls) | NamedTuple(cls=cls):
            return f"a {cls.__name__}"
        case Static():
            return _kind_of_constant(binding)
        case Words():
            return "a string with numbers known only at run time"
        case Closure():
            return f"function {binding.name!r}"
        case Bound(name=name):
            return f"method {name!r}"
        case Ruled(primal=fn):
            return kind_of(fn)
        case Transformed(fn=fn, kind=kind):
            return f"`{kind}` of {kind_of(fn)}"
        case Knot(node=node):
            return f"function {getattr(node, 'name', '<lambda>')!r}"
        case Itself(name=name):
            return f"function {name!r}"
        case Pushforward():
            return "what `linearize` returned"
        case Pullback() | Directional():
            return "a pullback"
        case Maybe(inner=inner, absent=absent):
            return f"{kind_of(inner)} or {kind_of(absent)}"
        case Perhaps(inner=inner, blank=blank):
            return f"{kind_of(inner)} or {'a number' if blank else 'None'}"
        case OneOf(items=items) | Among(items=items):
            return " or ".join(kind_of(item) for item in items)
        case Unbound():
            return "unbound"
        case LeftOut(why=why):
            return f"what {why}"
        case Unstable():
            return "a value whose kind depends on the path"
    return f"a {type(binding).__name__.lower()}"


def _kind_of_constant(binding: Static) -> str:
    match binding.value:
        case None:
            return "None"
        case _ if is_unset(binding):
            return "unbound"
        case frozenset():
            return "a set"
        case np.ndarray() | np.generic() as value:  # of a kind that adc does not have
            return f"a {type(value).__name__} of dtype {value.dtype}"
        case str() | bytes() | int() | float() | complex() as value:
            return f"{type(value).__name__} {value!r}"
        case value:
            known = getattr(value, "__name__", None)
            return f"{type(value).__name__} {known!r}" if known else f"a {type(value).__name__}"
