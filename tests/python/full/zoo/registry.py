"""The table of models: a row is a class, its config, and a function for its inputs."""
import collections

Entry = collections.namedtuple("Entry", "kind model config inputs generates library")
MODELS = {}


def add(kind, model, config, inputs, generates=False, library="transformers"):
    """Lists a model: its class, its config (or a function that makes it), and a function for its inputs."""
    MODELS[model] = Entry(kind, model, config, inputs, generates, library)
