"""A run of a derivative as a page for a browser: its steps, its memory, its plan.

Everything is found here, in Python; the page only draws it. Reading order:

============  ======================================================================================
`nodes`       the parts of the planned IR that are steps: what each does, line by line
`moments`     what a run was: its steps, and what memory was used for
`record`      the run: the planned IR in the interpreter, watched
`predicted`   memory over the run, as the analysis of the peak predicts it
`pictures`    numbers and arrays as small pictures, and what is not shown of arguments
`lines`       the user's source, and what is known of each line
`growth`      the peak as a formula of sizes: its parts, its exponents
`schedules`   checkpointed loops: snapshots and sweeps
`diagram`     the graph, a picture for each function, loop and line
`facts`       all of it as one document, and its schema
`report`      the page: what `view()` returns
============  ======================================================================================

`page/` holds the page: HTML, a style sheet and scripts, plain text that is read as it is.
"""

from adc.view.report import PANES, View, view

__all__ = ["PANES", "View", "view"]
