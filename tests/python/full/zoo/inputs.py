"""Functions that draw the inputs of a model."""
import torch

from zoo.sizes import BATCH, IMAGE, LENGTH, VOCAB


def ids(length=LENGTH, low=3):
    return torch.randint(low, VOCAB, (BATCH, length))


def masked():
    mask = torch.ones(BATCH, LENGTH, dtype=torch.long)
    mask[1, -3:] = 0
    return mask


def text():
    return dict(input_ids=ids(), attention_mask=masked(), labels=ids())


def plain_text():
    return dict(input_ids=ids(), labels=ids())


def decoder():
    tokens = ids()
    return dict(input_ids=tokens, attention_mask=torch.ones_like(tokens), labels=tokens.clone())


def translation():
    return dict(input_ids=ids(), attention_mask=masked(), labels=ids(7))


def pixels(size=IMAGE):
    return torch.randn(BATCH, 3, size, size)


def image(labels=5, size=IMAGE):
    return lambda: dict(pixel_values=pixels(size), labels=torch.randint(0, labels, (BATCH,)))


def sound(length=400):
    return lambda: dict(input_values=torch.randn(BATCH, length), labels=torch.randint(1, 8, (BATCH, 2)))


def text_and_image(size=IMAGE, **more):
    return lambda: dict(input_ids=ids(), attention_mask=masked(), pixel_values=pixels(size), **more)


def pictured(tokens):
    """A text that starts with the places of an image's tokens."""
    sequence = torch.cat([torch.full((BATCH, tokens), 3), ids(low=4)], 1)
    return dict(input_ids=sequence, attention_mask=torch.ones_like(sequence), pixel_values=pixels(),
                labels=sequence.clone())
