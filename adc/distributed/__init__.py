"""Derivatives of sums over shards of data, on several processes or machines.

A loss that is a sum (or a mean) over parts of the data has the sum of their gradients. `Dask`, an
executor of `concurrent.futures` or Ray runs one task for each shard; adc has no cluster of its own.
Results are added in an order that depends on the number of shards alone, so that their bits are the
same for any number of workers, in any order of arrival, and after the death of one.

=============  =====================================================================================
`shards`       what stands for a shard: arrays, files, collections of Dask
`digests`      what must be the same of a function on workers
`transport`    how functions get to workers
`tasks`        what a worker does with a shard
`tree`         sums in a fixed order
`engines`      who runs tasks: processes, executors, Dask, Ray
=============  =====================================================================================

The gradient of a mean over rows, of which workers have parts::

    import adc.distributed

    def loss(weights, x, y):                  # of one shard
        return np.mean((x @ weights - y) ** 2)

    both = adc.distributed.value_and_grad(loss, reduce="mean", weights="rows", client=client)
    value, slope = both(weights, xs, ys)      # lists of arrays, Dask arrays, names of files

How it scales: ``adc explain scale``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Unpack

import numpy as np
import optree

from adc.distributed.digests import captured, draws_globally, functions
from adc.distributed.engines import Work, engine_of
from adc.distributed.shards import opened, shards_of
from adc.distributed.tasks import ROWS, Task
from adc.distributed.transport import pack
from adc.functions import name_of, plain, span_of
from adc.ir.errors import ArgumentError
from adc.library.mpi.operations import shared
from adc.options import Options, PlanOptions

_REDUCTIONS = ("sum", "mean")


class Sharded:
    """A derivative of a sum over shards; `value_and_grad`, `grad`, `hvp` and `jvp` make it."""

    def __init__(
        self, fn: Callable[..., Any], kind: str, argnums: int | Sequence[int], shared: Any,
        reduce: str, weights: Any, loader: Any, client: Any, has_aux: bool, options: Any,
    ) -> None:  # fmt: skip
        Options.of(f"distributed.{kind}", PlanOptions, options)
        self._made = (shared, loader, options)
        if reduce not in _REDUCTIONS:
            raise ArgumentError(f"reduce={reduce!r}", None, f"use one of {_REDUCTIONS}")
        if weights is not None and reduce != "mean":
            raise ArgumentError(
                f"weights with reduce={reduce!r}", None, 'weights are for reduce="mean"'
            )
        single = isinstance(argnums, int)
        wrt = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        more = wrt if shared is None else (shared,) if isinstance(shared, int) else tuple(shared)
        if any(k < 0 for k in (*wrt, *more)):
            raise ArgumentError("a negative position", None, "count from the first argument")
        self.fn, self.reduce, self.weights, self.client = fn, reduce, weights, client
        here = isinstance(client, ThreadPoolExecutor)
        self.task = Task(
            pack(fn, here=here), kind, wrt, single, tuple(sorted({*wrt, *more})), has_aux,
            tuple(sorted(options.items())), None if loader is None else pack(loader, here=here),
        )  # fmt: skip
        self.__name__ = self.__qualname__ = f"{kind}({name_of(fn)})"
        self.__doc__ = getattr(fn, "__doc__", None)

    def __call__(self, *args: Any) -> Any:
        """Return the derivative at the arguments.

        Raises
        ------
        ArgumentError
            If an argument is no list of shards, if their numbers differ, or if there is none.
        WorkerError
            If workers have other versions or sources, or die again and again.
        """
        work = self.work(args)
        found = engine_of(self.client).total(work)
        total = found.total
        if self.reduce == "mean":
            if not found.weight > 0.0:
                raise ArgumentError(f"the weights sum to {found.weight}", None, "")
            total = optree.tree_map(lambda leaf: leaf / found.weight, total)
        if self.task.has_aux:
            value, slope = total
            return (value, list(found.aux)), slope
        return total

    def products(self) -> Sharded:
        """Return the products of the Hessian of the same sum, as `hvp` does."""
        shared, loader, options = self._made
        return Sharded(
            self.fn,
            "hvp",
            0,
            shared,
            self.reduce,
            self.weights,
            loader,
            self.client,
            False,
            options,
        )

    def work(self, args: tuple[Any, ...]) -> Work:
        """Return the tasks of a call."""
        ahead = 0 if self.task.kind == "value_and_grad" else 1
        # What a product is taken with comes second for users.
        along = args[1 : 1 + ahead]
        args = (*args[:1], *args[1 + ahead :])
        self.refuse_generators(args)
        shared = [arg for k, arg in enumerate(args) if k in self.task.shared]
        parts = [shards_of(arg, k) for k, arg in enumerate(args) if k not in self.task.shared]
        counts = sorted({len(each) for each in parts})
        if len(counts) > 1:
            raise ArgumentError(
                f"arguments of {self.task.fn.name}() with different numbers of shards: "
                f"{', '.join(map(str, counts))}",
                span_of(plain(self.fn)), "split all of them in the same way",
            )  # fmt: skip
        if counts in ([], [0]):
            raise ArgumentError(
                f"no shards for {self.task.fn.name}()", span_of(plain(self.fn)),
                "pass at least one; arguments that all shards share are named by `shared=`",
            )  # fmt: skip
        weights: Sequence[Any]
        if self.weights is None or self.weights == ROWS:
            weights = [1.0 if self.weights is None else ROWS] * counts[0]
        else:
            weights = [float(each) for each in self.weights]
            if len(weights) != counts[0]:
                raise ArgumentError(f"{len(weights)} weights for {counts[0]} shards", None, "")
            for k, weight in enumerate(weights):
                if not 0.0 <= weight < np.inf:
                    raise ArgumentError(
                        f"the weight of shard {k} is {weight}", None, "weights are not negative"
                    )
        return Work(self.task, (*along, *shared), list(zip(*parts, strict=True)), weights)

    def refuse_generators(self, args: tuple[Any, ...]) -> None:
        """Refuse a random generator that all shards would draw the same numbers from."""
        held = [
            *(("an argument of partial()", each) for each in _bound(self.fn)),
            *(pair for each in functions(self.fn) for pair in captured(each)),
        ]
        for each in functions(self.fn):
            if draws_globally(each):
                raise ArgumentError(
                    f"{self.task.fn.name}() draws by a function of `np.random`, which draws other "
                    "numbers in each worker", span_of(plain(self.fn)), _STREAMS,
                )  # fmt: skip
        for name, value in held:
            if isinstance(value, _GENERATORS):
                raise ArgumentError(
                    f"{self.task.fn.name}() draws from {name}, a random generator of which each "
                    "worker has a copy", span_of(plain(self.fn)), _STREAMS,
                )  # fmt: skip
        for k, arg in enumerate(args):
            leaves = optree.tree_leaves(arg, none_is_leaf=True)
            if k in self.task.shared and any(isinstance(x, _GENERATORS) for x in leaves):
                raise ArgumentError(
                    f"argument {k} of {self.task.fn.name}() is a random generator that all shards "
                    "share: each would draw the same numbers", span_of(plain(self.fn)),
                    _STREAMS,
                )  # fmt: skip

    def check(self, *args: Any) -> None:
        """Compare the loss of rows of two shards together with the sum (or mean) of both.

        A loss of a shard that divides by its own number of rows, or adds a penalty on parameters
        each time, is no part of a sum. The first 8 rows of the first two shards are used, and the
        loss runs as plain Python. Losses of which rows belong together, such as those of series,
        cannot be checked in this way.

        Parameters
        ----------
        *args
            As for a call.

        Raises
        ------
        ArgumentError
            If they differ by more than rounding, or rows cannot be put together.
        """
        work = self.work(args)
        if work.count < 2:
            raise ArgumentError("one shard alone", None, "the check needs two")
        if self.task.kind != "value_and_grad":
            raise ArgumentError(f"check() of {self.task.kind}", None, "check `value_and_grad`")
        from adc.distributed.transport import unpack

        loader = None if self.task.loader is None else unpack(self.task.loader)
        whole: list[Any] = [[opened(part, loader) for part in each] for each in work.shards[:2]]
        pair: list[Any] = [optree.tree_map(lambda leaf: leaf[:8], each) for each in whole]
        both: Any = optree.tree_map(lambda a, b: np.concatenate([a, b]), *pair)
        first, second, together = (self.loss(work.shared, parts) for parts in (*pair, both))
        if self.reduce == "sum":
            expected = first + second
        else:
            rows = [len(optree.tree_leaves(parts)[0]) for parts in pair]
            expected = (rows[0] * first + rows[1] * second) / sum(rows)
        if not np.isclose(together, expected, rtol=1e-6 if _is_single(together) else 1e-9):
            raise ArgumentError(
                f"{self.task.fn.name}() is not a {self.reduce} over rows: {together:.6g} for rows "
                f"of two shards together, {expected:.6g} by shards", span_of(plain(self.fn)),
                'a mean over rows needs reduce="mean" and weights="rows"; add penalties on '
                "parameters once, outside",
            )  # fmt: skip

    def loss(self, shared: Sequence[Any], parts: Sequence[Any]) -> Any:
        """Return the loss of a shard, by Python."""
        given, own = iter(shared), iter(parts)
        count = len(shared) + len(parts)
        args = [next(given) if k in self.task.shared else next(own) for k in range(count)]
        found = self.fn(*args)
        return found[0] if self.task.has_aux else found


def _bound(fn: Any) -> list[Any]:
    found: Any = []
    while isinstance(fn, functools.partial):
        found += [*fn.args, *fn.keywords.values()]
        fn = fn.func
    leaves: list[Any] = optree.tree_leaves(found)
    return leaves


_STREAMS = (
    "pass one for each shard: [np.random.default_rng(s) for s in "
    "np.random.SeedSequence(0).spawn(count)]"
)
_GENERATORS = (np.random.Generator, np.random.RandomState, np.random.SeedSequence)


def _is_single(value: Any) -> bool:
    return np.asarray(value).dtype == np.float32


def value_and_grad(
    loss: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    *,
    reduce: str = "sum",
    weights: Any = None,
    shared: int | Sequence[int] | None = None,
    loader: Callable[[Any], Any] | None = None,
    client: Any = None,
    has_aux: bool = False,
    **options: Unpack[PlanOptions],
) -> Sharded:
    """Return a function that computes value and gradient of a sum over shards.

    Parameters
    ----------
    loss : callable
        The loss of one shard, which `adc.value_and_grad` differentiates. Workers import its module,
        or are sent it with its source (by `cloudpickle`, which Dask brings).
    argnums : int or sequence of int
        Positions of what is differentiated, which all shards share.
    reduce : {"sum", "mean"}
        Whether the losses of shards are added, or averaged.
    weights : None, "rows" or sequence of float
        For means: what a shard counts. ``"rows"`` is the length of its first argument that is
        sharded; by default all count the same.
    shared : int or sequence of int
        Positions of arguments that all shards share, besides `argnums`. Others are sharded: a list
        with an element for each shard (arrays, structures of them, parts of a `numpy.memmap`, which
        are read by workers, Dask's futures), or a Dask array in chunks of rows, a bag or a
        dataframe.
    loader : callable
        Makes the arrays of a shard of what stands for it, such as the name of a file, on a worker.
    client : dask.distributed.Client, concurrent.futures.Executor, module ray or None
        Who runs tasks. By default a process for each core of this machine, started with the first
        call.
    has_aux : bool
        Whether the loss returns a pair ``(value, aux)``.
    remat, memory, offload, parallel, cache, progress, target, deterministic
        As for `adc.grad`, for the task of a shard.

    Returns
    -------
    Sharded
        Takes the arguments of the loss, with lists of shards; returns ``(value, gradient)``, or
        with `has_aux` ``((value, [aux of each shard]), gradient)``. `check(*args)` tests whether
        the loss is a sum.

    Raises
    ------
    ArgumentError
        If the function cannot be sent; for calls see `Sharded`.

    Notes
    -----
    The sum is that of a binary tree over the numbers of shards: its bits do not depend on workers.

    Examples
    --------
    >>> import numpy as np
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from adc import distributed
    >>> def loss(slope, x, y):
    ...     return np.sum((slope * x - y) ** 2)
    >>> shards = [np.arange(3.0), np.arange(2.0)]
    >>> with ThreadPoolExecutor(2) as pool:
    ...     both = distributed.value_and_grad(loss, client=pool)
    ...     both(2.0, shards, shards)
    (np.float64(6.0), 12.0)
    """
    return Sharded(
        loss, "value_and_grad", argnums, shared, reduce, weights, loader, client, has_aux, options
    )


def hvp(
    loss: Callable[..., Any],
    *,
    reduce: str = "sum",
    weights: Any = None,
    shared: int | Sequence[int] | None = None,
    loader: Callable[[Any], Any] | None = None,
    client: Any = None,
    **options: Unpack[PlanOptions],
) -> Sharded:
    """Return a function of products of the Hessian of a sum over shards with a direction.

    Parameters
    ----------
    loss, reduce, weights, shared, loader, client
        As for `value_and_grad`; the first argument is differentiated.
    remat, memory, offload, parallel, cache, progress, target, deterministic
        As for `adc.grad`.

    Returns
    -------
    Sharded
        Takes a point, a direction of the same structure, and the further arguments of the loss.

    Examples
    --------
    >>> import numpy as np
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from adc import distributed
    >>> def loss(slope, x):
    ...     return np.sum((slope * x) ** 2)
    >>> with ThreadPoolExecutor(2) as pool:
    ...     distributed.hvp(loss, client=pool)(2.0, 1.0, [np.ones(3), np.ones(2)])
    10.0
    """
    return Sharded(loss, "hvp", 0, shared, reduce, weights, loader, client, False, options)


def jvp(
    loss: Callable[..., Any],
    *,
    reduce: str = "sum",
    weights: Any = None,
    shared: int | Sequence[int] | None = None,
    loader: Callable[[Any], Any] | None = None,
    client: Any = None,
    **options: Unpack[PlanOptions],
) -> Sharded:
    """Return a function of value and derivative along a direction of a sum over shards.

    Parameters
    ----------
    loss, reduce, weights, shared, loader, client
        As for `value_and_grad`; the first argument moves. The loss may return arrays, too.
    remat, memory, offload, parallel, cache, progress, target, deterministic
        As for `adc.grad`.

    Returns
    -------
    Sharded
        Takes a point, a direction of the same structure, and the further arguments of the loss;
        returns ``(value, derivative)``.

    Examples
    --------
    >>> import numpy as np
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from adc import distributed
    >>> def moments(scale, x):
    ...     return np.array([np.sum(scale * x), np.sum((scale * x) ** 2)])
    >>> with ThreadPoolExecutor(2) as pool:
    ...     distributed.jvp(moments, client=pool)(2.0, 1.0, [np.ones(3), np.ones(2)])
    (array([10., 20.]), array([ 5., 20.]))
    """
    return Sharded(loss, "jvp", 0, shared, reduce, weights, loader, client, False, options)


__all__ = ["Sharded", "hvp", "jvp", "shared", "value_and_grad"]
