"""Writes programs: picks statements from the families of the `ops_*` modules and runs each on the CPU while it writes.

So it knows what every variable is, and most statements are valid; some are wrong on purpose.
"""
import contextlib
import random
import types
import warnings

import torch

from fuzz import concurrency, known, runtime
from fuzz import program as language

FLOATS = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
INTEGERS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]
COMPLEX = [torch.complex64, torch.complex128]
DTYPES = [torch.float32] * 8 + FLOATS + INTEGERS + [torch.int64] * 2 + [torch.bool] * 2 + COMPLEX


def py(value):
    """An argument that is written as an expression."""
    return {"py": str(value)}


def var(name):
    return {"v": name}


def tup(*values):
    return {"t": list(values)}


def storage(tensor):
    return tensor.untyped_storage()._cdata


class Writer:
    """A program being written, and its state on the CPU."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names, self.v, self.log = 0, types.SimpleNamespace(), runtime.Log("cpu")
        self.statements = self.body = []
        self.frozen = None  # within threads that run at once: storages that belong to others
        self.alone = True  # false within threads: no global switches there
        self.in_threads = False
        self.space = {**vars(runtime), **vars(concurrency), "v": self.v, "device": "cpu", "log": self.log}

    # ---- choices ----

    def chance(self, probability):
        return self.random.random() < probability

    def choice(self, values):
        return self.random.choice(list(values))

    def size(self, rank=None):
        rank = self.random.choice([0, 1, 1, 2, 2, 2, 3, 3, 4]) if rank is None else rank
        if self.chance(0.02):
            return [40000] if rank == 1 else [3, 1, 20000][:max(rank, 1)]
        odd, usual = [0, 1, 1, 2, 3, 3, 4, 5, 17], [2, 3, 4]
        return [self.random.choice(odd if self.chance(0.3) else usual) for _ in range(rank)]

    def scalar(self):
        """A number: plain, or at an edge."""
        plain = [0, 1, 2, -1, 3, 0.5, 2.0, -1.5, 0.1, True]
        edges = [py("float('nan')"), py("float('inf')"), py("-float('inf')"), -0.0, 1e-40, 1e39, 255, 256, -129, 2**31,
                 2**63 - 1, py("1j"), py("(2+0j)"), 1e-310, 65520.0]
        return self.choice(edges if self.chance(0.2) else plain)

    def integer(self):
        return self.random.randint(-3, 5)

    def dim(self, tensor):
        return self.random.randint(-max(tensor.dim(), 1), max(tensor.dim(), 1) - 1)

    # ---- variables ----

    def tensor(self, name):
        return getattr(self.v, name)

    def pick(self, accept=lambda tensor: True, host=False, writable=False):
        """The name of a variable, newer ones more often, or None."""
        names = [name for name, value in vars(self.v).items()
                 if isinstance(value, torch.Tensor) and name.startswith("h") == host and self.may_use(name, writable)]
        names = [name for name in names if self.accepts(accept, self.tensor(name))]
        if not names:
            return None
        return names[max(self.random.randrange(len(names)), self.random.randrange(len(names)))]

    @staticmethod
    def accepts(accept, tensor):
        with contextlib.suppress(RuntimeError):  # a view whose base was written in place refuses some questions
            return accept(tensor)
        return False

    def may_use(self, name, writable):
        if self.frozen is None:
            return True
        kind = self.frozen.get(storage(self.tensor(name)), "own")
        return kind == "own" or name in self.frozen["mine"] or (kind == "read" and not writable)

    def pick_float(self, **how):
        return self.pick(lambda tensor: tensor.is_floating_point(), **how)

    def pick_like(self, name):
        """A variable that likely goes with another one: it broadcasts with it."""
        size = self.tensor(name).shape

        def fits(tensor):
            with contextlib.suppress(RuntimeError):
                return bool(torch.broadcast_shapes(size, tensor.shape)) or True
            return False
        return self.pick(fits) if self.chance(0.93) else self.pick()

    def pick_source(self, name):
        """What may be copied into a variable. Without elements it has the same size: the device does not look yet."""
        other, target = self.pick_like(name), self.tensor(name)
        return name if target.numel() == 0 and target.shape != self.tensor(other).shape else other

    # ---- statements ----

    def call(self, fn, *args, to="a", sync=False, place=None, **kw):
        """Writes a call and runs it. `to` is the first letter of the result's name; empty: no result is kept."""
        statement = {"do": "call", "fn": "torch.add" if known.avoided(fn) else fn, "args": list(args)}
        if kw:
            statement["kw"] = kw
        if to:
            statement["to"] = place or self.name(to)
        if sync:
            statement["sync"] = True
        self.log.entries.clear()
        self.execute(statement)
        self.body.append(statement)
        return statement.get("to")

    def name(self, letter):
        self.names += 1
        return f"{letter}{self.names}"

    def execute(self, statement):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec("\n".join(language.render([statement])), self.space)

    def failed(self):
        """The text of the last call's error, if it had one."""
        errors = [value for _, kind, value in self.log.entries if kind == "error"]
        return errors[0][1] if errors else None

    def take_back(self):
        self.body.pop()

    @contextlib.contextmanager
    def block(self, statement, body=None, enter=False):
        """What is called inside goes into a compound statement."""
        outer, self.body = self.body, statement["body"] if body is None else body
        try:
            with eval(statement["what"], self.space) if enter else contextlib.nullcontext():
                yield
        finally:
            self.body = outer
        if body is None and statement["body"]:
            self.body.append(statement)


def generate(seed):
    """A program from a seed: the same one each time."""
    from fuzz import blocks  # the blocks use the writer

    torch.manual_seed(seed)
    writer = Writer(seed)
    wanted = writer.random.choice([6, 12, 20, 30, 45])
    blocks.start(writer)
    for _ in range(10 * wanted):
        if sum(1 for one in language.walk(writer.statements) if one["do"] == "call") >= wanted:
            break
        blocks.something(writer)
    if seed % 4 == 0:
        blocks.concurrent(writer)
    statements = writer.statements
    if writer.chance(0.5):
        statements = [{"do": "loop", "times": writer.choice([2, 3, 5, 12]), "body": statements}]
    return {"seed": seed, "statements": statements}
