"""`scipy.integrate`, without its differential equations (`odes`).

=============  ===================================================================================
`samples`      integrals of samples
`quadrature`   `quad`: QUADPACK runs, and derivatives are integrals of derivatives
=============  ===================================================================================
"""
