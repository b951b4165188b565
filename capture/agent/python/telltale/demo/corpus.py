# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import torch

MOST_BYTES = 256 << 20


class BadInput(ValueError):
    """What the user asked for cannot be done; the message is one sentence."""


class Corpus:
    """A text as numbers of its characters (bytes), and random windows of it."""

    def __init__(self, path: str, seed: int, window: int) -> None:
        """Raises BadInput when the text cannot be used."""
        try:
            with Path(path).open("rb") as file:
                text = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise BadInput(f"cannot read {path}: {error.strerror or error}; name a text with --text") from None
        if len(text) > MOST_BYTES:
            raise BadInput(f"{path} is over 256 MiB")
        if len(text) < window + 2:
            raise BadInput(f"{path} has {len(text)} characters; at least {window + 2} are needed")
        numbers = {byte: i for i, byte in enumerate(sorted(set(text)))}
        self.vocabulary = len(numbers)
        self._window = window
        self._ids = torch.tensor([numbers[byte] for byte in text], dtype=torch.int64)
        self._random = random.Random(seed)  # its own: the model's generator is not touched

    @property
    def state(self) -> Any:
        """Of its random numbers."""
        return self._random.getstate()

    @state.setter
    def state(self, state: Any) -> None:
        self._random.setstate(state)

    def draw(self, count: int) -> torch.Tensor:
        """[count, window + 1] of int64."""
        starts = [self._random.randrange(len(self._ids) - self._window) for _ in range(count)]
        return torch.stack([self._ids[start : start + self._window + 1] for start in starts])
