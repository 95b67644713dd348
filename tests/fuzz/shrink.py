"""Makes a program that shows a difference small: fewer statements first, then simpler ones, then simpler arguments.

`fails(program)` tells whether a candidate still shows it. Candidates are copies; the original is never changed.
"""
import copy
import time

from fuzz import program as language


def shrink(program, fails, seconds=60.0):
    """The smallest program found in the time given for which `fails` holds; the program itself if there is none."""
    end = time.monotonic() + seconds

    def holds(candidate):
        return time.monotonic() < end and fails(candidate)

    before = None
    while before != language.dumps(program) and time.monotonic() < end:
        before = language.dumps(program)
        program = without_statements(program, holds)
        program = unwrapped(program, holds)
        program = with_simpler_arguments(program, holds)
    return program


def lists_of(program):
    """All lists of statements, from outside in."""
    inner = [body for one in language.walk(program["statements"]) for body in language.bodies(one)]
    return [program["statements"], *inner]


def without_statements(program, holds):
    """Delta debugging on every list of statements: ever smaller pieces are left out."""
    number = 0
    while number < len(lists_of(program)):
        size = len(lists_of(program)[number])
        while size:
            program = without_pieces(program, number, size, holds)
            size //= 2
        number += 1
    return program


def without_pieces(program, number, size, holds):
    start = 0
    while start < len(lists_of(program)[number]):
        candidate = copy.deepcopy(program)
        del lists_of(candidate)[number][start:start + size]
        if holds(candidate):
            program = candidate
        else:
            start += size
    return program


def unwrapped(program, holds):
    """Puts the bodies of compound statements in their place, and makes loops shorter."""
    for number in range(len(lists_of(program))):
        position = 0
        while number < len(lists_of(program)) and position < len(lists_of(program)[number]):
            for candidate in flatter(program, number, position):
                if holds(candidate):
                    program = candidate
                    break
            position += 1
    return program


def flatter(program, number, position):
    statement = lists_of(program)[number][position]
    inner = language.bodies(statement)
    if inner and statement["do"] != "deferred":
        candidate = copy.deepcopy(program)
        lists_of(candidate)[number][position:position + 1] = copy.deepcopy([one for body in inner for one in body])
        yield candidate
    for times in range(1, statement.get("times", 1)):
        candidate = copy.deepcopy(program)
        lists_of(candidate)[number][position]["times"] = times
        yield candidate


SIMPLE = (0, 1, 2, 0.5)


def with_simpler_arguments(program, holds):
    """Leaves out keywords, waits and results, and tries plain values in the place of others."""
    calls = [one for one in language.walk(program["statements"]) if one["do"] == "call"]
    for number in range(len(calls)):
        tried = 0
        while True:
            candidate = copy.deepcopy(program)
            call = [one for one in language.walk(candidate["statements"]) if one["do"] == "call"][number]
            edits = list(simplifications(call))
            if tried >= len(edits):
                break
            edits[tried]()
            if holds(candidate):
                program, tried = candidate, 0
            else:
                tried += 1
    return program


def simplifications(call):
    """Edits of one call, each of them smaller than what it replaces."""
    if call.get("sync"):
        yield lambda: call.pop("sync")
    for name in list(call.get("kw", {})):
        yield lambda name=name: call["kw"].pop(name)
    for position, value in enumerate(call.get("args", [])):
        if isinstance(value, (int, float)) and value not in SIMPLE:
            for simple in SIMPLE:
                yield lambda position=position, simple=simple: call["args"].__setitem__(position, simple)
        if isinstance(value, dict) and "t" in value:
            for inner in range(len(value["t"])):
                yield lambda value=value, inner=inner: value["t"].pop(inner)
        if isinstance(value, dict) and value.get("py", "").startswith("make("):
            for old, new in (("'turned'", "'dense'"), ("'strided'", "'dense'"), ("'edge'", "'normal'")):
                if old in value["py"]:
                    yield lambda value=value, old=old, new=new: value.__setitem__("py", value["py"].replace(old, new))
