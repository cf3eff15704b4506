"""Subclasses of `dict`, `UserDict` and `Mapping`: attribute dicts, and such with other methods."""

LIKE: dict[str, str] = {
    "x=1.5": r"""
c = Config(a=x, b=2.0)
c.d = c.a * c.b
c["e"] = c.d + x
had = "z" in c, hasattr(c, "z"), hasattr(c, "e"), getattr(c, "z", 4.0), c.get("z")
del c["b"]
return dict(c), list(c), len(c), had, c.pop("a"), c.setdefault("f", x), sorted(c.items())

c = Config(a=1.0)
if x > 1.0:
    c.b = x
return c.get("b", 3.0), hasattr(c, "b"), isinstance(c, dict), bool(c)

c = Config(a=1.0)
c |= {"r": 2 * x}
made = c | {"q": x}
return made["q"], made["r"], type(made) is dict, type(c) is Config, {"z": x} | c

d = Dotted(a=x)
d.b = 2 * x
missing = d.zzz is None
del d.a
return missing, d.b, len(d), "a" in d

s = Shared(a=x, b=2.0)
s.d = s.a * s["b"]
s["e"] = s.d + 1
return s.e, s["d"], sum(s.values()), list(s), hasattr(s, "f"), s.__dict__["a"]

p = Limits(2.0, a=x, b=1.0)
p["c"] = p.total()
return p["ab"], p.scale, p["c"], "ab" in p, len(p), p.get("ab", 7.0)

u = Upper()
u["a"] = x
u["b"] = 2 * x
return [*u], {**u}, dict(u), u["B"], list(u.values())

a, b = Config(m=x), Config(m=2 * x)
b2, b3 = copy.copy(b), copy.deepcopy(Config(inner=b))
b2.m, b.m = 7.0, 5.0
same = a
same["m"] = 3.0
return a.m, b.m, b2.m, b3.inner.m, a is same

a, b = Config(m=x), Limits(2.0, m=x)
dict.__setitem__(a, "k", dict.get(a, "m") + 1)
object.__setattr__(b, "scale", 3.0)
match a:
    case {"m": m, **rest}:
        return m, rest, b.scale, dict.__len__(a)

def rates(rate, **other):
    return rate * len(other)
return CONFIG.rate * x, CONFIG.inner.b, CONFIG["w"][1], rates(**CONFIG), SHARED.n + SHARED["rate"]

total = 0.0
for i, k in enumerate(Config(a=x, b=2.0)):
    total += i * len(k)
for k, w in zip(Config(a=x, b=2.0), [2.0, 3.0]):
    total += w
return total, [v for v in Config(a=x).values()]

c = Config(a=x)
try:
    return c.b
except AttributeError as error:
    return str(error), c.a

d = DEFAULTS
return d["a"] * x, d["b"] * x, d.get("q", 3.0), "b" in d, sum(d.values()), len(d)

u = collections.UserDict(a=x)
u["b"] = 2 * x
v = u.copy()
v["a"] = 5.0
w = u | {"c": 3.0}
return u["a"], v["a"], w["c"], sorted(u), dict(v), {**u}

low = Lower({"A": x}, B=2.0)
low.setdefault("C", 3.0)
taken = low.pop("A")
return taken, dict(low), dict(**low), sum(v for k, v in low.items()), low.get("zz", 7.0), "b" in low

low = Lower(ab=x, cd=2.0)
pairs = list(zip(low.keys(), low.values()))
return pairs, [(i, k) for i, (k, v) in enumerate(low.items())], dict(low), [*low.values()]

class Point:
    @classmethod
    def polar(cls, r):
        self = cls.__new__(cls)
        self.r = r
        return self
    def __copy__(self):
        return Point.polar(self.r + 1)
    def __delattr__(self, name):
        object.__delattr__(self, name)
        self.deleted = name
p = Point.polar(x)
q = copy.copy(p)
del p.r
return q.r, hasattr(p, "r"), p.deleted

return 2 * Backend().pi * Backend().sin(x)

v = Vector(x, 2 * x, 3 * x)
return sum(v), [k for k in v], v[-1]
""",
}
