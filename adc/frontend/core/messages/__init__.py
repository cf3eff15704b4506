"""Messages: the words of errors.

==============  ===================================================================================
`descriptions`  what bindings are called
`refusals`      the table of unsupported syntax
`advice`        the hints for functions, types and methods that adc does not know
==============  ===================================================================================
"""
