"""Newton's method for a softmax regression, with products of the Hessian and conjugate gradients.

The Hessian of 650 parameters is never formed: `adc.hvp` multiplies it by a vector. Each step of
Newton's method solves with it by conjugate gradients, to a precision that grows as it converges.
"""

import numpy as np
from numpy import ndarray
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.datasets import load_digits

import adc


def objective(theta: ndarray, x: ndarray, labels: ndarray, penalty: float) -> float:
    """Return the mean cross-entropy of a softmax regression, with a quadratic penalty."""
    weights = theta.reshape(x.shape[1], -1)
    z = x @ weights
    z -= z.max(axis=1, keepdims=True)
    logp = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    fit = np.mean(logp[np.arange(len(labels)), labels])
    return float(penalty / 2 * np.sum(theta**2) - fit)


value_and_gradient = adc.value_and_grad(objective)

images, labels = load_digits(return_X_y=True)
x = np.column_stack([images / 16.0, np.ones(len(images))])
data = (x, labels, 1e-3)
theta = np.zeros(x.shape[1] * 10)

rng = np.random.default_rng(0)
direction = rng.normal(size=theta.shape)
product = adc.hvp(objective, (theta, *data), (direction, None, None, None))[0]
above = value_and_gradient(theta + 1e-5 * direction, *data)[1]
below = value_and_gradient(theta - 1e-5 * direction, *data)[1]
assert np.allclose(product, (above - below) / 2e-5, rtol=1e-4, atol=1e-7)


def hessian_times(vector: ndarray) -> ndarray:
    """Multiply by the Hessian at the present `theta`."""
    global products
    products += 1
    product: ndarray = adc.hvp(objective, (theta, *data), (vector, None, None, None))[0]
    return product


hessian = LinearOperator((len(theta), len(theta)), matvec=hessian_times, dtype=float)
print("step   objective       |gradient|   products")
for step in range(20):
    value, gradient = value_and_gradient(theta, *data)
    size = np.linalg.norm(gradient)
    if size < 1e-10:
        break
    products = 0
    move, _ = cg(hessian, -gradient, rtol=min(0.1, size))
    rate = 1.0
    while value_and_gradient(theta + rate * move, *data)[0] > value + 1e-15:
        rate /= 2
    theta = theta + rate * move
    print(f"{step:4}   {value:.10f}   {size:.1e}   {products:8}")

quasi = minimize(value_and_gradient, np.zeros_like(theta), args=data, jac=True, method="L-BFGS-B")
print(f"L-BFGS stops at {quasi.fun:.10f}, |gradient| {np.linalg.norm(quasi.jac):.1e}")
right = np.mean((x @ theta.reshape(x.shape[1], -1)).argmax(axis=1) == labels)
print(f"{100 * right:.1f} % of the digits are classified rightly")

assert size < 1e-10
assert value <= quasi.fun
