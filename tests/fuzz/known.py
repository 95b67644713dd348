"""Differences that are known: they are not looked for again until they are mended.

A function named here is not written into programs. A difference for which a test of KNOWN holds is counted and not
reported; the tests get place, kind, what the CPU shows and what the device shows.
"""

AVOIDED = {
    "tensor_split": "PyTorch wants its tensor of indices on the host, whatever the device",
}
KNOWN = ()


def avoided(fn):
    return fn.rpartition(".")[2].rstrip("_") in AVOIDED


def known(difference):
    """The name of a known difference, or None."""
    return next((name for name, test in KNOWN if test(*difference)), None)
