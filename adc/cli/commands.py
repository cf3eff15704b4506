"""The commands that show something; each takes the parsed options and returns an exit status."""

from __future__ import annotations

import argparse
import difflib
import importlib.metadata
import json
import platform
import sys

from adc.cli import output, target
from adc.cli.target import UsageError
from adc.compiler.driver import Compilation
from adc.ir.analysis.costs import Costs
from adc.ir.errors import AdcError
from adc.passes.stages import Stage


def ir(args: argparse.Namespace) -> int:
    stages = _stages(target.find(args).made)
    if args.all:
        for name, text in stages:
            print(f"# after {name}\n{text}")
        return 0
    if args.diff:
        first, second = args.diff
        lines = difflib.unified_diff(
            _stage(stages, first).splitlines(),
            _stage(stages, second).splitlines(),
            f"after {first}",
            f"after {second}",
            lineterm="",
        )
        for line in lines:
            print(line)
        return 0
    sys.stdout.write(_stage(stages, args.after))
    return 0


def _stages(made: Compilation) -> list[tuple[str, str]]:
    """Return the IR after every pass, as text; the runs of a pass are numbered."""
    runs: dict[str, int] = {}
    stages: list[tuple[str, str]] = []
    for name, fn in made.trace.stages:
        runs[name] = runs.get(name, 0) + 1
        stages.append((f"{name}:{runs[name]}", str(fn)))
    return stages


def _stage(stages: list[tuple[str, str]], wanted: str) -> str:
    for name, text in reversed(stages):
        if wanted in (name, name.partition(":")[0]):
            return text
    raise UsageError(f"no stage {wanted!r}; there are {', '.join(name for name, _ in stages)}")


def source(args: argparse.Namespace) -> int:
    from adc.backend.common.emit import emit

    print(emit(target.find(args).made.fn).source.rstrip())
    return 0


def where_nan(args: argparse.Namespace) -> int:
    from adc.api import check_nans
    from adc.api.derivative import Jacobian

    found = target.find(args)
    made = found.derivative
    # Of a function of several results, itself.
    check_nans(made.__wrapped__ if isinstance(made, Jacobian) else made)(*found.args)  # raises
    print(f"{args.target}: the results are finite")
    return 0


def plan(args: argparse.Namespace) -> int:
    from adc.cli.curve import DRAWINGS, curve, rows, to_data
    from adc.inspect.plan import PlanReport

    if args.curve is not None and args.curve.suffix not in DRAWINGS:
        raise UsageError(f"{args.curve}: the name must end in one of {', '.join(DRAWINGS)}")
    if args.points < 2:
        raise UsageError("--points: a curve needs at least two")
    found = target.find(args)
    if found.made.plan is None:
        raise UsageError(f"{found.derivative!r} has no reverse code, and so no plan")
    # Samples of arrays whose sizes are not given say nothing about memory and time.
    sized = args.example is not None or args.memory is not None or args.curve is not None
    shown = PlanReport.of(found.plan() if sized else found.made.plan)
    if args.html is not None:
        args.html.write_text(output.page(f"plan of {args.target}", shown._repr_html_()))
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


def graph(args: argparse.Namespace) -> int:
    from adc.inspect.graph import FORMATS, graph_of

    if args.out is not None and args.out.suffix not in FORMATS:
        raise UsageError(f"{args.out}: the name must end in one of {', '.join(FORMATS)}")
    made = target.find(args).made
    drawn = graph_of(made.trace, made.plan)
    if args.out is None:
        sys.stdout.write(drawn.source)
    else:
        drawn.save(args.out)
    return 0


# -- about adc itself ------------------------------------------------------------------------------


def supported(args: argparse.Namespace) -> int:
    from adc.supported import lookup, page

    if args.name is None:
        sys.stdout.write(page(refused=True))
        return 0
    lines, whole = lookup(args.name)
    sys.stdout.write("".join(f"{line}\n" for line in lines))
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

    about = ("when", "why there", "what it does")
    if args.target is None:
        table = pipeline.TABLES[args.kind]
        output.show(("pass", *about), [_stage_row(stage, depth) for stage, depth in table.rows()])
        return 0
    rows: list[tuple[str, ...]] = []
    trace = target.find(args).made.trace
    for row in trace.rows:
        name, *texts = _stage_row(row.stage, row.depth)
        ran = ("-", "")
        if row.seconds is not None:
            ran = (_milliseconds(row.seconds), str(statements(row.fn)))
        rows.append((name, *ran, *texts))
    total = sum(seconds for _, seconds in trace.seconds)
    output.show(("pass", "time", "statements", *about), [*rows, ("all", _milliseconds(total))])
    return 0


def _stage_row(stage: Stage, depth: int) -> tuple[str, ...]:
    return ("  " * depth + stage.name, stage.when.text, stage.why, stage.about)


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
        ("entries", str(count)),
        ("size", f"{_bytes(size)} of at most {_bytes(cache.size_limit())}"),
    ]
    output.show(("cache", ""), rows)
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
        ("cache", str(cache.folder())),
        *_costs(),
    ]
    output.show(("", ""), rows)
    return 0
