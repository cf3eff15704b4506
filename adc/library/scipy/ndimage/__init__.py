"""`scipy.ndimage`.

=============  ===============================================================================
`filters`      correlations and convolutions, along axes or with a kernel of several
`sampling`     splines through the elements, at any coordinates
=============  ===============================================================================

SciPy computes in double precision, whatever the arrays hold, and so do these.
"""
