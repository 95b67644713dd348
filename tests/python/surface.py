"""What the tests of the Python package share."""
import functools
import inspect
import json
import os
import subprocess
import sys
import threading
import traceback
from pathlib import Path

import adaptive_eager
import pytest
import torch
from torch.utils import _pytree as pytree

from cases.helper import bits

DEVICE = "neuron"
recording = pytest.mark.skipif(os.environ.get("TORCH_NEURON_VERIFY", "0") != "0",
                               reason="verify mode runs every op at the call: nothing is recorded")
PACKAGE = Path(adaptive_eager.__file__).parent


def same_as_cpu(program, seed=0):
    """Runs program(device) on the CPU and on the device from one seed; results must have the same bits."""
    torch.manual_seed(seed)
    expected = pytree.tree_leaves(program("cpu"))
    torch.manual_seed(seed)
    actual = pytree.tree_leaves(program(DEVICE))
    assert len(actual) == len(expected)
    for got, want in zip(actual, expected):
        if isinstance(want, torch.Tensor):
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            assert torch.equal(bits(got), bits(want)), f"got {got}, want {want}"
        else:
            assert got == want


def python(code, *flags, path=(PACKAGE.parent,), folder="/", **env):
    """Runs code in a fresh Python that finds packages in `path` only; gives exit code, output and errors."""
    env = {**os.environ, **env, "PYTHONPATH": os.pathsep.join(map(str, path)), "PYTHONDONTWRITEBYTECODE": "1"}
    child = subprocess.run(
        [sys.executable, *flags, "-c", code], env=env, cwd=folder, text=True, capture_output=True, timeout=120
    )
    return child.returncode, child.stdout.strip(), child.stderr


_children = {}  # file and environment: the tests that run there


def in_child(**env):
    """Decorates tests without arguments: those of a file run in one fresh Python, each in a thread."""

    def decorate(test):
        names = _children.setdefault((inspect.getfile(test), *sorted(env.items())), [])
        names.append(test.__name__)

        def run():
            failure = run_in_child(inspect.getfile(test), tuple(names), tuple(env.items()))[test.__name__]
            assert not failure, failure

        run.__name__, run.__doc__, run.body = test.__name__, test.__doc__, test
        return run

    return decorate


@functools.cache
def run_in_child(file, names, env):
    """How tests of a file ended, by name: a traceback, or nothing."""
    file = Path(file)
    code = f"import surface, {file.stem}; surface.run_bodies({file.stem}, {names})"
    returncode, out, err = python(code, path=(PACKAGE.parent, file.parent), **dict(env))
    try:
        return json.loads(out.splitlines()[-1])
    except (IndexError, ValueError):
        return dict.fromkeys(names, f"the child ended with code {returncode}: {out}{err}")


def run_bodies(module, names):
    """The child's part: runs the tests and prints how they ended."""
    ends = {}

    def run(name):
        try:
            getattr(module, name).body()
            ends[name] = ""
        except Exception:
            ends[name] = traceback.format_exc()

    for name in names:
        thread = threading.Thread(target=run, args=(name,))
        thread.start()
        thread.join()
    print(json.dumps(ends))
