"""Iterations: loops, lowered until what they carry is stable.

In reading order:

==========  =======================================================================================
`findings`  what attempts to lower a loop find, and what it carries
`entering`  what names are bound to before a loop, in the form that its iterations give them
`carried`   what an iteration leaves to the next
`leaving`   what names are bound to after a loop
`loops`     the attempts
==========  =======================================================================================

``for k in range(n): s = s + x[k]`` after ``s = 0`` is lowered twice. The first attempt finds that
`s` is a float after an iteration, which the second starts from.
"""
