"""Real data that needs no download: handwritten digits from scikit-learn, and a long text from Python itself."""
from pydoc_data.topics import topics

import torch
from sklearn.datasets import load_digits

TEST_DIGITS = 297
TEST_TEXT = 0.1


class Digits:
    """1,797 pictures of 8 x 8 pixels and their digits (UCI's optical recognition set); 297 are kept for the test."""

    def __init__(self, device: str) -> None:
        pixels, labels = load_digits(return_X_y=True)
        order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
        pictures = torch.tensor(pixels, dtype=torch.float32).div(16).view(-1, 8, 8)[order].to(device)
        labels = torch.tensor(labels)[order].to(device)
        self.train = pictures[:-TEST_DIGITS], labels[:-TEST_DIGITS]
        self.test = pictures[-TEST_DIGITS:], labels[-TEST_DIGITS:]

    def batch(self, size: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """Random pictures and their digits."""
        pictures, labels = self.train
        chosen = torch.randint(len(labels), (size,), generator=generator).to(labels.device)
        return pictures[chosen], labels[chosen]


class Text:
    """The Python language reference as it ships with Python (pydoc_data): half a million characters of English."""

    def __init__(self, device: str) -> None:
        text = "\n".join(topics[name] for name in sorted(topics))
        self.alphabet = sorted(set(text))
        number = {character: index for index, character in enumerate(self.alphabet)}
        numbers = torch.tensor([number[character] for character in text]).to(device)
        cut = int(len(numbers) * (1 - TEST_TEXT))
        self.train, self.test = numbers[:cut], numbers[cut:]

    def batch(self, size: int, length: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """Random passages, and the same passages one character later."""
        starts = torch.randint(len(self.train) - length - 1, (size, 1), generator=generator)
        places = (starts + torch.arange(length)).to(self.train.device)
        return self.train[places], self.train[places + 1]

    def test_batch(self, size: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The first passages of the test part."""
        places = torch.arange(size * length).view(size, length).to(self.test.device)
        return self.test[places], self.test[places + 1]
