"""What the tests of the Python package share."""
import os
import subprocess
import sys
from pathlib import Path

import adaptive_eager
import torch
from torch.utils import _pytree as pytree

from cases.helper import bits

DEVICE = "neuron"
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
