"""The loops in C++ for Enzyme, as its wheel for JAX differentiates them: `enzyme_ad.jax.cpp_call`.

A source is a function `kernel` of its outputs and its inputs, all of them pointers; sizes are
constants, as the wheel wants them. Loss and weights are JAX's, so that weights get no adjoints.
"""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from enzyme_ad.jax import cpp_call

from tests.bench.kernels import KERNELS, Arguments

jax.config.update("jax_enable_x64", True)

# Arguments of clang's front end, which knows neither -march nor -ffast-math. Enzyme's wheel is for
# x86-64 only.
WIDE = "avx512f" in Path("/proc/cpuinfo").read_text()
OPTIONS = ("-O3", "-target-cpu", "x86-64-v4" if WIDE else "x86-64-v3")

CHOLESKY = """
void kernel(double *__restrict l, const double *__restrict a) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) l[i * n + j] = j <= i ? a[i * n + j] : 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      double dot = 0;
      for (int k = 0; k < j; k++) dot += l[i * n + k] * l[j * n + k];
      l[i * n + j] = (l[i * n + j] - dot) / l[j * n + j];
    }
    double dot = 0;
    for (int k = 0; k < i; k++) dot += l[i * n + k] * l[i * n + k];
    l[i * n + i] = __builtin_sqrt(l[i * n + i] - dot);
  }
}
"""

LU = """
void kernel(double *__restrict f, const double *__restrict a) {
  for (int i = 0; i < n * n; i++) f[i] = a[i];
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      double dot = 0;
      for (int k = 0; k < j; k++) dot += f[i * n + k] * f[k * n + j];
      f[i * n + j] = (f[i * n + j] - dot) / f[j * n + j];
    }
    for (int j = i; j < n; j++) {
      double dot = 0;
      for (int k = 0; k < i; k++) dot += f[i * n + k] * f[k * n + j];
      f[i * n + j] -= dot;
    }
  }
}
"""

TRISOLV = """
void kernel(double *__restrict x, const double *__restrict lower, const double *__restrict b) {
  for (int i = 0; i < n; i++) {
    double dot = 0;
    for (int j = 0; j < i; j++) dot += lower[i * n + j] * x[j];
    x[i] = (b[i] - dot) / lower[i * n + i];
  }
}
"""

DURBIN = """
void kernel(double *__restrict y, const double *__restrict r) {
  double z[n];
  double alpha = -r[0], beta = 1;
  y[0] = alpha;
  for (int k = 1; k < n; k++) {
    beta *= 1 - alpha * alpha;
    double dot = 0;
    for (int i = 0; i < k; i++) dot += r[k - 1 - i] * y[i];
    alpha = -(r[k] + dot) / beta;
    for (int i = 0; i < k; i++) z[i] = y[i] + alpha * y[k - 1 - i];
    for (int i = 0; i < k; i++) y[i] = z[i];
    y[k] = alpha;
  }
}
"""

SEIDEL = """
void kernel(double *__restrict a, const double *__restrict start) {
  for (int i = 0; i < n * m; i++) a[i] = start[i];
  for (int sweep = 0; sweep < 40; sweep++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++) {
        double *c = a + i * m + j;
        c[0] = (c[-m - 1] + c[-m] + c[-m + 1] + c[-1] + c[0] + c[1] + c[m - 1] + c[m] + c[m + 1])
               / 9.0;
      }
}
"""

GRAMSCHMIDT = """
void kernel(double *__restrict q, double *__restrict r, const double *__restrict start) {
  double *__restrict a = (double *)__builtin_malloc(sizeof(double) * m * n);
  for (int i = 0; i < m * n; i++) a[i] = start[i];
  for (int i = 0; i < n * n; i++) r[i] = 0;
  for (int k = 0; k < n; k++) {
    double dot = 0;
    for (int i = 0; i < m; i++) dot += a[i * n + k] * a[i * n + k];
    r[k * n + k] = __builtin_sqrt(dot);
    for (int i = 0; i < m; i++) q[i * n + k] = a[i * n + k] / r[k * n + k];
    for (int j = k + 1; j < n; j++) {
      double dot = 0;
      for (int i = 0; i < m; i++) dot += q[i * n + k] * a[i * n + j];
      r[k * n + j] = dot;
      for (int i = 0; i < m; i++) a[i * n + j] -= q[i * n + k] * dot;
    }
  }
  __builtin_free(a);
}
"""

NBODY = """
void kernel(double *__restrict pos, double *__restrict vel, const double *__restrict pos0,
            const double *__restrict vel0, const double *__restrict mass) {
  for (int i = 0; i < 3 * n; i++) { pos[i] = pos0[i]; vel[i] = vel0[i]; }
  for (int step = 0; step < steps; step++) {
    for (int i = 0; i < n; i++) {
      double ax = 0, ay = 0, az = 0;
      for (int j = 0; j < n; j++) {
        double dx = pos[3 * j] - pos[3 * i];
        double dy = pos[3 * j + 1] - pos[3 * i + 1];
        double dz = pos[3 * j + 2] - pos[3 * i + 2];
        double square = dx * dx + dy * dy + dz * dz + 0.01;
        double pull = mass[j] / (square * __builtin_sqrt(square));
        ax += pull * dx;
        ay += pull * dy;
        az += pull * dz;
      }
      vel[3 * i] += 0.02 * ax;
      vel[3 * i + 1] += 0.02 * ay;
      vel[3 * i + 2] += 0.02 * az;
    }
    for (int i = 0; i < 3 * n; i++) pos[i] += 0.02 * vel[i];
  }
}
"""

ODE = """
static void rates(double *__restrict k, const double *__restrict y,
                  const double *__restrict growth, const double *__restrict effect) {
  for (int i = 0; i < n; i++) {
    double rate = growth[i];
    for (int j = 0; j < n; j++) rate += effect[i * n + j] * y[j];
    k[i] = y[i] * rate;
  }
}

void kernel(double *__restrict y, const double *__restrict start,
            const double *__restrict growth, const double *__restrict effect) {
  double k0[n], k1[n], k2[n], k3[n], stage[n];
  for (int i = 0; i < n; i++) y[i] = start[i];
  rates(k0, y, growth, effect);
  double t = 0, h = 0.01;
  while (t < end) {
    if (h > end - t) h = end - t;
    for (int i = 0; i < n; i++) stage[i] = y[i] + h * (0.5 * k0[i]);
    rates(k1, stage, growth, effect);
    for (int i = 0; i < n; i++) stage[i] = y[i] + h * (0.75 * k1[i]);
    rates(k2, stage, growth, effect);
    for (int i = 0; i < n; i++)
      stage[i] = y[i] + h * (2.0 / 9.0 * k0[i] + 1.0 / 3.0 * k1[i] + 4.0 / 9.0 * k2[i]);
    rates(k3, stage, growth, effect);
    double square = 0;
    for (int i = 0; i < n; i++) {
      double error = -5.0 / 72.0 * k0[i] + k1[i] / 12.0 + k2[i] / 9.0 - k3[i] / 8.0;
      double scaled = h * error / (1e-8 * (1.0 + y[i]));
      square += scaled * scaled;
    }
    double norm = __builtin_sqrt(square / n);
    if (norm <= 1.0) {
      t += h;
      for (int i = 0; i < n; i++) { y[i] = stage[i]; k0[i] = k3[i]; }
    }
    double factor = 0.9 * __builtin_pow(norm, -1.0 / 3.0);
    h *= factor < 0.2 ? 0.2 : factor > 5.0 ? 5.0 : factor;
  }
}
"""

CSR = """
void kernel(double *__restrict x, const double *__restrict values,
            const double *__restrict column_numbers, const double *__restrict start_numbers,
            const double *__restrict x0) {
  int *__restrict columns = (int *)__builtin_malloc(sizeof(int) * entries);
  int *__restrict starts = (int *)__builtin_malloc(sizeof(int) * (n + 1));
  for (int i = 0; i < entries; i++) columns[i] = (int)column_numbers[i];
  for (int i = 0; i <= n; i++) starts[i] = (int)start_numbers[i];
  double *__restrict y = (double *)__builtin_malloc(sizeof(double) * n);
  for (int i = 0; i < n; i++) x[i] = x0[i];
  for (int step = 0; step < steps; step++) {
    for (int i = 0; i < n; i++) {
      double dot = 0;
      for (int at = starts[i]; at < starts[i + 1]; at++) dot += values[at] * x[columns[at]];
      y[i] = dot / __builtin_sqrt(1.0 + dot * dot);
    }
    for (int i = 0; i < n; i++) x[i] = y[i];
  }
  __builtin_free(y);
  __builtin_free(columns);
  __builtin_free(starts);
}
"""

HEAT = """
static void sweep(double *__restrict b, const double *__restrict a) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      for (int k = 1; k < n - 1; k++) {
        const double *c = a + (i * n + j) * n + k;
        b[(i * n + j) * n + k] = 0.125 * (c[n * n] - 2.0 * c[0] + c[-n * n])
                                 + 0.125 * (c[n] - 2.0 * c[0] + c[-n])
                                 + 0.125 * (c[1] - 2.0 * c[0] + c[-1]) + c[0];
      }
}

void kernel(double *__restrict a, const double *__restrict a0, const double *__restrict b0) {
  double *__restrict b = (double *)__builtin_malloc(sizeof(double) * n * n * n);
  for (int i = 0; i < n * n * n; i++) { a[i] = a0[i]; b[i] = b0[i]; }
  for (int step = 0; step < steps; step++) {
    sweep(b, a);
    sweep(a, b);
  }
  __builtin_free(b);
}
"""

LSTM = """
static double sigmoid(double x) { return 1.0 / (1.0 + __builtin_exp(-x)); }

void kernel(double *__restrict loss, const double *__restrict weights,
            const double *__restrict extra, const double *__restrict start,
            const double *__restrict sequence) {
  double state[2 * layers * b], x[b], guess[b];
  for (int i = 0; i < 2 * layers * b; i++) state[i] = start[i];
  double total = 0;
  for (int t = 0; t < length - 1; t++) {
    for (int i = 0; i < b; i++) x[i] = sequence[t * b + i] * extra[i];
    for (int layer = 0; layer < layers; layer++) {
      const double *weight = weights + 8 * b * layer, *shift = weight + 4 * b;
      double *hidden = state + 2 * b * layer, *cell = hidden + b;
      for (int i = 0; i < b; i++) {
        double forget = sigmoid(x[i] * weight[i] + shift[i]);
        double ingate = sigmoid(hidden[i] * weight[b + i] + shift[b + i]);
        double outgate = sigmoid(x[i] * weight[2 * b + i] + shift[2 * b + i]);
        double change = __builtin_tanh(hidden[i] * weight[3 * b + i] + shift[3 * b + i]);
        cell[i] = cell[i] * forget + ingate * change;
        hidden[i] = outgate * __builtin_tanh(cell[i]);
        x[i] = hidden[i];
      }
    }
    double sum = 2;
    for (int i = 0; i < b; i++) {
      guess[i] = x[i] * extra[b + i] + extra[2 * b + i];
      sum += __builtin_exp(guess[i]);
    }
    double rest = __builtin_log(sum);
    for (int i = 0; i < b; i++) total += sequence[(t + 1) * b + i] * (guess[i] - rest);
  }
  loss[0] = -total / ((length - 1) * b);
}
"""

# The terms of single points; those that are sums over the parameters are JAX's. (Were the arrays
# declared inside of the loops, the gradient would be wrong.)
MIXTURE = """
void kernel(double *__restrict likelihood, const double *__restrict alphas,
            const double *__restrict means, const double *__restrict qdiags,
            const double *__restrict icf, const double *__restrict sums,
            const double *__restrict x) {
  double terms[components], centred[d], scaled[d];
  double total = 0;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < components; k++) {
      for (int r = 0; r < d; r++) {
        centred[r] = x[i * d + r] - means[k * d + r];
        scaled[r] = qdiags[k * d + r] * centred[r];
      }
      int at = d;
      for (int c = 0; c < d; c++)
        for (int r = c + 1; r < d; r++) scaled[r] += icf[k * packed + at++] * centred[c];
      double square = 0;
      for (int r = 0; r < d; r++) square += scaled[r] * scaled[r];
      terms[k] = alphas[k] + sums[k] - 0.5 * square;
    }
    double largest = terms[0];
    for (int k = 1; k < components; k++) largest = terms[k] > largest ? terms[k] : largest;
    double share = 0;
    for (int k = 0; k < components; k++) share += __builtin_exp(terms[k] - largest);
    total += largest + __builtin_log(share);
  }
  likelihood[0] = total;
}
"""


def compiled(source: str, sizes: dict[str, int], shapes: list[tuple[int, ...]], *args: Any) -> Any:
    """Call a source, whose outputs have these shapes.

    It works on memory of its own: gradients are wrong where an output is read.
    """
    constants = "".join(f"constexpr int {name} = {size};\n" for name, size in sizes.items())
    declared, passed, before, after = [], [], "", ""
    for k, shape in enumerate(shapes):
        declared.append(f"enzyme::tensor<double, {', '.join(map(str, shape))}>& o{k}")
        passed.append(f"w{k}")
        size = math.prod(shape)
        before += f"  double *w{k} = (double *)__builtin_malloc(sizeof(double) * {size});\n"
        after += f"  for (int i = 0; i < {size}; i++) ((double *)&o{k})[i] = w{k}[i];\n"
        after += f"  __builtin_free(w{k});\n"
    for k, arg in enumerate(args):
        declared.append(f"const enzyme::tensor<double, {', '.join(map(str, arg.shape))}>& i{k}")
        passed.append(f"(const double *)&i{k}")
    call = f"{before}  kernel({', '.join(passed)});\n{after}"
    wrapper = f"void f({', '.join(declared)}) {{\n{call}}}\n"
    outputs = [jax.core.ShapedArray(shape, jnp.float64) for shape in shapes]
    return cpp_call(*args, out_shapes=outputs, source=constants + source + wrapper, argv=OPTIONS)


def square(source: str, a: Any, w: Any) -> Any:
    (out,) = compiled(source, {"n": a.shape[0], "m": a.shape[1]}, [a.shape], a)
    return jnp.sum(w * out)


def gramschmidt(source: str, a: Any, w: Any) -> Any:
    m, n = a.shape
    q, r = compiled(source, {"m": m, "n": n}, [(m, n), (n, n)], a)
    return jnp.sum(w[:m] * q) + jnp.sum(w[m:] * r)


def trisolv(source: str, lower: Any, b: Any, w: Any) -> Any:
    (x,) = compiled(source, {"n": b.size}, [b.shape], lower, b)
    return jnp.sum(w * x)


def durbin(source: str, r: Any, w: Any) -> Any:
    (y,) = compiled(source, {"n": r.size}, [r.shape], r)
    return jnp.sum(w * y)


def nbody(source: str, steps: Any, pos: Any, vel: Any, mass: Any, w: Any) -> Any:
    sizes = {"n": mass.size, "steps": steps}
    pos, vel = compiled(source, sizes, [pos.shape, vel.shape], pos, vel, mass)
    return jnp.sum(w[0] * pos + w[1] * vel)


def ode(source: str, end: Any, y: Any, growth: Any, effect: Any, w: Any) -> Any:
    (y,) = compiled(source, {"n": y.size, "end": end}, [y.shape], y, growth, effect)
    return jnp.sum(w * y)


def csr(source: str, steps: Any, values: Any, columns: Any, starts: Any, x: Any, w: Any) -> Any:
    sizes = {"n": x.size, "steps": steps, "entries": values.size}
    (x,) = compiled(source, sizes, [x.shape], values, columns, starts, x)
    return jnp.sum(w * x)


def heat(source: str, steps: Any, A: Any, B: Any, w: Any) -> Any:
    (A,) = compiled(source, {"n": A.shape[0], "steps": steps}, [A.shape], A, B)
    return jnp.sum(w * A)


def lstm(source: str, main: Any, extra: Any, state: Any, sequence: Any) -> Any:
    length, b = sequence.shape
    sizes = {"layers": state.shape[0] // 2, "b": b, "length": length}
    (loss,) = compiled(source, sizes, [(1,)], main, extra, state, sequence)
    return loss[0]


def mixture(source: str, alphas: Any, means: Any, icf: Any, x: Any, gamma: Any, m: Any) -> Any:
    n, d = x.shape
    qdiags, sums = jnp.exp(icf[:, :d]), jnp.sum(icf[:, :d], 1)
    sizes = {"n": n, "d": d, "components": alphas.size, "packed": icf.shape[1]}
    (total,) = compiled(source, sizes, [(1,)], alphas, means, qdiags, icf, sums, x)
    squares = jnp.sum(qdiags**2) + jnp.sum(icf[:, d:] ** 2)
    rest = 0.5 * gamma**2 * squares - m * jnp.sum(sums)
    return total[0] - n * jax.nn.logsumexp(alphas) + rest


@dataclass(frozen=True)
class Port:
    """A source, and the function that gives it sizes and arguments and weighs what comes out."""

    source: str
    loss: Callable[..., Any]


PORTS = {
    "cholesky": Port(CHOLESKY, square),
    "lu": Port(LU, square),
    "seidel": Port(SEIDEL, square),
    "gramschmidt": Port(GRAMSCHMIDT, gramschmidt),
    "trisolv": Port(TRISOLV, trisolv),
    "durbin": Port(DURBIN, durbin),
    "nbody": Port(NBODY, nbody),
    "ode": Port(ODE, ode),
    "csr": Port(CSR, csr),
    "heat": Port(HEAT, heat),
    "lstm": Port(LSTM, lstm),
    "mixture": Port(MIXTURE, mixture),
}


def take(name: str, args: Arguments) -> Arguments:
    """Return JAX's arrays for those of a kernel; the wheel takes no integers in reverse mode."""
    return tuple(jnp.array(arg, float) if isinstance(arg, np.ndarray) else arg for arg in args)


def call(name: str) -> Any:
    """Return the call of a port, JAX's arrays in and out; it returns when they are there."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # where Enzyme writes what it is doing
    kernel = KERNELS[name]
    port = PORTS[kernel.loss.__name__]
    # Numbers of steps are constants of the source.
    constants = tuple(k for k, arg in enumerate(kernel.arguments(kernel.tiny)) if type(arg) is int)

    def loss(*args: Any) -> Any:
        return port.loss(port.source, *args)

    gradient = jax.jit(jax.value_and_grad(loss, kernel.wrt), static_argnums=constants)
    return lambda *args: jax.block_until_ready(gradient(*args))
