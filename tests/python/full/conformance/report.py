"""Adds up the answers of all units: tables for people, JSON for programs."""
import collections
import json

from conformance import BAD, CATEGORIES


class Report:
    def __init__(self, settings, answers, seconds):
        self.settings, self.seconds, self.unit_count = settings, seconds, len(answers)
        self.modes = collections.defaultdict(collections.Counter)
        self.reasons = collections.Counter()
        self.findings = []
        self.fallbacks = collections.Counter()
        self.counts_fallbacks = False
        for name, answer in answers.items():
            self.add(name, answer)
        self.findings.sort(key=self.order)
        self.totals = sum(self.modes.values(), collections.Counter())

    def add(self, name, answer):
        for mode, category, n in answer["counts"]:
            self.modes[mode][category] += n
        self.reasons.update(answer["reasons"])
        self.findings += [{"op": name, **finding} for finding in answer["findings"]]
        self.counts_fallbacks |= answer["fallbacks"] is not None
        if answer["fallbacks"]:
            self.fallbacks[name.split()[0]] += answer["fallbacks"]

    @staticmethod
    def order(finding):
        category = finding["category"]
        return BAD.index(category) if category in BAD else len(BAD), -(finding["ulps"] or 0), finding["op"]

    def show(self):
        print(f"device {self.settings.device}, {self.unit_count} units, {self.seconds:.0f} s")
        print(f"{'':10}" + "".join(f"{c:>22}" for c in CATEGORIES))
        for mode, counts in [*self.modes.items(), ("total", self.totals)]:
            print(f"{mode:10}" + "".join(f"{counts[c]:22}" for c in CATEGORIES))
        operations = f"{len(self.fallbacks)} operations" if self.counts_fallbacks else "no counters"
        print(f"cpu_fallback: {operations}")
        if self.reasons:
            print("\nskipped:")
            for reason, n in self.reasons.most_common():
                print(f"  {n:6}  {reason}")
        if self.findings:
            self.show_findings()

    def show_findings(self):
        print(f"\nworst of {len(self.findings)}, one of each operation, mode and category:")
        seen = set()
        for f in self.findings:
            kind = f["op"].split()[0], f["mode"], f["category"]
            if kind not in seen and len(seen) < self.settings.worst:
                seen.add(kind)
                size = f" ulps {f['ulps']:g}, abs {f['abs']:.3g}" if f["ulps"] is not None else ""
                print(f"  {f['category']:22}{f['op']} {f['mode']} [{f['sample']}] {f['detail']}{size}")

    def save(self, path):
        with open(path, "w") as file:
            json.dump({"device": self.settings.device, "seconds": self.seconds, "totals": self.totals,
                       "modes": self.modes, "skipped": self.reasons,
                       "cpu_fallback": self.fallbacks if self.counts_fallbacks else None,
                       "findings": self.findings}, file, indent=1)
