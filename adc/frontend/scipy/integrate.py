"""`scipy.integrate`: integrals of samples."""

from __future__ import annotations

from adc.frontend.numpy import library
from adc.frontend.numpy.plain import composed
from adc.library.scipy import integrate

library.enter_named(
    {
        f"scipy.integrate.{name}": composed.in_python(getattr(integrate, name), ("axis", "order"))
        for name in integrate.__all__
    }
)
