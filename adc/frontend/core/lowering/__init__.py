"""The parts of the lowering state, each on top of the one before.

============  ====================================================================================
`positions`   the function that is lowered now, where in its source, and errors that say where
`scalars`     numbers as operands, and their conversion
`lasting`     what lies outside of the function, and what the program may change there
`heap`        arrays and their versions; lists, dicts and objects, and what they hold
`rows`        elements of lists of any length; objects of which the run decides how many there are
============  ====================================================================================

`core.lower` completes them: what is saved and restored, the paths, the names.
"""
