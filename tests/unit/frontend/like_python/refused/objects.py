"""Objects and their classes: attributes, operators, named tuples, dataclasses."""

REFUSED: dict[str, str] = {
    "x=1.5": r"""
def scaled(y, by=2.0):
    return by * y
return len(inspect.signature(scaled).parameters) * x
# ADC010: `signature` of function 'scaled' is not supported

return Point(x)
# ADC014: Point() is missing the argument 'y'

return Point(x, 2.0, 3.0)
# ADC014: Point() takes 2 arguments but 3 were given

return Point(x, z=2.0)
# ADC014: Point() got an unexpected or repeated argument 'z'

return Pair(1.0)
# ADC014: Pair() is missing the argument 'b'

return Pair(1.0, 2.0, 3.0)
# ADC014: Pair() takes 2 arguments but 3 were given

return Pair(a=1.0, c=x)
# ADC014: Pair() got an unexpected or repeated argument 'c'

return operator.attrgetter("a.b")(Properties(x))
# ADC014: a number (float) has no attribute 'b'

class C:
    def __add__(self, o):
        return NotImplemented
return C() + x
# ADC014: unsupported operand type(s): a C and a number (float)

p = Plain()
if x > 1.0:
    p.a = x
p.b = 1.0
p.a = 3.0
return list(vars(p))
# ADC010: the order of the attributes of a Plain, which the path decides, is not supported

class Reduced:
    def __len__(self):
        return 2
    def sin(self):
        return 3.0
return np.sin(Reduced())
# ADC014: `np.sin` is not defined for a Reduced

return Operators(x) - 1.0
# ADC014: `-` is not defined for a Operators

return Comparable(x) > Properties(x)
# ADC014: comparison of a Comparable with a Properties

return [*{1, 2}, *Plain()]
# ADC010: the elements of a Plain (`__iter__`) is not supported

return super().f(x)
# ADC010: `super()` outside a method is not supported

return super(Base, Plain()).f(x)
# ADC014: super(type, obj): obj must be an instance or subtype of type

return type(Abstract).mro(Abstract)
# ADC010: `type.mro` is not supported

return Plain() + 1.0
# ADC014: `+` is not defined for a Plain

return vars(Properties(x)).items()
# ADC010: returning the items of a dict is not supported

return str(Slots(x))
# ADC010: formatting a Slots is not supported

s = f"{x}"
return getattr(Properties(x), s)
# ADC010: an attribute named by a string with numbers known only at run time is not supported

a = Plain()
a.b += 1.0
return x
# ADC014: a Plain has no attribute 'b'

return dataclasses.asdict(x)["a"]
# ADC014: asdict() should be called on dataclass instances

return dataclasses.asdict(Plain())
# ADC014: asdict() should be called on dataclass instances

p = Point(x, 2.0)
del p.y
return dataclasses.asdict(p)["x"]
# ADC014: a Point has no attribute 'y'

p = Point(x, 2.0)
del p.y
return dataclasses.replace(p, x=3.0).x
# ADC014: a Point has no attribute 'y'

return vars(Slots(x))["a"]
# ADC010: `vars` of a Slots is not supported

return vars(x)
# ADC010: `vars` of a number (float) is not supported

class A:
    @classmethod
    def f(cls):
        return 1.0
    def __del__(self):
        pass
return x * A().f()
# ADC010: `A`, which has `__del__`, is not supported

class A(Base):
    def f(self, x):
        return super(3, self).f(x)
return A().f(x)
# ADC010: this call of `super` is not supported

return isinstance(np.array([x]), np.matrix)
# ADC010: `isinstance` of an array with `matrix` is not supported

return isinstance(np.array([x]), np.ma.MaskedArray)
# ADC010: `isinstance` of an array with `MaskedArray` is not supported

return Kind(x).value
# ADC010: the value of a Kind known only at run time is not supported

return Kind(3.0).value
# ADC014: 3.0 is not a valid Kind

return np.array([x], dtype=np.float64) < Plain()
# ADC010: an array of objects, of an array (f64[:]) and a Plain, is not supported

s = {Plain(), Plain()}
return s
# ADC010: returning a set of objects is not supported

return iter(Plain())
# ADC010: `iter` of a Plain is not supported

d = {i: x for i in range(int(x) + 3)}
d[0] = Plain()
return x
# ADC010: a Plain in a dict with keys known only at run time is not supported

class C:
    __add__ = 3
return C() + x
# ADC014: `__add__` of a C is no function

class C:
    __array_ufunc__ = 3
    def __rmul__(self, o):
        return 1.0
return X * C()
# ADC010: `__array_ufunc__` of a C is not supported

class C:
    def __init__(self):
        self.v = {}
    def __getattribute__(self, name):
        return 5.0
return C().a
# ADC010: an object of class `C`, which has `__getattribute__`, is not supported

c = copy.copy(Shared(a=x))
return c.a
# ADC010: a copy of a Shared is not supported

c = copy.copy(Upper(a=x))
return c["A"]
# ADC010: a copy of a Upper is not supported

c = Config(a=x)
return vars(c)
# ADC010: `vars` of a Config is not supported

class Ordered(collections.OrderedDict):
    pass
return Ordered(a=x)["a"]
# ADC010: an object of class `Ordered`, a subclass of `OrderedDict`, is not supported

return object.__new__(Span)
# ADC010: `__new__` of type 'Span' is not supported

class C:
    def __init__(self, *a):
        super().__init__(*a)
return C(3)
# ADC014: object.__init__() takes exactly one argument (the instance to initialize)

class M(type):
    @property
    def k(cls):
        return 3.0
class C(metaclass=M):
    pass
return C.k * x
# ADC010: this `class` inside a function is not supported

return dataclasses.replace(Data(x), c=2 * x).a
# ADC014: field c is declared with init=False, it cannot be specified with replace()

return dataclasses.replace(Data).a
# ADC014: replace() should be called on dataclass instances

return operator.attrgetter(3)(Data(x))
# ADC014: attribute name must be a string

return copy.copy(np.random)
# ADC014: cannot pickle 'module' object

return copy.copy(Base().f)(x)
# ADC010: `copy` of method 'f' is not supported

p = Pair(x, 1.0)
return 2 * x if p is p else x
# ADC010: `is` on a Pair is not supported

return Properties(x).w
# ADC014: property 'w' of 'Properties' object has no getter

o = Properties(x)
del o.p
return o.a
# ADC014: property 'p' of 'Properties' object has no deleter

o = Properties(x)
del o.b
return o.a
# ADC014: 'Properties' object has no attribute 'b'

o = Pair(x, 1.0)
o.a = 3 * x
return o.a
# ADC014: a Pair cannot be changed

o = Pair(x, 1.0)
del o.a
return o.a
# ADC010: `del` of an attribute of a Pair is not supported

o = Slots(x)
o.b = 2.0
return o.a
# ADC014: 'Slots' object has no attribute 'b'

return Abstract()
# ADC014: Can't instantiate abstract class Abstract

return Plain(x)
# ADC014: Plain() takes no arguments

return NoInit(x)
# ADC010: the constructor of `NoInit` is not supported

return ReturningInit(x)
# ADC014: __init__() should return None, not a number (float)

return Kind.C.value
# ADC014: C

return Data()
# ADC014: Data() is missing the argument 'a'

return Data(x, a=1.0)
# ADC014: Data() got an unexpected or repeated argument 'a'

return FieldLater(x)
# ADC014: FieldLater() takes 0 arguments but 1 were given

return NoPostInit(x)
# ADC010: `__post_init__` of `NoPostInit` is not supported

return Pair(x, b=x)._replace(3 * x).a
# ADC014: _replace() takes names of fields

return Pair(x, b=x)._replace(c=3 * x).a
# ADC014: Got unexpected field names: ['c']

return copy.deepcopy(Copied(x)).a
# ADC010: `__deepcopy__` of a Copied is not supported

a = np.array([x, 1.0])
b = copy.deepcopy([a, a[:1]])
b[0][0] = 2 * x
return b[1][0]
# ADC010: `deepcopy` of two views of one array is not supported

return divmod(BadOperators(),2)
# ADC014: `divmod` is not defined for a BadOperators

return 2*x if BadOperators() else x
# ADC014: __bool__ should return bool, returned a number (int)

return len(BadOperators())*x
# ADC014: a number (float) cannot be interpreted as an integer

return float(BadOperators())
# ADC014: __float__ returned str 'a', not a float

return abs(BadOperators())
# ADC014: `abs` is not defined for a BadOperators

return BadOperators()(3.0)
# ADC014: a BadOperators is not a function

return Operators(x) < 3
# ADC014: comparison of a Operators with a number (int)

class Made(x):
    pass
return x
# ADC010: a class derived from a number (float) is not supported

@functools.total_ordering
class Ordered:
    pass
return x
# ADC010: this decorator of a `class` inside a function is not supported

@dataclasses.dataclass(**{"frozen": True})
class Frozen:
    a: float
return Frozen(x).a
# ADC010: this option of a decorator is not supported

class Meta(metaclass=abc.ABCMeta):
    pass
return x
# ADC010: this `class` inside a function is not supported

class Filled:
    for i in range(3):
        pass
return x
# ADC010: this statement in a `class` inside a function is not supported

return x if type(zip([x])) is zip else 0.0
# ADC010: `type` of a zip is not supported

return x if super(float) else 0.0
# ADC010: this call of `super` is not supported

return dataclasses.asdict(Point(x, 2.0), dict_factory=dict)
# ADC010: `asdict` with `dict_factory` is not supported

return dataclasses.astuple(Point(x, collections.Counter({Point(x, 1.0): 2})))
# ADC010: a Point as a key is not supported
""",
    "x=X": r"""
p = types.SimpleNamespace(a=x[0])
return vars(p)
# ADC010: returning what `vars` returns is not supported

p = types.SimpleNamespace({'a': x[0]})
return p.a
# ADC010: `types.SimpleNamespace` of a dict is not supported
""",
    "x=1.5, n=2": r"""
y = Point(x, 1.0)
z = y
for k in range(n):
    x += float(z is y)
    z = Point(x, x)
return x
# ADC013: `is` on lists, dicts or objects that may be one is not supported
""",
    "x=X, n=2": r"""
class Point(typing.NamedTuple):
    a: float
    b: float
    c: float = 2.0
return Point(x[n])
# ADC014: Point() is missing the argument 'b'
""",
}
