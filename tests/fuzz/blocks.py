"""What a program is made of: the families by weight, and the compound statements."""
import torch

from fuzz import ops_compute as compute
from fuzz import ops_index as indexed
from fuzz import ops_make as make
from fuzz import ops_nn as nn
from fuzz import ops_view as view
from fuzz import ops_wild as wild
from fuzz.generate import py, storage, var

FAMILIES = (
    (8, make.made), (3, make.factory), (2, make.like), (3, make.drawn), (5, make.copied), (3, make.looked),
    (14, view.viewed), (8, compute.unary), (12, compute.binary), (5, compute.ternary), (2, compute.activation),
    (7, compute.reduction), (5, compute.product), (4, compute.joined), (7, indexed.read), (10, indexed.write_at),
    (3, indexed.overlapping), (3, indexed.replaced), (3, nn.layer), (2, nn.loss), (3, nn.leaf), (5, nn.grow),
    (5, nn.grad), (2, nn.trained), (1, nn.transformed), (6, wild.wild),
)
# Not in threads that run at once: the generator, and switches of the whole process.
ALONE = {make.drawn}
SWITCHES = ["default_dtype(torch.float64)", "default_dtype(torch.float16)", "deterministic()", "flush_denormal()"]
MODES = ["torch.no_grad()", "torch.enable_grad()", "torch.inference_mode()", "adaptive(device, True)",
         "adaptive(device, False)", "torch.autocast(device, dtype=torch.bfloat16)", "torch.device(device)"]


def start(w):
    for _ in range(w.random.randint(2, 4)):
        make.made(w)


def leaf_statement(w):
    weights = [weight for weight, _ in FAMILIES]
    family = w.random.choices([family for _, family in FAMILIES], weights)[0]
    if (family in ALONE and w.frozen is not None) or w.pick() is None:
        family = make.made
    family(w)


def some(w, most):
    for _ in range(w.random.randint(1, most)):
        leaf_statement(w)


def something(w):
    kind = w.random.random()
    if kind < 0.85:
        return leaf_statement(w)
    if kind < 0.88:
        with w.block({"do": "loop", "times": w.choice([2, 4, 8]), "body": []}):
            return some(w, 6)
    if kind < 0.94:
        return switched(w)
    if kind < 0.97:
        return deferred(w)
    return streams(w)


def switched(w):
    what, before = w.choice(SWITCHES + MODES), set(vars(w.v))
    with w.block({"do": "with", "what": what, "body": []}, enter=True):
        some(w, 5)
    if "inference" in what:  # results of such tensors have other version counters than on the CPU
        for name in sorted(set(vars(w.v)) - before):
            w.call("del", var(name), to="")


def streams(w):
    order = w.choice(["event", "stream"])
    with w.block({"do": "stream", "index": w.choice([0, 1]), "order": order, "body": []}):
        some(w, 6)


def deferred(w):
    """Reads that fail by their values, and what depends on them."""
    x = w.pick_float()
    if x is None:
        return
    statement = {"do": "deferred", "body": []}
    names = [var(x)]
    for _ in range(w.random.randint(2, 7)):
        index = py(f"torch.tensor({w.choice(['[0, 0]', '[0, 9]', '[1, 0]'])}, device=device)")
        # Flat operands: a shape that only the device has got as far as to see must not raise another error.
        source = w.choice(names)
        flat, other = py(f"v.{source['v']}.flatten()"), py(f"v.{w.choice(names)['v']}.flatten()")
        fn, args = w.choice([
            ("torch.gather", [flat, 0, index]), ("torch.index_select", [flat, 0, index]), ("[]", [flat, index]),
            ("torch.floor_divide", [index, index]), ("torch.add", [source, 1]), ("torch.cat", [[flat, other]]),
            ("torch.mul", [source, py(f"{other['py']}.sum()")]), (".sum", [source]), (".exp", [source]),
        ])
        name = w.name("d")
        statement["body"].append({"do": "call", "fn": fn, "args": args, "to": name})
        names.append(var(name))
    w.execute(statement)
    w.body.append(statement)


def concurrent(w):
    """Threads or streams on shared buffers, in a well-defined order."""
    for one in range(3):
        make.made(w, kind="normal")
    kind = w.choice(["turns", "turns", "at once", "at once", "streams"])
    if kind == "streams":
        for _ in range(w.random.randint(2, 4)):
            streams(w)
            some(w, 3)
    elif kind == "turns":
        in_turns(w)
    else:
        at_once(w)
    some(w, 3)


def in_turns(w):
    """Any statements; the order is that of the turns, which is also the order in which they are written."""
    count, rounds = w.choice([2, 2, 3]), w.random.randint(2, 8)
    statement = {"do": "threads", "turns": True, "streams": w.chance(0.5), "bodies": [[] for _ in range(count)]}
    w.in_threads = True
    for _ in range(rounds):
        for body in statement["bodies"]:
            with w.block(statement, body):
                length = len(body)
                while len(body) == length:
                    leaf_statement(w)
                del body[length + 1:]
    for body in statement["bodies"]:
        repeat(w, body)
    w.in_threads = False
    w.body.append(statement)


def repeat(w, body):
    """What repeats is recognised, and gives other threads the time to come between."""
    if w.chance(0.6):
        body[:] = [{"do": "loop", "times": w.choice([2, 5, 15]), "body": list(body)}]


def at_once(w):
    """Threads that read what is shared and write what is their own, halves of one buffer included."""
    count = w.choice([2, 3])
    statement = {"do": "threads", "turns": False, "streams": w.chance(0.5), "bodies": [[] for _ in range(count)]}
    whole = make.made(w, [count, 4, 3], kind="normal", form="dense")
    halves = [w.call("[]", var(whole), number) for number in range(count)]
    shared = {one: "read" for one in storages(w, vars(w.v))}
    shared[storage(w.tensor(whole))] = "hidden"
    before = set(vars(w.v))
    w.in_threads = True
    for body, half in zip(statement["bodies"], halves):
        w.frozen = {**shared, "mine": {half}}
        with w.block(statement, body):
            some(w, 12)
            if w.chance(0.2):
                streams(w)
        repeat(w, body)
        shared.update({one: "hidden" for one in storages(w, set(vars(w.v)) - before)})  # of another thread
    w.frozen, w.in_threads = None, False
    w.body.append(statement)


def storages(w, names):
    return {storage(w.tensor(name)) for name in names if isinstance(w.tensor(name), torch.Tensor)}
