"""The command line ``adc``: the commands, their options, and an example of each."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from adc.calibrate import BUDGET
from adc.cli import commands, options, target
from adc.cli.check import check
from adc.cli.completion import SHELLS, script
from adc.cli.failure import program_error
from adc.ir.errors import AdcError
from adc.version import __version__
from adc.view.report import PANES

Command = Callable[[argparse.Namespace], int]

_ABOUT = """\
Inspect how adc compiles a function. `adc COMMAND --help` explains each command.

FILE.py:FUNCTION names a function in a file; the file is executed, as `python FILE.py` does. For a
plain function, adc shows its gradient (its Jacobian, if it returns more than one float). A result
of adc.grad, adc.hessian and so on is shown as it is. The types of the arguments come from the first
of these that is given:

  --args "f64[:], i64"   bool int float are Python, b1 i8 .. i64 u8 .. u64 f16 .. f64 are NumPy;
                         f64[:, :] is a matrix, f64[3, 4] a matrix of that shape; Generator
                         and RandomState are of np.random; 3 or "text" is a value
  --example NAME         a function in the same file that returns a tuple of arguments
  annotations            def f(x: "f64[:]", n: int = 3)
"""
_STATUS = """\
Exit status:
  0  success
  1  adc refused the program, the program raised an error, `adc check` found a wrong derivative,
     `adc selftest` found something wrong, or what `adc supported` is asked for is not supported
  2  the command line is invalid
  3  `adc check` found no wrong derivative, but could not check all of them (kinks, noise)
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
    options.add_function(ir)
    which = ir.add_mutually_exclusive_group()
    which.add_argument(
        "--after",
        metavar="PASS",
        default="storage",
        help="show the IR after the last run of PASS; PASS:2 is the second run",
    )
    which.add_argument("--all", action="store_true", help="show the IR after every pass")
    ir.add_argument(
        "--output",
        type=Path,
        metavar="FOLDER",
        help="with --all: write the IR after every pass to a file of the folder",
    )
    options.add_line(ir)
    which.add_argument(
        "--diff",
        nargs=2,
        metavar=("A", "B"),
        help="show the changes from after pass A to after pass B",
    )

    source = add(
        "source",
        commands.source,
        "show the generated Python source",
        "adc source model.py:loss --example data",
    )
    options.add_function(source)
    options.add_line(source)

    plan = add(
        "plan",
        commands.plan,
        "show which values reverse code stores, recomputes or reloads, and the memory of a call",
        'adc plan model.py:loss --args "f64[100, 64], f64" --memory "64 kB"',
    )
    options.add_function(plan)
    plan.add_argument("--json", action="store_true", help="print JSON")
    plan.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="write the page of `adc view` to FILE, opened at the plan",
    )
    plan.add_argument(
        "--curve",
        type=Path,
        metavar="FILE",
        help="draw predicted and measured time against memory to FILE (.svg, .png or .pdf), and "
        "print the table; this runs the function",
    )
    plan.add_argument(
        "--points",
        type=int,
        default=20,
        metavar="N",
        help="number of budgets in the curve (default 20)",
    )

    profile = add(
        "profile",
        commands.profile,
        "show the time and the bytes of every line, in forward and in reverse code",
        "adc profile model.py:loss --example data",
    )
    options.add_function(profile)
    profile.add_argument("--json", action="store_true", help="print JSON, with times in seconds")
    profile.add_argument(
        "--seconds",
        type=float,
        default=2.0,
        metavar="S",
        help="measure for about S seconds (default 2)",
    )

    viewed = add(
        "view",
        commands.view,
        "write a page that shows a call step by step, with its memory and its plan, in a browser",
        "adc view model.py:loss --example data -o run.html",
    )
    options.add_function(viewed)
    viewed.add_argument(
        "-o", dest="out", type=Path, metavar="FILE", required=True, help="write to FILE (.html)"
    )
    viewed.add_argument(
        "--values",
        action="store_true",
        help="show numbers of the arguments; without it there are only small pictures of them",
    )
    viewed.add_argument(
        "--no-measure",
        dest="measure",
        action="store_false",
        help="do not compile and call the function for its time and memory",
    )
    viewed.add_argument(
        "--iteration",
        type=int,
        action="append",
        default=[],
        metavar="N",
        help="show iteration N of every loop, too, besides the first and the last ones",
    )
    viewed.add_argument("--pane", choices=PANES, default="", help="the part that the page opens at")

    checked = add(
        "check",
        check,
        "compare the gradient with finite differences",
        'adc check model.py:loss --args "f64[:, :], int" --argnums 0',
    )
    options.add_function(checked)
    checked.add_argument(
        "--tolerance",
        type=float,
        metavar="T",
        help="allowed relative error (default 1e-6; 1e-3 if float32 is involved)",
    )
    checked.add_argument(
        "--step",
        type=float,
        metavar="H",
        help="largest step of the differences (default: a quarter of each number)",
    )
    checked.add_argument(
        "--seed", type=int, default=0, metavar="N", help="seed of the random directions"
    )

    where = add(
        "where-nan",
        commands.where_nan,
        "show where the first NaN or infinity arises, in the function or its gradient",
        "adc where-nan model.py:loss --example data",
    )
    options.add_function(where)
    where.add_argument(
        "--digits",
        type=float,
        metavar="N",
        help="also show where digits are lost if fewer than these are correct in a result",
    )

    graph = add(
        "graph",
        commands.graph,
        "draw forward and reverse code, and the plan that connects them",
        'adc graph model.py:loss --args "f64[:]" -o loss.svg',
    )
    options.add_function(graph)
    graph.add_argument(
        "-o",
        dest="out",
        type=Path,
        metavar="FILE",
        help="write to FILE (.svg, .png, .pdf or .dot); without it, print the DOT text",
    )
    graph.add_argument(
        "--depth",
        type=int,
        metavar="N",
        help="fold what lies in more than N functions, loops, branches and lines (default: as much "
        "as has to be for a picture that fits a page)",
    )

    cache = add(
        "cache", commands.cache, "show or clear the cache of compiled code", "adc cache --clear"
    )
    cache.add_argument("--clear", action="store_true", help="remove all entries")
    cache.add_argument(
        "--all",
        action="store_true",
        help="with --clear: also remove the costs that `adc calibrate` measured",
    )

    calibrate = add(
        "calibrate",
        commands.calibrate,
        "measure the costs of operations, memory and loops on this machine, for better plans",
        "adc calibrate",
    )
    calibrate.add_argument(
        "--show", action="store_true", help="show the costs in use; measure nothing"
    )
    calibrate.add_argument("--json", action="store_true", help="print JSON, with times in seconds")
    calibrate.add_argument(
        "--seconds",
        type=float,
        default=BUDGET,
        metavar="S",
        help=f"measure for about S seconds (default {BUDGET:g})",
    )

    passes = add(
        "passes",
        commands.passes,
        "list the passes in order, with reasons; for a function also their times",
        'adc passes model.py:loss --args "f64[:]"',
    )
    options.add_function(passes, optional=True)

    known = add(
        "supported",
        commands.supported,
        "list all constructs and functions, supported or not; with NAME, say whether that is",
        "adc supported\n  adc supported scipy.linalg.expm",
    )
    known.add_argument(
        "name", metavar="NAME", nargs="?", help="a function, with its package or not, or a package"
    )
    explain = add(
        "explain",
        commands.explain,
        "show a guide or explain an error code; without TOPIC, list them",
        "adc explain memory\n  adc explain ADC012",
    )
    explain.add_argument(
        "topic", metavar="TOPIC", nargs="?", help="the name of a guide, or an error code"
    )

    completion = add(
        "completion",
        lambda args: _completion(args.shell, table.choices),
        "print a shell script for completion",
        "adc completion bash > ~/.local/share/bash-completion/completions/adc",
    )
    completion.add_argument("shell", choices=SHELLS)

    tested = add(
        "selftest",
        commands.selftest,
        "check operations, plans, threads, cache and random programs on this machine, in minutes",
        "adc selftest",
    )
    tested.add_argument("--seed", type=int, default=0, metavar="N", help="first random program")
    tested.add_argument(
        "--programs", type=int, default=100, metavar="N", help="how many of them (default 100)"
    )
    tested.add_argument(
        "--workers", type=int, metavar="N", help="processes (default: one for each core, at most 8)"
    )

    add(
        "info",
        commands.info,
        "show versions, processor and cache (include it in bug reports)",
        "adc info",
    )
    return top


def _completion(shell: str, commands: Mapping[str, argparse.ArgumentParser]) -> int:
    sys.stdout.write(script(shell, commands))
    return 0


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
