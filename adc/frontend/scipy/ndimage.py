"""`scipy.ndimage`: filters, and splines at coordinates."""

from __future__ import annotations

from adc.frontend.numpy import library
from adc.frontend.numpy.plain import composed
from adc.library.scipy.ndimage import filters, sampling

library.enter_named(
    {
        f"scipy.ndimage.{name}": composed.in_python(getattr(module, name), ("axis", "order"))
        for module in (filters, sampling)
        for name in module.__all__
    }
)
