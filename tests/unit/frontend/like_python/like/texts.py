"""Texts: formats, texts that paths choose between, what is printed and logged."""

LIKE: dict[str, str] = {
    "x=1.5": r"""
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
