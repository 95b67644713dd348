"""Prints a program as a stand-alone Python script that shows its difference."""
import re
from pathlib import Path

from fuzz import program as language

FOLDER = Path(__file__).parent

MAIN = '''

def main():
    torch.set_num_threads({threads})
    want = run(program, "cpu")
    for repeat in range({repeats}):
        got = run(program, DEVICE, Disturb({rate}, {seed} + repeat) if {rate} else None)
        difference = first_difference(want, got)
        if difference:
            place, kind, expected, actual = difference
            sys.exit(f"run {{repeat}} differs at {{place}} ({{kind}}):\\n  cpu:    {{expected}}\\n  neuron: {{actual}}")
    print("no difference")


main()
'''


def script(program, difference, environment, rate=0.0, threads=1, repeats=4):
    """The text of the script. The environment is set before PyTorch is loaded, as the device reads it once."""
    place, kind, want, got = difference
    found = [f"Difference at {place} ({kind})", f"  cpu:    {want}", f"  neuron: {got}"]
    head = "".join(f"# {line}\n" for line in found)
    variables = "".join(f"os.environ.setdefault({name!r}, {value!r})\n" for name, value in sorted(environment.items()))
    texts = [(FOLDER / f"{name}.py").read_text() for name in ("runtime", "concurrency", "compare")]
    helpers = "\n\n".join(re.sub(r"^from fuzz.*\n", "", text, flags=re.MULTILINE) for text in texts)
    main = MAIN.format(threads=threads, repeats=repeats, rate=rate, seed=program.get("seed", 0))
    return f"{head}import os\nimport sys\n\n{variables}\n{helpers}\n\n{language.source(program)}{main}"
