# mypy: ignore-errors
"""Some of the battery as Warp kernels: typed, over arrays given, with lengths known at run time."""

import numpy as np
import warp as wp

Array = wp.array(dtype=wp.float64)
ONE, HALF, FIVE, ZERO = (wp.constant(wp.float64(v)) for v in (1.0, 0.5, 5.0, 0.0))


@wp.kernel
def fill_an_array(x: Array, y: Array, out: Array):
    y[0] = x[0]
    for i in range(1, x.shape[0]):
        if y[i - 1] > ZERO:
            y[i] = wp.sin(y[i - 1]) * x[i]
        else:
            y[i] = y[i - 1] + x[i]
    for i in range(x.shape[0]):
        wp.atomic_add(out, 0, y[i])


@wp.kernel
def overwrite_an_element(x: Array, y: Array, out: Array):
    for i in range(x.shape[0]):
        y[i] = x[i]
    y[0] = y[0] * y[0]
    y[0] = wp.sin(y[0])
    for i in range(x.shape[0]):
        wp.atomic_add(out, 0, y[i] * x[i])


@wp.kernel
def data_dependent_while(x: Array, y: Array, out: Array):
    s = x[0]
    while s < FIVE:
        s = s * s + ONE
    out[0] = s * x[1]


@wp.kernel
def break_out_of_a_loop(x: Array, y: Array, out: Array):
    s = x[0]
    for _i in range(x.shape[0] + 4):
        s = s * s + HALF
        if s > FIVE:
            break
    out[0] = s


@wp.kernel
def add_to_elements(x: Array, y: Array, out: Array):
    for i in range(x.shape[0]):
        wp.atomic_add(y, i % 3, x[i] * x[i])
    for i in range(3):
        wp.atomic_add(out, 0, y[i] * y[i])


@wp.kernel
def skip_with_continue(x: Array, y: Array, out: Array):
    s = wp.float64(0.0)
    for i in range(x.shape[0]):
        if x[i] < ZERO:
            continue
        s = s + x[i] * x[i]
    out[0] = s


@wp.kernel
def conditional_expression(x: Array, y: Array, out: Array):
    s = wp.float64(0.0)
    for i in range(x.shape[0]):
        s = s + (x[i] * x[i] if x[i] > ZERO else -x[i])
    out[0] = s


@wp.kernel
def two_names_at_once(x: Array, y: Array, out: Array):
    a = x[0]
    b = x[1]
    for i in range(2, x.shape[0]):
        c = a * b + x[i]
        a = b
        b = c
    out[0] = a * b


PORTS = {
    kernel.key: kernel
    for kernel in (
        fill_an_array, overwrite_an_element, data_dependent_while, break_out_of_a_loop,
        add_to_elements, skip_with_continue, conditional_expression, two_names_at_once,
    )
}  # fmt: skip


def gradient(fn, numbers):
    """Return the gradient of the port of a program, by Warp's tape."""
    x = wp.array(numbers, dtype=wp.float64, requires_grad=True, device="cpu")
    y = wp.zeros(len(numbers), dtype=wp.float64, requires_grad=True, device="cpu")
    out = wp.zeros(1, dtype=wp.float64, requires_grad=True, device="cpu")
    with wp.Tape() as tape:
        wp.launch(PORTS[fn.__name__], dim=1, inputs=[x, y], outputs=[out], device="cpu")
    tape.backward(out)
    return np.array(x.grad.numpy()), float(out.numpy()[0])
