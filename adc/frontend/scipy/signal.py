"""`scipy.signal`: filters, convolutions, windows and spectra."""

from __future__ import annotations

from adc.frontend.numpy import library
from adc.frontend.numpy.plain import composed
from adc.library.scipy.signal import convolution, filtering, smoothing, spectra, windows

_NAMED = {
    f"scipy.signal.{name}": composed.in_python(getattr(module, name), ("axis", "order"))
    for module in (convolution, filtering, smoothing, spectra)
    for name in module.__all__
}
_NAMED |= {
    f"scipy.signal.windows.{name}": composed.in_python(getattr(windows, name), ("axis", "order"))
    for name in windows.__all__
}
_NAMED["scipy.signal.get_window"] = _NAMED["scipy.signal.windows.get_window"]

library.enter_named(_NAMED)
