"""Arrays in memory: from value form, where arrays are values, to buffers that are written in place.

===================  ===========================================================================
`storage`            value form to buffer form: stores in place, copies where two versions are
                     needed (`sharing`: which versions may lie in one buffer)
`in_place`           arrays that callees were passed and return
`coalesce`           arrays that a loop makes anew and hands on, written over the old ones
`hoist_allocations`  arrays of inner loops made once, before the loop
`reuse`              arrays that are never alive together share memory
`peak`               how much memory a call uses, from the last form (`formula`: the result as
                     data; `values`: the code run on symbols; `needs`: what stretches of it
                     need)
===================  ===========================================================================

::

    %x.1 = store %x[%i] %v         →         write %x[%i] %v
"""
