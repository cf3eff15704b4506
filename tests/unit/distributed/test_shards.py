"""What is computed over shards, whoever runs the tasks; by threads of this process, mostly."""

from __future__ import annotations

import functools
import importlib
import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent import futures
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adc
import adc.scipy
from adc import distributed
from adc.distributed import digests, engines, transport
from adc.distributed.tree import Reduction
from adc.ir.errors import ArgumentError, WorkerError
from tests.bench import scale
from tests.unit.distributed import losses

RNG = np.random.default_rng(11)
X, Y = RNG.standard_normal((203, 4)), np.sign(RNG.standard_normal(203))
P: dict[str, Any] = {"w": RNG.standard_normal(4), "b": 0.2}
XS, YS = np.array_split(X, 7), np.array_split(Y, 7)


@pytest.fixture
def pool() -> Iterator[futures.Executor]:
    with futures.ThreadPoolExecutor(3) as found:
        yield found


def bits(found: Any) -> bytes:
    value, slope = found
    return b"".join(np.asarray(each).tobytes() for each in (value, slope["b"], slope["w"]))


def same(found: Any, want: Any) -> None:
    np.testing.assert_allclose(found[0], want[0], rtol=1e-13)
    for name in P:
        np.testing.assert_allclose(found[1][name], want[1][name], rtol=1e-11)


# -- the order of sums -----------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 13])
def test_a_sum_does_not_depend_on_the_order_of_arrival(count: int) -> None:
    terms = RNG.standard_normal(count) * 10.0 ** RNG.integers(-8, 8, count)
    found = set()
    for order in itertools.islice(itertools.permutations(range(count)), 200):
        total = Reduction[float](count)
        for shard in order:
            total.put(shard, float(terms[shard]))
        found.add(total.result())
    assert len(found) == 1
    assert found.pop() == pytest.approx(np.sum(terms))


def test_a_running_sum_would_depend_on_it() -> None:
    terms = [1e16, 1.0, -1e16, 1.0]
    assert len({sum(order) for order in itertools.permutations(terms)}) > 1


def test_dask_and_executors_add_in_the_same_order() -> None:
    """The tree that `Dask` builds is that of `Reduction`."""
    for count in range(1, 40):
        total = Reduction[str](count, lambda a, b: f"({a}+{b})")
        for shard in range(count):
            total.put(shard, str(shard))
        level = [str(shard) for shard in range(count)]
        while len(level) > 1:
            level = engines.next_level(level, lambda a, b: f"({a}+{b})")
        assert level == [total.result()]


# -- values ----------------------------------------------------------------------------------------


def test_sum(pool: futures.Executor) -> None:
    found = distributed.value_and_grad(losses.logistic, client=pool)(P, XS, YS)
    same(found, adc.value_and_grad(losses.logistic)(P, X, Y))


def test_mean_of_rows(pool: futures.Executor) -> None:
    both = distributed.value_and_grad(
        losses.mean_logistic, reduce="mean", weights="rows", client=pool
    )
    same(both(P, XS, YS), adc.value_and_grad(losses.mean_logistic)(P, X, Y))


def test_weights(pool: futures.Executor) -> None:
    weights = [0.5, 0.0, 2.0, 1.0, 1.0, 0.25, 1.0]
    both = distributed.value_and_grad(losses.logistic, reduce="mean", weights=weights, client=pool)
    value, slope = both(P, XS, YS)
    one = adc.value_and_grad(losses.logistic)
    parts = [one(P, x, y) for x, y in zip(XS, YS, strict=True)]
    assert value == pytest.approx(np.average([each[0] for each in parts], weights=weights))
    want = np.average([each[1]["w"] for each in parts], axis=0, weights=weights)
    np.testing.assert_allclose(slope["w"], want, rtol=1e-12)


def test_auxiliary_results(pool: futures.Executor) -> None:
    (value, right), slope = distributed.value_and_grad(losses.with_rows, client=pool, has_aux=True)(
        P, XS, YS
    )
    same((value, slope), adc.value_and_grad(losses.logistic)(P, X, Y))
    want = [np.sum(y * (x @ P["w"] + P["b"]) > 0.0) for x, y in zip(XS, YS, strict=True)]
    assert right == want


@pytest.mark.full
def test_products(pool: futures.Executor) -> None:
    v = {"w": np.arange(4.0), "b": -1.0}
    found = distributed.hvp(losses.logistic, client=pool)(P, v, XS, YS)
    want, *_ = adc.hvp(losses.logistic, (P, X, Y), (v, None, None))
    np.testing.assert_allclose(found["w"], want["w"], rtol=1e-12)
    value, slope = distributed.jvp(losses.logistic, client=pool)(P, v, XS, YS)
    assert (value, slope) == pytest.approx(
        adc.jvp(losses.logistic, (P, X, Y), (v, None, None)), rel=1e-12
    )


@pytest.mark.full
def test_several_arguments_and_options(pool: futures.Executor) -> None:
    def loss(a: Any, x: Any, b: Any, power: int) -> Any:
        return np.sum((a * x + b) ** power)

    both = distributed.value_and_grad(loss, (0, 2), shared=3, client=pool, memory="1 MB")
    value, (da, db) = both(2.0, XS, 0.5, 2)
    want, (wa, wb) = adc.value_and_grad(loss, (0, 2))(2.0, X, 0.5, 2)
    assert (value, da, db) == pytest.approx((want, wa, wb), rel=1e-12)
    with pytest.raises(TypeError, match="memroy"):
        distributed.value_and_grad(loss, memroy="1 MB")  # type: ignore[call-arg]


@pytest.mark.full
def test_minimise(pool: futures.Executor) -> None:
    both = distributed.value_and_grad(losses.logistic, client=pool)
    for method in ("BFGS", "Newton-CG", "Nelder-Mead"):
        found = adc.scipy.minimize(both, P, (XS, YS), method, tol=1e-8)
        want = adc.scipy.minimize(losses.logistic, P, (X, Y), method, tol=1e-8)
        np.testing.assert_allclose(found.x["w"], want.x["w"], rtol=1e-4, atol=1e-6)


def test_arrays_in_files(pool: futures.Executor, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    whole = np.load(tmp_path / "x.npy", mmap_mode="r")
    rows = [whole[:50], whole[50:120], whole[120:]]
    both = distributed.value_and_grad(losses.squares, client=pool)
    work = both.work((0.5, rows))
    assert [type(shard).__name__ for (shard,) in work.shards] == ["Mapped"] * 3
    value, slope = both(0.5, rows)
    assert (value, slope) == pytest.approx(adc.value_and_grad(losses.squares)(0.5, X), rel=1e-12)
    names = []
    for k, part in enumerate(XS):
        names.append(str(tmp_path / f"{k}.npy"))
        np.save(names[-1], part)
    found = distributed.value_and_grad(losses.squares, client=pool, loader=np.load)(0.5, names)
    assert found == pytest.approx((value, slope), rel=1e-12)


# -- bad input -------------------------------------------------------------------------------------


def refused(match: str, *args: Any, fn: Any = losses.squares, **options: Any) -> None:
    with futures.ThreadPoolExecutor(1) as pool, pytest.raises(ArgumentError, match=match):
        distributed.value_and_grad(fn, client=pool, **options)(*args)


def test_arguments_that_are_no_shards() -> None:
    refused("argument 1 is of type ndarray, not a list of shards", 1.0, X)
    refused("no shards for squares", 1.0, [])
    refused("no shards for squares", 1.0)
    refused("different numbers of shards: 6, 7", P, XS, YS[:6], fn=losses.logistic)
    refused("2 weights for 7 shards", P, XS, YS, fn=losses.logistic, reduce="mean", weights=[1, 2])
    refused("weights with reduce='sum'", 1.0, XS, weights="rows")
    refused("weight of shard 1 is -1", 1.0, XS[:2], reduce="mean", weights=[2, -1])
    refused("reduce='max'", 1.0, XS, reduce="max")
    refused("has no rows: it is a float", 1.0, [2.0], reduce="mean", weights="rows")
    refused("the weights sum to 0", 1.0, XS[:2], reduce="mean", weights=[0, 0])
    refused("a negative position", 1.0, XS, argnums=-1)
    with pytest.raises(ArgumentError, match="client is a str"):
        distributed.value_and_grad(losses.squares, client="cluster")(1.0, XS)


def test_shards_of_different_structures() -> None:
    refused(r"float64\[2\] \(shard 0\) and .*float32\[2\] \(shard 1\)", 1.0, [X, X.astype("f")])
    refused(r"shards of different structures", 1.0, [X, X[0]])


@pytest.mark.full
def test_results_of_different_shapes(pool: futures.Executor) -> None:
    def rows(p: Any, x: Any) -> Any:
        return p * x

    with pytest.raises(ArgumentError, match=r"results of different shapes: .*\(3,\).*\(1,\)"):
        distributed.jvp(rows, client=pool)(1.0, 1.0, [np.ones(3), np.ones(1)])


def test_random_generators(pool: futures.Executor) -> None:
    refused("each would draw the same numbers", 1.0, XS, np.random.default_rng(0),
            fn=losses.draws, shared=2)  # fmt: skip
    streams = [np.random.default_rng(s) for s in np.random.SeedSequence(0).spawn(7)]
    both = distributed.value_and_grad(losses.draws, client=pool)
    first = both(1.0, XS, streams)
    streams = [np.random.default_rng(s) for s in np.random.SeedSequence(0).spawn(7)]
    assert both(1.0, XS, streams) == first


@pytest.mark.full
def test_generators_that_are_captured(pool: futures.Executor) -> None:
    refused("draws by a function of `np.random`", 1.0, XS, fn=losses.draws_by_numpy)
    assert distributed.value_and_grad(losses.draws_from_a_seed, client=pool)(1.0, XS)[0] > 0.0
    refused("draws from GENERATOR", 1.0, XS, fn=losses.draws_from_a_global)
    own = functools.partial(losses.draws, generator=np.random.default_rng(0))
    refused("draws from an argument of partial", 1.0, XS, fn=own)


@pytest.mark.full
def test_shards_without_rows(pool: futures.Executor) -> None:
    both = distributed.value_and_grad(
        losses.mean_square, reduce="mean", weights="rows", client=pool
    )
    assert both(2.0, [np.ones(3), np.zeros(0), np.ones(1)]) == both(2.0, [np.ones(3), np.ones(1)])


def test_files_that_were_changed_in_memory(pool: futures.Executor, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones(4))
    x = np.load(tmp_path / "x.npy", mmap_mode="c")
    x[:] = 5.0
    assert distributed.value_and_grad(losses.scaled, client=pool)(1.0, [x]) == (200.0, 400.0)


def test_what_minimize_cannot_take(pool: futures.Executor) -> None:
    for fun in (
        distributed.value_and_grad(losses.with_rows, has_aux=True, client=pool),
        distributed.value_and_grad(losses.squares, argnums=1, client=pool),
        distributed.hvp(losses.squares, client=pool),
    ):
        with pytest.raises(ArgumentError, match=r"minimize\(\) of"):
            adc.scipy.minimize(fun, 1.0, (XS,))


def test_a_loss_that_is_no_sum(pool: futures.Executor) -> None:
    distributed.value_and_grad(losses.logistic, client=pool).check(P, XS, YS)
    distributed.value_and_grad(
        losses.mean_logistic, reduce="mean", weights="rows", client=pool
    ).check(P, XS, YS)
    with pytest.raises(ArgumentError, match=r"mean_logistic\(\) is not a sum over rows"):
        distributed.value_and_grad(losses.mean_logistic, client=pool).check(P, XS, YS)
    with pytest.raises(ArgumentError, match="one shard alone"):
        distributed.value_and_grad(losses.squares, client=pool).check(1.0, XS[:1])
    with pytest.raises(ArgumentError, match=r"check\(\) of hvp"):
        distributed.hvp(losses.squares, client=pool).check(1.0, 1.0, XS)


def test_errors_name_the_shard(pool: futures.Executor) -> None:
    both = distributed.value_and_grad(losses.too_large, client=pool)
    with pytest.raises(ValueError, match=r"5.0 is too large") as caught:
        both(1.0, [np.ones(2), np.full(2, 5.0), np.ones(1)])
    assert caught.value.__notes__ == ["in shard 1 of too_large()"]


def test_other_versions_on_workers() -> None:
    packed = transport.pack(losses.squares)
    assert transport.unpack(packed) is losses.squares
    other = replace(packed, made_by=(*packed.made_by[1:], ("adc", "0.0.1")))
    with pytest.raises(WorkerError, match=r"adc .* and squares\(\) was sent with 0.0.1"):
        transport.unpack(other)
    with pytest.raises(WorkerError, match=r"another source of squares\(\)"):
        transport.unpack(replace(packed, digest="0"))
    gone = replace(packed, data=packed.data.replace(b"squares", b"squarez"))
    with pytest.raises(WorkerError, match=r"cannot import squares\(\)"):
        transport.unpack(gone)


def test_other_values_of_variables_on_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A constant of the module that the caller has changed is not that of workers."""
    packed = transport.pack(losses.scaled)
    monkeypatch.setattr(losses, "SCALE", 3.0)
    with pytest.raises(WorkerError, match="or other values of the variables"):
        transport.unpack(packed)


PHYSICS = """
DENSITY = 1.2
def drag(x): return DENSITY * x * abs(x)
"""
MODEL = """
import numpy as np
import shards_physics as physics

class Model:
    def __init__(self, k):
        self.k, self.calls = k, 0
    def inner(self, x): return self.k * x
    def outer(self, x): return self.inner(x) + 1.0

MODEL = Model(2.0)

def loss(p, x):
    return np.sum(MODEL.outer(physics.drag(p * x)) * physics.DENSITY)
"""


def test_what_digests_are_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Members of modules, methods that methods call, and attributes of objects count."""
    (tmp_path / "shards_physics.py").write_text(PHYSICS)
    (tmp_path / "shards_model.py").write_text(MODEL)
    monkeypatch.syspath_prepend(tmp_path)
    names = ("shards_physics", "shards_model")  # tests of other modules of this process have others
    physics, model = (importlib.import_module(name) for name in names)
    was = digests.digest(model.loss)
    model.MODEL.calls = 3  # no code of the loss reads it
    assert digests.digest(model.loss) == was
    changes = [
        (physics, "drag", lambda x: 2.0 * x), (physics, "DENSITY", 1.3), (model.MODEL, "k", 3.0),
        (model.Model, "inner", lambda self, x: self.k * x * x),
    ]  # fmt: skip
    for owner, name, value in changes:
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, value)
            assert digests.digest(model.loss) != was, name
    assert digests.digest(model.loss) == was
    assert transport.unpack(transport.pack(model.loss)) is model.loss
    for name in names:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.full
def test_digests_do_not_depend_on_the_process() -> None:
    """Sets have another order in each process."""
    code = (
        "from adc.distributed import transport\n"
        "from tests.unit.distributed import losses\n"
        "print(transport.pack(losses.scaled).digest)"
    )
    root = Path(__file__).parents[3]
    found = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
        ).stdout
        for seed in (1, 2)
    }  # fmt: skip
    assert len(found) == 1


def test_constants_as_text() -> None:
    """Lists that contain themselves have an end."""
    cyclic: list[Any] = [1.0]
    cyclic.append(cyclic)
    assert digests.text_of(cyclic) == digests.text_of(cyclic)
    assert digests.text_of(np.arange(3.0)) != digests.text_of(np.arange(3.0) + 1.0)


def test_functions_by_value() -> None:
    """A function in `__main__` travels with its source, and that of what it calls."""
    text = (
        "import numpy as np\n"
        "def helper(x): return np.sin(x)\n"
        "def loss(p, x): return np.sum(helper(p * x))\n"
    )
    import linecache
    import types

    module = types.ModuleType("__main__")
    linecache.cache["<cell 1>"] = (len(text), None, text.splitlines(keepends=True), "<cell 1>")
    exec(compile(text, "<cell 1>", "exec"), module.__dict__)
    packed = transport.pack(module.loss)
    del linecache.cache["<cell 1>"]
    found = transport.unpack(packed)
    assert found is not module.loss
    value, _ = adc.value_and_grad(found)(2.0, np.arange(3.0))
    assert value == pytest.approx(np.sum(np.sin(2.0 * np.arange(3.0))))
    del linecache.cache["<cell 1>"]


# -- processes -------------------------------------------------------------------------------------


SCRIPT = """
import numpy as np
import adc.distributed

def loss(p, x):
    return np.sum(np.exp(p * x))

if __name__ == "__main__":
    both = adc.distributed.value_and_grad(loss)
    shards = [np.arange(float(n)) for n in (3, 1, 4)]
    value, slope = both(0.5, shards)
    assert both(0.5, shards) == (value, slope)
    print(round(value, 6), round(slope, 6))
"""


@pytest.mark.full
def test_a_script_with_processes(tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle")
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    shards = [np.arange(float(n)) for n in (3, 1, 4)]
    value = sum(np.sum(np.exp(0.5 * x)) for x in shards)
    slope = sum(np.sum(x * np.exp(0.5 * x)) for x in shards)
    assert done.stdout.split() == [str(round(value, 6)), str(round(slope, 6))], done.stderr


@pytest.mark.full
def test_a_process_that_dies(tmp_path: Path) -> None:
    """Its shard runs again, and the bits are the same."""
    names = []
    for k, part in enumerate(XS):
        names.append(str(tmp_path / f"{k}.npy"))
        np.save(names[-1], part)
        if k != 3:
            (tmp_path / f"{k}.died").touch()
    quiet = distributed.value_and_grad(losses.squares, loader=np.load)
    found = distributed.value_and_grad(losses.squares, loader=losses.dies_once)(0.5, names)
    assert (tmp_path / "3.died").exists()
    assert found == quiet(0.5, names)


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="counts kilobytes as Linux does")
def test_workers_hold_one_shard_at_a_time() -> None:
    rows = 200_000
    value, _, before, after = scale.of_files(16, rows)
    assert value == pytest.approx(16 * rows * np.log(2.0))
    shard = rows * 11 * 8
    # Of the eight shards of a worker: the one it has, and the one it gets.
    assert after - before < 2 * shard
