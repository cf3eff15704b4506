"""Lists whose length is known only at run time, and what they hold.

==================  ==============================================================================
`list_elements`     what all elements of such a list have in common
`list_buffers`      the elements of such lists: a buffer for each number and array in them
`wordings`          strings of run-time numbers that are one of several texts
`pools`             the objects and dicts of which the run decides how many there are
`pooled_lists`      the lists of which the run decides how many there are
==================  ==============================================================================

``[[x[k], 2.0] for k in range(n)]`` is a buffer of numbers of lists: the elements of these are in
one other buffer, and say nothing of what the lists are called.
"""
