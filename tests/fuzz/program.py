"""A program is data: a list of statements, JSON and nothing else. Its meaning is the Python source printed here.

    {"do": "call", "fn": "torch.add", "args": [...], "kw": {...}, "to": "a3", "sync": true}
    {"do": "loop", "times": 3, "body": [...]}
    {"do": "with", "what": "torch.no_grad()", "body": [...]}
    {"do": "stream", "index": 0, "order": "event", "body": [...]}
    {"do": "threads", "turns": true, "streams": false, "bodies": [[...], [...]]}
    {"do": "deferred", "body": [...]}

Arguments are numbers, strings, None, lists, {"v": "a3"} for a variable, {"py": "torch.int8"} for any other expression,
{"t": [...]} for a tuple. A `fn` that begins with a dot is a method of the first argument; `[]`, `[]=`, `+=` and `del`
are what they look like. With `sync` an error that only the values show is waited for.
"""
import json

INDENT = "    "
OPERATORS = {"+=", "-=", "*=", "/=", "&=", "|="}


def dumps(program):
    return json.dumps(program)


def loads(text):
    return json.loads(text)


def bodies(statement):
    """The lists of statements inside a statement; shrinking and counting go through them."""
    if statement["do"] == "threads":
        return statement["bodies"]
    return [statement["body"]] if "body" in statement else []


def walk(statements):
    for statement in statements:
        yield statement
        for body in bodies(statement):
            yield from walk(body)


def argument(value):
    if isinstance(value, list):
        return f"[{', '.join(map(argument, value))}]"
    if not isinstance(value, dict):
        return repr(value)
    if "v" in value:
        return f"v.{value['v']}"
    if "t" in value:
        inner = [argument(one) for one in value["t"]]
        return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
    return value["py"]


def expression(call):
    fn, args = call["fn"], [argument(one) for one in call.get("args", [])]
    keywords = [f"{name}={argument(value)}" for name, value in call.get("kw", {}).items()]
    if fn == "[]":
        return f"{args[0]}[{args[1]}]"
    if fn.startswith("."):
        return f"{args[0]}{fn}({', '.join(args[1:] + keywords)})"
    return f"{fn}({', '.join(args + keywords)})"


def simple(call):
    """One line for a call, without what watches over it."""
    args = [argument(one) for one in call.get("args", [])]
    if call["fn"] == "[]=":
        return f"{args[0]}[{args[1]}] = {args[2]}"
    if call["fn"] in OPERATORS:
        return f"{args[0]} {call['fn']} {args[1]}"
    if call["fn"] == "del":
        return f"del {args[0]}"
    if call["fn"] == "attr=":
        return f"{args[0]}.{args[1][1:-1]} = {args[2]}"
    text = expression(call)
    text = f"log.value({f'ready({text})' if call.get('sync') else text})"
    return f"v.{call['to']} = {text}" if call.get("to") else text


def render(statements, place="", deferred=False):
    """Lines of Python. A place names a statement by its numbers from outside in."""
    lines = []
    for number, statement in enumerate(statements):
        here = f"{place}.{number}" if place else str(number)
        if statement["do"] != "call":
            lines += COMPOUND[statement["do"]](statement, here)
        elif deferred:
            lines.append(f"block({statement.get('to')!r}, lambda: {expression(statement)})")
        else:
            lines.append(f"with log({here!r}): {simple(statement)}")
    return lines or ["pass"]


def indented(lines):
    return [INDENT + line for line in lines]


def render_loop(statement, here):
    return [f"for _ in range({statement['times']}):", *indented(render(statement["body"], here))]


def render_with(statement, here):
    return [f"with {statement['what']}:", *indented(render(statement["body"], here))]


def render_stream(statement, here):
    head = f"with side_stream(device, {statement['index']}, {statement['order']!r}):"
    return [head, *indented(render(statement["body"], here))]


def render_threads(statement, here):
    lines, names = [], []
    for number, body in enumerate(statement["bodies"]):
        names.append(f"thread_{here.replace('.', '_')}_{number}")
        lines += [f"def {names[-1]}(log):", *indented(render(body, f"{here}.{number}"))]
    modes = f"turns={statement['turns']}, streams={statement['streams']}"
    return [*lines, f"run_threads(log, {here!r}, [{', '.join(names)}], {modes})"]


def render_deferred(statement, here):
    head = f"with deferred(v, log, {here!r}) as block:"
    return [head, *indented(render(statement["body"], here, deferred=True))]


COMPOUND = {
    "loop": render_loop,
    "with": render_with,
    "stream": render_stream,
    "threads": render_threads,
    "deferred": render_deferred,
}


def source(program):
    """The program as a Python function of its variables, the device and the log."""
    return "\n".join(["def program(v, device, log):", *indented(render(program["statements"]))]) + "\n"
