"""usage: fuzz [--minutes N] [--seed S] [--replay FILE] [--folder FOLDER]"""
import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # run as a folder, it is no package yet

from fuzz import campaign  # noqa: E402


def replay(file):
    """Runs the program of a finding again, under its configuration."""
    finding = json.loads(file.read_text())
    program = finding.get("small") or finding.get("program") or finding
    configuration = finding.get("configuration", {"environment": {}, "rate": 0.0, "threads": 1})
    batch = campaign.Batch(configuration, {"program": program, "seconds": 60.0})
    print(campaign.report(batch.finding, configuration) if batch.finding else f"no difference: {batch.results}")
    return bool(batch.finding)


def main():
    parser = argparse.ArgumentParser(prog="./dev fuzz", description="Random programs, on the CPU and on the device.")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--replay", type=Path, help="JSON of a finding or of a program")
    folder = Path(__file__).parents[2] / "build" / "fuzz"
    parser.add_argument("--folder", type=Path, default=folder, help="where findings are written")
    options = parser.parse_args()
    if options.replay:
        return replay(options.replay)
    counts, findings = campaign.campaign(options.seed, options.minutes, options.folder)
    print(f"{sum(counts.values())} programs: {counts}; {len(findings)} differences")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())
