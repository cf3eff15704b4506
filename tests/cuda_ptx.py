"""Compile the kernels of a part of the corpus to PTX, without a GPU and without the simulator.

    python -m tests.cuda_ptx PART PARTS EVERY

Every kernel is compiled for one of sm_70, sm_80 and sm_90 in turn, for all three if EVERY is 1.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numba

from adc.backend.cuda.api import ptx
from adc.backend.cuda.emit import emit
from adc.backend.cuda.program import load
from adc.driver import transform
from adc.ir.errors import DeviceError
from adc.ir.types import Array, Type
from adc.passes.costs import SHIPPED
from tests.chain import Chain

CAPABILITIES = ((7, 0), (8, 0), (9, 0))


def numba_type(ty: Type) -> Any:
    """Return the type of a kernel's parameter."""
    names = {"b1": "boolean"}
    name = names.get(ty.dtype) or ty.numpy.name
    element = getattr(numba.types, name)
    if not isinstance(ty, Array):
        return element
    return numba.types.Array(element, ty.rank, "C" if ty.layout == "C" else "A")


def main(part: int, parts: int, every: int) -> int:
    from tests.test_cuda import corpus

    done = failed = 0
    for program in corpus()[part :: parts * every]:
        chain = Chain.of(program.fn, program.make_args(), program.argnums)
        steps = (("adjoint", chain.positions),)
        made = transform(chain.lowered, steps, costs=replace(SHIPPED, cuda=True))
        try:
            emitted = emit(made.fn)
        except DeviceError:
            continue
        module, _ = load(emitted)
        for kernel in emitted.kernels:
            wanted = CAPABILITIES if every == 1 else CAPABILITIES[done % 3 :][:1]
            for capability in wanted:
                try:
                    types = tuple(map(numba_type, kernel.params))
                    text = ptx(getattr(module, kernel.name), types, capability)
                    assert f".target sm_{capability[0]}{capability[1]}" in text
                except Exception as error:
                    failed += 1
                    print(program.fn.__name__, kernel.name, capability, str(error)[:1000])
            done += 1
    print(f"{done} kernels compile" if not failed else f"{failed} of {done} kernels fail")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
