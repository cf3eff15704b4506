"""`scipy.signal`, in the order of the dependences.

===============  ===============================================================================
`convolution`    convolutions and correlations, directly or by Fourier transforms
`windows`        windows, by name too
`filtering`      linear filters in time
`smoothing`      polynomials that are fitted to a moving window
`spectra`        what is computed from Fourier transforms: spectra, resampling, Hilbert transforms
===============  ===============================================================================
"""
