"""A progress bar of a few lines. On a terminal it moves; in a file it leaves one line."""
import sys
import time

WIDTH = 24


class Progress:
    """Shows how far something of a known length is."""

    def __init__(self, title: str, total: int) -> None:
        self.title, self.total = title, total
        self.moves = sys.stderr.isatty()

    def __enter__(self) -> "Progress":
        self.started = time.perf_counter()
        self.show(0, "")
        return self

    def show(self, done: int, note: str) -> None:
        """Redraws the bar."""
        filled = WIDTH * done // self.total
        seconds = time.perf_counter() - self.started
        line = f"  {self.title} [{'#' * filled}{'.' * (WIDTH - filled)}] {done}/{self.total}  {seconds:5.1f} s  {note}"
        if self.moves:
            print(f"\r{line:100}", end="", file=sys.stderr, flush=True)
        elif done == self.total:
            print(line, file=sys.stderr, flush=True)

    def __exit__(self, *exception: object) -> None:
        if self.moves:
            print(file=sys.stderr)
