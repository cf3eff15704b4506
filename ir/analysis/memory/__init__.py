"""Arrays as memory: who accesses it, who owns it, and how long.

==============  ================================================================================
`access`        the addresses that a loop touches
`aliases`       which arrays may share memory
`escape`        which arrays leave a block, and which may lie on the stack
`liveness`      which arrays are alive where
`lifetimes`     from where to where an array of a function is alive
`owners`        who is responsible for an array's memory while loops hand it on
==============  ================================================================================
"""
