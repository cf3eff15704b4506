"""Derivatives: code for tangents and cotangents, made from code.

===================  ===========================================================================
`tangent`            forward mode, on reverse code, too (`body`: its statements)
`dependence`         which results depend on which arguments: marks in place of tangents
`adjoint`            reverse code behind the forward code (`body`: straight lines; `control`:
                     branches, loops, calls)
`reverse_arguments`  arguments that reverse functions recall: their callers pass them
`opaque`             derivatives that the code itself calls, differentiated by their declarations
                     (`derive`: turns these declarations into functions)
`directions`         several tangents or cotangents at once, along a further axis (`arrays`: whole
                     arrays and products; `loop`: numbers and elements)
`shared_states`      states of loops, recalled once: what an iteration leaves is what the next one
                     began with
`settle`             rules dropped when all derivatives are taken
`accumulate`         clearing a cotangent merged with the next addition to it
===================  ===========================================================================

Reverse code refers to the forward values that it needs by `recall`, and mirrors loops. `remat`
resolves these references::

    fn f(%x: f64) -> f64 {          fn f.adjoint(%x: f64) -> f64, f64 {
      %y = sin %x                     %y = sin %x
      return %y                       %x.r = recall %x
    }                                 %d = cos %x.r
                                      return %y %d
                                    }
"""
