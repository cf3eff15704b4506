"""The pages of the error codes: what each means, a program that shows it, and the way out."""

from __future__ import annotations

from importlib import resources

from adc.ir.errors import CODES


def page(code: str) -> str:
    """Return the page of an error code, in Markdown; raise KeyError if there is no such code.

    Parameters
    ----------
    code : str
        Such as ``"ADC012"``; the letters and leading zeros may be left out.

    Examples
    --------
    >>> page("12").splitlines()[0]
    '# ADC012: A variable whose kind of value depends on the path taken'
    """
    name = f"ADC{code.upper().removeprefix('ADC').zfill(3)}"
    if name not in CODES:
        raise KeyError(code)
    return resources.files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")


def titles() -> dict[str, str]:
    """Return the title of every page, by code."""
    return {code: page(code).splitlines()[0].removeprefix(f"# {code}: ") for code in sorted(CODES)}
