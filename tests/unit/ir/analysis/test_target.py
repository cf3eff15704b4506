"""`Target`: the machine that code is made for; code for one target is not used for another."""

from __future__ import annotations

import doctest
import itertools
from typing import Any

import numpy as np
import pytest

from adc.compiler import cache
from adc.ir.analysis import target as target_module
from adc.ir.analysis.costs import SHIPPED
from adc.ir.analysis.target import CPU, Target
from adc.options import Options
from tests.oracle.chain import Chain

FLAGS = ("parallel", "offload", "deterministic")


def squares(x: Any) -> Any:
    return np.sum(x * x)


def test_docstrings() -> None:
    assert doctest.testmod(target_module).failed == 0


def test_there_are_no_other_kinds() -> None:
    with pytest.raises(ValueError, match=r"'tpu' is no kind of target: use one of cpu, cuda"):
        Target("tpu")


def test_cache_keys_tell_targets_apart() -> None:
    lowered = Chain.of(squares, (np.ones(3),), (0,)).lowered
    targets = [
        Target(kind, **dict(zip(FLAGS, flags, strict=True)))
        for kind in target_module.KINDS
        for flags in itertools.product((False, True), repeat=len(FLAGS))
    ]
    keys = {
        cache.key_of(lowered, (("adjoint", (0,)),), "auto", SHIPPED, target) for target in targets
    }
    assert len(keys) == len(targets) == 16


@pytest.mark.parametrize(
    ("options", "target"),
    [
        (Options(), CPU),
        (Options(parallel=4), Target(parallel=True)),
        (Options(offload="disk"), Target(offload=True)),
        (Options(deterministic=True), CPU),  # code for the CPU is so anyway
        (Options(target="cuda", deterministic=True), Target("cuda", deterministic=True)),
        (Options(target="cuda", offload="host"), Target("cuda", offload=True)),
    ],
)
def test_what_users_choose(options: Options, target: Target) -> None:
    assert options.machine == target
