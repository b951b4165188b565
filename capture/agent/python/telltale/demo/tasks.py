# SPDX-License-Identifier: GPL-3.0-or-later
"""What the demo trains on what: a model, the batches that it gets, and its loss."""

from __future__ import annotations

import argparse
from typing import Any

import torch

from .cnn import Cnn, Pictures
from .corpus import Corpus
from .model import Shape, Transformer
from .moe import BALANCE, Moe

WINDOW = 64
MODELS = ("gpt", "moe", "cnn", "tp")
Batch = tuple[torch.Tensor, torch.Tensor]  # what goes in, and what should come out


class TextTask:
    """Says the next character."""

    count = 8
    unit, units = "tokens", count * WINDOW

    def __init__(self, options: argparse.Namespace, rank: int) -> None:
        self._corpus = Corpus(options.text, options.seed + rank, WINDOW)
        shape = Shape(self._corpus.vocabulary, WINDOW, options.layers, options.heads, options.width)
        self.model = Transformer(shape, Moe) if options.model == "moe" else Transformer(shape)
        self._moes = [module for module in self.model.modules() if isinstance(module, Moe)]

    def draw(self) -> Batch:
        ids = self._corpus.draw(self.count)
        return ids[:, :-1], ids[:, 1:]

    def loss(self, model: Any, batch: Batch) -> torch.Tensor:
        loss = torch.nn.functional.cross_entropy(model(batch[0]).flatten(0, 1), batch[1].flatten())
        for moe in self._moes:
            loss = loss + BALANCE * moe.balance
        return loss

    def metrics(self) -> dict[str, Any]:
        """Run metrics of its own."""
        return {f"router.{i}.max-violation": moe.violation for i, moe in enumerate(self._moes)}

    def data_state(self) -> Any:
        """Where it is in its data."""
        return self._corpus.state

    def go_to(self, state: Any) -> None:
        self._corpus.state = state


class PictureTask:
    """Says the angle of stripes."""

    count = 64
    unit, units = "pictures", count

    def __init__(self, options: argparse.Namespace, rank: int) -> None:
        self._pictures = Pictures(options.seed + rank)
        self.model = Cnn(options.layers, options.width)

    def draw(self) -> Batch:
        return self._pictures.draw(self.count)

    def loss(self, model: Any, batch: Batch) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(model(batch[0]), batch[1])

    def metrics(self) -> dict[str, Any]:
        return {}

    def data_state(self) -> Any:
        return self._pictures.random.get_state()

    def go_to(self, state: Any) -> None:
        self._pictures.random.set_state(state)


def make_task(options: argparse.Namespace, rank: int) -> TextTask | PictureTask:
    """The model is the same on every rank, the data are `rank`'s. Raises BadInput."""
    torch.manual_seed(options.seed)
    return PictureTask(options, rank) if options.model == "cnn" else TextTask(options, rank)
