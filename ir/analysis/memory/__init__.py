"""Arrays as memory: who accesses it, who owns it, and how long.

==============  ================================================================================
`access`        the addresses that a loop touches
`aliases`       which arrays may share memory
`escape`        which arrays escape a block, and which may be allocated on the stack
`liveness`      which arrays are alive where
`lifetimes`     which arrays of a function have disjoint lifetimes
`iterations`    which loops have iterations that may run in any order
`owners`        which variable owns an array's memory while loops carry it
==============  ================================================================================
"""
