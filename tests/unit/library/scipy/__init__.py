"""`adc/library/scipy/`, by package, compared with SciPy itself; `calls` and `cases` say how."""
