"""Programs with `try` and `with`: which exception is caught, and what has happened before it."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import adc
from tests.corpus.program import X3, Program, recorder

EXCEPTION_PROGRAMS: list[Program] = []
program = recorder(EXCEPTION_PROGRAMS)


class Diverged(ArithmeticError):
    """An exception of the program's own, with what it was at."""

    def __init__(self, message: str, step: int = 0, at: float = 0.0) -> None:
        super().__init__(message)
        self.step, self.at = step, at


# --- which exception ------------------------------------------------------------------------------


def _newton(x: Any, start: Any, most: int) -> Any:
    for k in range(20):
        slope = 3.0 * start * start - 1.0
        if abs(slope) < 0.2:
            raise Diverged("flat", step=k, at=start)
        change = (start**3 - start - x) / slope
        if abs(change) > most:
            raise Diverged(f"far: {change:.3f}")
        start = start - change
        if abs(change) < 1e-14:
            break
    return start


@program(np.array([0.3, 0.7, -0.2]))
def exceptions_of_its_own_class(x: Any) -> Any:
    total = 0.0
    for k in range(3):
        try:
            root = _newton(x[k], 0.5, 2)
        except Diverged:
            root = _newton(x[k], 3.0 + x[0], 5)
        total += root * root
    return total


class _Term:
    """A node of a formula, whose value may not exist."""

    def __init__(self, name: str, *parts: Any) -> None:
        self.name, self.parts = name, parts

    def value(self, x: Any) -> Any:
        if self.name == "x":
            return x
        found = [part.value(x) for part in self.parts]
        if self.name == "log":
            if found[0] <= 0.0:
                raise ValueError(f"log of {found[0]:.2f}")
            return math.log(found[0])
        return found[0] + found[1] if self.name == "+" else found[0] * found[1]


@program(np.array([0.6, -0.8, 1.1]))
def recursive_methods_that_raise_in_a_try(x: Any) -> Any:
    leaf = _Term("x")
    tree = _Term(
        "+", _Term("*", leaf, leaf), _Term("log", _Term("*", leaf, _Term("+", leaf, leaf)))
    )
    other, total = _Term("*", tree, _Term("log", leaf)), 0.0
    for v in x:
        try:
            total += other.value(v)
        except ValueError:
            total -= v * tree.value(v)
    return total


@program(X3)
def cholesky_with_jitter_in_a_for_loop(x: Any) -> Any:
    k = np.outer(x, x) - 0.05 * np.eye(3)
    for power in range(6):
        try:
            factor = np.linalg.cholesky(k + 10.0 ** (power - 3) * np.eye(3))
            break
        except np.linalg.LinAlgError:
            continue
    else:
        raise ValueError("not positive definite")
    return np.sum(factor**3)


@program(np.array([[0.3, 0.7], [-0.2, 0.5], [0.9, -0.4]]), 2)
def the_last_row_of_a_loop_in_a_try(x: Any, n: Any) -> Any:
    total = 0.0
    try:
        for k in range(3):
            row = x[k]
            weights = np.full(n, 0.5 + k)
            total += np.sum(weights * np.sin(row))
    finally:
        x *= 2.0
    return total + np.sum(row * row)


def _positive(values: Any, what: str) -> Any:
    if not np.all(values > 0.0):
        raise ValueError(f"{what} is not positive: {values}")
    return values


@program(np.array([0.3, 0.7, 1.2]))
def messages_with_arrays(x: Any) -> Any:
    y = _positive(x * x, "square").copy()
    for k in range(4):
        if y[k % 3] > 50.0:
            raise Diverged(f"{y} in step {k}", at=y[0])
        y[k % 3] = np.sin(y[k % 3]) + y[(k + 1) % 3] * x[k % 3]
        assert np.sum(y) < 1e3, y
    try:
        root = np.sum(np.sqrt(_positive(y - 0.9, "rest")))
    except ValueError:
        root = np.sum(y**3)
    return root * y[0]


def _upper(x: Any, checks: bool = True) -> Any:
    n = x.shape[0]
    if n != x.shape[1]:
        raise ValueError("not square")
    if checks:
        if not np.all(np.isfinite(x)):
            raise ValueError("not finite")
        for i in range(n):
            if x[i, i] > 100.0:
                raise ValueError("large")
    found = np.zeros(n * (n - 1) // 2)
    k = 0
    for i in range(n):
        for j in range(i + 1, n):
            found[k] = x[i, j] * x[j, i]
            k += 1
    return found


@program(np.linspace(-1.0, 1.0, 9).reshape(3, 3))
def a_loop_that_checks_before_one_with_its_index(x: Any) -> Any:
    return np.sum(_upper(x) ** 2)


@program(X3)
def cholesky_with_jitter_in_a_while_loop(x: Any) -> Any:
    k = np.outer(x, x) - 0.05 * np.eye(3)
    jitter = 1e-3
    while True:
        try:
            factor = np.linalg.cholesky(k + jitter * np.eye(3))
            break
        except np.linalg.LinAlgError:
            jitter *= 10.0
            if jitter > 1e3:
                raise
    return np.sum(np.log(np.diag(factor))) + factor[2, 0]


@program(X3)
def singular_matrix_is_regularized(x: Any) -> Any:
    a = np.outer(x, x)
    try:
        y = np.linalg.solve(0.0 * a, x)
    except np.linalg.LinAlgError:
        y = np.linalg.solve(a + np.eye(3), x)
    return np.sum(y * y)


@program(-0.5)
def logarithm_of_a_negative_number(x: Any) -> Any:
    try:
        y = math.log(x)
    except ValueError:
        y = -x * x
    return y


@program(X3)
def handlers_in_order(x: Any) -> Any:
    total = 0.0
    for v in (x[0], -1.0, 0.0):
        try:
            total += math.log(float(v)) / float(v)
        except ZeroDivisionError:
            total += 5 * x[0]
        except (ValueError, OverflowError):
            total += 7 * x[1]
    for i in range(4):
        try:
            total += 6 // (i - 2) * x[2]
        except ArithmeticError:
            total += 100.0 * x[2]
    return total


@program(X3)
def exception_of_a_dict_an_assert_and_an_unpacking(x: Any) -> Any:
    found = {"a": x[0], "b": x[1]}
    total = 0.0
    for key in ("a", "c", "b"):
        try:
            total += found[key]
        except KeyError:
            found[key] = x[2] ** 2
            total += 3 * found[key]
    try:
        assert x[1] > 0, "must be positive"
        total += x[1]
    except AssertionError:
        total -= x[1] ** 2
    try:
        a, b = x
    except ValueError:
        a, b = x[0], x[2]
    return total + a * b


# --- what has happened before it ------------------------------------------------------------------


@program(X3)
def array_changed_before_the_exception(x: Any) -> Any:
    a = x.copy()
    try:
        a[0] = a[0] * 2.0
        a[1] = math.sqrt(a[1])
        a[2] = 100.0
    except ValueError:
        a[2] = a[0] * a[2]
    return np.sum(a * a)


@program(X3)
def loop_left_by_an_exception(x: Any) -> Any:
    a = np.zeros(3)
    n = 0
    try:
        for i in range(3):
            a[i] = x[i] ** 2
            n += 1
            a[i] += math.log(x[i])
    except ValueError:
        a = a * 3.0
        n += 10
    total = 0.0
    try:
        for i in range(5):
            total += x[i] ** 2
    except IndexError:
        total *= 3.0
    return np.sum(a) * n + total


@program(X3)
def exception_between_two_terms(x: Any) -> Any:
    y = x[0] * 2.0
    try:
        y = math.sqrt(x[0]) + math.sqrt(x[1]) * math.sqrt(x[2])
    except ValueError:
        y *= x[1]
    try:
        z = sum([math.log(v) for v in x])
    except ValueError:
        z = y * x[2]
    return y + z


@program(X3)
def store_that_is_out_of_bounds(x: Any) -> Any:
    a = x.copy()
    for i in range(5):
        try:
            a[i] = 2.0 * a[i - 1] if i else a[0]
        except IndexError:
            a[0] += 1.5 * a[2]
    return np.sum(a * x)


def _root(v: Any) -> Any:
    if v < 0:
        raise ValueError("negative")
    return math.sqrt(v)


@program(X3)
def exception_of_a_function(x: Any) -> Any:
    total = 0.0
    for v in x:
        try:
            total = total + _root(v)
        except ValueError:
            total = total + v
    return total


@program(X3)
def test_of_a_while_loop_raises(x: Any) -> Any:
    i = 0
    s = 0.0
    try:
        while math.sqrt(x[i]) > 0.1:
            s += x[i]
            i += 1
    except ValueError:
        s *= 2.0
    return s


@program(X3)
def containers_made_where_it_is_raised(x: Any) -> Any:
    s = 0.0
    for v in x:
        try:
            pair = [math.sqrt(v), 2.0 * v]
            found: dict[str, Any] = {"log": math.log(v), "pair": pair}
        except ValueError:
            continue
        s += found["log"] * pair[1] + found["pair"][0]
    held: dict[str, Any] = {"last": None}
    try:
        held["last"] = [x[0], x[2]]
        held["last"][1] += math.sqrt(x[1])
    except ValueError:
        if held["last"] is not None:
            return s * held["last"][1]
        return s
    return s * sum(held["last"])


# --- leaving it -----------------------------------------------------------------------------------


@program(X3, tags="print")
def prints_of_every_clause(x: Any) -> Any:
    total = 0.0
    for k in range(4):
        try:
            print("try", k)
            if k == 1:
                continue
            if k == 3:
                break
            total += math.sqrt(x[k])
        except ValueError as error:
            print("except", k, error)
            total += x[k]
        else:
            print("else", k)
        finally:
            print("finally", k)
            total *= 1.5
    return total


@program(X3)
def return_from_try_and_handler(x: Any) -> Any:
    def root(v: Any) -> Any:
        try:
            return math.sqrt(v)
        except (ValueError, TypeError):
            return v**3

    return root(x[0]) + 2.0 * root(x[1])


@program(X3)
def exception_for_the_outer_try(x: Any) -> Any:
    total = 0.0
    try:
        for v in x:
            try:
                total += math.log(v)
            except ZeroDivisionError:
                total += 100.0
            finally:
                total += 0.5 * v
    except ValueError:
        total += x[2] ** 2
    return total


@program(X3)
def raise_in_the_body_and_again_in_the_handler(x: Any) -> Any:
    y = 0.0
    try:
        try:
            if x[0] > 0.5:
                raise ValueError("big")
            y = x[0]
        except ValueError:
            y = x[0] ** 2
            raise
    except Exception:
        y *= x[1]
    return y


@program(X3)
def derivative_in_a_try(x: Any) -> Any:
    try:
        slope = adc.grad(lambda u: np.sum(u**3))(x)
        root = math.sqrt(x[1])
    except ValueError:
        root = x[0]
    return np.sum(slope) * root


@program(X3)
def bound_where_the_loop_is_left(x: Any) -> Any:
    for k in range(10):
        if x[0] * k > 2:
            z = x[1] * k
            break
    else:
        raise ValueError("no such k")
    scale = 1e-3
    while True:
        if np.sum(x * x) * scale > 0.1:
            row = x * scale
            break
        scale *= 10
    return z + np.sum(row * row)


# --- with -----------------------------------------------------------------------------------------


class _Scale:
    def __init__(self, factor: Any) -> None:
        self.factor = factor
        self.inside = 0

    def __enter__(self) -> Any:
        self.inside += 1
        return self

    def __exit__(self, *exception: object) -> None:
        self.inside -= 1


class _Swallow:
    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> bool:
        if kind is not None:
            self.count += 1
        return True


@contextlib.contextmanager
def _scaled(a: Any, k: Any) -> Iterator[Any]:
    old = a.copy()
    a *= k
    try:
        yield a[0] * 2.0
    finally:
        a[:] = old


@program(X3)
def context_managers_in_a_loop(x: Any) -> Any:
    s = 0.0
    with _Scale(3.0) as outer:
        for v in x:
            s += outer.factor * v * outer.inside
            if v > 0.6:
                continue
            with _Scale(x[2]) as inner:
                if v < 0:
                    continue
                s += inner.factor * v**2
    return s + outer.inside


@program(X3)
def context_manager_that_swallows(x: Any) -> Any:
    y = x[0]
    with _Swallow() as found:
        y = y * 2.0
        y = y + math.sqrt(x[1])
        y = y * 100.0
    return y * (found.count + 1)


@program(X3)
def context_manager_that_is_a_generator(x: Any) -> Any:
    a = x.copy()
    with _scaled(a, 3.0) as first:
        s = np.sum(a * a) + first
    return s + np.sum(a)


@program(X3)
def context_managers_of_libraries(x: Any) -> Any:
    y = x[2]
    with contextlib.suppress(ValueError, ZeroDivisionError):
        y = y + math.log(x[1])
    with np.errstate(divide="ignore", invalid="ignore"), contextlib.nullcontext(x[0]) as v:
        y *= np.sum(np.log(x + 2.0)) * v
    with np.printoptions(precision=3), warnings.catch_warnings():
        return y * x[0]


# --- functions that change something and then raise -----------------------------------------------


def _noted(v: Any, seen: list[Any]) -> Any:
    seen.append(v)
    return math.sqrt(v)


def _halved(a: Any, k: int) -> Any:
    a[k] *= 0.5
    return math.sqrt(a[k])


@program(X3)
def function_that_changes_a_list_and_raises(x: Any) -> Any:
    seen: list[Any] = []
    total = 0.0
    for k in range(3):
        try:
            total += _noted(x[k], seen) + 2.0 * _noted(x[k] + 1.0, seen)
        except ValueError:
            total -= 1.0
    return total + sum(seen) * len(seen)


@program(X3)
def function_that_changes_an_array_and_raises(x: Any) -> Any:
    a = x.copy()
    try:
        y = _halved(a, 0) * _halved(a, 1)
    except ValueError:
        y = a[1] * a[1] * a[0]
    return y


class _Tank:
    def __init__(self, level: Any) -> None:
        self.level = level
        self.draws = 0
        self.last: list[Any] = [0.0, level]

    def draw(self, v: Any) -> Any:
        self.draws += 1
        self.last = [v, self.level]
        self.level = self.level - v
        if self.level < 0.0:
            raise ValueError("empty")
        self.level *= 0.5
        return v * self.level

    def draw_twice(self, v: Any, w: Any) -> Any:
        found = self.draw(v)
        try:
            found += self.draw(w)
        except ValueError:
            self.level += 3.0
            raise KeyError("refilled") from None
        finally:
            self.draws += 10
        return found


@program(np.array([0.4, 0.9, 0.2]))
def method_that_changes_its_object_and_raises(x: Any) -> Any:
    a, b = _Tank(1.0 + x[0]), _Tank(x[1])
    total = 0.0
    for v in x:
        try:
            total += a.draw_twice(v, 0.5 * x[1]) * 2.0
            total += b.draw(a.level)
        except (KeyError, ValueError):
            total += 0.1 * a.draws * v
        else:
            total *= 1.5
    return total + a.level + b.level * a.draws + b.draws + sum(a.last)


@program(np.array([0.4, 0.9, 0.7]))
def method_of_one_of_two_objects_that_raises(x: Any) -> Any:
    a, b = _Tank(x[0]), _Tank(x[1])
    tank = a if x[0] > x[1] else b
    try:
        y = tank.draw(x[2]) + tank.draw(x[2])
    except ValueError:
        y = 3.0 * x[2]
    return y * tank.level + a.level * a.draws + b.level * b.draws


@program(X3)
def inner_function_in_a_loop_that_raises(x: Any) -> Any:
    total = x[0]

    def add(k: Any) -> Any:
        nonlocal total
        for v in x:
            total = 0.5 * total + v
            if v < k:
                return v
            total += math.sqrt(total - k)
        return 0.5

    count = 0.0
    for k in range(3):
        try:
            count += add(k * 0.3)
        except ValueError:
            total *= 2.0
            if k == 2:
                break
        finally:
            total += 1.0
    return total * count


@program(np.array([0.4, -0.9, 1.7]))
def numbers_of_several_exceptions(x: Any) -> Any:
    total, last = 0.0, 0.0
    for k, v in enumerate(x):
        try:
            if v > 1.0:
                raise ValueError("large", v * v, k)
            total += math.log(v) * v
        except (ValueError, OverflowError) as error:
            text = f"{error}"
            print(text, repr(error))
            if len(error.args) == 3:
                last = error.args[1] * x[0]
                total += last * error.args[2]
            else:
                total -= 0.5 * v
    return total + last


# --- what is refused ------------------------------------------------------------------------------

REFUSED: list[tuple[Program, str]] = []


def _refused(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def enter(fn: Callable[..., Any]) -> Callable[..., Any]:
        REFUSED.append((Program(fn.__name__, fn, (X3,)), text))
        return fn

    return enter


@_refused("a statement that changes a variable, list, dict or object and may then raise")
def comprehension_that_changes_a_list_and_raises(x: Any) -> Any:
    seen: list[Any] = []
    try:
        total = sum([_noted(v, seen) for v in x])
    except ValueError:
        total = -1.0
    return total + sum(seen)


@_refused("a statement that changes 'a' and may then raise an exception that is caught")
def function_on_some_paths_that_changes_an_array_and_raises(x: Any) -> Any:
    a = x.copy()
    try:
        y = _halved(a, 1) if x[0] > 0.1 else x[2]
    except ValueError:
        y = a[1] * a[1]
    return y


@_refused("leaving `finally` by `return`, `break` or `continue`")
def return_in_finally(x: Any) -> Any:
    try:
        y = math.log(x[0])
    finally:
        return y * x[1]  # noqa: B012


def _factorial(n: int) -> Any:
    return 1.0 if n == 0 else n * _factorial(n - 1)


@_refused("calling a recursive function, a derivative, or an")
def recursive_function_in_a_try(x: Any) -> Any:
    try:
        y = x[0] * _factorial(len(x))
    except RecursionError:
        y = x[1]
    return y


@_refused("`np.errstate` with str 'raise'")
def errstate_that_raises(x: Any) -> Any:
    with np.errstate(all="raise"):
        return x[0] ** 2
