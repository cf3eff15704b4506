"""The fastest plan within a memory budget.

=============  =================================================================================
`orders`       chooses the orders to `remat` for which a call stays within a budget
`model`        the function as an integer program: what may be kept, when, and what it saves
`loops`        the schedules that are considered for loops
`program`      the integer program, and its solution by HiGHS: numbers only
=============  =================================================================================
"""
