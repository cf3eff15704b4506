"""Writes statements about lists, dicts, named tuples and objects of arrays."""

from __future__ import annotations

from tests.fuzz.writers.expressions import Shape
from tests.fuzz.writers.scalars import MAX_TRIPS, Array, Function
from tests.fuzz.writers.statements import StatementWriter


class ContainerWriter(StatementWriter):
    """Writes statements about containers of arrays."""

    # -- containers --

    def new_list(self) -> None:
        name = self.name("l")
        n = self.rng.randint(1, 4)
        self.emit(f"{name} = [{', '.join(self.number(1) for _ in range(n))}]")
        if self.nesting == 0 and self.chance(0.4):
            self.emit(f"{name}.append({self.number(1)})")
            n += 1
        if self.nesting == 0 and self.chance(0.2):
            self.emit(f"{name}.insert(1, {self.number(0)})")
            n += 1
        if self.chance(0.2):
            self.emit(f"{name}.reverse()")
        if self.chance(0.2):
            other = self.name("l")
            self.emit(f"{other} = {name}")
            self.emit(f"{other}[0] = 0.5 * {name}[-1] + 0.1337")
        v = self.name("v")
        if self.chance(0.5):
            u = self.name("u")
            self.emit(
                self.rng.choice(
                    [
                        f"{v} = 0.2 * sum({name})",
                        f"{v} = 0.2 * sum({u} * {u} for {u} in {name})",
                        f"{v} = max({name})",
                        f"{v} = sum([0.1 * {u} for {u} in {name} if {u} > 0.1337])",
                        f"{v} = {name}[{self.integer()} % {n}]",
                        f"{v} = 0.2 * sum({name}[1:])",
                        f"{v} = 0.1 * len({name}) * {name}[0]",
                        f"{v} = np.array({name}).mean()",
                    ]
                )
            )
            self.scope.floats.append(v)
        self.scope.floats += [f"{name}[{k}]" for k in self.rng.sample(range(n), min(2, n))]

    def grow_list(self) -> None:
        """Write a list whose length is known only at run time."""
        if self.nesting >= 3 or not self.fits((5,), 3):
            return
        name, u = self.name("l"), self.name("u")
        a = self.pick_array("f8", 1)
        if a is None:
            return
        v = self.name("v")
        if self.chance(0.4):
            self.scope.fixed.append(u)
            test = f" if {u} > {self.const(0.1, 0.4)}" if self.chance(0.4) else ""
            text = self.scalar(1)
            self.scope.fixed.remove(u)
            self.emit(f"{name} = [{text} * {u} for {u} in {a.name}{test}]")
        else:
            self.emit(f"{name} = [{self.scalar(0) if self.chance(0.4) else ''}]")
            pinned, a.pinned = a.pinned, True
            with self.block(f"for {u} in {a.name}:", a.shape[0]):
                self.scope.fixed.append(u)
                if self.chance(0.4):
                    with self.block(f"if {self.condition(1)}:"):
                        self.emit(f"{name}.append({self.scalar(1)})")
                else:
                    self.emit(f"{name}.append({self.scalar(1)})")
                if self.chance(0.4):
                    self.body()
                    self.emit(f"{name}.append(0.5 * {u})")
            a.pinned = pinned
        w = self.name("u")
        self.emit(
            self.rng.choice(
                [
                    f"{v} = 0.2 * sum({name})",
                    f"{v} = 0.2 * float(np.sum(np.array({name})))",
                    f"{v} = 0.2 * sum({w} * {w} for {w} in {name})",
                    f"{v} = {name}[-1] if len({name}) > 0 else 0.3",
                    f"{v} = {name}[len({name}) // 2] * 0.5 if {name} else 0.3",
                    f"{v} = 0.1 * len({name}) * {self.leaf()}",
                ]
            )
        )
        self.scope.floats.append(v)
        if self.chance(0.3):
            with self.block(f"for {w} in {name}:", 8):
                self.emit(f"{v} = 0.8 * {v} + 0.1 * math.sin({w})")
        if self.chance(0.3):
            with self.block(f"for {w} in range(len({name})):", 8):
                self.emit(f"{name}[{w}] *= 0.5")
            self.emit(f"{v} += 0.1 * sum({name})")

    def grow_arrays(self) -> None:
        """Write a list of arrays whose length is known only at run time.

        Elements are only read; an array that is changed later comes into it as a copy.
        """
        over, like = self.pick_array("f8", 1), self.pick_array("f8")
        if over is None or like is None or self.nesting >= 3 or not self.fits(like.shape, 15):
            return
        rng, shape = self.rng, like.shape
        name, u, h, v = self.name("l"), self.name("u"), self.name("h"), self.name("v")
        w, r = self.name("w"), self.name("r")
        pairs = self.chance(0.3)

        def kept(text: str) -> str:
            return f"({text}, {self.number(0)})" if pairs else text

        def taken(text: str) -> str:
            return f"{text}[0]" if pairs else text

        first = f"{like.name} + 0.0"
        start = kept(rng.choice([f"{like.name}.copy()", first])) if self.chance(0.5) else ""
        self.emit(f"{h} = {first}")
        if not pairs and not start and self.chance(0.3):
            test = f" if {u} > {self.const(0.1, 0.4)}" if self.chance(0.3) else ""
            self.emit(
                f"{name} = [{u} * np.tanh({self.arr(shape, 1)[0]}) for {u} in {over.name}{test}]"
            )
        else:
            self.emit(f"{name} = [{start}]")
            pinned, over.pinned = over.pinned, True
            with self.block(f"for {u} in {over.name}:", over.shape[0]):
                self.scope.fixed.append(u)
                changed = self.chance(0.3)
                if changed:
                    # The iteration before appended it: that must be a copy.
                    self.emit(f"{h} *= 0.9" if self.chance(0.5) else f"{h}[-1] = 0.3 * {u}")
                self.emit(f"{h} = 0.5 * {h} + 0.3 * np.tanh({self.arr(shape, 1)[0]} * {u})")
                if self.chance(0.3):
                    self.emit(f"{h} += 0.1 * {u}")
                more = [f"{name}.append({kept(h + '.copy()' if changed else h)})"]
                if changed and self.chance(0.5):
                    more.append(f"{h} *= 0.8")
                elif self.chance(0.3):
                    more.append(f"{name}.append({name}[-1])")
                elif self.chance(0.2):
                    more.append(f"{name}[-1] = {kept('0.7 * ' + taken(name + '[0]'))}")
                elif self.chance(0.2):
                    more += [f"{r} = {name}.pop()", f"{name}.append({kept(f'{taken(r)} * 0.9')})"]
                leaves = rng.choice(["", "", "", "continue", "break"])
                if leaves:
                    with self.block(f"if {self.condition(1)}:"):
                        self.emit(leaves)
                if self.chance(0.3):
                    with self.block(f"if {self.condition(1)}:"):
                        for line in more:
                            self.emit(line)
                else:
                    for line in more:
                        self.emit(line)
                if self.chance(0.2):
                    self.body()
            over.pinned = pinned
        self.emit(f"{v} = 0.1 * len({name})")
        self.scope.floats.append(v)
        with self.block(f"if len({name}) > 0:"):
            element = taken(f"{name}[{rng.choice(['-1', '0', f'len({name}) // 2'])}]")
            reads = [
                f"0.2 * np.sum({element})",
                f"sum(0.1 * np.sum({taken(w)}) for {w} in {name})",
                f"0.1 * np.sum(sum({taken(w)} for {w} in {name}[1:] + {name}[:1]))",
            ]
            if not pairs:
                axis = rng.randrange(len(shape))
                reads += [
                    f"0.2 * np.mean(np.stack({name}))",
                    f"0.2 * np.mean(np.concatenate({name}, axis={axis}))",
                    f"0.1 * np.sum(sum({name}))",
                ]
            self.emit(f"{v} += {rng.choice(reads)}")
            if self.chance(0.3):
                self.emit(f"{r} = {name}[0]")
                self.emit(f"{name}[0] = {kept(f'{h} * 0.5')}")
                self.emit(f"{v} += 0.2 * np.sum({taken(r)} * {taken(name + '[0]')})")
        if self.chance(0.4):
            order = rng.choice(["{}", "reversed({})", "{}[::-1]"]).format(name)
            with self.block(f"for {w} in {order}:", 10):
                self.emit(f"{v} = 0.8 * {v} + 0.05 * np.sum({taken(w)})")

    def new_dict(self) -> None:
        name = self.name("p")
        shape = self.rng.choice([(3,), (4,)])
        text, _ = self._arr_new(shape)
        self.emit(
            self.rng.choice(
                [
                    f'{name} = {{"w": {text}, "u": {self.number(1)}}}',
                    f"{name} = dict(w={text}, u={self.number(1)})",
                ]
            )
        )
        if self.nesting == 0 and self.chance(0.4):
            self.emit(f'{name}["b"] = {self.number(1)}')
            self.scope.floats.append(f'{name}["b"]')
        self.scope.floats.append(f'{name}["u"]')
        self.scope.arrays.append(
            Array(f'{name}["w"]', shape, captured=True, thing=next(self.names))
        )
        if self.chance(0.3):
            other = self.name("p")
            self.emit(f"{other} = {name}")
            name = other
        if self.chance(0.3):
            self.emit(f"relax({name}{self.rng.choice(['', ', rate=0.2'])})")
        if self.chance(0.25):
            k, v = self.name("k"), self.name("v")
            self.emit(f"{v} = 0.0")
            head = self.rng.choice(
                [
                    f"for {k} in {name}:",
                    f"for {k} in {name}.keys():",
                    f"for {k}, _ in {name}.items():",
                ]
            )
            with self.block(head, 3):
                self.emit(f"{v} += 0.3 * np.sum({name}[{k}])")
            self.scope.floats.append(v)

    def new_named_tuple(self) -> None:
        name = self.name("s")
        shape = self.rng.choice([(3,), (4,), (2, 3)])
        pos, _ = self._arr_new(shape)
        vel, _ = self._arr_new(shape)
        self.emit(f"{name} = State({pos}, vel={vel})")
        if self.chance(0.6) and self.trips * 6 < MAX_TRIPS:
            with self.block(f"for {self.name('i')} in range({self.rng.randint(1, 3)}):", 3):
                self.emit(f"{name} = advance({name}, {self.const(0.05, 0.2)})")
                if self.chance(0.3):
                    self.leave_loop()
        if self.chance(0.3):
            self.emit(f"{name} = {name}._replace(t={self.number(1)})")
        if self.chance(0.3):
            p, v, t = self.name("t"), self.name("t"), self.name("v")
            self.emit(f"{p}, {v}, {t} = {name}")
            self.scope.fixed.append(t)
        self.scope.fixed.append(f"{name}.t")
        for part in ("pos", "vel"):
            self.scope.arrays.append(
                Array(f"{name}.{part}", shape, pinned=True, captured=True, thing=next(self.names))
            )

    def new_object(self) -> None:
        name = self.name("o")
        shape: Shape = self.rng.choice([(3,), (4,)])
        base = self.pick_array("f8", 1)
        thing = next(self.names)
        if base is not None and self.chance(0.4):
            text, shape, thing = base.name, base.shape, base.thing
        else:
            text = self._arr_new(shape)[0]
        if self.chance(0.5):
            self.emit(f"{name} = Body({self.number(1)}, {text})")
            if self.chance(0.6):
                self.emit(f"{name}.push({self.number(1)}{self.rng.choice(['', ', dt=0.2'])})")
            if self.chance(0.4):
                v = self.name("v")
                self.emit(f"{v} = math.tanh({name}.energy())")
                self.scope.floats.append(v)
            number, array = "mass", "x"
        else:
            self.emit(f"{name} = Counter({self.number(1)}, {text})")
            if self.chance(0.6):
                self.emit(f"{name}.add({self.number(1)})" + ".add(0.3337)" * self.rng.randint(0, 1))
            if self.chance(0.5) and self.nesting < 2 and self.trips * 4 < MAX_TRIPS:
                with self.block(f"for {self.name('i')} in range(3):", 3):
                    self.emit(f"{name}.add({self.number(1)})")
            if self.chance(0.4):
                v = self.name("v")
                self.emit(f"{v} = {name}.value()")
                self.scope.floats.append(v)
            number, array = "total", "table"
        if self.chance(0.3):
            other = self.name("o")
            self.emit(f"{other} = {name}")
            self.scope.floats.append(f"{other}.{number}")
        self.scope.floats.append(f"{name}.{number}")
        self.scope.arrays.append(
            Array(f"{name}.{array}", shape, captured=True, thing=thing, whole=False)
        )

    def new_rate(self) -> None:
        name = self.name("g")
        self.emit(f"{name} = Rate({self.number(1)}{self.rng.choice(['', ', shift=0.1337'])})")
        self.scope.fixed += [f"{name}.k", f"{name}.twice"]
        self.scope.functions.append(
            Function(name, lambda w, depth: f"{name}({w.number(min(depth, 1))})")
        )

    def list_of_arrays(self) -> None:
        pool = [a for a in self.floats() if a.dtype == "f8"]
        if not pool:
            return
        shape = self.rng.choice(pool).shape
        if not self.fits(shape, 3):
            return
        name = self.name("l")
        items: list[str] = []
        made: list[Array] = []
        for k in range(self.rng.randint(2, 3)):
            found = self.window(shape)
            if found is not None and found[1].dtype == "f8" and self.chance(0.5):
                items.append(found[0])
                made.append(
                    Array(f"{name}[{k}]", shape, local=found[1].local, thing=found[1].thing)
                )
            else:
                items.append(self._arr_new(shape)[0])
                made.append(Array(f"{name}[{k}]", shape, thing=next(self.names)))
        self.emit(f"{name} = [{', '.join(items)}]")
        if self.chance(0.4):
            # Elements that are expressions: each is an array of its own from then on.
            k = self.rng.randrange(len(items))
            self.emit(f"{name}[{k}] = {self._arr_new(shape)[0]}")
            made[k].thing, made[k].local = next(self.names), True
        if self.nesting == 0 and self.chance(0.3):
            how = self.rng.choice([f"append({self._arr_new(shape)[0]})",
                                   f"extend([{self._arr_new(shape)[0]}])",
                                   f"insert({len(items)}, {self._arr_new(shape)[0]})"])  # fmt: skip
            self.emit(f"{name}.{how}")
            made.append(Array(f"{name}[{len(items)}]", shape, thing=next(self.names)))
            items.append("")
        for a in made:
            a.whole, a.captured = False, True
        self.scope.arrays += made
        r = self.name("r")
        kind = self.rng.randrange(4)
        if kind == 0:
            with self.block(f"for {r} in {name}:", len(items)):
                self.emit(f"{r} {self.update_array(shape)}")
        elif kind == 1:
            t = self.declare((len(items), *shape))
            self.emit(f"{t.name} = np.stack({name})")
        elif kind == 2:
            t = self.declare(shape)
            self.emit(f"{t.name} = sum({name}) * 0.3 + 0.0")
        elif self.nesting == 0:
            t = self.declare((len(items) * shape[0], *shape[1:]))
            self.emit(f"{t.name} = np.concatenate({name})")

    def draw(self) -> None:
        """Write loops and comprehensions that change the elements that they have yet to draw."""
        if self.nesting >= 2 or not self.fits((5,), 6):
            return
        rng, name, u, w, v = self.rng, *(self.name(letter) for letter in "luwv")
        a = self.pick_array("f8", 1)
        items = ", ".join(self.number(1) for _ in range(3))
        makes = [f"[{items}]", f"np.array([{items}])"]
        if a is not None and a.shape[0] > 2:
            makes.append(f"{a.name}.copy()")
        made = rng.choice(makes)
        self.emit(f"{name} = {made}")
        self.emit(f"{v} = {self.number(0)}")
        change = f"{name}[{rng.choice([-1, 1, 2])}] += {self.const(0.1, 0.4)} * "
        if self.chance(0.6):
            element = f"{u} * {self.const(0.2, 0.9)} + {self.leaf()}"
            test = f" if {u} > {self.const(-0.5, 0.1)}" if self.chance(0.3) else ""
            source = f"({element} for {u} in {name}{test})"
            if self.chance(0.3):
                source = f"map(lambda {u}: {element}, {name})"
            heads = [f"{w} in {source}"]
            if not test:
                heads += [
                    f"_, {w} in enumerate({source})",
                    f"{w}, _ in zip({source}, range(9))",
                ]
            with self.block(f"for {rng.choice(heads)}:", 5):
                self.emit(f"{change}{w}")
                if self.chance(0.3):
                    with self.block(f"if {w} > {self.const(0.5, 1.5)}:"):
                        self.emit(rng.choice(["break", "continue"]))
                self.emit(f"{v} = 0.7 * {v} + 0.2 * {w}")
        else:
            helper = self.name("h")
            with self.block(f"def {helper}({u}):"):
                self.emit(f"{change}{u}")
                self.emit(f"return {u} * {self.const(0.2, 0.9)}")
            uses = [
                f"sum({helper}({w}) for {w} in {name})",
                f"sum([{helper}({w}) * {w} for {w} in {name}])",
                f"max({name}, key={helper})",
                f"next({w} for {w} in {name} if {helper}({w}) > -99.0)",
                f"sorted({name}, key={helper})[1]",
                f"sum(map({helper}, {name}))",
            ]
            if "copy" not in made:  # keys are constants
                uses.append(f"sum({{k: {helper}({w}) for k, {w} in enumerate({name})}}.values())")
            self.emit(f"{v} += 0.2 * {rng.choice(uses)}")
        self.emit(f"{v} += 0.1 * sum({name})")
        self.scope.floats.append(v)

    def container_step(self) -> None:
        floats = [v for v in self.scope.floats if not v.isidentifier()]
        if not floats:
            return self.new_list()
        v = self.rng.choice(floats)
        self.emit(f"{v} {self.update(1)}")

    def star(self) -> None:
        v, rest = self.name("v"), self.name("l")
        items = [self.number(0) for _ in range(self.rng.randint(2, 4))]
        if self.chance(0.5):
            self.emit(f"{v}, *{rest} = [{', '.join(items)}]")
            self.emit(f"{v} = 0.5 * {v} + 0.1 * sum({rest})")
        else:
            self.emit(f"{rest} = ({', '.join(items)})")
            scale = self.rng.choice(["", ", scale=0.2", ", **{'scale': 0.4}"])
            self.emit(f"{v} = unpacked(*{rest}{scale})")
        self.scope.floats.append(v)
