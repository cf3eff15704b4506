"""The campaign of random programs: its file, its checks, what it notices, and shrinking."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from tests.fuzz.campaign import checks, command, judge, kinds, planted, relations
from tests.fuzz.campaign.verdicts import Verdict, Verdicts
from tests.fuzz.program import Generated, forget, load


@pytest.mark.full
def test_a_campaign_continues_from_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "verdicts.db")
    assert command.main(["--n", "3", "--kind", "scalars", "--file", file]) == 0
    assert "3 programs" in capsys.readouterr().out
    assert command.main(["--n", "5", "--kind", "scalars", "--file", file, "--resume"]) == 0
    assert "2 programs" in capsys.readouterr().out
    with Verdicts(file, "other") as verdicts:
        assert verdicts.judged(range(10)) == {0, 1, 2, 3, 4}
        verdicts.add(Verdict(7, "scalars", "modes", "failed", "wrong", 0.1))
        assert verdicts.failed() == [7]
        assert sum(count for _, _, count, _ in verdicts.counts()) == 6


def test_two_processes_share_the_seeds_of_a_campaign(tmp_path: Path) -> None:
    seeds = []
    for number in range(2):
        with Verdicts(str(tmp_path / "verdicts.db"), "this") as verdicts:
            options = command.parsed(["--n", "7", "--seed", "3", "--workers", "2"])
            seeds += command.seeds(options, number, verdicts)
    assert sorted(seeds) == list(range(3, 10))


def test_a_seed_draws_the_same_program_and_check() -> None:
    a, b = (kinds.generate(17) for _ in range(2))
    assert (a.source, checks.draw(a)) == (b.source, checks.draw(b))
    drawn = {checks.draw(Generated("", load("program = abs"), (), (), k))[0] for k in range(400)}
    assert len(drawn) > 15


@pytest.mark.parametrize(
    "kind",
    [
        *("scalars", "complex", "jumps", "library", "composed"),
        pytest.param("nested", marks=pytest.mark.full),
    ],
)
def test_a_program_of_each_kind(kind: str) -> None:
    assert judge.verdict_on(3, kind=kind).verdict in ("ok", "unreliable", "refused")


@pytest.mark.full
def test_a_planted_defect_is_noticed_and_shrunk() -> None:
    def check(seed: int) -> bool:
        return judge.verdict_on(seed, kind="scalars").verdict == "failed"

    defect = planted.DEFECTS["rule of cos: the other sign"]
    count, _ = planted.programs_until(defect, 40, check)
    assert count
    with defect():
        text = judge.shrunk(count - 1, kind="scalars", seconds=8.0)
    assert "@program(" in text
    assert "cos" in text
    assert len(text) < len(kinds.generate(count - 1, "scalars").source)


_SOURCE = """
import numpy as np

def program(x, a):
    t = x * 2.0
    s = 0.5
    for i in range(3):
        if a[i] > 0.1:
            s = s + t * a[i]
        else:
            s -= a[i]
        a[i] *= 0.5
    u = np.sin(s)
    return s * u + np.sum(a)
"""


@pytest.mark.parametrize("name", relations.RELATIONS)
def test_rewritten_programs_compute_the_same(name: str) -> None:
    generated = Generated(_SOURCE, load(_SOURCE), (0.7, np.array([0.3, -0.2, 0.9])), (0, 1), 0)
    made = relations.rewritten(generated, [name], random.Random(1))
    assert made is not None
    assert made.generated.source != generated.source
    if "gradient" not in name:  # Python would compile it
        found = made.generated.fn(*made.generated.make_args())
        assert abs(found - generated.fn(*generated.make_args())) < 1e-12
    forget(made.generated)
