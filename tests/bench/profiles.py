"""How much profiles cost: the benchmarks' kernels with and without marks, and whether times add up.

``python -m tests.bench.profiles [KERNEL ...]`` prints a table. It takes five minutes for all.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import adc
from tests.bench.kernels import KERNELS


def main(names: Sequence[str]) -> None:
    worst = 0.0
    print("kernel         size   without marks  overhead  marks    samples  sum of lines")
    for size in "MS":
        for name, kernel in KERNELS.items():
            if names and name not in names:
                continue
            run = adc.value_and_grad(kernel.loss, kernel.wrt)
            found = run.profile(*kernel.arguments(kernel.size(size)))
            lines = sum(line.time.total for line in found.lines) + found.outside
            print(
                f"{name:14} {size:5} {1e3 * found.plain:11.3f} ms {100 * found.overhead:+8.1f} %"
                f"  {'coarse' if found.coarse else 'fine':7} {found.samples:8}"
                f"  {100 * lines / found.seconds:10.4f} %",
                flush=True,
            )
            worst = max(worst, abs(found.overhead))
    print(f"the largest overhead: {100 * worst:.1f} %")


if __name__ == "__main__":
    main(sys.argv[1:])
