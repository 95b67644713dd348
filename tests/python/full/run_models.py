#!/usr/bin/env python3
"""Miniature models of Hugging Face's transformers and diffusers, on the device and on CPU.

Each model is built on CPU from a tiny config with random weights (nothing is downloaded), copied to the
device, and goes through forward, loss, backward, one AdamW step, and, for decoders, 8 generated tokens.
Every result is compared with the CPU's: "bits" are equal, "close" is within tolerance, else "wrong".

    run_models.py --device cpu                 sanity: all bits
    run_models.py --only 'Bert|Llama' --json report.json
    run_models.py --sample 6                   some models, spread over all

Needs transformers; diffusers' models are left out where it does not import. The exit code is 0 if no
model is wrong or raises.
"""
import argparse
import collections
import contextlib
import importlib
import json
import os
import re
import sys
import warnings

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TRANSFORMERS_VERBOSITY="error")
warnings.simplefilter("ignore")

import torch

from zoo import text, vision, audio, mixed  # they fill the table, in this order
from zoo.registry import MODELS
from zoo.stages import STAGES
from zoo.verdict import RANK, check


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--device", default="neuron")
    add("--only", default="", metavar="REGEX")
    add("--kind", default="", metavar="REGEX", help="encoder, decoder, vision, …")
    add("--sample", type=int, default=0, metavar="N", help="every so manieth model, N in all; 0: all")
    add("--dtype", default="float32", choices=["float32", "bfloat16", "float64"])
    add("--attention", choices=["eager", "sdpa"], help="default: the model's own")
    add("--threads", type=int, default=1)
    add("--json", metavar="FILE")
    return parser.parse_args()


def chosen(settings):
    models = [(name, entry) for name, entry in MODELS.items()
              if re.search(settings.only, name) and re.search(settings.kind, entry.kind)]
    count = min(settings.sample or len(models), len(models))
    return [models[i * len(models) // count] for i in range(count)]


def show(row):
    print(f"{row['name']:44}{row['kind']:12}" + "".join(f"{row.get(s, '-'):10}" for s in STAGES) +
          f"{row['seconds']:9.2f}", flush=True)
    for detail in row["details"]:
        print("    " + " ".join(detail.split())[:200])


def main():
    settings = options()
    torch.set_num_threads(settings.threads)
    if settings.device != "cpu" and not hasattr(torch, settings.device):
        importlib.import_module("adaptive_eager")
    rows = []
    print(f"{'':44}{'kind':12}" + "".join(f"{s:10}" for s in STAGES) + "  seconds")
    for name, entry in chosen(settings):
        with contextlib.suppress(ImportError):
            importlib.import_module(entry.library)
        if entry.library not in sys.modules:
            print(f"{name:44}{entry.kind:12}left out: {entry.library} does not import")
            continue
        rows.append(check(name, entry, settings))
        show(rows[-1])
    counts = collections.Counter(row["result"] for row in rows)
    print(f"{len(rows)} models: " + ", ".join(f"{counts[r]} {r}" for r in RANK if counts[r]))
    if settings.json:
        with open(settings.json, "w") as file:
            json.dump({"device": settings.device, "dtype": settings.dtype, "totals": counts, "models": rows}, file,
                      indent=1)
    return int(counts["wrong"] + counts["error"] > 0)


if __name__ == "__main__":
    sys.exit(main())
