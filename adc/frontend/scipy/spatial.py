"""`scipy.spatial`: distances, and rotations as objects."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Any

from adc.frontend.core.bindings import ArrayRef, Binding, Static, static
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.numpy import library
from adc.frontend.numpy.plain import composed
from adc.frontend.scipy.linalg import call, prepared
from adc.frontend.values import arguments, views
from adc.frontend.values.arguments import Given, Handler
from adc.ir.errors import TypeMismatchError
from adc.ir.foreign import STAND_INS, StandIn
from adc.library.scipy import distance, rotations

# Metrics by SciPy's names: the function, and the argument that it needs.
_METRICS: dict[str, tuple[Callable[..., Any], str]] = {
    name: (fn, needed)
    for fn, needed, names in (
        (distance.euclidean, "", "euclidean euclid eu e"),
        (distance.sqeuclidean, "", "sqeuclidean sqe sqeuclid"),
        (distance.cityblock, "", "cityblock cblock cb c"),
        (distance.chebyshev, "", "chebychev chebyshev cheby cheb ch"),
        (distance.minkowski, "p", "minkowski mi m pnorm"),
        (distance.cosine, "", "cosine cos"),
        (distance.correlation, "", "correlation co"),
        (distance.canberra, "", "canberra"),
        (distance.braycurtis, "", "braycurtis"),
        (distance.seuclidean, "V", "seuclidean se s"),
        (distance.mahalanobis, "VI", "mahalanobis mahal mah"),
    )
    for name in names.split()
}
# Norms of differences: SciPy's are numbers of Python in some precisions.
_NORMS = (distance.euclidean, distance.seuclidean)
_DEFAULTS = {"V": distance.variances, "VI": distance.precisions}


def _array(lo: Lowerer, value: Binding, rank: int, word: str, node: ast.Call) -> Binding:
    """Return an argument that must be an array with so many axes."""
    found = prepared(lo, value, node)
    if not isinstance(found, ArrayRef) or views.rank_of(lo, found) != rank:
        raise TypeMismatchError(
            f"`{word}` of `{ast.unparse(node.func)}` is {kind_of(found)}", lo.span(node),
            "pass a matrix of one point in each row" if rank == 2 else "pass a vector",
        )  # fmt: skip
    return found


def _settings(lo: Lowerer, given: Given, needed: str, node: ast.Call) -> Given:
    """Return the weights, and what a metric depends on."""
    found: Given = {}
    for word in ("w", "p", "V", "VI"):
        value = given.get(word)
        if arguments.is_none(value):
            continue
        assert value is not None
        if word == "w" and needed not in ("V", "VI"):
            found["w"] = _array(lo, value, 1, word, node)
        elif word == needed:
            found["more"] = (
                value if word == "p" else _array(lo, value, len(word), f"`{word}`", node)
            )
        else:
            raise lo.unsupported(
                f"the argument {word!r} of this metric", node, f"leave out `{word}`"
            )
    return found


def _of_rows(name: str, rows: tuple[str, ...]) -> Handler:
    own, of_program = getattr(distance, name), getattr(distance, f"{name}_of")

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        spec = f"{' '.join(word.upper() for word in rows)} metric? * out? p? w? V? VI?"
        given = arguments.match(lo, spec, args, kwargs, node)
        if not arguments.is_none(given.pop("out", None)):
            raise lo.unsupported(
                f"`scipy.spatial.distance.{name}` with `out`", node, "assign to it: `out[:] = ...`"
            )
        points = {word: _array(lo, given[word.upper()], 2, word.upper(), node) for word in rows}
        metric = given.get("metric", static("euclidean"))
        if isinstance(metric, Static) and isinstance(metric.value, str):
            if metric.value.lower() not in _METRICS:
                raise lo.unsupported(
                    f"`scipy.spatial.distance.{name}` with the metric {metric.value!r}", node,
                    "pass one of 'euclidean', 'sqeuclidean', 'cityblock', 'chebyshev', "
                    "'minkowski', 'cosine', 'correlation', 'canberra', 'braycurtis', 'seuclidean', "
                    "'mahalanobis', or a function of two vectors",
                )  # fmt: skip
            fn, needed = _METRICS[metric.value.lower()]
            more = _settings(lo, given, needed, node)
            if needed in _DEFAULTS and "more" not in more:
                more["default"] = static(_DEFAULTS[needed])
            elif needed == "p" and "more" not in more:
                more["more"] = static(2.0)
            return call(lo, own, {**points, "metric": static(fn), **more}, node)
        if given.keys() & {"p", "w", "V", "VI"}:
            raise lo.unsupported(
                f"`scipy.spatial.distance.{name}` with arguments for a function", node,
                "pass a `lambda` that has them",
            )  # fmt: skip
        return call(lo, of_program, {**points, "metric": metric}, node)

    return handler


def _of_vectors(fn: Callable[..., Any], spec: str, needed: str = "") -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        given = arguments.match(lo, spec, args, kwargs, node)
        pair = {word: _array(lo, given[word], 1, word, node) for word in ("u", "v")}
        metric = fn
        if "centered" in given and not arguments.flag(lo, given["centered"], node, "`centered`"):
            metric = distance.uncentered
        more = _settings(lo, given, needed, node)
        if needed == "p" and "more" not in more:
            more["more"] = static(2.0)
        run = distance.length if fn in _NORMS else distance.of_vectors
        return call(lo, run, {**pair, "metric": static(metric), **more}, node)

    return handler


def _squareform(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    given = arguments.match(lo, "X force? checks?", args, kwargs, node)
    x = prepared(lo, given["X"], node)
    rank = views.rank_of(lo, x) if isinstance(x, ArrayRef) else 0
    force = arguments.text(lo, given.get("force"), "no", node, "`force`").lower()
    if rank not in (1, 2) or (force, rank) in (("tomatrix", 2), ("tovector", 1)):
        raise TypeMismatchError(
            f"`X` of `scipy.spatial.distance.squareform` is {kind_of(x)}", lo.span(node),
            "pass a vector of distances, or a matrix of them",
        )  # fmt: skip
    if rank == 1:
        return call(lo, distance.squareform_of_vector, {"x": x}, node)
    checks = arguments.flag(lo, given.get("checks", lo.num(True)), node, "`checks`")
    return call(lo, distance.squareform_of_matrix, {"x": x, "checks": lo.num(checks)}, node)


NAMED: dict[str, Handler] = {
    "cdist": _of_rows("cdist", ("xa", "xb")),
    "pdist": _of_rows("pdist", ("x",)),
    "squareform": _squareform,
    "minkowski": _of_vectors(distance.minkowski, "u v p? w?", "p"),
    "seuclidean": _of_vectors(distance.seuclidean, "u v V", "V"),
    "mahalanobis": _of_vectors(distance.mahalanobis, "u v VI", "VI"),
    "correlation": _of_vectors(distance.correlation, "u v w? centered?"),
    **{
        fn.__name__: _of_vectors(fn, "u v w?")
        for fn in (
            distance.euclidean, distance.sqeuclidean, distance.cityblock, distance.chebyshev,
            distance.cosine, distance.canberra, distance.braycurtis,
        )
    },
}  # fmt: skip
library.enter_named({f"scipy.spatial.distance.{name}": each for name, each in NAMED.items()})


# -- rotations -------------------------------------------------------------------------------------


def _rotation(items: dict[str, Any]) -> Any:
    """Return a rotation of SciPy's, of its attributes."""
    quat = items["_quat"]
    cls = sys.modules["scipy.spatial.transform"].Rotation
    return cls(quat if items["shape"] else quat[0], normalize=False)


_TRANSFORM = "scipy.spatial.transform"
STAND_INS[f"{_TRANSFORM}.Rotation"] = StandIn(
    rotations.Rotation, ("_quat", "shape"), ("shape",), _rotation
)
STAND_INS[f"{_TRANSFORM}.Slerp"] = StandIn(
    rotations.Slerp, ("times", "timedelta", "rotations", "rotvecs")
)
library.enter_named(
    {
        f"{_TRANSFORM}.{cls.__name__}": composed.constructed(cls)
        for cls in (rotations.Rotation, rotations.Slerp)
    }
    | {
        f"{_TRANSFORM}.Rotation.{fn.__name__}": composed.in_python(fn, arrays=True)
        for fn in rotations.MAKERS
    }
)
