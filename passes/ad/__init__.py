"""Derivatives: code for tangents and cotangents, made from code.

=============  =================================================================================
`tangent`      forward mode, on reverse code, too (`body`: its statements)
`adjoint`      reverse code behind the forward code (`body`: straight lines; `control`: branches,
               loops, calls)
`opaque`       derivatives that code itself calls, differentiated by what they are (`derive`: the
               functions that these are in the end)
`directions`   several tangents or cotangents at once, as an axis more (`arrays`: whole arrays and
               products; `loop`: numbers and elements)
`accumulate`   clearing a cotangent merged with the next addition to it
=============  =================================================================================

Reverse code names the forward values that it needs with `recall`, and mirrors loops. What becomes
of these references is decided by `remat`::

    fn f(%x: f64) -> f64 {          fn f.adjoint(%x: f64) -> f64, f64 {
      %y = sin %x                     %y = sin %x
      return %y                       %x.r = recall %x
    }                                 %d = cos %x.r
                                      return %y %d
                                    }
"""
