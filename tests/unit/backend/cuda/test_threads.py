"""Iterations that become threads as a whole: which do, what memory they need, and that it is right.

The programs are those of `thread_programs`, and batches of calls of all others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import adc
import adc.ir.analysis.dependence.threads as threads_module
import adc.passes.target.expand_tape as frames_pass
import adc.passes.target.outline_kernels as whole_pass
from adc.backend.cuda import thread
from adc.ir.analysis.dependence.combinations import combinations
from adc.ir.analysis.dependence.threads import (
    Bounds,
    Size,
    Threads,
    Unknown,
    all_threads,
    is_measured,
)
from adc.ir.analysis.memory.access import Access
from adc.ir.builder import integer
from adc.ir.core import For, Function, If, Operand, Pop, Push, Stmt, Value, walk
from adc.ir.tape import Meet, TapeEntry, frames, is_mirror, matched, uses
from adc.ir.text.parser import parse
from adc.ir.text.printer import operand_text
from adc.passes.target.fission import _Fission
from tests.corpus.loops.thread_programs import (
    THREAD_PROGRAMS,
    assertion_in_a_loop,
    division_in_a_loop,
    index_in_a_while,
    row_of_an_array_in_a_thread,
)
from tests.corpus.program import Program
from tests.fuzz.families import fuzz_threads
from tests.fuzz.program import forget
from tests.oracle import on_device
from tests.oracle.chain import Chain
from tests.unit.backend.cuda.test_cuda import corpus, leaves, outcome

BY_NAME = {program.name: program for program in THREAD_PROGRAMS}
KINDS = frozenset({"whole", "measured", "both"})


def chain_of(program: Program) -> Chain:
    return Chain.of(program.fn, program.make_args(), program.argnums)


def launches(fn: Function) -> list[For]:
    return [s for s in walk(fn.body) if isinstance(s, For) and s.parallel]


# --- programs -------------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("program", THREAD_PROGRAMS, ids=str)
def test_gradients(program: Program) -> None:
    """Results are right, threads do not conflict, and all possible loops are launches."""
    chain = chain_of(program)
    assert not on_device.check(chain, on_device.cpu_results(chain))
    made = on_device.device_code(chain)
    whole = made.trace.after("outline_kernels")
    found = set()
    if on_device.launched_whole(made):
        found.add("whole")
    if "needs" in on_device.source(made.fn):
        found.add("measured")
    if any(isinstance(s, If) and "many" in str(s.cond) for s in walk(whole.body)):
        found.add("both")
    assert found == program.tags & KINDS


@pytest.mark.full
@pytest.mark.parametrize("program", THREAD_PROGRAMS, ids=str)
def test_values(program: Program) -> None:
    chain = Chain.of(program.fn, program.make_args(), ())
    assert not on_device.check(chain, on_device.cpu_results(chain))


def test_values_alone_are_launches_where_gradients_are_not() -> None:
    program = BY_NAME["thread_products_and_extremes"]
    chain = Chain.of(program.fn, program.make_args(), ())
    assert launches(on_device.device_code(chain).fn)


def test_an_element_that_a_thread_adds_to_and_then_sets() -> None:
    def program(x: Any, places: Any) -> Any:
        y = np.ones((len(x), 3))
        for i in range(len(x)):
            place = places[i]
            count = int(3.0 * x[i, 0])
            for j in range(count):
                y[i, place] += x[i, j] * x[i, j]
            y[i, count - 1] = 7.0
        return y

    args = np.linspace(0.0, 1.0, 20).reshape(5, 4), np.array([0, 2, 1, 0, 1])
    np.testing.assert_allclose(adc.jit(program, target="cuda")(*args), program(*args))


EMPTY = [
    p
    for p in THREAD_PROGRAMS
    if "whole" in p.tags and p.name.endswith(("_steps", "_newton_iterations", "_swapped", "_data"))
]


@pytest.mark.full
@pytest.mark.parametrize("program", EMPTY, ids=str)
def test_no_iterations(program: Program) -> None:
    first, *rest = program.make_args()
    args = (first[:0], *rest)
    if program.name == "thread_sizes_of_arrays_from_data":
        args = (first, rest[0][:0])
    want = adc.value_and_grad(program.fn, program.argnums)(*args)
    got = adc.value_and_grad(program.fn, program.argnums, target="cuda")(*args)
    for a, b in zip(leaves(want), leaves(got), strict=True):
        np.testing.assert_array_equal(b, a)


# --- batches --------------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("program", corpus(), ids=str)
def test_batches(program: Program) -> None:
    assert not on_device.check_batched(program)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
def test_random_programs(seed: int) -> None:
    generated = fuzz_threads.generate(seed, size=4)
    assert not on_device.check_random(generated, compiled=False, batch=False)
    forget(generated)


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize(
    ("fn", "args", "line"),
    [
        (index_in_a_while, (np.array([0.9, 0.1, 0.5]), np.full(3, 0.3)), "y += w[k]"),
        (
            division_in_a_loop,
            (np.array([0.9, 0.1, 0.5]), 3),
            "y = np.sin(y) * (1 + 6 // (i + j - n))",
        ),
        (
            assertion_in_a_loop,
            (np.array([0.5, 0.9, 0.95]), 0.6),
            'assert y < most, "too large"',
        ),
        (
            row_of_an_array_in_a_thread,
            (np.array([0.9, 0.1, 0.5]), np.array([3, 2, 1])),
            "y[j] = np.sin(y[j - 1])",
        ),
    ],
)
def test_an_error_in_a_thread_has_its_line(
    fn: Callable[..., Any], args: tuple[Any, ...], line: str
) -> None:
    assert launches(on_device.device_code(Chain.of(fn, args, (0,))).fn)
    kind, message = outcome(fn, args)
    with pytest.raises(kind) as caught:
        adc.grad(fn, target="cuda", progress=False)(*args)
    assert str(caught.value) == message
    assert str(caught.traceback[-1].statement).strip().endswith(line)


# --- tests of the tests ---------------------------------------------------------------------------


def complaints(program: Program) -> list[str]:
    """Return what is wrong; an error of the compiler or of a kernel is a complaint, too."""
    try:
        chain = chain_of(program)
        return on_device.check(chain, on_device.cpu_results(chain))
    except Exception as error:
        return [repr(error)]


def noticed(*names: str) -> bool:
    return any(complaints(BY_NAME[f"thread_{name}"]) for name in names)


@pytest.mark.full
def test_additions_that_are_not_atomic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Access, "is_own", lambda self, array: True)
    assert noticed("gather_where_data_say")


@pytest.mark.parametrize("end", ["begin", "leave"])
def test_tapes_that_end_elsewhere(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original = thread.Thread._lay_out

    def planted(self: thread.Thread, threads: Threads) -> None:
        original(self, threads)
        lines = self.memory.head if end == "begin" else self.memory.tail
        for k, line in enumerate(lines):
            left, right = line.split(" = ")
            if "tops[" in line:
                lines[k] = f"{left} = {right} - 1"

    monkeypatch.setattr(thread.Thread, "_lay_out", planted)
    assert noticed("state_of_two")


@pytest.mark.full
def test_carried_arrays_that_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Threads, "copied", lambda self, loop: set())
    assert noticed("arrays_made_in_iterations", "new_arrays_swapped")


def test_carried_arrays_copied_one_over_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Threads, "is_mixed", lambda self, loop: False)
    assert noticed("old_and_new_arrays_swapped")


@pytest.mark.full
def test_parts_of_a_loop_out_of_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Fission, "keeps_order", lambda self, *args: True)
    assert noticed("read_before_it_is_overwritten")


@pytest.mark.full
def test_too_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Threads.known

    def planted(self: Threads, operand: Operand) -> Bounds:
        found = original(self, operand)
        return found and (integer(1),)

    monkeypatch.setattr(Threads, "known", planted)
    assert noticed("arrays_of_two_axes", "rows_of_results")


@pytest.mark.full
@pytest.mark.parametrize("module", [frames_pass, threads_module])
def test_what_was_left_first_taken_first(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(stmts: Sequence[Stmt], meet: Meet) -> tuple[list[TapeEntry], list[TapeEntry]]:
        found: list[tuple[TapeEntry, TapeEntry]] = []
        done = matched(stmts, lambda pushed, popped: found.append((pushed, popped)))
        pushed = [a for a, _ in found]
        for a, (_, popped) in zip(reversed(pushed), found, strict=True):
            meet(a, popped)
        return done

    monkeypatch.setattr(module, "matched", planted)
    assert noticed("two_recurrences", "two_loops_one_after_the_other")


@pytest.mark.parametrize("name", ["iterations_that_need_each_other", "rows_that_overlap"])
def test_iterations_that_need_each_other(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_pass._Outliner, "is_independent", lambda self, loop: True)
    assert noticed(name)


# --- what threads need ----------------------------------------------------------------------------


def the_loop(body: str, params: str = "%x: f64[:, :], %n: int, %sizes: i64[:]") -> For:
    """Return a parallel loop with this body, to which some arguments are known."""
    text = (
        f"fn f({params}) -> none {{\n  parallel for L %i in 0 to %n {{\n{body}\n  }}\n  return\n}}"
    )
    (loop,) = parse(text).body
    assert isinstance(loop, For)
    return loop


def told(bounds: Bounds) -> str:
    """Return what bounds a number, as text."""
    if bounds is None:
        return "?"
    texts = [
        f"{each.array.name}.{each.axis}"
        if isinstance(each, Size)
        else operand_text(each).split(":")[0]
        for each in bounds
    ]
    return " ".join(texts)


def spaces(threads: Threads) -> dict[str, str]:
    return {value.name: ", ".join(map(told, space.dims)) for value, space in threads.spaces.items()}


@pytest.mark.parametrize(
    ("last", "want"),
    [
        ("%c = add %u %v\n%d = maximum %w %y", {"e": "add", "g": "maximum"}),
        ("%c = add %u %y\n%d = maximum %w %v", {"e": "maximum", "g": "add"}),
        ("%c = add %u %v\n%d = maximum %w %v", {}),
    ],
)
def test_arrays_of_terms_and_what_combines_them(last: str, want: dict[str, str]) -> None:
    fn = parse(
        f"""
        fn f(%n: i64, %x: f64[:]) -> f64, f64 {{
          %e = empty[f64] %n
          %g = empty[f64] %n
          %a, %b = for L %i in 0 to %n carrying (%p = %e, %h = %g) {{
            %t = load %x[%i]
            %q = store %p[%i] %t
            %r = store %h[%i] %t
            yield %q %r
          }}
          %s, %m = for M %k in 0 to %n carrying (%u: f64 = 0.0:f64, %w: f64 = 0.0:f64) {{
            %v = load %e[%k]
            %y = load %g[%k]
            {last}
            yield %c %d
          }}
          return %s %m
        }}
        """
    )
    assert {array.name: op for array, op in combinations(fn).items()} == want


@pytest.mark.parametrize(
    ("body", "want"),
    [
        ("%a = empty[f64] 3 %n", "3, %n"),
        ("%a = full[f64] 0.0:f64 %n 2", "%n, 2"),
        ("%d = dim[1] %x\n%a = empty[f64] %d", "x.1"),
        ("%d = maximum %n 5\n%a = empty[f64] %d", "%n 5"),
        ("%d = minimum %i 7\n%a = empty[f64] %d", "7"),
        ("%d = minimum 7 %i\n%a = empty[f64] %d", "7"),
        ("%d = add %n 1\n%a = empty[f64] %d", "?"),
        ("%l = minimum %i %n\n%d = cast[i64] %l\n%a = empty[f64] %d", "%n"),
        ("%l = minimum %i %n\n%d = cast[u8] %l\n%a = empty[f64] %d", "?"),
        ("%s = load %sizes[%i]\n%d = cast[int] %s\n%a = empty[f64] %d", "?"),
        ("%c = lt %i 3\n%d = if %c {\nyield 4\n} else {\nyield %n\n}\n%a = empty[f64] %d", "%n 4"),
        (
            "%d = for M %j in 0 to 3 carrying (%k = 2) {\n%l = maximum %k 6\nyield %l\n}\n"
            "%a = empty[f64] %d",
            "6",
        ),
        (
            "%d = for M %j in 0 to 3 carrying (%k = 2) {\n%l = add %k 1\nyield %l\n}\n"
            "%a = empty[f64] %d",
            "?",
        ),
        ("push %n\n%d: int = pop\n%a = empty[f64] %d", "%n"),
        ("%d: int = pop\n%a = empty[f64] %d", "?"),
    ],
)
def test_sizes_of_arrays(body: str, want: str) -> None:
    threads = Threads(the_loop(body))
    assert spaces(threads) == {"a": want}
    assert [space.value.name for space in threads.unknown] == ["a"] * ("?" in want)


def test_arrays_of_other_arrays() -> None:
    threads = Threads(
        the_loop("""
%a = empty[f64] 3 %n
%b = copy %a
%c = over %b
%d = row %x %i
%e = copy %d
%y = copy %x
""")
    )
    assert spaces(threads) == {"a": "3, %n", "b": "3, %n", "e": "x.1", "y": "x.0, x.1"}


def test_arrays_that_come_off_the_tape() -> None:
    own = Threads(the_loop("%a = empty[f64] 3\npush %a\npush %n\n%m: int = pop\n%b: f64[:] = pop"))
    assert spaces(own) == {"a": "3", "b": "3"}
    assert spaces(Threads(the_loop("%b: f64[:] = pop"))) == {}
    assert spaces(Threads(the_loop("%b: f64[:, :] = pop"))) == {"b": "?, ?"}


CARRIED = """
%a = empty[f64] 3
%b = empty[f64] %n
%p, %q = for M %j in 0 to %n carrying (%u = %a, %v = %b) {{
  %new = copy %u
  %other = copy %v
  yield {}
}}
"""


def arrays(loop: For, *names: str) -> set[Value]:
    found = {v for s in walk(loop.body.stmts) for v in s.results}
    found |= {v for s in walk(loop.body.stmts) if isinstance(s, For) for v in s.body.params}
    return {v for v in found if v.name in names}


@pytest.mark.parametrize(
    ("yields", "copied", "mixed"),
    [
        ("%u %v", (), False),
        ("%v %u", (), False),
        ("%new %v", ("u",), False),
        ("%new %other", ("u", "v"), False),
        ("%other %new", ("u", "v"), False),
        ("%new %u", ("u", "v"), True),
        ("%v %new", ("u", "v"), True),
    ],
)
def test_what_is_copied_from_iteration_to_iteration(
    yields: str, copied: tuple[str, ...], mixed: bool
) -> None:
    loop = the_loop(CARRIED.format(yields))
    inner = next(s for s in loop.body.stmts if isinstance(s, For))
    threads = Threads(loop)
    assert threads.copied(inner) == arrays(loop, *copied)
    assert threads.is_mixed(inner) == mixed
    assert {v.name for v in threads.temporary} == (set(copied) if mixed else set())


@pytest.mark.parametrize(
    ("body", "uniform"),
    [
        ("%k = add %n 1", True),
        ("%k = add %i 1", False),
        ("%k = load %sizes[0]", False),
        ("push %n\n%k: int = pop", True),
        ("push %i\n%k: int = pop", False),
        ("%k: int = pop", False),
    ],
)
def test_indices_that_neighbouring_threads_share(body: str, uniform: bool) -> None:
    loop = the_loop(body)
    (index,) = [v for s in loop.body.stmts for v in s.results]
    assert Access([loop], Threads(loop)).is_uniform([index]) == uniform


def words(threads: Threads, dtype: str, own: bool) -> str | None:
    def text(each: Sequence[Operand | Size]) -> str:
        return told(tuple(each)).replace(" ", "|")

    return threads.words(dtype, own, text, threads.loop.body.stmts)


@pytest.mark.parametrize(
    ("body", "floats", "ints"),
    [
        ("push 1.0:f64 %n", "1", "1"),
        ("push 1.0:f64\npush 2.0:f64", "2", "0"),
        ("for M %j in 0 to %n {\npush 1.0:f64 2.0:f64\n}", "%n * (2)", "0"),
        ("for M %j in 0 to 3 {\nfor N %k in 0 to %n {\npush 1.0:f64\n}\n}", "3 * (%n * (1))", "0"),
        ("%a = empty[f64] 3 %n\npush %a", "3 * %n", "2"),
        (
            "%c = lt %n 3\nif %c {\npush 1.0:f64\n} else {\npush 1.0:f64 2.0:f64\n}",
            "max(1, 2)",
            "0",
        ),
        ("for M %j in 0 to %i {\npush 1.0:f64\n}", None, "0"),
        ("while W {\npush 1.0:f64\nagain true\n}", None, "0"),
        ("%s = load %sizes[%i]\n%a = empty[f64] %s\npush %a", None, "1"),
    ],
)
def test_how_long_tapes_are(body: str, floats: str | None, ints: str) -> None:
    threads = Threads(the_loop(body))
    assert threads.leaves
    assert not threads.takes
    assert words(threads, "f64", False) == floats
    assert words(threads, "i64", False) == ints
    assert words(threads, "f64", True) == "0"


def test_a_tape_of_its_own() -> None:
    """What every iteration of an inner loop takes off again lies there once."""
    threads = Threads(
        the_loop("""
for M %j in 0 to %n {
  for N %k in 0 to 4 {
    push 1.0:f64
  }
  for N.rev %l down from 4 {
    %y: f64 = pop
  }
}
push 1.0:f64
""")
    )
    assert (threads.owned, threads.handed) == (["f64"], ["f64"])
    assert threads.tapes() == [("f64", False), ("f64", True)]
    assert words(threads, "f64", True) == "4 * (1)"
    assert words(threads, "f64", False) == "1"


BACK = """
fn f(%n: int, %sizes: i64[:]) -> none {{
  {before}
  parallel for L %i in 0 to %n {{
    {size}
    %a = empty[f64] %m %m
    push %a %m
  }}
  {between}
  parallel for L.rev %i.r down from %n {{
    %b: f64[:, :], %m.r: int = pop
    %c = empty[f64] %m.r
  }}
  return
}}"""


@pytest.mark.parametrize(
    ("size", "before", "between", "want"),
    [
        ("%m = maximum %n 2", "", "", {"b": "%n 2, %n 2", "c": "%n 2"}),
        ("%m = maximum %k 2", "%k = add %n 1", "", {"b": "%k 2, %k 2", "c": "%k 2"}),
        ("%m = add %n %i", "", "", {"b": "?, ?", "c": "?"}),
    ],
)
def test_sizes_of_what_another_loop_left(
    size: str, before: str, between: str, want: dict[str, str]
) -> None:
    fn = parse(BACK.format(size=size, before=before, between=between))
    loops = [s for s in fn.body if isinstance(s, For)]
    threads = all_threads(fn)
    assert threads[id(loops[0])].leaves
    assert threads[id(loops[1])].takes
    assert spaces(threads[id(loops[1])]) == want


def part(threads: Threads) -> tuple[list[str], list[str]]:
    """Return the statements and the values that decide what has to be measured."""
    _, found = threads.measured(lambda each: "n")
    stmts = [s for s in walk(threads.loop.body.stmts) if id(s) in found.stmts]
    return [type(s).__name__ for s in stmts], sorted(v.name for v in found.values)


def test_what_decides_a_size() -> None:
    threads = Threads(
        the_loop("""
%s = load %sizes[%i]
%t = load %x[%i, 0]
%u = sin %t
%a = empty[f64] %s
write %a[0] %u
""")
    )
    assert is_measured(threads)
    assert part(threads) == (["Load", "Apply"], ["s"])


def test_what_decides_how_often_a_loop_runs() -> None:
    threads = Threads(
        the_loop("""
%t = load %x[%i, 0]
%z, %o = while W carrying (%y = %t, %out = 0.0:f64) {
  %h = mul %y 0.5:f64
  %c = gt %h 1.0:f64
  %more = exp %out
  push %h
  again %c %h %more
}
""")
    )
    assert part(threads) == (
        ["Load", "While", "Apply", "Apply", "Push"],
        ["c", "h", "t", "y"],
    )


def test_what_decides_a_size_that_a_loop_counts() -> None:
    threads = Threads(
        the_loop("""
%s = load %sizes[%i]
%m = cast[int] %s
%last = for F %j in 0 to %m carrying (%k = 0) {
  yield %j
}
%a = empty[f64] %last
""")
    )
    assert part(threads) == (["Load", "Apply", "For", "Apply"], ["j", "k", "last", "m", "s"])


@pytest.mark.parametrize(
    "body",
    [
        # Sizes are in an array that the loop itself changes.
        "%s = load %sizes[%i]\n%a = empty[f64] %s\nwrite %sizes[%i] 2:i64",
        # They are on its own tape.
        "%s = load %sizes[%i]\n%k = add %s 1:i64\npush %k\n%m: i64 = pop\n%a = empty[f64] %m",
        # They are in an array whose size is not known either.
        "%s = load %sizes[%i]\n%a = empty[i64] %s\nwrite %a[0] %s\n%t = load %a[0]\n"
        "%b = empty[f64] %t",
    ],
)
def test_what_cannot_be_told_before(body: str) -> None:
    threads = Threads(the_loop(body))
    assert not is_measured(threads)
    with pytest.raises(Unknown):
        part(threads)


# --- which pop takes what -------------------------------------------------------------------------


def body_of(text: str) -> tuple[Stmt, ...]:
    fn: Function = parse(f"fn f(%n: int, %x: f64, %c: bool) -> none {{\n{text}\nreturn\n}}")
    return fn.body


def meetings(text: str) -> list[tuple[TapeEntry, TapeEntry]]:
    found: list[tuple[TapeEntry, TapeEntry]] = []
    matched(body_of(text), lambda pushed, popped: found.append((pushed, popped)))
    return found


LEAVES = "for L %i in 0 to %n {\n  %y = sin %x\n  push %y\n  push %i %x\n}\n"
TAKES = "for L.rev %j {} %n {{\n  %k: int, %x.r: f64 = pop\n  %y.r: f64 = pop\n}}\n"


def test_loops_that_mirror_each_other() -> None:
    ((pushed, popped),) = meetings(LEAVES + TAKES.format("down from"))
    assert is_mirror(pushed, popped)
    assert [len(list(item.frames())) for item in (pushed, popped)] == [2, 2]
    paired = {a.name: str(b) for a, b in frames(pushed, popped).items()}
    assert paired == {"k": "%i", "x.r": "%x", "y.r": "%y"}


@pytest.mark.parametrize(
    "other",
    [
        TAKES.format("in 0 to"),  # in the same direction
        "for L.rev %j down from %n {\n  %k: int, %x.r: f64 = pop\n}\n",
        "for L.rev %j down from %n {\n  %y.r: f64 = pop\n  %k: int, %x.r: f64 = pop\n}\n",
        "if %c {\n  %k: int, %x.r: f64 = pop\n}\n",
    ],
)
def test_loops_that_do_not(other: str) -> None:
    ((pushed, popped),) = meetings(LEAVES + other)
    assert not is_mirror(pushed, popped)
    assert frames(pushed, popped) == {}


def test_the_last_one_is_taken_first() -> None:
    text = "push %x\npush %n\nif %c {\n  push %x %x\n}\nif %c {\n  %a: f64, %b: f64 = pop\n}\n"
    found = meetings(text + "%m: int = pop\n%y: f64 = pop\n")
    kinds = [(type(a.stmt), type(b.stmt)) for a, b in found]
    assert kinds == [(If, If), (Push, Pop), (Push, Pop)]
    assert [len(a.stmt.values) for a, _ in found[1:] if isinstance(a.stmt, Push)] == [1, 1]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("push %x\n%y: f64 = pop\n", (False, False)),
        ("push %x\n", (False, True)),
        ("%y: f64 = pop\n", (True, False)),
        ("%y: f64 = pop\npush %y\n", (True, True)),
        ("for L %i in 0 to %n {\n  push %x\n  %y: f64 = pop\n}\n", (False, False)),
        (LEAVES + TAKES.format("down from"), (False, False)),
    ],
)
def test_uses(text: str, want: tuple[bool, bool]) -> None:
    assert uses(body_of(text)) == want
