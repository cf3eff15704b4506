"""Gradients: reverse mode of functions that return one number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Unpack, overload

from adc.api.derivative import Derivative
from adc.api.making import make
from adc.library.transforms import transform
from adc.options import Options, PlanOptions, takes


@overload
def grad(
    fn: Callable[..., Any],
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    **options: Unpack[PlanOptions],
) -> Derivative: ...


@overload
def grad(
    fn: None = None,
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    **options: Unpack[PlanOptions],
) -> Callable[[Callable[..., Any]], Derivative]: ...


@transform
@takes(PlanOptions)
def grad(
    fn: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    **options: Unpack[PlanOptions],
) -> Derivative | Callable[[Callable[..., Any]], Derivative]:
    """Return a function that computes the gradient of `fn` in reverse mode.

    A call runs `fn` once, and does what that changes outside of it, as `jit` does.

    Parameters
    ----------
    fn : callable
        A Python function that returns one float (or ``(float, aux)`` with `has_aux`).
    argnums : int or sequence of int, default 0
        Positions of the arguments to differentiate with respect to. Negative numbers count from
        the last argument, parameters with defaults included.
    argnames : str or sequence of str
        Names of the arguments to differentiate with respect to, instead of `argnums`; they may be
        parameters that are given by name alone.
    has_aux : bool
        Whether `fn` returns a pair, of which only the first element is differentiated.
    holomorphic : bool
        Whether `fn` is a holomorphic function of complex arguments: its result is complex, and the
        gradient is its complex derivative. Of a real result the gradient with respect to
        ``z = x + iy`` is ``∂f/∂x - i ∂f/∂y`` (``adc explain complex``).
    remat : {"auto", "store", "recompute"}
        Whether reverse code stores or recomputes the forward values that it needs. ``"auto"``
        chooses the faster way for each value.
    memory : int or str
        Limit of the memory that a call may hold beyond its arguments and results, in bytes or as in
        ``"64 MB"``. The plan is then the fastest one found within this budget for the sizes of the
        arguments; it recomputes values and checkpoints loops. Other sizes may need another plan.
        The gradient is bit-identical. With ``target="cuda"`` the limit is for the GPU's memory, and
        a call that would exceed it raises an error.
    offload : {None, "disk", "host"}
        Where the tapes of loops and calls are: in memory, or with ``"disk"`` in files, or with
        ``"host"`` and ``target="cuda"`` in pinned memory of the host. `memory` then limits the
        rest. The operating system writes to the disk what does not fit into its cache. The files
        disappear when a call ends, also after an error. Their folder is ``ADC_OFFLOAD_DIR``, or
        else ``TMPDIR`` or ``/var/tmp``. It must be on a disk: ``/dev/shm`` is memory, and so is
        ``/tmp`` on many systems.
    parallel : bool or int
        Whether threads share loops that are long enough and have independent iterations; an int is
        the number of threads, True uses all of Numba's (``NUMBA_NUM_THREADS``). Where only BLAS
        multiplies matrices, outside of such loops, it has the threads. Results are bit-identical
        for any number of threads, except for those of BLAS; the last bits of sums may differ from
        those without `parallel`. Each thread allocates private memory for the arrays of an
        iteration, which plans do not count; with `memory`, loops whose iterations allocate arrays
        are not parallel.
    cache : bool
        Whether compiled code is cached on disk.
    progress : bool
        Whether a compilation of more than two seconds is reported by a line on standard error,
        which disappears when it ends. ``ADC_PROGRESS=0`` turns off all of these lines.
    target : {"cpu", "cuda", "python"}
        Where the code runs. With ``"cuda"``, loops with independent iterations are kernels on an
        NVIDIA GPU (with the extra ``cuda12`` or ``cuda13``). NumPy arrays are copied to the GPU,
        and results back, once. Arrays on the GPU (of Numba, CuPy, PyTorch, JAX) are used in place,
        and their gradients have the same library's type. Results agree with the CPU's up to
        rounding. ``NUMBA_ENABLE_CUDASIM=1`` runs Numba's simulator instead of a GPU, slowly. With
        ``"python"``, CPython runs the generated source, slowly; ``pdb`` can step through it, and
        results are bit-identical to the CPU's (``adc explain internals``).
    deterministic : bool
        Whether the last bits of sums are the same in every call. Without it they are, too, except
        on a GPU where several iterations add to the same element. With it such loops run in one
        thread, which is slow. Plans show these places as ``"atomic"``.

    Returns
    -------
    callable
        Takes the arguments of `fn`; returns gradients with the type, dtype and shape of the
        arguments: one for an int `argnums`, else a tuple. With `has_aux`, ``(gradient, aux)``.
        A random generator among the arguments advances as in a call of `fn`; nothing else changes.

    Raises
    ------
    AdcError
        When called: if `fn` uses unsupported Python, an argument cannot be differentiated, no plan
        fits into `memory`, or the disk is full. Errors of the program itself are raised as in
        Python.

    Examples
    --------
    >>> import numpy as np
    >>> def energy(x):
    ...     s = 0.0
    ...     for i in range(len(x) - 1):
    ...         s += (x[i + 1] - x[i]) ** 2
    ...     return s
    >>> adc.grad(energy)(np.array([0.0, 1.0, 3.0]))
    array([-2., -2.,  4.])
    >>> def decay(x, steps):
    ...     for _ in range(steps):
    ...         x = np.sin(x)
    ...     return np.sum(x)
    >>> gradient = adc.grad(decay, offload="disk")
    >>> gradient(np.zeros(3), 100)
    array([1., 1., 1.])
    >>> print(gradient.plan().memory_text()[-1])
    disk: 8*steps*x.dim0 + 8*steps = 3200 bytes (not in the peak)
    """
    return make(
        "grad",
        fn,
        argnums,
        argnames,
        has_aux,
        holomorphic,
        Options.of("grad", PlanOptions, options),
    )


@overload
def value_and_grad(
    fn: Callable[..., Any],
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    **options: Unpack[PlanOptions],
) -> Derivative: ...


@overload
def value_and_grad(
    fn: None = None,
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    **options: Unpack[PlanOptions],
) -> Callable[[Callable[..., Any]], Derivative]: ...


@transform
@takes(PlanOptions)
def value_and_grad(
    fn: Callable[..., Any] | None = None,
    argnums: int | Sequence[int] | None = None,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    **options: Unpack[PlanOptions],
) -> Derivative | Callable[[Callable[..., Any]], Derivative]:
    """Return a function that computes ``(value, gradient)`` of `fn`.

    A call runs `fn` once, and does what that changes outside of it, as `jit` does.

    Parameters
    ----------
    fn, argnums, argnames, has_aux, holomorphic, remat, memory, offload, parallel, cache, \
    progress, target, deterministic
        As for `grad`.

    Returns
    -------
    callable
        Takes the arguments of `fn`; returns its value and its gradient, as `grad` returns it. With
        `has_aux`, ``((value, aux), gradient)``.

    Examples
    --------
    >>> adc.value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    return make(
        "value_and_grad",
        fn,
        argnums,
        argnames,
        has_aux,
        holomorphic,
        Options.of("value_and_grad", PlanOptions, options),
    )


__all__ = ["grad", "value_and_grad"]
