"""``adc completion``: a shell script that completes commands and options."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

SHELLS = ("bash", "zsh")

_SCRIPT = """\
_adc() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" words=""
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="{commands}"
    elif [ "${{word#-}}" != "$word" ]; then
        case "${{COMP_WORDS[1]}}" in
{cases}
        esac
    else
        COMPREPLY=($(compgen -f -- "$word"))
        return
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o filenames -F _adc adc
"""


def script(shell: str, commands: Mapping[str, argparse.ArgumentParser]) -> str:
    """Return the script for a shell, made from the parsers of the commands.

    >>> print(script("zsh", {}).splitlines()[0])
    autoload -U +X bashcompinit && bashcompinit
    """
    cases = "\n".join(
        f'            {name}) words="{" ".join(parser._option_string_actions)}" ;;'
        for name, parser in commands.items()
    )
    text = _SCRIPT.format(commands=" ".join(commands), cases=cases)
    return "autoload -U +X bashcompinit && bashcompinit\n" + text if shell == "zsh" else text
