"""Numbers that no machine computes with, replaced by those that it does.

===============  ================================================================================
`split_complex`  complex numbers, as pairs of real ones
`widen_half`     numbers of 16 bits, computed in 32 bits and rounded
===============  ================================================================================

They run first: every other pass, every derivative rule and every back end knows real numbers of 32
and 64 bits only. For example, `widen_half` rounds the sum of two elements::

    %a = load %x[0]                        %a = load %x[0]           (16 bits, as f32)
    %b = load %x[1]                        %b = load %x[1]
    %c = add %a %b                         %t = add %a %b
                                           %c = half %t
"""
