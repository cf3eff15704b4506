"""Arrays in memory: from value form, where arrays are values, to buffers that are written in place.

===================  ===========================================================================
`reserve`            lists that loops append to, with room for all elements before the loop
`storage`            value form to buffer form: stores in place, copies where two versions are
                     needed (`sharing`: which versions may share a buffer)
`supply`             callers make the arrays that routines of a library fill
`in_place`           callees do not return arrays that they only wrote in place
`coalesce`           arrays that a loop allocates anew and carries, written over the old ones
`hoist_allocations`  allocations of inner loops, moved in front of the loop
`reuse`              arrays with disjoint lifetimes, in the same memory
`peak`               the exact peak memory of a call, from the final form (`formula`: the result as
                     data; `values`: the code run on symbols; `counts`: what loops count;
                     `needs`: the needs of parts of the code; `course`: what there is of it
                     after each statement)
===================  ===========================================================================

::

    %x.1 = store %x[%i] %v         →         write %x[%i] %v
"""
