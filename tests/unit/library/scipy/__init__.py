"""`adc/library/scipy/`, package by package, compared with SciPy itself; `calls`: how."""
