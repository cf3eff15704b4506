"""The fastest plan within a budget of bytes.

=============  =================================================================================
`orders`       what to tell `remat` so that a call holds so many bytes
`model`        the function as an integer program: what may be kept, when, and what it saves
`loops`        the schedules that loops are offered
`program`      the integer program, and its solution by HiGHS: numbers only
=============  =================================================================================
"""
