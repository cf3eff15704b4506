"""Texts: strings of numbers known only at run time.

============  ==================================================================================
`formatting`  f-strings and other formats: what they write, and how it is passed to Python
`values`      strings that are more than printed: what operators and methods make of them
============  ==================================================================================

``print(f"{x:.2f}")`` becomes an `adc.ir.core.Print` with the template ``{:.2f}``, and `x`.
"""
