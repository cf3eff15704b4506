"""What random programs of pools are made of: text, with letters for expressions of a kind.

``{f}`` is a float, ``{i}`` an integer, ``{c}`` a condition, ``{a}`` an array of two elements,
``{k}`` a constant. ``{N}`` is an object of `Node`, ``{P}`` a list of them, ``{A}`` and ``{B}`` are
those with arrays, ``{G}`` and ``{H}`` groups of nodes, ``{D}`` and ``{E}`` dicts, ``{L}`` and
``{R}`` lists of floats and lists of these, ``{T}`` and ``{U}`` lists of an integer and two floats
and lists of these, ``{M}`` is a dict of lists.
"""

from __future__ import annotations

from dataclasses import dataclass, field

HEADS = {
    "": '''import copy
from collections import defaultdict

import numpy as np
''',
    "node": '''

class Node:
    def __init__(self, x, k=1):
        self.x = x
        self.k = k
        self.on = x > 0.2
        self.link = None
        self.kept = []

    def bump(self, d):
        self.x = self.x * 0.9 + d
        self.k += 1
        return self

    def value(self):
        return self.x * self.k

    def total(self):
        return self.x + sum(self.kept)

    def keep(self, d):
        self.kept.append(d)

    def take(self, other):
        self.x, other.x = other.x * 0.5, self.x
        if other.on:
            self.on = not self.on

    def follow(self, steps):
        found = self
        for _ in range(steps):
            if found.link is None:
                break
            found = found.link
        return found


def first_above(nodes, bound):
    for node in nodes:
        if node.x > bound:
            return node
    return nodes[-1]


def made(x, k):
    node = Node(x, k)
    if k > 1:
        node.keep(0.5 * x)
    return node


def moved(nodes, d):
    for node in nodes:
        node.x += d
    return len(nodes)
''',
    "leaf": '''

class Leaf(Node):
    def __init__(self, x, k=2):
        super().__init__(0.5 * x, k)
        self.extra = x

    def value(self):
        return self.x * self.extra + 0.1
''',
    "body": '''

class Body:
    def __init__(self, p, m):
        self.p = p
        self.v = np.zeros(2)
        self.m = m

    def move(self, dt):
        self.p = self.p + dt * self.v

    def push(self, force):
        self.v += force * self.m

    def energy(self):
        return self.p @ self.p + self.m * self.v[0]
''',
    "group": '''

class Group:
    def __init__(self, members, w):
        self.members = members
        self.w = w
        self.leader = members[0]

    def add(self, node):
        self.members.append(node)

    def total(self):
        return self.w * sum(node.x for node in self.members) + self.leader.x

    def scale(self, d):
        for node in self.members:
            node.x *= d
''',
    "row": '''

def mean(row):
    if not row:
        return 0.1
    return sum(row) / len(row)


def extended(row, d):
    row.append(d)
    return row
''',
}  # fmt: skip

# By what a program has: how it starts, the names of values by kind, and its share of the result.
DATA: dict[str, tuple[list[str], dict[str, list[str]], str]] = {
    "node": (
        [
            "ps = [Node(v) for v in x]\ncur = ps[0]\nqs = [cur]",
            "ps = []\nfor v in x:\n    ps.append(Node(v))\ncur = ps[-1]\nqs = ps",
            "ps = [made(v, k) for k, v in enumerate(x)]\ncur = Node({f})\nqs = ps[1:]",
            "ps = [Node(v, k) for k, v in enumerate(x) if v > -2.0]\ncur = ps[0]\nqs = list(ps)",
            "ps = []\ncur = None\nfor v in x:\n    node = Node(v)\n    node.link = cur\n"
            "    cur = node\n    ps.append(node)\nqs = [ps[0], ps[0]]",
        ],
        {"N": ["cur"], "P": ["ps", "qs"]},
        "sum(p.x * (p.k + 1) for p in ps) + cur.total() + sum(len(q.kept) + q.value() for q in qs)",
    ),
    "leaf": (
        [
            "ps.append(Leaf({f}))",
            "for v in x:\n    ps.append(Leaf(v))",
            "ps = [Leaf(v) if v > 0.3 else Node(v) for v in x]",
        ],
        {},
        "ps[0].value()",
    ),
    "body": (
        [
            "bs = [Body(np.array([v, 1.0]), 0.5) for v in x]\nbody = bs[0]",
            "bs = []\nfor v in x:\n    bs.append(Body(np.array([v, v * v]), v))\nbody = bs[1]",
            "bs = [Body(x[:2] * v, 1.0) for v in x]\nbody = bs[-1]",
            "bs = [Body(x[:2].copy(), 1.0) for v in x]\nbody = bs[-1]",
        ],
        {"A": ["body"], "B": ["bs"]},
        "sum(b.energy() for b in bs) + body.p[1]",
    ),
    "group": (
        [
            "gs = [Group([p], 0.5) for p in ps]\ngroup = gs[0]",
            "gs = []\nfor k in range(2, len(ps)):\n    gs.append(Group(ps[:k], {f}))\n"
            "group = gs[-1]",
            "gs = [Group([Node(v), Node(0.5)], v) for v in x]\ngroup = gs[1]",
        ],
        {"G": ["group"], "H": ["gs"]},
        "sum(g.total() for g in gs) + len(group.members)",
    ),
    "dict": (
        [
            'ds = [{"w": v, "n": 1, "row": [v]} for v in x]\nd = ds[0]',
            'ds = []\nfor k, v in enumerate(x):\n    ds.append({"w": v, "n": k, "row": []})\n'
            "d = ds[-1]",
            'ds = [dict(w=v, n=2, row=[v, 1.0]) for v in x]\nd = {"w": 0.5, "n": 3, "row": [0.1]}',
        ],
        {"D": ["d"], "E": ["ds"]},
        'sum(e["w"] * (e["n"] + 1) + sum(e["row"]) for e in ds) + d["w"]',
    ),
    "row": (
        [
            "ls = [[v] for v in x]\nrow = ls[0]",
            "ls = [[] for _ in range(n)]\nrow = ls[1]",
            "ls = []\nfor v in x:\n    ls.append([v, 1.0])\nrow = ls[-1]",
            "ls = [[v * j for j in range(3)] for v in x]\nrow = [{f}]",
            "ls = []\nrow = []\nfor v in x:\n    row.append(v)\n    if len(row) == 2:\n"
            "        ls.append(row)\n        row = []\nls.append(row)",
        ],
        {"L": ["row"], "R": ["ls"]},
        "sum(sum(r) * (k + 1) for k, r in enumerate(ls)) + sum(row) + len(ls)",
    ),
    "entry": (
        [
            "es = [[k, v, 1.0] for k, v in enumerate(x)]\nentry = es[0]",
            "es = []\nfor k, v in enumerate(x):\n    es.append([k, v, v * v])\nentry = es[-1]",
            "es = [[0, x[0], x[1]]]\nfor k in range(n):\n    for j in range(k):\n"
            "        if x[k] > x[j]:\n            es.append([j, x[k], x[j]])\n"
            "entry = [1, {f}, 0.5]",
        ],
        {"T": ["entry"], "U": ["es"]},
        "sum(a * (k + 1) + b for k, a, b in es) + entry[1] * entry[0]",
    ),
    "map": (
        [
            "m = defaultdict(list)\nfor k, v in enumerate(x):\n    m[k % 3].append(v)",
            "m = {}\nfor k, v in enumerate(x):\n    if k % 3 not in m:\n        m[k % 3] = []\n"
            "    m[k % 3].append(v)",
            "m = {k: [v] for k, v in enumerate(x)}",
        ],
        {"M": ["m"]},
        "sum(k * sum(r) + len(r) for k, r in m.items())",
    ),
}

# By kind: expressions without others, and those made of others.
EXPRESSIONS: dict[str, tuple[list[str], list[str]]] = {
    "f": (
        ["x[0]", "x[1]", "{k}", "x[i % n]", "0.1 * s", "float(i)"],
        [
            "{N}.x", "{N}.value()", "{N}.total()", "sum({L})", "0.5 * {f} + {f}", "{A}.m",
            "{a}[0]", "{a} @ {a}", "{A}.energy()", "{D}['w']", "sum({D}['row'])", "mean({L})",
            "{G}.total()", "np.sin({f})", "({f} if {c} else {f})", "len({L}) * {f}", "{G}.w",
            "max({N}.x, {f})", "sum(e.x for e in {P})", "sum(e.x for e in {P} if e.k > 1)",
            "max(e.x for e in {P})", "{f} * {i}", "sum(sum(r) for r in {R})",
            "sum(len(r) for r in {R})", "np.tanh({f})", "({L}[-1] if {L} else {f})",
            "({N}.link.x if {N}.link is not None else {f})", "{N}.follow({i}).x",
            "sum(e['w'] for e in {E} if e['n'] > 1)", "first_above({P}, {f}).x",
            "sum(a.x * b.x for a, b in zip({P}, {P}))", "sum(b.p[0] for b in {B})",
            "sum(m.get(i % 4, [0.5]))", "{T}[1]", "{T}[-1]", "sum(e[2] for e in {U})",
            "max(e[1] for e in {U})",
        ],
    ),
    "i": (["i", "1", "2", "n", "i + 1"], [
        "{N}.k", "len({P})", "len({L})", "{D}['n']", "len({R})", "len({N}.kept)", "len(m)",
        "{P}.index({P}[0])", "len({G}.members)", "sum(1 for e in {P} if e.on)",
        "len(set(e.k for e in {P}))", "{T}[0]", "len({U})",
    ]),
    "c": (["s > 0.5", "i % 2 == 0", "x[0] > {k}"], [
        "{f} > {f}", "{N}.on", "{N} is {N}", "{N}.link is None", "{L} is {L}", "not {L}",
        "len({L}) > 1", "{N} in {P}", "{D} is {D}", "{i} > 2", "{c} and {c}", "not {c}",
        "{A} is {A}", "{G}.leader is {N}", "{L} == {L}", "{N} == {N}", "any(e.on for e in {P})",
        "all(e.x > {k} for e in {P})", "{N}.link == {N}", "i % 3 in m", "{N}.k == {N}.k",
        "{N}.link", "{T} is {T}", "{T} == {T}", "{T}[1] > {f}",
    ]),
    "a": (["x[:2]", "np.array([{f}, 1.0])"], [
        "{A}.p", "{A}.v", "({A}.p + {A}.v)", "{f} * {A}.p", "{A}.p[::-1]", "np.sin({A}.p)",
        "{A}.p.copy()", "sum(b.v for b in {B})",
    ]),
    "N": ([], [
        "{P}[{i} % len({P})]", "{P}[0]", "{P}[-1]", "({N}.link or {N})", "first_above({P}, {f})",
        "max({P}, key=lambda e: e.x)", "min({P}, key=lambda e: e.x)", "{N}.follow(2)",
        "{N}.bump({f})", "({N} if {c} else {N})", "{G}.leader", "{G}.members[0]",
        "{N}", "{N}", "next(e for e in {P} if e.x <= max(z.x for z in {P}))",
    ]),
    "P": ([], ["{G}.members", "{P}[:2]", "sorted({P}, key=lambda e: e.x)", "{P}[::-1]", "{P}"]),
    "A": ([], ["{B}[{i} % len({B})]", "{B}[0]", "({A} if {c} else {A})"]),
    "B": ([], ["{B}"]),
    "G": ([], ["{H}[{i} % len({H})]", "{H}[-1]", "max({H}, key=lambda e: e.w)"]),
    "H": ([], ["{H}"]),
    "D": ([], ["{E}[{i} % len({E})]", "{E}[-1]", "({D} if {c} else {D})"]),
    "E": ([], ["{E}"]),
    "L": ([], [
        "{R}[{i} % len({R})]", "{R}[0]", "{N}.kept", "{D}['row']", "{L}[1:]", "{L}[::-1]",
        "m[sorted(m)[0]]", "max({R}, key=len)", "sorted({L})", "({L} if {c} else {L})",
        "[v * 0.5 for v in {L}]", "({L} + {L}[:2])",
    ]),
    "R": ([], ["{R}[:3]", "([r for r in {R} if r] or {R})"]),
    "T": ([], [
        "{U}[{i} % len({U})]", "{U}[0]", "max({U}, key=lambda e: e[1])", "({T} if {c} else {T})",
    ]),
    "U": ([], ["{U}[:3]", "{U}"]),
    "M": ([], []),
}  # fmt: skip


@dataclass(frozen=True)
class Statement:
    """A statement; a line of ``...`` stands for others.

    Attributes
    ----------
    text : str
    weight : float
    grows : str
        The kinds of lists whose lengths it may change.
    locks : str
        The kinds of lists whose lengths stay while it runs.
    gives : dict
        The names that the statements in it have of more values, by kind.
    loop, exits : bool
        Whether it is a loop, and whether it leaves one.
    """

    text: str
    weight: float = 1.0
    grows: str = ""
    locks: str = ""
    gives: dict[str, str] = field(default_factory=dict)
    loop: bool = False
    exits: bool = False


def _each(*texts: str, grows: str = "", weight: float = 1.0) -> list[Statement]:
    return [Statement(text, weight, grows) for text in texts]


_CHANGES = [
    *_each(
        "s += 0.1 * {f}", "s = 0.5 * s + np.tanh({f})", "s = s + (0.25 if {c} else {f})",
        weight=2.0,
    ),
    *_each(
        "{N}.x = {f}", "{N}.x += {f}", "{N}.bump({f})", "{N}.k += 1", "{N}.k = {i}",
        "{N}.on = {c}", "{N}.link = {N}", "{N}.take({N})", "cur = {N}", "cur = Node({f}, {i})",
        "cur = made({f}, {i})", "qs = {P}", "qs = list({P})", "qs = [e for e in {P} if e.on] or ps",
        "qs = [{N}, {N}]", "{N}.link = None", "s += moved({P}, {f})", "cur = copy.copy({N})",
        "ps[{i} % len(ps)] = {N}", "ps[0], ps[-1] = ps[-1], ps[0]",
        "a, b = {N}, {N}\na.x, b.x = b.x, 0.5 * a.x",
        "{N}.follow(1).x += {k}", "a = {N}\na.x = {f}\ns += a.x",
        "qs = [Node(e.x) for e in {P}]", "qs = {P} + {P}[:1]", "cur = {N}.bump({f}).bump({k})",
        "qs = [made(e.x, e.k) if e.on else e for e in {P}]",
    ),
    *_each(
        "{N}.keep({f})", "{N}.kept = [{f}, {f}]", "{N}.kept = {L}", "{N}.kept.append({f})",
        "{N}.kept += [{f}]", "{N}.kept = {N}.kept[1:]", grows="L",
    ),
    *_each(
        "ps.append(Node({f}, {i}))", "ps.append({N})", "qs.append({N})", "ps = ps[1:] + [{N}]",
        "ps.insert(0, {N})", "ps.extend({P})", "ps.reverse()", "ps.sort(key=lambda e: e.x)",
        "if len(ps) > 3:\n    s += ps.pop().x", "if len(ps) > 3:\n    cur = ps.pop(0)",
        "if len(ps) > 3:\n    del ps[{i} % len(ps)]", "if len(ps) > 3:\n    ps.remove(ps[1])",
        "ps = sorted(ps, key=lambda e: e.x)", "ps = [*ps, {N}]",
        "ps += [{N}]", "ps = [e for e in ps if e.x > {f}] or [Node({f})]", "ps = ps[::-1]",
        "ps = ps * 2 if len(ps) < 9 else ps[:4]", grows="P", weight=0.7,
    ),
    *_each("ps.append(Leaf({f}, {i}))", "cur = Leaf({f})", grows="P", weight=0.4),
    *_each(
        "{A}.move({k})", "{A}.push({a})", "{A}.p = {a} * 0.5", "{A}.v = {a} + 1.0",
        "{A}.p[0] = {f}", "{A}.v *= {k}", "{A}.p += 0.1 * {a}", "{A}.m = {f}", "body = {A}",
        "body = Body({a} * 1.0, {f})", "bs.append(Body({a} + 0.0, {f}))", "bs.append({A})",
        "{A}.v[:] = {f}", "bs[{i} % len(bs)] = {A}", "p = {A}.p\ns += p[0]", "{A}.p[:1] += {f}",
        "{A}.v = np.zeros(2)", "{A}.p, {A}.v = {A}.v * 1.0, {A}.p * 1.0", "bs.reverse()",
        "if len(bs) > 3:\n    bs.pop()", grows="B",
    ),
    *_each("{A}.v = {A}.p", "{A}.p = {a}", "{A}.p = x[1:3]", grows="B", weight=0.1),
    *_each(
        "{G}.w = {f}", "{G}.leader = {N}", "{G}.scale({k})", "group = {G}", "{G}.leader.x = {f}",
        "{G}.members[0].x += {f}", "gs.reverse()", "{G}.w += {G}.w",
    ),
    *_each(
        "{G}.add({N})", "{G}.members.append(Node({f}))", "{G}.members = {P}",
        "{G}.members = [{N}, {N}]", "gs.append(Group([{N}], {f}))", "gs.append({G})",
        "group = Group({P}, {f})", "gs[{i} % len(gs)] = {G}",
        "if len({G}.members) > 2:\n    {G}.leader.k += 1", grows="PH",
    ),
    *_each(
        "{D}['w'] = {f}", "{D}['w'] += {f}", "{D}['n'] += 1", "d = {D}", "ds[0]['w'] *= {k}",
        "ds.append({'w': {f}, 'n': {i}, 'row': [{f}]})", "ds.append({D})", "d = dict({D})",
        "d = {'w': {f}, 'n': {i}, 'row': {L}}", "ds[{i} % len(ds)] = {D}", "ds = ds[::-1]",
        "ds = sorted(ds, key=lambda e: e['w'])", "d = {**{D}, 'w': {f}}", "d.update(w={f})",
        "for key in {D}:\n    s += 0.1", "d = {D}.copy()", "s += sum(e['n'] for e in {E})",
        "d['w'], ds[0]['w'] = ds[0]['w'], d['w']", "s += {D}.get('w', 2.0)",
        "d = {D} | {'n': {i}}", grows="E",
    ),
    *_each("{D}['row'].append({f})", "{D}['row'] = {L}", "{D}['row'] = [{f}] * 2", grows="L"),
    *_each(
        "{L}.append({f})", "{L}.insert(0, {f})", "{L}.extend([{f}, {f}])", "row = {L}",
        "row = [{f}]", "row = extended({L}, {f})", "{L}.reverse()", "{L}.sort()", "row += [{f}]",
        "row = list({L})", "row = {L}.copy()", "{L}[:] = [{f}]", "{L}.clear()",
        "r = {L}\nif len(r) > 1:\n    s += r.pop()", "r = {L}\nif len(r) > 1:\n    r.pop(0)",
        "r = {L}\nif r:\n    r[0] = {f}", "r = {L}\nif r:\n    r[-1] += {f}",
        "r = {L}\nif len(r) > 2:\n    del r[1]",
        "r = {L}\nfor j in range(len(r)):\n    r[j] *= {k}",
        "r = {L}\nif len(r) > 1:\n    r[0], r[-1] = r[-1], r[0]", "{L}.extend({L}[:2])",
        "r = {L}\ns += np.sum(np.array(r))", "row = []",
        "r = {L}\nif len(r) == 2:\n    a, b = r\n    s += a * b", grows="L",
    ),
    *_each(
        "ls.append({L})", "ls[{i} % len(ls)] = {L}", "ls.append([{f}] * 3)", "ls = ls[::-1]",
        "ls.append(list({L}))", "ls = [r[:2] for r in ls]", "ls = [list(r) for r in {R}]",
        "ls = ls[1:] + [{L}]", "ls.sort(key=len)", "if len(ls) > 3:\n    ls.pop()",
        "ls.insert(0, {L})", "ls[0], ls[-1] = ls[-1], ls[0]", "ls = copy.deepcopy(ls)",
        "ls = sorted(ls, key=sum)", "ls += [{L}]", "ls = [r for r in ls if len(r) < 4] or [[{f}]]",
        "ls.reverse()", grows="LR", weight=0.7,
    ),
    *_each(
        "{T}[1] = {f}", "{T}[2] += {f}", "{T}[0] += 1", "entry = {T}", "es[{i} % len(es)] = {T}",
        "a, b, c = {T}\ns += 0.1 * a * b - c", "r = {T}\nr[1], r[2] = r[2], r[1]",
        "entry = [{i}, {f}, {f}]", "es = sorted(es, key=lambda e: e[1])", "entry = list({T})",
        "es = [e[:] for e in es]", "ks, us, vs = zip(*{U})\ns += us[0] * ks[-1]",
        "s += np.array({U})[0, 1]", "es.reverse()", "s += {T}[{i} % 3]",
    ),
    *_each(
        "es.append([{i}, {f}, {f}])", "es.append({T})", "es = es[1:] + [{T}]",
        "if len(es) > 3:\n    entry = es.pop()", "es += [[1, e[2], e[1]] for e in {U}[:2]]",
        grows="U",
    ),
    *_each(
        "m[i % 3] = {L}", "m[{i} % 3] = [{f}]", "m[sorted(m)[0]].append({f})",
        "if {i} % 4 in m:\n    m[{i} % 3] = [{f}]", "m.setdefault({i} % 4, []).append({f})",
        "s += sum(m.get({i} % 5, [0.5]))", "if len(m) > 2:\n    m.pop(sorted(m)[-1])", grows="LM",
    ),
]  # fmt: skip
_NESTS = [
    Statement("if {c}:\n    ...", 4.0),
    Statement("if {c}:\n    ...\nelse:\n    ...", 3.0),
    Statement("if {c}:\n    ...\nelif {c}:\n    ...", 1.0),
    Statement("for p in {P}:\n    ...", 2.0, locks="P", gives={"N": "p"}, loop=True),
    Statement("for p in list({P}):\n    ...", 1.0, gives={"N": "p"}, loop=True),
    Statement("for j, p in enumerate({P}):\n    p.k += j\n    ...", 1.0, locks="P",
              gives={"N": "p"}, loop=True),
    Statement("for p, q in zip({P}, {P}[1:]):\n    q.x += 0.1 * p.x\n    ...", 1.0, locks="P",
              gives={"N": "q"}, loop=True),
    Statement("for p in reversed({P}):\n    ...", 1.0, locks="P", gives={"N": "p"}, loop=True),
    Statement("for p in sorted({P}, key=lambda e: e.x):\n    ...", 1.0, gives={"N": "p"},
              loop=True),
    Statement("for p in {P}:\n    if p.x > {k}:\n        break\nelse:\n    ...", 1.0, locks="P"),
    Statement("for p in {P}:\n    for q in {P}:\n        if p is not q:\n"
              "            p.x += 0.1 * q.x", 1.0, locks="P", loop=True),
    Statement("t = 0\nwhile t < 2:\n    t += 1\n    ...", 1.0, loop=True),
    Statement("for j in range({i} % 3):\n    ...", 1.0, gives={"i": "j"}, loop=True),
    Statement("for b in {B}:\n    ...", 2.0, locks="B", gives={"A": "b"}, loop=True),
    Statement("for e in {E}:\n    ...", 2.0, locks="E", gives={"D": "e"}, loop=True),
    Statement("for g in {H}:\n    ...", 2.0, locks="H", gives={"G": "g"}, loop=True),
    Statement("for r in {R}:\n    ...", 2.0, locks="R", gives={"L": "r"}, loop=True),
    Statement("for e in {U}:\n    ...", 2.0, locks="U", gives={"T": "e"}, loop=True),
    Statement("for a, b, c in {U}:\n    s += 0.1 * a * b - c\n    ...", 1.0, locks="U",
              loop=True),
    Statement("for v in {L}:\n    s += 0.1 * v\n    ...", 1.0, locks="L", loop=True),
    Statement("for key, r in m.items():\n    s += key * len(r)", 1.0, locks="M", loop=True),
    Statement("for r in m.values():\n    r.append({f})", 1.0, "L", locks="M", loop=True),
    Statement("if {c}:\n    break", 0.7, exits=True),
    Statement("if {c}:\n    continue", 0.7, exits=True),
    Statement("if {c}:\n    return s", 0.3),
]  # fmt: skip
STATEMENTS = _CHANGES + _NESTS
