"""Exceptions that are raised and caught, `assert`, `with`."""

LIKE: dict[str, str] = {
    "x=1.5": r"""
found = []
for f in (
    lambda v: v + None,
    lambda v: None / None,
    lambda v: None**2 * v,
    lambda v: -None * v,
    lambda v: abs(None) + v,
    lambda v: (v < None) * v,
    lambda v: max(None, v),
    lambda v: X @ None * v,
    lambda v: np.sum(X + None) * v,
    lambda v: np.sum(X < None) * v,
):
    try:
        found.append(f(x))
    except (TypeError, ValueError) as error:
        found.append(str(error))
return found

def flow(v, rate=None):
    if v > 4.0:
        return np.sin(rate) + math.sqrt(rate)
    if v > 3.0:
        return flow() + flow(v, v, v) + flow(v, ratio=v)
    return v if rate is None else v * rate
return flow(x), flow(x, 2.0)

def root(v, careful):
    try:
        return math.sqrt(v) if v < 9.0 else v / (v - v)
    except ZeroDivisionError as error:
        raise error from None
    except ValueError as error:
        if careful:
            raise error
        return v
last, kept = 0.0, None
for v in (x, -x, 9.0 * x):
    try:
        last += root(v, True) + root(-v, False)
    except ArithmeticError:
        last += 100.0
    except ValueError as error:
        kept = error
if last > 1000.0:
    raise kept
return last

for v in (x, -x):
    try:
        if v < 0.0:
            raise ValueError(f"{v} {2 * v} {3 * v} {4 * v} {int(v)}")
    except ValueError as error:
        if v < -9.0:
            raise error
        last = str(error)
return last

full = False
if full:
    notes = {}
def halve(v, n):
    if v > 1.0 and n < 5:
        v = halve(v / 2, n + 1)
    if n == 4 or v > 99.0:
        notes["far"] = v
    if full:
        notes["v"] = v
    return v
return halve(x, 0)

tree = ("+", ("*", "x", ("/", 1.0, "x")), ("log", "x"))
def value(node, x):
    if node == "x" or isinstance(node, float):
        return x if node == "x" else node
    if node[0] == "+":
        return value(node[1], x) + value(node[2], x)
    if node[0] == "*":
        return value(node[1], x) * value(node[2], x)
    v = value(node[-1], x)
    if node[0] == "/" and v == 0.0:
        raise ZeroDivisionError("by zero")
    if node[0] == "log" and v <= 0.0:
        raise ValueError("a logarithm")
    return np.log(v) if node[0] == "log" else value(node[1], x) / v
found = []
for u in (x, -x, x - x):
    try:
        found.append(value(tree, u))
    except ZeroDivisionError:
        found.append(7.0)
    except ValueError as error:
        found.append(3 * u)
return found

log = logging.getLogger("like_python")
try:
    y = np.sqrt(x) if x > 1.0 else 1.0 / (x - x)
except ZeroDivisionError:
    log.exception("failed")
    log.error("failed", exc_info=True)
    raise
return y

raise Stopped("late {now}", iterations=["a{", (2.5, None)], point={"n": int(x), "k": "two"})

def first(v):
    try:
        return v[0]
    except (TypeError, IndexError):
        return v
return first(x), first([x]), first(np.float64(x)), first(np.array(x)), first((x, 1))

def add(v, w):
    try:
        return v + w
    except TypeError as error:
        return -1.0
return add(x, None), add(None, 2), add(x, 2)

def text(v):
    try:
        return float(v)
    except TypeError:
        return -1.0
return text(x), text([x]), text(np.array([x, x])), text(None), text(np.array(x))

raise RuntimeError(str(hasattr(x, 'real')))

try:
    return x.nope
except AttributeError:
    return x + 1.0

try:
    return [x, 1.0][5]
except IndexError:
    return 2 * x

with contextlib.nullcontext() as y:
    return x

with Passing():
    if x > 1:
        return x * 2
return x

try:
    if x > 1:
        raise ValueError('a')
    return x
except:
    return 2 * x

try:
    raise ValueError('a')
except KeyError:
    return x

try:
    raise ValueError('a')
finally:
    x = 2 * x
return x

assert x > 100, f'{"ä"!a}'
return x

manager = Passing()
try:
    with manager as y:
        return math.sqrt(x - 2) + y
except ValueError:
    return x

import warnings
warnings.warn("shown")
return x

import warnings
with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
    y = x * 2
return y
""",
    "x=X": r"""
raise ValueError(f"{x} has {x.sum():.3f} and {x[0]!r}, {x > 0}")

raise ValueError(x)

raise KeyError(x * 2)

raise Diverged("far", x, x[0], None, x.astype(np.float32))

raise ValueError(2, f"{(x, x[0])} {dict(a=x)}")

assert x[1] > 0, x

assert x[1] > 0, x[1]

assert x[1] > 0, f"{x + 1j} {np.arange(3)} {np.array(x[0])!r}"

assert x[0] > 0, f"{x}"
return x[0]

z = np.array(x[0])
raise ValueError(f"{z!r} {z} {z:.2f}")

y = x.copy()
for k in range(3):
    y[k] *= 3.0
    if np.any(y < 0):
        raise ValueError(f"step {k} of {len(y)}: {y}")
return np.sum(y)

seen = []
for v in x:
    seen.append(v * 2)
    if v < 0:
        raise ValueError(f"so far {seen}")
return sum(seen)

try:
    if x[1] < 0:
        raise ValueError(f"bad {x}")
    y = x[0]
except ValueError:
    y = x[2]
return y

try:
    if x[1] < 0:
        raise ValueError(f"bad {x}")
    y = x[0]
except KeyError as error:
    y = x[2]
return y

try:
    y = x[0]
    if x[1] < 0:
        raise ValueError(f"bad {x}")
finally:
    y = x[2]
return y

try:
    y = (1j * x[0]) / (0j * x[0])
except ZeroDivisionError:
    y = 0j
return y

n = 1
assert x[0] < 99.0, f"bad {x[n + 90]}"
return x[n]

n = 1
assert x[0] > 99.0, f"bad {x[n + 90]}"
return x[n]

with Swallowing():
    y = x[0]
    if x[0] > 0.0:
        raise ValueError('v')
    y = x[1]
return y

try:
    parts = [math.log(v) for v in x]
except ValueError:
    return 1e10
return sum(parts)

try:
    part = {"log": math.log(x[2]), "root": math.sqrt(x[0])}
except ValueError:
    part = None
return 0.0 if part is None else part["log"] * part["root"]

m = [1.0, 2.0]
try:
    m = [math.sqrt(x[0]), x[1]]
    m[1] += math.log(x[1])
except ValueError:
    return m[0] + m[1] * x[2]
return m[0] * m[1]

for v in x:
    try:
        if v < 2.0:
            raise ValueError
        y = v
    except ValueError:
        break
return y
""",
    "x=1.5, n=3": r"""
try:
    with Passing() as m:
        x = x * m
        if x > 2.0:
            raise ValueError("a")
except ValueError:
    x = x * 3.0
return x

try:
    with Swallowing(), Passing() as m:
        x = x * m
        if x > 2.0:
            raise ValueError("a")
    x = x + 1.0
except ValueError:
    x = x * 3.0
return x

class_ = Diverged if x > 5.0 else Missing
return class_.__name__
""",
    "x=1.5, n=2": r"""
error, t = x, 0.0
for k in range(n):
    try:
        t += error
        raise ValueError('late')
    except ValueError as error:
        t += 1.0
return t

try:
    y = later
except UnboundLocalError:
    y = x
later = 2.0
return y

try:
    y = x[0]
except TypeError:
    y = x
return y

try:
    count = len(x)
except TypeError:
    count = 1
return count * x

e = np.float64(x)
try:
    e[abs(e) > 1.0] = 0.0
except TypeError:
    if abs(e) > 1.0:
        e = 0.0
return e

e = np.float64(x)
try:
    y = e[0]
except IndexError as error:
    y = e if str(error) == 'invalid index to scalar variable.' else 0.0
return y

def check(cond, message):
    if not cond:
        raise ValueError(message)
check(x > 0.0, f"x is {x:.2f}")
check(n < 2, message="n is " + str(n))
return x

def fail(why, *, n=0):
    def inner(text):
        raise RuntimeError(f"{text} ({n})")
    inner(why)
if n > 1:
    fail(f"at {x}", n=n)
return x

if n > 1:
    raise Diverged('no root')
return x

if n > 1:
    raise Diverged(f"at {x:.3f}, {n}")
return x

if n > 1:
    raise Stopped('late', n, point=x)
return x

if n > 1:
    raise Stopped(f"at {x}", None)
return x

if n > 1:
    raise Stopped.Early
return x

if n > 1:
    raise Missing(n)
return x

if n > 1:
    raise KeyError(x)
return x

if n > 1:
    raise ValueError('a', n, x, None)
return x

if n > 1:
    raise TimeoutError('mine')
return x

try:
    if n > 1:
        raise Diverged('no root')
    y = x
except ArithmeticError:
    y = -x
return y

try:
    if n > 1:
        raise Stopped('late', iterations=n)
    y = x
except Diverged:
    y = -x
except RuntimeError:
    y = x * 3
return y

try:
    if n > 1:
        raise Diverged('no root')
    y = x
except Diverged as error:
    y = x * 2 if str(error) == 'no root' else x
return y

try:
    if n > 1:
        raise ValueError('n')
    y = x
except ValueError:
    z = x
return y

if n > 2:
    y = x
try:
    z = y * 2
except UnboundLocalError:
    z = -x
return z
""",
    "x=X, m=5": r"""
q, texts = [x[0], 1.0], []
try:
    q.pop(3)
except IndexError as e:
    texts.append(str(e))
try:
    return range(3)[4]
except IndexError as e:
    return texts + [str(e)]

d = {'a': x[0]} if x[0] > 0.0 else {'b': x[1], 'c': 2.0}
try:
    y = x[m]
except IndexError as e:
    return len(d), str(e)

try:
    if x[1] < 0.0:
        raise ValueError('negative', m)
except ValueError:
    raise

s, k = 0.0, 0
try:
    while True:
        s += x[k]
        k += 1
except IndexError:
    s += 10.0
parts = []
try:
    for k in (0, 1, 2, 3):
        parts.append(x[k])
except IndexError:
    parts.append(s)
return k, sum(parts)
""",
}

NAMED = r"""
try:
    if x[0] > 1.0:
        raise ValueError(f"too big: {x[0]:.2f}")
    t = x[0]
except ValueError as err:
    return str(err), repr(err), f"failed: {err}"
return t

# long
log, last = [], ""
for k, v in enumerate(x):
    try:
        if v > 1.8:
            raise KeyError(f"k{v:.1f}")
        if v > 1.0:
            raise ValueError(f"big {v:.1f}", v)
        if v < 0.0:
            raise ArithmeticError
        if v < 0.6:
            raise Missing(k)
    except (ValueError, ArithmeticError) as err:
        last = str(err)
        log.append(f"{k}: {err!r} {len(err.args)}")
    except LookupError as err:
        log.append(str(err))
return log, last

t = 0.0
for v in x:
    try:
        if v > 1.0:
            raise ValueError("big", v, 2)
        t += v
    except ValueError as err:
        t += 2.0 * err.args[1] + err.args[2]
return t

failure = None
for v in x:
    try:
        if v < 0.0:
            raise Diverged(f"below {v:.1f}")
        if v > 1.8:
            raise ValueError("above")
    except (Diverged, ValueError) as err:
        failure = err
return "none" if failure is None else f"{failure}"

try:
    try:
        if x[1] < 0.7:
            raise ValueError(f"{x[1]:.2f} {x[1] < 0.0}")
        return 1.0
    except ValueError as err:
        raise RuntimeError(f"wrapped: {err}") from err
except RuntimeError as err:
    return str(err)

t = 0.0
for k, v in enumerate(x):
    try:
        if v < 0.0:
            raise Stopped(f"at {v:.1f}", iterations=k, point=v)
        if v > 1.8:
            raise Stopped("far", point=v)
        t += v
    except Stopped as err:
        t += 2.0 * err.point + (0 if err.iterations is None else err.iterations)
        last = f"{err} {err!r} {isinstance(err, ValueError)}"
return t, last

try:
    if x[0] > 1.0:
        raise Diverged(f"{x[0]} {np.float32(x[0])}", np.float32(x[0]))
except Diverged:
    raise
return 1.0
"""
LIKE["x=X"] += NAMED
LIKE["x=X + 1.0"] = NAMED
