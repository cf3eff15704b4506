"""Programs that call SciPy: values and gradients beside JAX with its libraries, autograd and SciPy.

`python -m tests.bench.libraries.scientific [PYTHON]` prints a table of medians. The programs call
SciPy's functions as they are. JAX has them written for `jax.scipy`, `diffrax` and `optimistix`; it
is asked where PYTHON has these, compiled and in double precision. SciPy computes the value alone.
All are asked in turns, in processes of their own on one core.

`python -m tests.bench.libraries.scientific TOOL` is the process of one tool.

- `posterior`: a hierarchical log density of 10^5 counts and measurements of 1,000 groups.
- `matern`: the log likelihood of a Gaussian process of 1,000 points, of the smoothness 1.2 (Bessel
  functions, which JAX and autograd do not have) and 3/2.
- `kinetics`: the misfit of Robertson's stiff equations to 20 measurements; BDF, and for JAX
  `diffrax.Kvaerno5` with the same tolerances.
- `elliptic`: a sparse system of 10^5 unknowns on a square, by its coefficients: `spsolve`, and for
  JAX `jax.experimental.sparse.linalg.spsolve`, which calls SciPy as well.
- `implied`: 10^4 volatilities by Brent's method, and for JAX by `optimistix.Bisection`, which is
  the bracketing method that it has.
"""

import math
import statistics
import sys
from collections.abc import Callable
from typing import Any

import numpy
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import integrate, linalg, optimize, sparse, special, stats
from scipy.sparse.linalg import spsolve

from tests.bench.libraries import turns
from tests.bench.libraries.turns import Tool

GROUPS, COLUMNS, SIDE = 1000, 5, 316
TIMES = numpy.logspace(-4, 4, 20)
RATES = (0.04, 3e7, 1e4)


def posterior(theta: Any, x: Any, group: Any, counts: Any, z: Any) -> Any:
    beta, u = theta[:COLUMNS], theta[COLUMNS : COLUMNS + GROUPS]
    mean, log_tau, log_sigma, log_nu = theta[-4:]
    effect = u[group]
    rate = np.exp(x @ beta + effect)
    density = np.sum(stats.poisson.logpmf(counts, rate))
    density += np.sum(stats.t.logpdf(z, np.exp(log_nu), effect, np.exp(log_sigma)))
    density += np.sum(stats.norm.logpdf(u, mean, np.exp(log_tau)))
    return density + np.sum(stats.norm.logpdf(beta, 0.0, 1.0))


def _likelihood(k: Any, y: Any, noise: Any) -> Any:
    factor = linalg.cholesky(k + noise * np.eye(len(y)), lower=True)
    w = linalg.solve_triangular(factor, y, lower=True)
    return -0.5 * np.sum(w**2) - np.sum(np.log(np.diag(factor)))


def matern(theta: Any, distances: Any, y: Any) -> Any:
    nu = 1.2
    length, variance, noise = np.exp(theta)
    r = math.sqrt(2.0 * nu) * distances / length + 1e-10
    k = variance * 2.0 ** (1.0 - nu) / special.gamma(nu) * r**nu * special.kv(nu, r)
    return _likelihood(k, y, noise)


def matern_32(theta: Any, distances: Any, y: Any) -> Any:
    length, variance, noise = np.exp(theta)
    r = math.sqrt(3.0) * distances / length
    return _likelihood(variance * (1.0 + r) * np.exp(-r), y, noise)


def kinetics(log_rates: Any, measured: Any) -> Any:
    k1, k2, k3 = np.exp(log_rates)

    def slopes(t: Any, y: Any) -> Any:
        a, b, c = y
        first, second, third = k1 * a, k2 * b * b, k3 * b * c
        return np.array([third - first, first - second - third, second])

    found = integrate.solve_ivp(
        slopes, (0.0, 1e4), [1.0, 0.0, 0.0], "BDF", TIMES, rtol=1e-6, atol=1e-9
    )
    return np.sum((found.y - measured) ** 2)


def _neighbours(n: int) -> tuple[Any, Any]:
    """Return the rows and columns of the elements of a five-point stencil, some more than once."""
    cells = numpy.arange(n * n).reshape(n, n)
    first = numpy.concatenate((cells[:, :-1].ravel(), cells[:-1].ravel()))
    second = numpy.concatenate((cells[:, 1:].ravel(), cells[1:].ravel()))
    every = cells.ravel()
    rows = numpy.concatenate((first, second, first, second, every))
    return rows, numpy.concatenate((first, second, second, first, every))


DOWN, ACROSS = _neighbours(SIDE)


def _elements(k: Any) -> Any:
    across, down = 0.5 * (k[:, 1:] + k[:, :-1]), 0.5 * (k[1:] + k[:-1])
    flow = np.concatenate((across.ravel(), down.ravel()))
    return np.concatenate((flow, flow, -flow, -flow, np.full(SIDE * SIDE, 0.01)))


def elliptic(k: Any, source: Any) -> Any:
    matrix = sparse.coo_array((_elements(k), (DOWN, ACROSS)), shape=(SIDE**2, SIDE**2)).tocsc()
    return np.sum(spsolve(matrix, source) ** 2)


def _call(volatility: Any, strike: Any) -> Any:
    d = (np.log(1.0 / strike) + 0.5 * volatility**2) / volatility
    return special.ndtr(d) - strike * special.ndtr(d - volatility)


def implied(prices: Any, strikes: Any) -> Any:
    total = 0.0
    for k in range(len(prices)):
        strike, price = strikes[k], prices[k]
        root = optimize.brentq(lambda s: _call(s, strike) - price, 1e-3, 3.0)  # noqa: B023  # called at once
        total += root**2
    return total


FUNCTIONS: dict[str, Callable[..., Any]] = {
    each.__name__: each for each in (posterior, matern, matern_32, kinetics, elliptic, implied)
}


def arguments(name: str) -> tuple[Any, ...]:
    """Return the parameters, and data."""
    drawn = numpy.random.default_rng(0)
    if name == "posterior":
        n = 100_000
        theta = 0.3 * drawn.standard_normal(COLUMNS + GROUPS + 4)
        x, group = drawn.standard_normal((n, COLUMNS)), drawn.integers(0, GROUPS, n)
        effect = theta[COLUMNS : COLUMNS + GROUPS][group]
        counts = drawn.poisson(numpy.exp(x @ theta[:COLUMNS] + effect)).astype(float)
        return theta, x, group, counts, effect + drawn.standard_t(3.0, n)
    if name.startswith("matern"):
        points = drawn.uniform(0.0, 10.0, (1000, 2))
        distances = numpy.sqrt(numpy.sum((points[:, None] - points[None]) ** 2, axis=2))
        return numpy.log([1.5, 2.0, 0.1]), distances, drawn.standard_normal(1000)
    if name == "kinetics":
        log_rates = numpy.log(RATES)
        measured = drawn.uniform(0.0, 1.0, (3, len(TIMES)))
        return log_rates, measured
    if name == "elliptic":
        return drawn.uniform(0.5, 2.0, (SIDE, SIDE)), drawn.standard_normal(SIDE * SIDE)
    strikes = drawn.uniform(0.7, 1.4, 10_000)
    return _call(drawn.uniform(0.1, 0.6, 10_000), strikes), strikes


# -- JAX -------------------------------------------------------------------------------------------


def jax_kinetics(log_rates: Any, measured: Any) -> Any:
    import diffrax
    import jax.numpy as jnp

    def slopes(t: Any, y: Any, rates: Any) -> Any:
        first, second, third = rates[0] * y[0], rates[1] * y[1] * y[1], rates[2] * y[1] * y[2]
        return jnp.array([third - first, first - second - third, second])

    found = diffrax.diffeqsolve(
        diffrax.ODETerm(slopes), diffrax.Kvaerno5(), 0.0, 1e4, None,
        jnp.array([1.0, 0.0, 0.0]), jnp.exp(log_rates), saveat=diffrax.SaveAt(ts=TIMES),
        stepsize_controller=diffrax.PIDController(rtol=1e-6, atol=1e-9), max_steps=4096,
    )  # fmt: skip
    return jnp.sum((found.ys.T - measured) ** 2)


def jax_elliptic(k: Any, source: Any) -> Any:
    import jax.numpy as jnp
    from jax.experimental.sparse.linalg import spsolve

    n = SIDE * SIDE
    places, slots = numpy.unique(DOWN * n + ACROSS, return_inverse=True)
    indptr = numpy.searchsorted(places, n * numpy.arange(n + 1)).astype(numpy.int32)
    data = jnp.zeros(len(places)).at[slots].add(_elements(k))
    found = spsolve(data, (places % n).astype(numpy.int32), indptr, source)
    return jnp.sum(found**2)


def jax_implied(prices: Any, strikes: Any) -> Any:
    import jax
    import jax.numpy as jnp
    import optimistix

    def call(volatility: Any, strike: Any) -> Any:
        d = (jnp.log(1.0 / strike) + 0.5 * volatility**2) / volatility
        cdf = jax.scipy.special.ndtr
        return cdf(d) - strike * cdf(d - volatility)

    solver = optimistix.Bisection(rtol=1e-12, atol=1e-12)

    def one(price: Any, strike: Any) -> Any:
        options = {"lower": 1e-3, "upper": 3.0}
        found = optimistix.root_find(
            lambda s, given: call(s, given[1]) - given[0], solver, 1.0, (price, strike), options
        )
        return found.value

    return jnp.sum(jax.vmap(one)(prices, strikes) ** 2)


# -- tools -----------------------------------------------------------------------------------------


def _adc(name: str) -> Callable[[], Any]:
    import adc

    found, args = adc.value_and_grad(FUNCTIONS[name]), arguments(name)
    return lambda: found(*args)


def _scipy(name: str) -> Callable[[], Any]:
    fn, args = FUNCTIONS[name], arguments(name)

    def call() -> None:
        fn(*args)

    return call


def _jax(name: str) -> Callable[[], Any]:
    import jax
    import jax.scipy

    jax.config.update("jax_enable_x64", True)
    given = jax.device_put(arguments(name))
    globals().update(  # functions are traced in here
        np=jax.numpy, linalg=jax.scipy.linalg, stats=jax.scipy.stats, special=jax.scipy.special
    )
    own = {"kinetics": jax_kinetics, "elliptic": jax_elliptic, "implied": jax_implied}
    fn = own.get(name, FUNCTIONS[name])
    made = jax.jit(jax.value_and_grad(fn))
    return lambda: jax.block_until_ready(made(*given))


def _autograd(name: str) -> Callable[[], Any]:
    import autograd
    import autograd.numpy
    import autograd.scipy.linalg
    import autograd.scipy.stats

    args = arguments(name)
    globals().update(
        np=autograd.numpy, linalg=autograd.scipy.linalg, stats=autograd.scipy.stats
    )  # fmt: skip
    made = autograd.value_and_grad(FUNCTIONS[name])
    return lambda: made(*args)


TOOLS = {"adc": _adc, "scipy": _scipy, "jax": _jax, "autograd": _autograd}
# What a tool does not have.
LACKS = {"jax": ("matern",), "autograd": ("matern", "matern_32", "kinetics", "elliptic", "implied")}
# Other methods have other errors: of the misfit's derivatives, relative to the largest.
TOLERANCE = {"kinetics": 1e-3}


def main(console: Console, rounds: int = 5, peer: str = sys.executable) -> None:
    """Print the table."""
    processes = {name: Tool(sys.executable, "tests.bench.libraries.scientific", name)
                 for name in ("scipy", "adc")}  # fmt: skip
    modules = {"jax": ("jax", "diffrax", "optimistix"), "autograd": ("autograd",)}
    for name, needed in modules.items():
        if all(turns.installed(peer, module) for module in needed):
            processes[name] = Tool(peer, "tests.bench.libraries.scientific", name)
    table = Table(title="Value and gradient, in milliseconds; SciPy: the value alone")
    table.add_column("program")
    for column in (*processes, *(f"adc / {name}" for name in processes if name != "adc")):
        table.add_column(column, justify="right")
    for program in FUNCTIONS:
        tools = {name: each for name, each in processes.items()
                 if program not in LACKS.get(name, ())}  # fmt: skip
        seconds, found = turns.ask(tools, (program,), rounds)
        for name in set(tools) - {"adc", "scipy"}:
            rtol = TOLERANCE.get(program, 1e-6)
            if not numpy.allclose(found["adc"], found[name], rtol=rtol):
                raise AssertionError(f"{program}: {name} differs: {found}")
        times = [f"{statistics.median(seconds[name]) * 1e3:.3g}" if name in tools else ""
                 for name in processes]  # fmt: skip
        ratios = [f"{turns.ratio(seconds, 'adc', name):.2f}" if name in tools else ""
                  for name in processes if name != "adc"]  # fmt: skip
        table.add_row(program, *times, *ratios)
    for process in processes.values():
        process.close()
    console.print(table)


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in TOOLS:
        turns.serve(TOOLS[sys.argv[1]])
    else:
        main(Console(width=100), peer=sys.argv[1] if sys.argv[1:] else sys.executable)
