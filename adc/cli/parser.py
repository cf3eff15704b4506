"""What ``adc`` understands: the commands, their options, and an example of each."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from adc.calibrate import BUDGET
from adc.cli import commands, target
from adc.cli.check import check
from adc.cli.completion import SHELLS, script
from adc.cli.failure import program_error
from adc.ir.analysis.target import KINDS
from adc.ir.errors import AdcError
from adc.options import POLICIES
from adc.version import __version__

Command = Callable[[argparse.Namespace], int]

_ABOUT = """\
Look into what adc makes of a function: `adc COMMAND --help` explains each command.

FILE.py:FUNCTION names a function in a file. A plain function is inspected together with its
gradient (its Jacobian, if it returns more than one float); one made by adc.grad, adc.hessian and so
on as it is. What arguments it takes is found, in this order, from

  --args "f64[:], i64"   types: bool int float are Python's, b1 i8 .. i64 u8 .. u64 f32 f64 NumPy's;
                         f64[:, :] is a matrix, f64[3, 4] one of that size, Generator that of
                         np.random; 3 or "text" a value
  --example NAME         a function in the same file that returns the tuple of arguments
  annotations            def f(x: "f64[:]", n: int = 3)
"""
_STATUS = """\
Exit status:
  0  fine
  1  `adc check` found a derivative that differs, adc refuses the program, or the program raised
  2  the command line is wrong
  3  `adc check` found none that differs, and some that differences cannot decide on: a kink, noise
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; every command sets `run`."""
    top = argparse.ArgumentParser(
        prog="adc",
        description=_ABOUT,
        epilog=_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"adc {__version__}")
    table = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, run: Command, help: str, example: str) -> argparse.ArgumentParser:
        made = table.add_parser(
            name,
            help=help,
            description=help[0].upper() + help[1:] + ".",
            epilog=f"example:\n  {example}\n\n{_STATUS}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        made.set_defaults(run=run, parser=made)
        return made

    ir = add(
        "ir", commands.ir, "show the IR after a pass", 'adc ir model.py:loss --args "f64[:]" --all'
    )
    _target(ir)
    which = ir.add_mutually_exclusive_group()
    which.add_argument(
        "--after", metavar="PASS", default="storage", help="the last run of PASS; PASS:2 the second"
    )
    which.add_argument("--all", action="store_true", help="after every pass")
    which.add_argument("--diff", nargs=2, metavar=("A", "B"), help="from after A to after B")

    source = add(
        "source",
        commands.source,
        "show the Python source that is generated",
        "adc source model.py:loss --example data",
    )
    _target(source)

    plan = add(
        "plan",
        commands.plan,
        "show what the reverse code keeps, recomputes and reads again",
        'adc plan model.py:loss --args "f64[100, 64], f64" --memory "64 kB"',
    )
    _target(plan)
    plan.add_argument(
        "--memory", metavar="SIZE", help='the most memory that a call may hold: "64 MB"'
    )
    plan.add_argument("--offload", choices=("disk",), help="where tapes are, if not in memory")
    plan.add_argument("--json", action="store_true", help="print JSON")
    plan.add_argument("--html", type=Path, metavar="FILE", help="write a page instead")
    plan.add_argument(
        "--curve",
        type=Path,
        metavar="FILE",
        help="draw time against memory, predicted and measured, in a file .svg .png or .pdf, and "
        "print the table; the function is run",
    )
    plan.add_argument(
        "--points", type=int, default=20, metavar="N", help="budgets of the curve (default 20)"
    )

    checked = add(
        "check",
        check,
        "compare the gradient with differences",
        'adc check model.py:loss --args "f64[:, :], int" --argnums 0',
    )
    _target(checked)
    checked.add_argument(
        "--tolerance",
        type=float,
        metavar="T",
        help="the relative error allowed (default 1e-6; 1e-3 where float32 takes part)",
    )
    checked.add_argument(
        "--step",
        type=float,
        metavar="H",
        help="the largest of the differences (default: a quarter of each number)",
    )
    checked.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the random directions"
    )

    graph = add(
        "graph",
        commands.graph,
        "draw forward and reverse code, and what the plan does between them",
        'adc graph model.py:loss --args "f64[:]" -o loss.svg',
    )
    _target(graph)
    graph.add_argument(
        "-o",
        dest="out",
        type=Path,
        metavar="FILE",
        help="a file .svg .png .pdf or .dot; without it, the text of the latter is printed",
    )

    cache = add(
        "cache", commands.cache, "show or clear the cache of compiled code", "adc cache --clear"
    )
    cache.add_argument("--clear", action="store_true", help="remove every entry")
    cache.add_argument(
        "--all", action="store_true", help="with --clear: what `adc calibrate` measured, too"
    )

    calibrate = add(
        "calibrate",
        commands.calibrate,
        "measure what operations, memory and loops cost here, once, for better plans",
        "adc calibrate",
    )
    calibrate.add_argument(
        "--show", action="store_true", help="show what is known; measure nothing"
    )
    calibrate.add_argument("--json", action="store_true", help="print JSON, in seconds")
    calibrate.add_argument(
        "--seconds",
        type=float,
        default=BUDGET,
        metavar="S",
        help=f"take about S (default {BUDGET:g})",
    )

    passes = add(
        "passes",
        commands.passes,
        "list the passes in order, with the reason, and how long each takes on a function",
        'adc passes model.py:loss --args "f64[:]"',
    )
    _target(passes, optional=True)
    passes.add_argument(
        "--kind", choices=KINDS, default=KINDS[0], help="list those for a CPU or a GPU (cuda)"
    )

    add(
        "supported",
        commands.supported,
        "list every construct and function, and whether adc has it",
        "adc supported",
    )
    explain = add(
        "explain",
        commands.explain,
        "show a guide, explain an error code, or list both",
        "adc explain memory\n  adc explain ADC012",
    )
    explain.add_argument(
        "topic", metavar="TOPIC", nargs="?", help="a guide, or a code as the message shows it"
    )

    completion = add(
        "completion",
        lambda args: _completion(args.shell, table.choices),
        "print a script for the completion of commands and options",
        "adc completion bash > ~/.local/share/bash-completion/completions/adc",
    )
    completion.add_argument("shell", choices=SHELLS)

    add("info", commands.info, "show versions, processor and cache, for a bug report", "adc info")
    return top


def _completion(shell: str, commands: Mapping[str, argparse.ArgumentParser]) -> int:
    sys.stdout.write(script(shell, commands))
    return 0


def _target(command: argparse.ArgumentParser, optional: bool = False) -> None:
    command.add_argument(
        "target",
        metavar="FILE.py:FUNCTION",
        nargs="?" if optional else None,
        help="the function to look at",
    )
    given = command.add_mutually_exclusive_group()
    given.add_argument("--args", metavar="TYPES", help='types of the arguments: "f64[:], i64"')
    given.add_argument("--example", metavar="NAME", help="a function that returns the arguments")
    command.add_argument(
        "--argnums",
        type=_numbers,
        metavar="N[,N]",
        help="the arguments to differentiate with respect to (default 0)",
    )
    command.add_argument("--remat", choices=POLICIES, help="what the reverse code remembers")


def _numbers(text: str) -> int | tuple[int, ...]:
    numbers = tuple([int(part) for part in text.split(",")])
    return numbers if "," in text else numbers[0]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return its exit status."""
    args = parser().parse_args(argv)
    run: Command = args.run
    try:
        status = run(args)
        sys.stdout.flush()
    except target.UsageError as error:
        args.parser.error(str(error))
    except AdcError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader (`| head`) has seen enough. Python would complain again when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        text = program_error(error)
        if text is None:
            raise  # a defect of adc: a report needs the traceback
        print(text, file=sys.stderr)
        return 1
    return status
