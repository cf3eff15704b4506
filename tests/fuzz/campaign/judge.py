"""The verdict on the program of a seed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from adc.ir.errors import AdcError, IRError
from adc.ir.interp import ProgramError
from tests.fuzz import shrink as shrinking
from tests.fuzz.campaign import checks, kinds
from tests.fuzz.campaign.subject import Subject
from tests.fuzz.campaign.verdicts import Verdict
from tests.fuzz.limits import Slow, limited
from tests.fuzz.program import Generated, Unreliable, forget

# Seconds of a core after which a program is slow.
LIMIT = 60.0
# Characters of a refusal that are kept.
_WORDS = 120


def judged(generated: Generated, names: Sequence[str], limit: float = LIMIT) -> tuple[str, str]:
    """Return verdict and problem of a program, after the checks of these names."""
    verdict = problem = ""
    subject = Subject(generated)
    for name in names:
        try:
            with limited(limit):
                found = checks.check(subject, name)
        except Unreliable as error:
            verdict, problem = "unreliable", str(error)
            continue
        except Slow:
            return "slow", f"{name}: more than {limit:.0f} s"
        except IRError as error:
            return "failed", f"crash: {name}: {error.message}"
        except AdcError as error:
            refusal = f"{error.code}: {error.message.splitlines()[0][:_WORDS]}"
            if name != "relation" and not kinds.may_be_refused(generated):
                return "failed", f"refused: {name}: {refusal}"
            return "refused", refusal
        except ProgramError as error:
            return "failed", f"raised: {name}: {error.error!r}"
        except Exception as error:
            return "failed", f"crash: {name}: {type(error).__name__}: {error}"
        if found:
            return "failed", f"{name}: {found[0]}"
        verdict = verdict or "ok"
    return verdict or "ok", problem


def verdict_on(seed: int, share_compiled: float = 0.0, kind: str = "") -> Verdict:
    """Return the verdict on the program of a seed."""
    start = time.process_time()
    generated = kinds.generate(seed, kind)
    names = checks.draw(generated, share_compiled)
    try:
        verdict, problem = judged(generated, names)
    finally:
        forget(generated)
    seconds = time.process_time() - start
    return Verdict(seed, generated.kind, " ".join(names), verdict, problem, seconds)


def shrunk(seed: int, share_compiled: float = 0.0, kind: str = "", seconds: float = 60.0) -> str:
    """Return the smallest program found that fails as that of a seed does, for the corpus."""
    generated = kinds.generate(seed, kind)
    names = checks.draw(generated, share_compiled)
    wanted = _category(judged(generated, names))

    def fails(smaller: Generated) -> bool:
        return _category(judged(smaller, names, limit=20.0)) == wanted

    if generated.kind == "layers" or wanted[0] != "failed":
        return generated.source
    raising = kinds.may_raise(generated)
    return entry(shrinking.shrink(generated, fails, seconds, raising=raising))


def _category(found: tuple[str, str]) -> tuple[str, str]:
    """Return what shrinking keeps: the kind of the first problem."""
    verdict, problem = found
    words = problem.split(": ")
    long = words[0] in ("crash", "raised", "refused")
    return verdict, ": ".join(words[:4])[:90] if long else ": ".join(words[:2])[:60]


def entry(generated: Generated) -> str:
    """Return a program as one of the corpus: a function with the decorator that enters it."""
    args = ", ".join(_shown(arg) for arg in generated.args)
    head = f"@program({args}, argnums={generated.argnums})\ndef program("
    before, _, after = generated.source.rpartition("def program(")
    return before + head + after


def _shown(arg: Any) -> str:
    if isinstance(arg, np.ndarray):
        return f"np.array({arg.tolist()}, np.{arg.dtype})"
    return repr(arg)


__all__ = ["LIMIT", "entry", "judged", "shrunk", "verdict_on"]
