"""Plans, profiles, graphs and tables that show how adc compiles a function.

==========  ========================================================================================
`plan`      a plan as text, as a table in a terminal, as HTML (`passes.remat.plan` has the reasons)
`table`     tables of text as wide as the terminal
`profile`   time and bytes of every line
`curve`     the plans for a series of budgets: time against memory
`drawing`   IR to nodes and edges
`folding`   what is too large to be read, as one node
`graph`     the graph of a gradient
`notebook`  derivatives in notebooks
==========  ========================================================================================
"""
