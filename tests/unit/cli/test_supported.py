"""The page of what is supported is true to the tables, and the command prints it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from adc import cli
from adc.supported import is_supported, page

# Every function that the documentation promises.
PROMISED = """
sum mean prod max min var std ptp argmax argmin any all cumsum cumprod dot vdot inner outer trace
matmul transpose swapaxes moveaxis reshape ravel squeeze expand_dims broadcast_to concatenate
stack hstack vstack column_stack split tile repeat pad where clip maximum minimum fmax fmin sort
argsort flip roll rot90 diff tril triu diag eye identity arange linspace meshgrid indices nonzero
argwhere count_nonzero searchsorted take take_along_axis put compress select isfinite isnan
nan_to_num round sign copysign floor ceil bincount einsum tensordot
""".split()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", PROMISED)
def test_promised_functions(name: str) -> None:
    assert is_supported(getattr(np, name))


@pytest.mark.parametrize("name", "solve inv cholesky det slogdet norm eigh qr".split())
def test_promised_linear_algebra(name: str) -> None:
    assert is_supported(getattr(np.linalg, name))


def test_page(golden: Callable[[str, str], None]) -> None:
    golden("supported.md", page())


@pytest.mark.full
def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["supported"]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    # Only line breaks and the form of tables differ.
    words = [re.sub(r"[|\s:-]+", " ", text).split() for text in (shown, page(refused=True))]
    tables = {word for word in "construct state operation derivative in the class".split()}
    assert [w for w in words[0] if w not in tables] == [w for w in words[1] if w not in tables]
    made = subprocess.run(
        [sys.executable, "-m", "adc", "supported"], capture_output=True, text=True, check=True
    )
    assert made.stdout == shown


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("np.linalg.svd", "numpy.linalg.svd is supported"),
        ("numpy.linalg.svd", "numpy.linalg.svd is supported"),
        ("scipy.stats.norm", "scipy.stats.norm is supported"),
        ("itertools.product", "itertools.product is supported"),
        ("sorted", "sorted is supported"),
        ("erf", "math.erf is supported\nscipy.special.erf is supported"),
        ("tanh", "cmath.tanh is supported\nmath.tanh is supported\nnumpy.tanh is supported"),
        ("scipy.special.softplus", "scipy.special.softplus is supported"),
        ("np.polynomial.chebyshev.chebval", "numpy.polynomial.chebyshev.chebval is supported"),
    ],
)
def test_what_is_supported_by_name(
    name: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["supported", name]) == 0
    assert capsys.readouterr().out == f"{said}\n"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("scipy.integrate.ode", r"ode is not supported \(ADC010\): use `solve_ivp`"),
        ("np.linalg.eig_of", r"(?s)not known; .* similar\s+names: numpy.linalg.eig"),
        ("os.path.join", "os.path.join is not known"),
        ("scipy.nothing.at_all", "scipy.nothing.at_all is not known"),
        ("", "is not known"),
        ("svdd", "(?s)svdd is not known; .*numpy.linalg.svd, scipy.linalg.svd"),
        ("cubicspline", "(?s)not known; .* scipy.interpolate.CubicSpline"),
        ("linalg", "(?s)not known; .* packages numpy.linalg, scipy.linalg, scipy.sparse.linalg"),
        ("torch.sin", "(?s)torch.sin is not known: .* adc.external"),
        (
            "scipy.spatial.distance",
            r"(?s)functions are supported: .*cdist.*\n.*jensenshannon is not",
        ),
    ],
)
def test_what_is_not_supported_by_name(
    name: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["supported", name]) == 1
    assert re.search(said, capsys.readouterr().out)
