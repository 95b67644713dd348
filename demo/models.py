"""Three small models, written as anyone would write them: nothing here knows about the device."""
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class CNN(nn.Module):
    """Two convolutions with batch norm, pooling and a linear layer, for pictures of 8 x 8."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.25), nn.Linear(256, 10))

    def forward(self, pictures: Tensor) -> Tensor:
        return self.head(self.features(pictures.unsqueeze(1)))


class LSTM(nn.Module):
    """Reads a picture row by row, and names the digit after the last row."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(8, 96, num_layers=2, dropout=0.1, batch_first=True)
        self.head = nn.Linear(96, 10)

    def forward(self, pictures: Tensor) -> Tensor:
        outputs, _ = self.lstm(pictures)
        return self.head(outputs[:, -1])


class Block(nn.Module):
    """One layer of the transformer: attention to earlier characters, then a small network."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_network = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query_key_value, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.network = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        projected = self.query_key_value(self.before_attention(x)).view(batch, length, 3, self.heads, -1)
        query, key, value = projected.permute(2, 0, 3, 1, 4).unbind(0)
        attended = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.dropout(self.project(attended.transpose(1, 2).reshape(batch, length, width)))
        return x + self.dropout(self.network(self.before_network(x)))


class GPT(nn.Module):
    """A transformer over characters; input and output share their embedding."""

    def __init__(self, alphabet: int, length: int = 64, width: int = 128, heads: int = 4, layers: int = 3) -> None:
        super().__init__()
        self.characters, self.places = nn.Embedding(alphabet, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, alphabet, bias=False)
        for embedding in (self.characters, self.places):
            nn.init.normal_(embedding.weight, std=0.02)
        self.head.weight = self.characters.weight

    def forward(self, numbers: Tensor) -> Tensor:
        places = torch.arange(numbers.shape[1], device=numbers.device)
        return self.head(self.norm(self.blocks(self.characters(numbers) + self.places(places))))
