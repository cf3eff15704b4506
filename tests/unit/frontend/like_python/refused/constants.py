"""Dates, fractions, decimals and patterns, which are constants."""

REFUSED: dict[str, str] = {
    "x=0.7,": r"""
while x < 3.0:
    DAY = datetime.date(2024, 1, 1)
    x = x * 2
return x * datetime.timedelta(days=x).days
# ADC010: a number in `datetime.timedelta` known only at run time is not supported

day = DAY
while x > 0.1:
    day += datetime.timedelta(days=1)
    x = x * 0.5
return day.day
# ADC010: 'day' is a date that iterations of the loop at line 3 change: this is not supported

return x == THIRD
# ADC010: a number in this operator known only at run time is not supported

return np.array([x]) * THIRD
# ADC010: this operator of an array (f64[:]) is not supported

return x == STRANGE
# ADC010: comparing Odd 2.0 is not supported

return x * STRANGE
# ADC014: `*` is not defined for Odd 2.0

return datetime.date.today().year * x
# ADC010: `datetime.date.today` is not supported

return datetime.date(2024, 13, 1).month * x
# ADC014: month must be in 1..12

return x * len(re.findall("a", f"{x}"))
# ADC010: `re.findall` of a string with numbers known only at run time is not supported

return x * sum(1 for _ in WORD.finditer("a b"))
# ADC010: `WORD.finditer` is not supported

try:
    return x * len(re.findall("(", "a"))
except re.error:
    return x
# ADC014: error: missing ), unterminated subpattern at position 0

try:
    return x * float(decimal.Decimal("one"))
except ArithmeticError:
    return x
# ADC014: InvalidOperation: [<class 'decimal.ConversionSyntax'>]
""",
}
