"""SciPy: a handler for each of its functions, in tables by public name.

In reading order:

===============  ===============================================================================
`integrate`      integrals of samples
`interpolate`    interpolants: classes that code uses as classes of `adc.library`
`ndimage`        filters of arrays, and splines through their elements
`signal`         convolutions, linear filters, windows, spectra
===============  ===============================================================================

SciPy's packages take long to import, and a program that does not call them should not wait: the
handlers are entered by name (`adc.frontend.numpy.library.enter_named`), and nothing is imported.
"""
