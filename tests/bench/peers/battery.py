# mypy: allow-untyped-defs, allow-untyped-calls
"""Small ordinary programs, written as people write them for NumPy, for `tests.bench.peers`.

Each takes an array of six floats and returns one. A tool gets them unchanged, with its own array
module as ``np``. Without annotations, and for Python 3.6: Tangent reads nothing newer.
"""

import numpy as np

X = [0.7, -1.3, 2.1, 0.4, -0.9, 1.7]


def fill_an_array(x):
    y = np.zeros(6)
    y[0] = x[0]
    for i in range(1, 6):
        if y[i - 1] > 0.0:
            y[i] = np.sin(y[i - 1]) * x[i]
        else:
            y[i] = y[i - 1] + x[i]
    return np.sum(y)


def overwrite_an_element(x):
    a = x * 1.0
    a[0] = a[0] * a[0]
    a[0] = np.sin(a[0])
    return np.sum(a * x)


def write_through_a_view(x):
    a = x * 1.0
    b = a[1:]
    b[0] = b[0] * x[0]
    return np.sum(a * a)


def data_dependent_while(x):
    s = x[0]
    while s < 5.0:
        s = s * s + 1.0
    return s * x[1]


def break_out_of_a_loop(x):
    s = x[0]
    for _ in range(10):
        s = s * s + 0.5
        if s > 5.0:
            break
    return s


def early_return(x):
    s = x[0] * x[1]
    for i in range(6):
        s = s + x[i] * x[i]
        if s > 3.0:
            return s * s
    return s


def write_into_the_argument(x):
    x[0] = x[0] * x[0]
    return np.sum(x * x)


def slices(x):
    y = np.zeros(6)
    y[1:4] = x[0:3] * x[1:4]
    y[2:5] += x[2:5]
    return np.sum(y * y)


def add_to_elements(x):
    y = np.zeros(3)
    for i in range(6):
        y[i % 3] += x[i] * x[i]
    return np.sum(y * y)


def a_second_name(x):
    y = x
    y *= 2.0
    return np.sum(x * x)


def power(v, n):
    if n == 0:
        return 1.0
    return v * power(v, n - 1)


def recursion(x):
    return power(x[0], 3) * x[1]


def a_closure(x):
    scale = x[0]

    def scaled(v):
        return scale * v * v

    return scaled(x[1]) + scaled(x[2])


def a_dict(x):
    state = {"a": x[0], "b": x[1]}
    for i in range(2, 6):
        state["a"] = state["a"] * x[i] + state["b"]
    return state["a"]


def append_to_a_list(x):
    values = []
    for i in range(6):
        values.append(x[i] * x[i])
    return sum(values) * x[0]


def fill_a_matrix(x):
    a = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            a[i, j] = x[i] * x[j + 1]
    return np.sum(np.dot(a, a))


def skip_with_continue(x):
    s = 0.0
    for i in range(6):
        if x[i] < 0.0:
            continue
        s += x[i] * x[i]
    return s


def conditional_expression(x):
    s = 0.0
    for i in range(6):
        s += x[i] * x[i] if x[i] > 0.0 else -x[i]
    return s


def two_names_at_once(x):
    a, b = x[0], x[1]
    for i in range(2, 6):
        a, b = b, a * b + x[i]
    return a * b


def a_root_behind_where(x):
    return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))


def a_fourier_transform(x):
    return np.sum(np.abs(np.fft.fft(x))[1:] ** 3)


def a_generator(x):
    def squares():
        for i in range(6):
            yield x[i] * x[i]

    return sum(squares()) * x[0]


def an_exception(x):
    s = x[0] * x[1]
    try:
        if s < 0.0:
            raise ValueError
        return s
    except ValueError:
        return s * s


PROGRAMS = [
    fill_an_array,
    overwrite_an_element,
    write_through_a_view,
    data_dependent_while,
    break_out_of_a_loop,
    early_return,
    write_into_the_argument,
    slices,
    add_to_elements,
    a_second_name,
    recursion,
    a_closure,
    a_dict,
    append_to_a_list,
    fill_a_matrix,
    skip_with_continue,
    conditional_expression,
    two_names_at_once,
    a_root_behind_where,
    a_fourier_transform,
    a_generator,
    an_exception,
]
