# ruff: noqa: B007
# Loops with unused counters, as users write them.
"""Programs that read and write arrays element by element, also under several names.

Part of the corpus of `tests.corpus.programs`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.corpus.program import P4, X3, X6, Program, recorder, uniform

ELEMENT_PROGRAMS: list[Program] = []
program = recorder(ELEMENT_PROGRAMS)

# --- arrays: reading, writing, overwriting --------------------------------------------------------


@program(X3)
def index_with_constants(x: Any) -> Any:
    return x[0] * x[1] + x[2] * x[2]


@program(X6)
def index_with_negatives(x: Any) -> Any:
    return x[-1] * x[-6] + x[-2] ** 2


@program(X6)
def negative_index_in_a_loop(x: Any) -> Any:
    s = 0.0
    for i in range(6):
        s += x[-i] * x[i - 3] * (i + 1)
    return s


@program(X3, tags="mutates")
def overwrite_with_own_square(a: Any) -> Any:
    a[0] = a[0] * a[0]
    a[0] = math.sin(a[0])
    return a[0] * a[1]


@program(X6)
def nonlinear_overwrites_of_a_copy(x: Any) -> Any:
    a = x.copy()
    a[0] = a[0] * a[0]
    a[0] = math.sin(a[0])
    s = 0.0
    for i in range(6):
        s += a[i] * x[i]
    return s


@program(X6, tags="mutates")
def element_read_then_overwritten_in_a_loop(a: Any) -> Any:
    s = 0.0
    for i in range(1, 6):
        s += a[i] * a[i - 1]
        a[i] = math.sin(a[i]) * s
    return s * a[3]


@program(X6)
def element_overwritten_in_the_next_iteration(x: Any) -> Any:
    y = x.copy()
    s = 0.0
    for i in range(5):
        s += y[i + 1] ** 2 * (i + 1)
        y[i] = 3.0 + i
    return s + np.sum(y)


@program(X6)
def element_overwritten_at_an_index_that_wraps_around(x: Any) -> Any:
    y = x.copy()
    s = 0.0
    with np.errstate(over="ignore"):
        for i in range(3, 9):
            s += y[i - 3] ** 2
            y[np.uint8(253) + i] = 3.0 * x[8 - i]
    return s * y[2]


@program(X6, tags="mutates")
def overwrite_through_many_passes(a: Any) -> Any:
    for _ in range(4):
        for i in range(1, 5):
            a[i] = 0.3 * (a[i - 1] + a[i + 1]) * a[i] + 0.1
    return a[1] * a[2] + a[3] * a[4]


@program(X3, tags="mutates")
def argument_is_modified_and_summed(x: Any) -> Any:
    x[0] = x[0] * x[0]
    s = 0.0
    for v in x:
        s += v * v
    return s


@program(X3, tags="mutates")
def augmented_assignment_of_elements(x: Any) -> Any:
    x[0] += 2.0
    x[1] *= x[0]
    x[2] -= x[1]
    x[0] /= x[2]
    x[1] **= 2
    x[0] += x[0]
    return x[0] * x[1] + x[2]


@program(P4, tags="mutates", smooth=False)
def augmented_floor_and_modulo_of_elements(x: Any) -> Any:
    x[3] %= 0.9
    x[1] //= 0.33
    return x[3] * x[0] + x[1] * x[2]


@program(X6)
def augmented_assignment_with_colliding_indices(x: Any) -> Any:
    y = np.zeros(3)
    for i in range(6):
        y[i % 3] += x[i] * x[i]
    return y[0] * y[1] + y[2] * y[0]


@program(X6, np.array([2, 0, 2, 1, 0, 2]))
def histogram_through_an_index_array(x: Any, idx: Any) -> Any:
    h = np.zeros(3)
    for i in range(len(idx)):
        h[idx[i]] += x[i] * x[i]
    s = 0.0
    for k in range(3):
        s += h[k] * h[k] * (k + 1)
    return s


@program(X6, np.array([2, 0, 5, 1, -1, 2], np.int32))
def gather_through_an_index_array(x: Any, idx: Any) -> Any:
    s = 1.0
    for i in range(len(idx)):
        s = s * 0.5 + x[idx[i]] * x[i]
    return s


@program(X6, np.array([3, 0, 5, 1, 4, 2], np.uint8), tags="mutates")
def overwrite_through_an_index_array(x: Any, idx: Any) -> Any:
    for i in range(len(idx)):
        x[idx[i]] = x[i] * 0.7 + x[idx[i]] * x[idx[i]] * 0.2
    s = 0.0
    for v in x:
        s += v * v
    return s


@program(X6, np.array([1, 2, 0]), np.array([4, 3, 5]))
def index_of_an_index(x: Any, p: Any, q: Any) -> Any:
    s = 0.0
    for i in range(3):
        s += x[p[i]] * x[q[p[i]]] * (i + 1)
    return s


@program(X6)
def zeros_ones_full_and_empty(x: Any) -> Any:
    a = np.zeros(6)
    b = np.ones(6)
    c = np.full(6, 2.5)
    d = np.empty(6)
    for i in range(6):
        d[i] = x[i] * x[i]
        a[i] += d[i]
        b[i] *= d[i]
        c[i] -= d[i]
    s = 0.0
    for i in range(6):
        s += a[i] * b[i] * c[i]
    return s


@program(X6)
def zeros_like_ones_like_full_like_empty_like(x: Any) -> Any:
    a = np.zeros_like(x)
    b = np.ones_like(x)
    c = np.full_like(x, 0.5)
    d = np.empty_like(x)
    for i in range(6):
        d[i] = x[i] * c[i]
        a[i] = d[i] * d[i] + b[i]
    return a[0] * a[1] * a[5]


@program(0.7)
def full_with_an_active_value(x: Any) -> Any:
    a = np.full(4, x * x)
    a[1] = x
    return a[0] * a[1] + a[2] * a[3]


@program(X3)
def full_like_with_an_active_value(x: Any) -> Any:
    a = np.full_like(x, x[0] * x[1])
    return a[0] * a[1] + a[2] * x[2]


@program(X3, tags="float32")
def scratch_arrays_of_given_dtypes(x: Any) -> Any:
    a = np.zeros(3, dtype=np.float32)
    k = np.zeros(3, dtype=np.int64)
    m = np.ones(3, np.bool_)
    for i in range(3):
        a[i] = x[i]
        k[i] = 2 * i
        m[i] = x[i] > 0.0
    return a[0] * k[1] * x[1] + a[2] * m[1] + x[0] * m[2]


@program(X3, smooth=False)
def float_stored_into_integer_array_truncates(x: Any) -> Any:
    k = np.zeros(3, dtype=np.int64)
    for i in range(3):
        k[i] = x[i] * 10.3
    return k[0] * x[0] + k[1] * x[1] + k[2] * x[2]


@program(X3)
def copy_is_independent(x: Any) -> Any:
    a = x.copy()
    a[0] = a[0] * 3.0
    b = a.copy()
    b[0] = b[0] * a[0]
    return a[0] * b[0] * x[0]


@program(uniform(3, 2, 3))
def shape_size_ndim_and_len(a: Any) -> Any:
    rows, cols = a.shape
    s = 0.0
    for i in range(rows):
        for j in range(cols):
            s += a[i, j] * a[i, j]
    return s / a.size + s * a.ndim + len(a) * s * s + a.shape[1] * s + a.shape[-1]


@program(uniform(4, 3, 3), tags="mutates")
def two_dimensional_overwrites(a: Any) -> Any:
    for i in range(3):
        for j in range(3):
            a[i, j] = a[i, j] * a[j, i] + 0.5
    return a[0, 1] * a[1, 0] + a[2, 2] + a[-1, -2]


@program(uniform(5, 2, 3, 2))
def three_dimensional_array(a: Any) -> Any:
    s = 0.0
    for i in range(2):
        for j in range(3):
            for k in range(2):
                s += a[i, j, k] * a[1 - i, j, k] * a[i, -j - 1, 1 - k]
    return s


@program(uniform(6, 2, 2, 3, 2))
def four_dimensional_array(a: Any) -> Any:
    b = np.zeros((2, 3))
    n0, n1, n2, n3 = a.shape
    for i in range(n0):
        for j in range(n1):
            for k in range(n2):
                for m in range(n3):
                    b[m, k] += a[i, j, k, m] * a[j, i, k, m]
    return b[0, 0] * b[1, 2] + b[0, 1] * b[1, 1]


@program(X3)
def array_of_zero_length(x: Any) -> Any:
    a = np.zeros(0)
    s = x[0]
    for v in a:
        s = s * v
    return s * x[1] + len(a)


@program(np.zeros(0), 0.7, argnums=(0, 1))
def argument_of_zero_length(a: Any, x: Any) -> Any:
    s = x * x
    for i in range(len(a)):
        s += a[i]
    return s


@program(X6, tags="primal-only")
def returns_an_array(x: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = x[i] * x[-i - 1]
    return y


@program(X6, tags="primal-only tuple")
def returns_a_tuple_of_scalars_and_array(x: Any) -> Any:
    s = 0.0
    y = x.copy()
    for i in range(len(x)):
        s += x[i]
        y[i] = s
    return s, y, len(x)


@program(X6, tags="primal-only mutates")
def returns_its_modified_argument(x: Any) -> Any:
    for i in range(len(x)):
        x[i] = x[i] * i
    return x


@program(np.array([5, 2, 9, 1, 7]), tags="primal-only integer mutates")
def insertion_sort_of_integers(a: Any) -> Any:
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return a


@program(np.array([2.1, 0.4, -0.9, 1.7]), tags="mutates", smooth=False)
def insertion_sort_carries_gradients(a: Any) -> Any:
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    s = 0.0
    for i in range(len(a)):
        s += a[i] * a[i] * (i + 1)
    return s


@program(X6, tags="mutates")
def swap_of_two_elements(x: Any) -> Any:
    x[0], x[1] = x[1], x[0]
    x[2], x[3] = x[3] * x[0], x[2] * x[1]
    return x[0] * x[2] + x[3] * x[1] * 2.0


@program(X6, tags="mutates")
def reverse_in_place(x: Any) -> Any:
    n = len(x)
    for i in range(n // 2):
        x[i], x[n - 1 - i] = x[n - 1 - i], x[i]
    return x[0] * x[0] + x[1] * x[4] + x[5] * 3.0


# --- aliases, swaps, ping-pong --------------------------------------------------------------------


@program(X3, tags="alias mutates")
def alias_then_write(x: Any) -> Any:
    b = x
    b[0] *= 2.0
    return x[0] * x[1]


@program(X3, tags="alias")
def alias_of_a_local_array(x: Any) -> Any:
    a = np.zeros(3)
    b = a
    for i in range(3):
        b[i] = x[i] * x[i]
        a[i] = a[i] + b[0]
    return a[0] * b[1] + b[2]


@program(X3, tags="alias mutates")
def write_through_both_names(x: Any) -> Any:
    y = x
    for i in range(3):
        y[i] = x[i] * x[i]
        x[i] = y[i] + y[0]
    return x[1] * y[2]


@program(X3, np.array([0.3, 0.9, -0.2]), argnums=(0, 1), tags="alias mutates")
def names_of_arrays_swapped(x: Any, y: Any) -> Any:
    x, y = y, x
    x[0] = x[0] * 3.0
    y[1] = y[1] * x[0]
    return x[0] * y[1] + x[2] * y[0]


@program(X6, 5, tags="alias")
def ping_pong_of_two_buffers(x: Any, steps: Any) -> Any:
    a = x.copy()
    b = np.zeros_like(x)
    for _ in range(steps):
        b[0] = a[0]
        b[5] = a[5]
        for i in range(1, 5):
            b[i] = 0.5 * a[i] + 0.25 * (a[i - 1] + a[i + 1]) * a[i]
        a, b = b, a
    return a[1] * a[2] + a[3] * b[4]


@program(X6, 4, tags="alias")
def rotation_of_three_buffers(x: Any, steps: Any) -> Any:
    old = x.copy()
    now = x.copy()
    new = np.zeros(len(x))
    for _ in range(steps):
        for i in range(1, len(x) - 1):
            new[i] = 2.0 * now[i] - old[i] + 0.1 * (now[i - 1] - 2.0 * now[i] + now[i + 1])
        old, now, new = now, new, old
    return now[1] * now[2] + old[3] * new[4]


@program(X3, tags="alias while", smooth=False)
def ping_pong_in_a_while_with_break(x: Any) -> Any:
    a = x.copy()
    b = x.copy()
    n = 0
    while True:
        for i in range(3):
            b[i] = a[i] * 0.8 + 0.2 * a[i - 1]
        a, b = b, a
        n += 1
        if abs(a[0] - b[0]) < 0.1 or n > 20:
            break
    return a[0] * b[1] * n


@program(X3, smooth=False, tags="alias")
def swap_in_one_branch_of_locals(x: Any) -> Any:
    a = x.copy()
    b = np.ones(3)
    if x[0] > 0.0:
        a, b = b, a
    a[0] = x[1] * 2.0
    b[1] = b[1] * b[0]
    return a[0] * b[1] + a[2] * b[2]


@program(X3, tags="alias")
def name_bound_to_a_new_array_in_a_loop(x: Any) -> Any:
    a = x.copy()
    for k in range(3):
        b = np.zeros(3)
        for i in range(3):
            b[i] = a[i] * a[i] * 0.5 + a[(i + 1) % 3]
        a = b
    return a[0] * a[1] + a[2]


@program(0.7, 1.9, argnums=(0, 1), tags="tuple")
def swap_of_scalars(x: Any, y: Any) -> Any:
    x, y = y, x
    x, y = y * 2.0, x * x
    return x / y


@program(0.7, 1.9, argnums=(0, 1), tags="tuple")
def swap_of_scalars_in_a_loop(a: Any, b: Any) -> Any:
    for i in range(5):
        a, b = b, a * b * 0.5 + i * 0.1
    return a * b


@program(X6, tags="tuple")
def two_variable_recurrence(x: Any) -> Any:
    a, b = 1.0, 1.0
    for i in range(6):
        a, b = b, a * b + x[i]
    return a * b


@program(0.7, 1.3, argnums=(0, 1), tags="tuple")
def tuples_and_unpacking(x: Any, y: Any) -> Any:
    t = (x, y, x * y)
    a, b, c = t
    (d, e), f = (a, b), c
    return a * b + c * t[0] + d * e * f + t[-1] + len(t)


@program(0.7, tags="tuple")
def tuple_state_carried_by_a_loop(x: Any) -> Any:
    state = (x, 1.0)
    for i in range(4):
        p, q = state
        state = (p + 0.1 * q, q - 0.1 * math.sin(p))
    return state[0] * state[1]


@program(0.7, tags="tuple")
def chained_assignment(x: Any) -> Any:
    a = b = x * x
    a = a * b
    c = d = e = a + b
    return c * d * e


@program((0.7, -1.3), tags="tuple tuple-argument")
def tuple_argument_of_scalars(p: Any) -> Any:
    x, y = p
    return x * y * y + p[0]


@program((X3, 0.6), 2.0, argnums=(0, 1), tags="tuple tuple-argument")
def tuple_argument_with_an_array(p: Any, s: Any) -> Any:
    a, c = p
    return a[0] * a[1] * c + s * a[2]


# --- few elements of arrays whose sizes are known only at run time --------------------------------


@program(X6)
def few_elements_of_a_scratch_array(x: Any) -> Any:
    total = 0.0
    for i in range(len(x) - 1):
        scratch = np.zeros(len(x))
        scratch[0] = x[i]
        scratch[3] = x[i + 1] * scratch[0]
        if x[i] > 0.5:
            scratch[3] += x[0]
        for k in range(4):
            total += scratch[k] * scratch[k] * (k + 1)
        total += scratch.shape[0] * scratch[5]
    return total


@program(X6)
def few_elements_of_a_choice_of_arrays(x: Any) -> Any:
    total = 0.0
    for i in range(1, len(x)):
        if x[i] > 0.5:
            pair = np.zeros(i + 2)
            pair[1] = x[i]
        else:
            pair = np.full(len(x), 2.0)
            pair[0] = x[0] * x[i]
        total += pair[0] * pair[1] + pair[1] ** 2
    return total


@program(X6)
def few_elements_that_a_loop_carries(x: Any) -> Any:
    state = np.ones(len(x))
    for i in range(len(x)):
        before = state.copy()
        state[0], state[4] = state[4] * x[i], np.sin(state[0])
        if i % 2:
            state[4] += before[0] * before[1]
    return state[0] + state[4] * state[1]


@program(X6, tags="float32")
def few_elements_of_single_precision(x: Any) -> Any:
    parts = np.zeros((len(x), 2), np.float32)
    for i in range(len(x)):
        parts[0, 0] += np.float32(x[i] * 0.1)
        parts[2, 1] = parts[0, 0] * x[i]
    return parts[0, 0] + parts[2, 1] + parts[1, 1]


@program(X6)
def indices_of_few_bits_wrap_around(x: Any) -> Any:
    y = np.full(520, 0.5)
    for k in range(len(x)):
        j = np.asarray(k + 253).astype(np.uint8)  # 253, 254, 255, 0, 1, 2
        y[j] += x[k] * x[k]
        y[j + j] += np.sin(x[k])
        i = np.asarray(k + 125).astype(np.int8)  # 125, 126, 127, -128, -127, -126
        if i < 0:
            y[i] *= x[k]
    return y[0] * y[1] + y[2] * y[250] * y[255] + np.sum(y[390:400])
