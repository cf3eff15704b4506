"""`scipy.interpolate`: its classes, which code uses as classes of `adc.library`."""

from __future__ import annotations

from adc.frontend.numpy import library
from adc.frontend.numpy.plain import composed
from adc.ir.foreign import STAND_INS, StandIn
from adc.library.scipy.interpolate import (
    bivariate,
    bsplines,
    cubic,
    piecewise,
    tables,
    univariate,
)

_PIECEWISE = ("c", "x", "extrapolate", "axis")


_SPLINE = ("_eval_args", "ext")
_SURFACE = ("tck", "degrees")

# The attributes of their instances that SciPy's have as well.
_CLASSES: dict[type, tuple[str, ...]] = {
    piecewise.PPoly: _PIECEWISE,
    **{getattr(cubic, name): _PIECEWISE for name in cubic.__all__},
    bsplines.BSpline: ("t", "c", "k", "extrapolate", "axis"),
    univariate.InterpolatedUnivariateSpline: _SPLINE,
    bivariate.RectBivariateSpline: _SURFACE,
    tables.RegularGridInterpolator: ("grid", "values", "method", "bounds_error", "fill_value"),
    tables.interp1d: (
        "x", "y", "axis", "bounds_error", "_kind", "_spline", "_extrapolate", "_fill_value_below",
        "_fill_value_above",
    ),
}  # fmt: skip

for _cls, _attributes in _CLASSES.items():
    _name = f"scipy.interpolate.{_cls.__name__}"
    STAND_INS[_name] = StandIn(_cls, _attributes)
    library.enter_named({_name: composed.constructed(_cls, ("axis",))})
# Classes that no program makes.
for _cls in (univariate.UnivariateSpline, univariate.LSQUnivariateSpline):
    STAND_INS[f"scipy.interpolate.{_cls.__name__}"] = StandIn(_cls, _SPLINE)
for _cls in (
    bivariate.BivariateSpline, bivariate.SmoothBivariateSpline, bivariate.LSQBivariateSpline,
):  # fmt: skip
    STAND_INS[f"scipy.interpolate.{_cls.__name__}"] = StandIn(_cls, _SURFACE)
STAND_INS["scipy.interpolate._fitpack2._DerivedBivariateSpline"] = StandIn(
    bivariate.DerivedBivariateSpline, _SURFACE
)

library.enter_named(
    {
        f"scipy.interpolate.{fn.__name__}": composed.in_python(fn, ("axis", "order"))
        for fn in (
            bsplines.make_interp_spline, tables.interpn, bivariate.bisplev, univariate.splder,
            univariate.splantider, univariate.splrep,
        )
    }
    | {
        f"scipy.interpolate.{fn.__name__}": composed.in_python(fn, arrays=True)
        for fn in (univariate.splev, univariate.splint, univariate.spalde)
    }
    # Which class its result has depends on the arguments.
    | {"scipy.interpolate.UnivariateSpline": composed.in_python(univariate.smoothing_spline)}
)  # fmt: skip
