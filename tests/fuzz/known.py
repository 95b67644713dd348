"""Differences that are known and documented: counted, and neither shrunk nor reported."""

# (what it is, a test on place, kind, what the CPU shows and what the device shows)
KNOWN = ()


def known(difference):
    """The name of a known difference, or None."""
    return next((name for name, test in KNOWN if test(*difference)), None)
