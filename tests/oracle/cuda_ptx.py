"""Compile the kernels of a part of the corpus to PTX, without a GPU and without the simulator.

    python -m tests.oracle.cuda_ptx PART PARTS EVERY

Every kernel is compiled for one of sm_70, sm_80 and sm_90 in turn, for all three if EVERY is 1.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numba
import pytest

from adc.backend.cpu import module_of
from adc.backend.cuda.api import ptx
from adc.backend.cuda.emit import Emitted, emit
from adc.compiler.driver import transform
from adc.ir.analysis.target import Target
from adc.ir.errors import DeviceError
from adc.ir.types import Array, Type
from tests.oracle.chain import Chain

CAPABILITIES = ((7, 0), (8, 0), (9, 0))


def numba_type(ty: Type, layout: Any = None) -> Any:
    """Return the type of a kernel's parameter; an array lies as is known of it, or as is said."""
    names = {"b1": "boolean"}
    name = names.get(ty.dtype) or ty.numpy.name
    element = getattr(numba.types, name)
    if not isinstance(ty, Array):
        return element
    return numba.types.Array(element, ty.rank, layout or ("C" if ty.layout == "C" else "A"))


def gradient(
    fn: Callable[..., Any], args: tuple[Any, ...], argnums: Sequence[int]
) -> tuple[Emitted, Any]:
    """Return the code of value and gradient, and the module that has its kernels."""
    chain = Chain.of(fn, args, argnums)
    steps = (("adjoint", chain.positions),)
    emitted = emit(transform(chain.on_device, steps, target=Target("cuda")).fn)
    return emitted, module_of(emitted)


def compiled(kernel: Any, types: tuple[Any, ...], capabilities: Sequence[tuple[int, int]]) -> None:
    """Compile a kernel for some capabilities; what Numba makes of it is lowered once for all.

    That is most of the time, and differs only below 6.0 and where arithmetic may be inexact.
    """
    first, *others = capabilities
    nvvm: Any = importlib.import_module("numba.cuda.cudadrv.nvvm")
    compile_ir = nvvm.compile_ir
    lowered: list[tuple[Any, dict[str, Any]]] = []

    def noted(irs: Any, **options: Any) -> Any:
        lowered.append((irs, options))
        return compile_ir(irs, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nvvm, "compile_ir", noted)
        assert is_for(ptx(kernel, types, first), first)
    assert lowered
    for capability in others:
        for irs, options in lowered:
            arch = options["arch"].replace("{}{}".format(*first), "{}{}".format(*capability))
            assert is_for(compile_ir(irs, **{**options, "arch": arch}).decode(), capability)


def is_for(text: str, capability: tuple[int, int]) -> bool:
    return f".target sm_{capability[0]}{capability[1]}" in text


def main(part: int, parts: int, every: int) -> int:
    from tests.unit.backend.cuda.test_cuda import corpus

    done = failed = 0
    for program in corpus()[part :: parts * every]:
        try:
            emitted, module = gradient(program.fn, program.make_args(), program.argnums)
        except DeviceError:
            continue
        for kernel in emitted.kernels:
            wanted = CAPABILITIES if every == 1 else CAPABILITIES[done % 3 :][:1]
            try:
                compiled(
                    getattr(module, kernel.name), tuple(map(numba_type, kernel.params)), wanted
                )
            except Exception as error:
                failed += 1
                print(program.fn.__name__, kernel.name, wanted, repr(error)[:1000])
            done += 1
    print(f"{done} kernels compile" if not failed else f"{failed} of {done} kernels fail")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
