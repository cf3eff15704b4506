"""The commands that show something; each takes the parsed options and returns an exit status."""

from __future__ import annotations

import argparse
import difflib
import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from adc.cli import options, output, slices, target
from adc.cli.target import UsageError
from adc.compiler.driver import Compilation
from adc.ir.analysis.costs import Costs
from adc.ir.core import Function
from adc.ir.errors import AdcError
from adc.passes.stages import Stage


def ir(args: argparse.Namespace) -> int:
    if args.output is not None and not args.all:
        raise UsageError("--output is where --all writes")
    if args.line is not None and args.diff:
        raise UsageError("--line: not with --diff")
    stages = _stages(target.find(args).made)
    if args.all:
        texts = [(name, _text(fn, args)) for name, fn in stages]
        if args.line is not None and not any(text for _, text in texts):
            raise _no_line(stages[0][1], args)
        if args.output is not None:
            return _write(texts, args.output)
        for name, text in texts:
            print(f"# after {name}\n{text}")
        return 0
    if args.diff:
        first, second = args.diff
        lines = difflib.unified_diff(
            str(_stage(stages, first)).splitlines(),
            str(_stage(stages, second)).splitlines(),
            f"after {first}",
            f"after {second}",
            lineterm="",
        )
        for line in lines:
            print(line)
        return 0
    fn = _stage(stages, args.after)
    text = _text(fn, args)
    if not text:
        raise _no_line(fn, args)
    sys.stdout.write(text)
    return 0


def _text(fn: Function, args: argparse.Namespace) -> str:
    """Return the IR, or what of it comes from the line that is asked for; "" if nothing does."""
    if args.line is None:
        return str(fn)
    line = _line(args)
    text = slices.of_ir(fn, line)
    return text and f"# {line.title()}\n{text}"


def _line(args: argparse.Namespace) -> slices.Line:
    return slices.Line(os.path.abspath(args.function.rpartition(":")[0]), args.line)


def _no_line(fn: Function, args: argparse.Namespace) -> UsageError:
    line = _line(args)
    known = ", ".join(map(str, slices.lines_of(fn, line.file)))
    return UsageError(f"--line: nothing comes from line {line.number}; there are {known or 'none'}")


def _write(texts: Sequence[tuple[str, str]], folder: Path) -> int:
    """Write the IR after every pass to a folder, so that the names of the files are in order."""
    folder.mkdir(parents=True, exist_ok=True)
    width = len(str(len(texts)))
    for k, (name, text) in enumerate(texts, 1):
        stage, _, number = name.partition(":")
        again = f"-{number}" if int(number) > 1 else ""
        (folder / f"{k:0{max(width, 2)}}-{stage}{again}.ir").write_text(text)
    print(f"{len(texts)} files in {folder}")
    return 0


def _stages(made: Compilation) -> list[tuple[str, Function]]:
    """Return the IR after every pass; the runs of a pass are numbered."""
    runs: dict[str, int] = {}
    stages: list[tuple[str, Function]] = []
    for name, fn in made.trace.stages:
        runs[name] = runs.get(name, 0) + 1
        stages.append((f"{name}:{runs[name]}", fn))
    return stages


def _stage(stages: list[tuple[str, Function]], wanted: str) -> Function:
    for name, fn in reversed(stages):
        if wanted in (name, name.partition(":")[0]):
            return fn
    raise UsageError(f"no stage {wanted!r}; there are {', '.join(name for name, _ in stages)}")


def source(args: argparse.Namespace) -> int:
    found = target.find(args)
    machine = found.derivative._options.machine
    if machine.cuda:
        from adc.backend.cuda.emit import emit as emit_kernels

        if args.line is not None:
            raise UsageError("--line: not for a GPU; `adc ir --line` shows the line there, too")
        print(emit_kernels(found.made.fn).source.rstrip())
        return 0
    from adc.backend.common.emit import emit

    if args.line is not None:
        text = slices.of_source(lambda mark: emit(found.made.fn, mark), _line(args))
        if not text:
            raise _no_line(found.made.fn, args)
        print(f"# {_line(args).title()}\n{text.rstrip()}")
        return 0
    from adc.backend.python.load import place

    print(emit(found.made.fn, place if machine.python else None).source.rstrip())
    return 0


def where_nan(args: argparse.Namespace) -> int:
    from adc.api import check_nans
    from adc.api.derivative import Jacobian

    found = target.find(args)
    made = found.derivative
    # A Jacobian may be finite where the results of the function are not.
    for each in (made.__wrapped__, made) if isinstance(made, Jacobian) else (made,):
        check_nans(each, digits=args.digits)(*found.args)  # raises
    digits = "" if args.digits is None else f", and {args.digits:g} of their digits are correct"
    print(f"{args.function}: the results are finite{digits}")
    return 0


def _can_write(path: Path | None, suffixes: Sequence[str] = ()) -> None:
    """Refuse a file that cannot be written, rather now than after all that it should show."""
    if path is None:
        return
    if suffixes and path.suffix not in suffixes:
        known = ", ".join(suffixes)
        raise UsageError(f"{path}: the name must end in {'one of ' * (len(suffixes) > 1)}{known}")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{path}: there is no folder {path.parent}")
    if path.is_dir() or not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise UsageError(f"{path} cannot be written")


def plan(args: argparse.Namespace) -> int:
    from adc.cli.curve import DRAWINGS, curve, rows, to_data
    from adc.inspect.plan import PlanReport

    _can_write(args.curve, DRAWINGS)
    _can_write(args.html)
    if args.points < 2:
        raise UsageError("--points: a curve needs at least two")
    found = target.find(args)
    if found.made.plan is None:
        raise UsageError(f"{found.derivative!r} has no reverse code, and so no plan")
    # Samples of arrays whose sizes are not given say nothing about memory and time.
    sized = args.example is not None or args.memory is not None or args.curve is not None
    shown = PlanReport.of(found.plan() if sized else found.made.plan)
    if args.html is not None:
        found.derivative.view(*found.args, measure=sized).save(args.html, "plan")
    points = None
    if args.curve is not None:
        from adc.inspect.curve import check, draw

        check()  # rather now than after measuring
        points = curve(found, args.points)
        draw(points, args.curve)
    if args.json:
        text = shown.to_json()
        if points is not None:
            text = json.dumps({"plan": json.loads(text), "curve": to_data(points)}, indent=1)
        print(text)
        return 0
    if args.html is None and args.curve is None:
        print(shown)
    if points is not None:
        output.show(("budget", "peak", "predicted", "at least", "measured"), rows(points))
    return 0


def profile(args: argparse.Namespace) -> int:
    found = target.find(args)
    if args.args is None and args.example is None and found.args:
        raise UsageError("--example: samples of arguments say nothing about time")
    made = found.derivative.profile(*found.args, seconds=args.seconds)
    print(made.to_json() if args.json else made)
    return 0


def view(args: argparse.Namespace) -> int:
    _can_write(args.out, (".html",))
    found = target.find(args)
    page = found.derivative.view(
        *found.args, values=args.values, measure=args.measure, iterations=args.iteration
    )
    page.save(args.out, args.pane)
    print(f"{args.out}: {page!r}")
    return 0


def graph(args: argparse.Namespace) -> int:
    from adc.inspect.graph import FORMATS, graph_of

    _can_write(args.out, FORMATS)
    if args.depth is not None and args.depth < 0:
        raise UsageError("--depth: not less than 0")
    made = target.find(args).made
    drawn = graph_of(made.trace, made.plan, depth=args.depth)
    if args.out is None:
        sys.stdout.write(drawn.source)
    else:
        drawn.save(args.out)
    return 0


# -- about adc itself ------------------------------------------------------------------------------


def supported(args: argparse.Namespace) -> int:
    from adc.inspect.table import filled, width
    from adc.supported import lookup, page

    if args.name is None:
        sys.stdout.write(output.fitted(page(refused=True), width()))
        return 0
    lines, whole = lookup(args.name)
    sys.stdout.write("".join(f"{filled(line, width())}\n" for line in lines))
    return 0 if whole else 1


def explain(args: argparse.Namespace) -> int:
    from adc import explain

    if args.topic is None:
        output.show(("topic", "about"), explain.titles().items())
        return 0
    try:
        output.show_markdown(explain.page(args.topic))
    except KeyError:
        message = f"there is no guide or error code {args.topic}; `adc explain` lists them"
        raise UsageError(message) from None
    return 0


def passes(args: argparse.Namespace) -> int:
    from adc.ir.walk import statements
    from adc.passes import pipeline

    if args.function is None:
        given = [name for name in ("args", "example", "argnums") if getattr(args, name) is not None]
        given += [name for name in options.compiled(args) if name != "target"]
        if given:
            raise UsageError(f"--{given[0]} is about a function: name one, as FILE.py:FUNCTION")
        listed = pipeline.TABLES["cuda" if args.target == "cuda" else "cpu"].rows()
        output.show(
            ("pass", "what it does, when, and why there"),
            [(_indented(stage, depth), _about(stage)) for stage, depth in listed],
        )
        return 0
    rows: list[tuple[str, ...]] = []
    trace = target.find(args).made.trace
    for row in trace.rows:
        name = _indented(row.stage, row.depth)
        if row.seconds is None:
            rows.append((name, "-", "", f"did not run; when: {row.stage.when.text or 'always'}"))
        else:
            ran = (_milliseconds(row.seconds), str(statements(row.fn)))
            rows.append((name, *ran, row.stage.about))
    total = sum(seconds for _, seconds in trace.seconds)
    titles = ("pass", "time", "statements", "what it does")
    output.show(titles, [*rows, ("all", _milliseconds(total), "", "")])
    return 0


def _indented(stage: Stage, depth: int) -> str:
    return "  " * depth + stage.name


def _about(stage: Stage) -> str:
    """Return what a pass does, when, and the reason for its place, a line each."""
    lines = [stage.about]
    lines += [f"  when: {stage.when.text}"] if stage.when.text else []
    lines += [f"  why there: {stage.why}"] if stage.why else []
    return "\n".join(lines)


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.1f} ms"


def cache(args: argparse.Namespace) -> int:
    from adc.compiler import cache

    if args.all and not args.clear:
        raise UsageError("--all says what --clear removes")
    if args.clear:
        print(f"freed {_bytes(cache.clear(calibration=args.all))} in {cache.folder()}")
        if (cache.folder() / cache.COSTS).exists():
            print("the costs that `adc calibrate` measured are kept: --all removes them, too")
        return 0
    count, size = cache.usage()
    rows = [
        ("folder", str(cache.folder())),
        ("state", cache.about()),
        ("entries", str(count)),
        ("size", f"{_bytes(size)} of at most {_bytes(cache.size_limit())}"),
    ]
    output.show(("cache", ""), rows, copied=True)
    return 0


def _bytes(count: float) -> str:
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def calibrate(args: argparse.Namespace) -> int:
    from adc import calibrate

    if args.show:
        found = calibrate.read()
        costs = Costs.default() if found is None else found.costs
        about = "shipped" if found is None else f"measured {found.date}"
    else:
        calibrate.file()  # rather now than after measuring
        with output.progress() as progress:
            costs = calibrate.measure(args.seconds, progress)
        about = f"written to {calibrate.write(costs)}"
    if args.json:
        print(costs.to_json())
        return 0
    shipped = dict(calibrate.described(Costs.default()))
    rows = [(name, text, shipped.get(name, "")) for name, text in calibrate.described(costs)]
    output.show(("cost", "here", "shipped"), rows)
    print(f"{about} ({costs.hash})")
    return 0


def _costs() -> list[tuple[str, str]]:
    """Return what `adc info` says of costs."""
    from adc import calibrate

    why = ""
    try:
        found = calibrate.read()
    except AdcError as error:
        found, why = None, f" ([{error.code}] {error.message}; {error.hint})"
    costs = Costs.default() if found is None else found.costs
    known = f"measured {found.date}" if found else "shipped"
    main = dict(calibrate.described(costs))
    return [
        ("costs", f"{known}, {costs.hash}{why}"),
        ("", ", ".join(f"{name} {main[name]}" for name in calibrate.MAIN)),
    ]


def _gpu() -> str:
    """Return what `adc info` says of GPUs."""
    try:
        from adc.backend.cuda import api
    except (AdcError, ImportError):  # without numba-cuda, or a part of it
        return "none"
    return api.about()


def info(args: argparse.Namespace) -> int:
    output.show(("", ""), _machine(), copied=True)
    return 0


def selftest(args: argparse.Namespace) -> int:
    from adc.testing.selftest import selftest

    def say(line: str) -> None:
        print(line, flush=True)

    wrong = selftest(args.seed, args.programs, args.workers, say)
    if not wrong:
        print("all is well")
        return 0
    print("\nThis is a defect of adc, or of this machine. Please report it with what follows.\n")
    print(f"adc selftest --seed {args.seed} --programs {args.programs}\n\n```text")
    for name, text in _machine():
        print(f"{name:15} {text}")
    print("```\n\n```text")
    for problem in wrong[:_SHOWN]:
        print(f"{problem}\n")
    if len(wrong) > _SHOWN:
        print(f"... and {len(wrong) - _SHOWN} more")
    print("```")
    return 1


# Of what `adc selftest` finds wrong, so much is shown: a report must fit a page.
_SHOWN = 12


def _machine() -> list[tuple[str, str]]:
    """Return versions, processor and cache."""
    from adc.backend import cpu
    from adc.compiler import cache
    from adc.version import __version__

    packages = ("numpy", "scipy", "numba", "llvmlite", "optree", "rich")
    rows = [
        ("adc", __version__),
        ("Python", f"{platform.python_version()} ({platform.python_implementation()})"),
        *((name, importlib.metadata.version(name)) for name in packages),
        *cpu.about().items(),
        ("GPU", _gpu()),
        ("system", platform.platform()),
        ("cache", f"{cache.folder()} ({cache.about()})"),
        *_costs(),
    ]
    return rows
