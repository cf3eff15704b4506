"""Calls of NumPy's and SciPy's functions with arguments that do not fit, or are not supported."""

REFUSED: dict[str, str] = {
    "x=X": r"""
return scipy.stats.norm._cdf(x)
# ADC010: `scipy.stats.norm._cdf` is not supported

return np.sin(x, x, x)
# ADC014: `np.sin` takes 1 operand and `out`, not 3

return np.add(x, x, np.zeros(3), out=np.zeros(3))
# ADC014: `np.add` takes 2 operands and `out`, not 3

return x.view(np.int64)
# ADC010: a view of an array's bytes as another dtype is not supported

return np.concatenate(x[0])
# ADC014: a number (f64) is no sequence of arrays

return np.concatenate([])
# ADC014: need at least one array to concatenate

return np.split(x, 0)
# ADC014: number sections must be larger than 0.

return np.vsplit(x, 1)
# ADC014: vsplit only works on arrays of 2 or more dimensions

return np.dsplit(x, 1)
# ADC014: dsplit only works on arrays of 3 or more dimensions

return np.stack([])
# ADC014: need at least one array to stack

return np.concatenate([x, M])
# ADC014: all the input arrays must have same number of dimensions

return np.concatenate([np.array(1.0), np.array(2.0)])
# ADC014: zero-dimensional arrays cannot be concatenated

return np.linspace(0.0, x, 3, retstep=True)
# ADC010: `retstep` is not supported

return np.diag(np.zeros((2, 2, 2)))
# ADC014: Input must be 1- or 2-d.

return np.tril(x[0])
# ADC014: a number has no triangle

return np.meshgrid(x, x, copy=False)
# ADC010: a grid whose elements share memory is not supported

return np.mgrid[3]
# ADC010: a grid of anything but slices is not supported

return np.mgrid[0:]
# ADC014: a slice of a grid needs an end

return np.r_["r", x]
# ADC010: a directive in `np.r_` or `np.c_` is not supported

return x["a"]
# ADC014: an index must be an integer, not str 'a'

return np.clip(True, False, True)
# ADC010: `np.clip` of booleans is not supported

return np.power(True, False)
# ADC010: `np.power` of booleans is not supported

return np.reciprocal(3)
# ADC010: `np.reciprocal` of an integer is not supported

return np.positive(True)
# ADC014: NumPy does not define the sign of a boolean

return np.trunc(x[0] * 1j)
# ADC014: `np.trunc` is not defined for complex numbers

return np.round(314, -1)
# ADC010: rounding integers to tens is not supported

return np.round(I, -1)
# ADC010: rounding integers to tens is not supported

return np.linalg.det(x)
# ADC014: `np.linalg.det` of an array (f64[:])

return math.hypot()
# ADC010: this call of `math.hypot` is not supported

return math.hypot(x=x[0])
# ADC010: this call of `math.hypot` is not supported

return math.ldexp(x[0], 1.5)
# ADC014: `math.ldexp` needs a Python int as exponent

return math.trunc(x.astype(np.float32)[0])
# ADC014: type float32 doesn't define __trunc__ method

return math.gcd(a=2)
# ADC014: math.gcd() takes no keyword arguments

return np.block((x, x))
# ADC014: only lists can be arranged, not tuples

return np.block([[x], x])
# ADC014: List depths are mismatched.

return np.block([])
# ADC014: Lists cannot be empty

return np.result_type(Plain())
# ADC014: a Plain has no dtype

return np.min_scalar_type(x[0])
# ADC010: the number known only at run time is not supported

return np.shares_memory(x[1:], x[:-1])
# ADC010: `np.shares_memory` of two parts of an array is not supported

return np.promote_types("nope", 3)
# ADC014: data type 'nope' not understood

return np.matmul(x[0], x)
# ADC014: `@` needs arrays with at least one axis

return np.diagonal(M, 0, 0, 0)
# ADC014: axis1 and axis2 cannot be the same

return np.tensordot(x, M, axes=([0], [0, 1]))
# ADC014: `axes` of different lengths

return np.tensordot(x, x, axes=2)
# ADC014: shape-mismatch for sum

return np.einsum()
# ADC010: this call of `np.einsum` is not supported

return np.einsum("i,i", x)
# ADC014: 2 groups of subscripts for 1 operands

return np.einsum("ij->i", x)
# ADC014: the subscripts 'ij' do not fit an operand with 1 axes

return np.einsum("i->j", x)
# ADC014: the output subscripts 'j' are not valid

return np.dot(x, Plain())
# ADC010: `np.dot` of a Plain is not supported

return np.repeat(x, [1.5, 2.0, 3.0])
# ADC014: the counts must be integers, one for each element

return np.pad(x, 1, mode="mean")
# ADC010: `np.pad` with mode='mean' is not supported

return np.pad(x, ((1, 1), (1, 1), (1, 1)))
# ADC014: `pad_width` does not fit the array

return np.sum(x, where=np.ones((2, 3), bool))
# ADC010: `where=` of more axes than the array is not supported

return np.sum(x, out=3)
# ADC014: return arrays must be of ArrayType

return np.sum(x, out=np.zeros(3))
# ADC014: `out` has the wrong number of axes

return np.argwhere(x[0])
# ADC010: `np.argwhere` of a number is not supported

return np.where(x > 0, x)
# ADC014: either both or neither of x and y should be given

return np.select([x > 0], [x, x])
# ADC014: list of cases must be same length as list of conditions

return np.take(x, [0], mode="a")
# ADC014: mode 'a'

return np.compress(x[0] > 0, x)
# ADC014: the condition must be a vector

return np.compress(M > 0, x)
# ADC014: the condition must be a vector

return np.take_along_axis(x, np.array([[0]]), 0)
# ADC014: `indices` and `arr` must have the same number of dimensions

np.put_along_axis([1.0], np.array([0]), 2.0, 0)
return x
# ADC014: `np.put_along_axis` needs an array

np.put([1.0], [0], [2.0])
return x
# ADC014: `np.put` needs an array

y = x[::2]
np.put(y, [0], [2.0])
return x
# ADC010: `np.put` into a view is not supported

np.putmask([1.0], [True], [2.0])
return x
# ADC014: `np.putmask` needs an array

np.copyto([1.0], [2.0])
return x
# ADC014: `np.copyto` needs an array

np.copyto(x, x, casting="a")
return x
# ADC014: casting 'a'

return np.bincount(x)
# ADC014: `np.bincount` needs a vector of integers

return np.searchsorted(M, 1.0)
# ADC014: only a vector can be searched

return np.ix_(M)
# ADC014: Cross index must be 1 dimensional

return np.transpose(x, (0, 1))
# ADC014: axis 1 is out of bounds for array of dimension 1

return np.moveaxis(M, (0, 1), 0)
# ADC014: `source` and `destination` arguments must have the same number of elements

return np.broadcast_to(M, 3)
# ADC014: input operand has more dimensions than allowed by the axis remapping

return x.mT
# ADC014: Input array must be at least 2-dimensional, but it is 1

return np.lib.stride_tricks.sliding_window_view(x, (2, 2))
# ADC014: 2 sizes of a window for 1 axes

return np.lib.stride_tricks.sliding_window_view(x, 2, writeable=True)
# ADC010: writing to elements that share memory is not supported

return x.reshape(-1, -1)
# ADC014: can only specify one unknown dimension

return M.ravel("K")
# ADC010: order='K' is not supported

return np.flipud(x[0])
# ADC014: Input must be >= 1-d.

return np.fliplr(x)
# ADC014: Input must be >= 2-d.

return np.nextafter(x.astype(np.float16)[0], 1)
# ADC010: `np.nextafter` of float16 is not supported

return np.floor(x[0] * 1j)
# ADC014: `np.floor` is not defined for complex numbers

np.frexp.at(x, 0)
return x
# ADC010: `np.frexp.at` is not supported

np.modf.at(x, 0)
return x
# ADC010: `np.modf.at` is not supported

return np.frexp.reduce(x)
# ADC014: `np.frexp.reduce` of a function of 1 operands

return np.sin.reduce(x)
# ADC014: `np.sin.reduce` of a function of 1 operands

return np.greater.accumulate(x)
# ADC010: `np.greater.accumulate` is not supported

return np.greater.reduceat(x, [0])
# ADC010: `np.greater.reduceat` is not supported

np.add.at([1.0], 0, 1.0)
return x
# ADC010: `np.add.at` with these arguments is not supported

np.add.at(x, 0)
return x
# ADC010: `np.add.at` with these arguments is not supported

return np.add(x, x, dtype=np.int64)
# ADC014: `np.add` cannot convert float64 to int64

return np.sin(x, dtype=np.int64)
# ADC014: `np.sin` cannot convert float64 to int64

return np.greater(x, x, dtype=np.float32)
# ADC010: `np.greater` with this `dtype` is not supported

np.add.at(I, 0, 1.5)
return x
# ADC014: cannot store a result of float64 in an array of int64

return np.random.default_rng().normal() + x[0]
# ADC010: drawing from a random generator without a seed is not supported

return np.random.RandomState().rand() + x[0]
# ADC010: drawing from a random generator without a seed is not supported

return x[0] * np.random.Generator(np.random.PCG64()).normal()
# ADC010: drawing from a random generator without a seed is not supported

return x[0] * np.random.SeedSequence().entropy
# ADC010: `.entropy` of a `SeedSequence` without a seed is not supported

return np.random.SeedSequence(5).spawn(2), x
# ADC010: `.spawn` of a SeedSequence is not supported

return np.random.PCG64(5), x
# ADC010: returning a PCG64 is not supported

return np.random.Generator(x[0]).normal()
# ADC010: a random generator with the bits of a number (f64) is not supported

return np.random.rand((2, 3)) + x[0]
# ADC014: a tuple of 2 cannot be interpreted as an integer

return np.random.multinomial(3, [0.5, 0.5]) + x[0]
# ADC010: `.multinomial` of a `RandomState` is not supported

return np.random.RandomState(3).choice(M) + x[0]
# ADC014: a must be 1-dimensional

return np.random.RandomState([3, 4]).rand() + x[0]
# ADC014: a seed is not defined for a list

return np.random.default_rng(1.5).normal() + x[0]
# ADC014: a seed must be an integer, not a number (float)

return np.random.default_rng(3).standard_exponential(method="inv") + x[0]
# ADC010: a method other than 'zig' is not supported

return np.random.default_rng(3).normal("a") + x[0]
# ADC014: 'loc' is str 'a', not a number

return np.random.default_rng(3).integers(3, dtype=np.float64) + x[0]
# ADC010: random integers of dtype float64 is not supported

return np.random.default_rng(3).integers([3, 4]) + x[0]
# ADC010: an array of bounds of random integers is not supported

np.random.default_rng(3).shuffle([1.0, 2.0])
return x
# ADC010: shuffling a list is not supported

return np.random.default_rng(3).choice(3, 2, p=0.5) + x[0]
# ADC014: p must be 1-dimensional

return np.random.default_rng(3).normal(M, size=2) + x[0]
# ADC014: parameters of rank 2 for draws of rank 1

return np.random.default_rng(3).dirichlet(2.0) + x[0]
# ADC014: alpha must be a vector

return np.random.default_rng(3).standard_gamma(2.0, dtype=np.float32) + x[0]
# ADC010: a gamma draw in single precision is not supported

return np.random.default_rng(3).multivariate_normal([0.0], [[1.0]]) + x[0]
# ADC010: drawing vectors by a method other than 'cholesky' is not supported

return np.random.default_rng(3).multivariate_normal(0.0, [[1.0]], method="cholesky") + x[0]
# ADC014: mean must be 1 dimensional

return np.random.default_rng(3).binomial(2.5, 0.5) + x[0]
# ADC014: `n` must be an integer
""",
    "x=M": r"""
return np.fix(x[0] * 1j)
# ADC014: NumPy does not truncate complex numbers

return np.round(True)
# ADC010: rounding a boolean is not supported

return x[0].item(0, 0)
# ADC014: 2 indices of one element of an array with 1 axes

return np.transpose(x, (0,))
# ADC014: axes don't match array

return np.einsum(x, [60, 1])
# ADC014: subscript is not within the valid range [0, 52)

return np.add(x)
# ADC010: `np.add` with these arguments is not supported

return scipy.linalg.lu_solve(x, x[0])
# ADC014: the first argument of `scipy.linalg.lu_solve` is an array (f64[:, :])

return scipy.linalg.block_diag()
# ADC010: `scipy.linalg.block_diag` with these arguments is not supported

return scipy.linalg.fractional_matrix_power(x, 1j)
# ADC014: the exponent of a matrix is a number (complex)

return scipy.linalg.solve(x[0], x[0])
# ADC014: `a` of `scipy.linalg.solve` is a view of rank 1 of an array (f64[:, :])

return scipy.linalg.qr(x, mode="nope")
# ADC010: `scipy.linalg.qr` with `mode='nope'` is not supported

return scipy.linalg.cho_solve(x, x[0])
# ADC014: the first argument of `scipy.linalg.cho_solve` is an array (f64[:, :])

return scipy.linalg.expm(x[0])
# ADC014: `A` of `scipy.linalg.expm` is a view of rank 1 of an array (f64[:, :])

return scipy.integrate.quad(lambda t: t, 0.0, 1.0, weight="cos", wvar=2.0)[0]
# ADC010: `scipy.integrate.quad` with `weight` is not supported

return scipy.integrate.quad(lambda t: t, 0.0, 1.0, complex_func=True)[0]
# ADC010: `scipy.integrate.quad` with `complex_func` is not supported

from scipy.optimize import minimize
return minimize(lambda v: np.sum(v * v), x[0], jac="2-point").x
# ADC010: `scipy.optimize.minimize` with a `jac` that is a name is not supported

from scipy.optimize import minimize
return minimize(lambda v: np.sum(v * v), x[0], method=3).x
# ADC010: a solver of `scipy.optimize` with a `method` that is no name is not supported

from scipy.optimize import minimize
return minimize(lambda v: np.sum(v * v), x[0], constraints=[{"type": "eq"}]).x
# ADC010: `scipy.optimize.minimize` with `constraints` is not supported

from scipy.optimize import minimize
return minimize(lambda v: np.sum(v * v), x[0], method="L-BFGS-B", bounds=[1.0, 2.0]).x
# ADC010: `bounds` that are no sequence of pairs is not supported

from scipy.optimize import fsolve
return fsolve(lambda v: v * v - 2.0, x[0], fprime=3.0)
# ADC010: `scipy.optimize.fsolve` with an `fprime` that is no function is not supported

from scipy.optimize import least_squares
return least_squares(lambda v: v, x[0], loss="huber").x
# ADC010: `scipy.optimize.least_squares` with `loss` is not supported

from scipy.optimize import curve_fit
return curve_fit(lambda t: t, x[0], x[1])[0]
# ADC010: `scipy.optimize.curve_fit` where the number of parameters is not known is not supported

from scipy.optimize import root_scalar
return root_scalar(lambda v: v).root
# ADC020: Unable to select a solver as neither bracket nor starting point provided.

from scipy.optimize import root_scalar
return root_scalar(lambda v: v, x0=1.0, method="nope").root
# ADC010: `scipy.optimize.root_scalar` with `method='nope'` is not supported

from scipy.optimize import root_scalar
return root_scalar(lambda v: v, x0=1.0, method="bisect").root
# ADC020: `bracket` is needed for the method 'bisect'

from scipy.optimize import root_scalar
return root_scalar(lambda v: v, x0=1.0, method="halley").root
# ADC020: `fprime` and `fprime2` are needed for the method 'halley'

from scipy.optimize import root_scalar
return root_scalar(lambda v: v, x0=1.0, fprime=3.0).root
# ADC010: `scipy.optimize.root_scalar` with `fprime` that is no function is not supported

from scipy.optimize import root_scalar
return root_scalar(lambda v: v, bracket=3.0).root
# ADC010: a `bracket` that is no pair is not supported

from scipy.spatial.distance import cdist
return cdist(x, x, "nope")
# ADC010: `scipy.spatial.distance.cdist` with the metric 'nope' is not supported

from scipy.spatial.distance import cdist
return cdist(x, x, out=x)
# ADC010: `scipy.spatial.distance.cdist` with `out` is not supported

from scipy.spatial.distance import cdist
return cdist(x, x[0])
# ADC014: `XB` of `cdist` is a view of rank 1 of an array (f64[:, :])

from scipy.spatial.distance import cdist
return cdist(x, x, lambda a, b: np.sum(a - b), p=2)
# ADC010: `scipy.spatial.distance.cdist` with arguments for a function is not supported

from scipy.spatial.distance import cdist
return cdist(x, x, "cosine", p=2)
# ADC010: the argument 'p' of this metric is not supported

from scipy.spatial.distance import squareform
return squareform(np.ones((2, 2, 2)))
# ADC014: `X` of `scipy.spatial.distance.squareform` is an array (f64[:, :, :])

from scipy.integrate import solve_ivp
return solve_ivp(lambda t, y: -y, (0.0, 1.0), x[0], method="Radau", jac=x).y
# ADC010: a Jacobian that is a matrix, for LSODA or Radau, is not supported
""",
    "x=1.5": r"""
return importlib.import_module(1).sin(x)
# ADC010: this call of `importlib.import_module` is not supported

return scipy.integrate.quad(lambda t: t * x * 1j, 0.0, 1.0)
# ADC014: a complex number where a float64 is needed

return scipy.integrate.quad(lambda t: np.array([t * x]), 0.0, 1.0)
# ADC014: `float` needs a number, not an array (f64, rank 1)
""",
}
