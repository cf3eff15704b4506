"""Dates, fractions, decimals and patterns, which are constants."""

LIKE: dict[str, str] = {
    "x=0.7,": r"""
version = packaging.version.parse
if version("1.2.3") < version("1.10") <= packaging.version.Version("1.10.0"):
    x = 2.0 * x
return x, version("2.0rc1") == version("2.0rc1"), x * version("1.5").release[1]

found = re.findall(r"(\w+)=([^,)]*)", "Adam(lr=0.5, n=3, f=None)")
settings = {k: ast.literal_eval(v) for k, v in found}
shape, names = ast.literal_eval("(2, [3, 4.5])"), ast.literal_eval("{'a': -1, 'b': (True, 'c')}")
return settings["lr"] * x, settings, sum(shape[1]) * x, names

if (3, 8) <= sys.version_info and not sys.version_info[:2] < (3, 8):
    return x * (sys.version_info.major > 2)

major, *rest = sys.version_info
return x + major, len(rest), sys.float_info.epsilon, sys.flags.debug

mass = {"C": 12.0, "H": 1.0, "O": 16.0}
parts = re.findall(r"([A-Z])(\d*)", "C2H5OH")
line = re.match(r"(?P<name>\w+)\s*=\s*(?P<value>[\d.]+)", "k1 = 3.5 A")
name, value = line.groups()
return sum([x * mass[e] * int(n or 1) for e, n in parts]), float(line["value"]) * x, name, value, \
       line.groupdict(), line[1], line.span(2), [re.sub(r"\s", "", v) for v in "a, b".split(",")]

if (found := re.search(r"\d+", "abc12")) and not re.fullmatch("[aeiou]", "ab", re.IGNORECASE):
    x = x * int(found.group())
return x, [WORD.match(t) is None for t in ("ab", "1")], WORD.match("abc").group("first", 2), \
       WORD.pattern, re.compile(r"\W", re.ASCII).split("x+y")

return (DAY - datetime.date(2024, 1, 1)).days * x, DAY.month, DAY == 3

when = datetime.datetime.strptime("2024-03-01 12:30", "%Y-%m-%d %H:%M")
hours = (when - when.replace(hour=0)) / datetime.timedelta(hours=1)
return x * hours, f"{DAY:%d.%m.%y} {DAY} {when!r}", str(DAY), DAY.isoformat()

day, days = DAY, []
while day < datetime.date(2025, 1, 1):
    days.append(day)
    day += datetime.timedelta(days=91)
return [x ** ((b - a).days / 91) for a, b in zip(days, days[1:])], len(days), max(days).year

day = DAY
for k in range(4):
    day = day + datetime.timedelta(days=k)
    if day.weekday() >= 5:
        x = x * 2
return x, day.day

rates = {DAY: 0.1 * x, datetime.date(2025, 3, 1): 0.2}
return [rates[d] * d.year for d in sorted(rates)], DAY in rates, min(rates).day, sum(rates.values())

try:
    day = datetime.date(2024, 2, 30)
except ValueError:
    day = datetime.date(2024, 2, 29)
return x * day.day

two = fractions.Fraction(2)
return THIRD * x, x + THIRD, x**THIRD, THIRD**x, 1 / THIRD * x, x**two, float(THIRD)

third = THIRD + fractions.Fraction(1, 6)
same = -third == fractions.Fraction(-1, 2), abs(-THIRD) == THIRD, third == 0.5
return x * float(third), third.numerator, third > THIRD, bool(third), same, DAY < max([DAY])

cents = decimal.Decimal("0.10") * 3
return x * float(cents), cents == decimal.Decimal("0.3"), str(cents), int(cents)

start = np.datetime64("2024-01-01")
days = (np.datetime64("2024-07-01") - start) / np.timedelta64(1, "D")
return x * days, (np.datetime64("2024-07-01") - start).astype(int)

if not DAY or DAY is None:
    return x
long = sum([datetime.timedelta(1)] * 3, datetime.timedelta())
return x * datetime.timedelta(days=2).total_seconds(), long.days

return x * (Pitch["A"] == 9), x * (Pitch.A in (9, 2)), 9 in {Pitch.A, Pitch.C}, Pitch.A in range(10)

return x * Level.HALF, Level.HALF == 0.5, HEIGHT == 2.0, x * HEIGHT, HEIGHT != x, max(HEIGHT, x)

return Pitch.A + 1, x * Pitch.A.sharp, -Pitch.A + ~Pitch.E, x**Pitch.E, Pitch.A % 12, abs(Pitch.A)

return Pitch.C < Pitch.A < 10, Pitch.A > x, (Pitch.A, 1) < (9, 2), (Pitch.A, x) == (9, x)

return [1, 2, 3, 4, x][Pitch.E], "abcdefg"[Pitch.E], "abcdefg"[Pitch.C : Pitch.E], (x,) * Pitch.E

return math.sqrt(Pitch.A) * x, np.sqrt(Pitch.A), max(Pitch.A, 3), sum(range(Pitch.E))

return max(Pitch).name, sorted(Pitch, reverse=True)[0] is Pitch.A, sum(Pitch), int(Pitch.E) * x

return f"{Pitch.A} {Pitch.A:03d} {Pitch.A!r} {Pitch.A.name}", f"{HEIGHT:.1f} %d" % Pitch.A

a = np.arange(12.0) * x
a[Pitch.C] = Pitch.A
a[Pitch.E : Pitch.A] += Pitch.E
return a, a[Pitch.A], a == Pitch.A, np.where(a > Pitch.E, Pitch.C, a), np.array([Pitch.A, Pitch.C])

return np.zeros(Pitch.E), np.ones((Pitch.E, 2)).sum(axis=Pitch.C), np.full(2, Pitch.A) * x

d = {Pitch.C: x, Pitch.A: 2 * x}
return d[9], {0: x}[Pitch.C], sum([d[k] for k in range(int(10 * x)) if k in d]), [k.name for k in d]

return Access.READ | 4, x * (Access.READ | Access.WRITE), (Access.READ | Access.WRITE) == 3

state = Pitch.C
for _ in range(int(5 * x)):
    state = Pitch.A if x > 0.5 else Pitch.C
    x = 0.9 * x
return x * (state + 1) if state == Pitch.A else x * state, state.name

match int(13 * x):
    case Pitch.C:
        return x
    case Pitch.A:
        return 2 * x
return 3 * x
""",
}
