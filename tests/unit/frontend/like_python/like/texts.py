"""Texts: formats, texts that paths choose between, what is printed and logged."""

LIKE: dict[str, str] = {
    "x=1.5": r"""
return f"{None:>8}"

return f"{Abstract:.2f}"

return "{:>8}".format(X.dtype)

try:
    s = f"{None:.2f}"
except TypeError as error:
    s = str(error)
return s

s = "a"
if x > 5.0:
    s = f"{s:.2f}"
return s

return f"{Kind.B} {Kind.B!r} {Kind.B:>8}|", str(Kind.Base), repr(Kind.Base), "%s" % Kind.B

text = 'X'
for _ in range(4):
    text = ''.join({'F': 'F[+F]F', 'X': 'F'}.get(each, each) for each in text)
return len(text) * x, text.count('['), text

name = 'b' if x > 1.0 else 'd'
return ord(name) - ord('a'), chr(ord('a') + 2), [ord(each) for each in 'xyz']

return str()

return copy.copy('a')

return ['a', 'b', 'a'].count('a') * x

logging.log(level=10, msg='a')
LOG.log(level=10, msg=f'{x}')
LOG.log(10, '%d', x)
return x
""",
    "x=1.5, n=3": r"""
y = "nothing"
if x > 0.0:
    y = x
return x * y

mode = 'a' if x > 1.0 else 'b'
return mode, mode + '!', mode * 2, mode.upper(), len(mode), mode < 'b', mode in 'abc', not mode

mode = 'a' if x < 1.0 else ''
return mode or 'none', bool(mode), mode and 'yes', mode == 'a' or x > 5

table = {'a': 1, 'b': 2}
mode = 'a' if x < 1.0 else 'z'
try:
    return table[mode]
except KeyError as error:
    return table.get(mode, 7), mode in table, table.get(mode)

mode = 'a' if x < 1.0 else 'z'
raise ValueError(f'bad {mode}: {x}')

mode = None
for k in range(n):
    if k == 1:
        mode = 'one'
    elif k == 2:
        mode = 'two'
return mode, mode is None, mode == 'one', mode in ('two', None), mode not in ('one',)

modes = ['u' if x > k else 'd' for k in range(3)]
return modes, modes.count('u'), 'd' in modes, modes.index('d'), '-'.join(modes), sorted(modes)

state = 'idle'
seen = []
for v in (0.5, x, 3.0, 0.1, x):
    if state == 'idle' and v > 1.0:
        state = 'run'
    elif state == 'run' and v < 1.0:
        state = 'done'
    seen.append(f'{state}' == 'run')
return state, seen

mode = 'p' if x > 1.0 else 'q'
other = 'p' if n > 5 else 'q'
return mode == other, mode != other, mode < other, [mode, other] == ['p', 'q']

def step(state, v):
    if state == 'up':
        return ('down' if v > 1.0 else 'up'), v
    return 'up', -v
state, total = 'up', 0.0
for k in range(n):
    state, part = step(state, x * k)
    total += part
return state, total

print('first')
return {'a': print('second') or x, 'b': n}['a' if x > 1.0 else 'b'] + (lambda: x)()

mode = 'p' if x > 1.0 else 'q'
def inner():
    return {'p': 1.0, 'q': 2.0}[mode] + shown(lambda: mode + '!')
def shown(text):
    return len(text())
return inner()

low = 'lo' if x < 1.0 else 'hi'
assert low == 'lo', f'it is {low}'

for k in ('a', 'bb'):
    x *= len(k)
for k in range(n):
    x += k
for k, v in {'a': x}.items():
    x += len(k) * v
k = 'abc'
while n > 0:
    for k in range(2):
        x += k
    n -= 1
return x
""",
}
# Strings of numbers known only at run time, as values.
OF_NUMBERS = r"""
m = f"{x}"
found = m is None, m == None, m == 1.5, m != (1,)
return (1 if m else 2), not m, m or "x", "x" and m, bool(m), found

m = f"{x}"
return "-".join([m, "a", m]), [m, m][k], (m, "b")[k], {"a": m, "b": [m]}, m + "!", "a" + m + f"{k}"

m = f"{x}"
return "%s|%s" % (m, m), "{}|{b}".format(m, b=m), str(m), f"{m}", f"{m!s}"

return f"{x}" if k else f"{k}", f"{x}" if x > 0.5 else f"{k}", f"{k}" if x > 0.5 else None

y = np.float32(x)
return f"{x:.3f}", f"{k:03d}", f"{x > 1}", f"{x + 1j}", f"{y}", f"{y!r} {x!r} {k!r}"

return [f"{v:.1f}" for v in np.arange(k + 1.0) * x], [(f"{i}", i * x) for i in range(k + 1)]

return {"log": [{"t": f"{i}", "v": x * i} for i in range(k + 1)]}

lines = [f"{i} {x * i} {i > 0} {np.float32(x)!r} {x!r}" for i in range(k + 1)]
return lines, ";".join(lines), lines[-1], f"<{'; '.join(lines)}>"

lines = [f"{i}" for i in range(k)]
return lines, ";".join(lines), f"<{';'.join(lines)}>"

lines = []
for i in range(k + 2):
    lines.insert(0, f"{i} {x}")
print("\n".join(lines))
return lines, lines.pop(), lines, len(lines)

lines = []
for i in range(k + 2):
    lines.append(f"{i}" if i % 2 else f"{x}")
return lines

lines = ["a"]
for i in range(k + 2):
    lines.append(f"{i} {x}")
return lines

def g(s, t=f"{x}"):
    return s + t
return g("a"), g(f"{k}", "b"), g(t="c", s=f"{x}")

# long
s = ""
for i in range(k + 2):
    s = s + f"{i},"
for i in range(2):
    s += f"{x}"
return s

best = None
for i in range(k + 2):
    if best is None or i > 0:
        best = f"b{i} {x}"
print(best)
return best

if x > 0.5:
    m = f"{k}"
else:
    m = f"{x}"
print(m)
for i in range(2):
    m = f"{i}" if x > 0.7 else f"{x}"
    print(m, f"<{m}>")
return m

def report(pattern, *args, **named):
    line = pattern.format(*args, **named) if named else pattern % args
    lines.append(line)
    return line
lines = []
for i in range(k + 3):
    print(report("%d: %.2f", i, x * i))
    report("{} {v:.1f}", i, v=x)
return lines[::2], lines[1], "\n".join(lines)

d = {}
for i in range(3):
    d[f"k{i}"] = f"{x}" + str(i)
return d

print(", ".join(f"{v:.2f}" for v in np.arange(4) * x if v > k))
print(", ".join(map(str, np.arange(k + 1))))
return ",".join(f"{v}" for v in np.arange(4) * x if v > 100.0) or "none" if k > 5 else x

lines = [f"{i} {x * i}" for i in range(k + 2)]
s = ",".join(lines)
lines[0] = f"{9} {x}"
t = f"<{';'.join(lines)}>"
lines.pop()
lines.append(f"{7} {x}")
print(*lines, sep="|")
print(*lines)
print(*[np.float32(v) for v in np.arange(5) * 0.1 * x if v > 0.2], sep=", ", end="!")
return s, t, ",".join(lines)

# long
rows = [(f"r{i}", x * (i - 1) ** 2) for i in range(k + 3)]
rows.sort(key=lambda row: -row[1])
for name, value in rows:
    print(name, f"{value:.1f}")
return max(rows, key=lambda row: row[1])[0]
"""
LIKE |= {f"x=1.5, k={k}": OF_NUMBERS for k in (0, 1)}

OF_SEVERAL = r"""
log = ["start"]
for v in x:
    if v > 1.0:
        log.append(f"big {v:.1f}")
    elif v > 0.0:
        log.append("small")
    else:
        log.append(f"below {v} {v > -1.0}")
log.append("done")
return log, log[1], log[-1], len(log), "|".join(log), sorted([(2.0, log[1]), (1.0, "a")])[0]

rows = []
for v in x:
    rows.append((v, f"{v:.2f}") if v > 0.0 else (v, "none"))
return [text for _, text in rows], [f"{v:.1f}: {text}" for v, text in rows]

log = []
for v in x:
    log.append(f"first {v:.2f}")
for k in range(len(x)):
    log.append(f"then {k}")
return log

text = f"v={x[0]:.2f}"
return repr(text), f"{text:>12}|{text:<12}|{text!r:^14}", f"{[text, 1]}"

lines = []
for v in x:
    lines.append("-" if v > 0.0 else "+")
return " ".join(lines), "".join(["a" for v in x if v > 0.0])
"""
LIKE["x=X"] = OF_SEVERAL
LIKE["x=X + 1.0"] = OF_SEVERAL
