"""Texts: strings of numbers known only at run time.

============  ==================================================================================
`templates`   what a text is; how it is passed to Python
`written`     what Python writes for a value
`formatting`  f-strings and other formats
`constant`    methods of strings, and of sets, that are known when the program is compiled
`values`      strings that are more than printed: what operators and methods make of them
============  ==================================================================================

``print(f"{x:.2f}")`` becomes an `adc.ir.core.Print` with the template ``{:.2f}``, and `x`.
"""
