# SPDX-License-Identifier: GPL-3.0-or-later
"""A convolutional network with batch norm, and its pictures: noisy stripes, told apart by their angle."""

from __future__ import annotations

import math

import torch
from torch import nn

CLASSES = 8
SIZE = 16
NOISE = 0.5


class Stage(nn.Module):
    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, out, 3, stride, 1, bias=False)
        self.norm = nn.BatchNorm2d(out)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.relu(self.norm(self.conv(x)))


class Cnn(nn.Module):
    """pictures: [b, 1, SIZE, SIZE] -> logits: [b, CLASSES]."""

    def __init__(self, layers: int, width: int) -> None:
        super().__init__()
        channels = [1] + [max(4, width // 4)] * layers
        self.stages = nn.ModuleList(Stage(channels[i], channels[i + 1], 2 if i in (1, 2) else 1) for i in range(layers))
        self.head = nn.Linear(channels[-1], CLASSES)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        x = pictures
        for stage in self.stages:
            x = stage(x)
        return self.head(x.mean((2, 3)))


class Pictures:
    """Stripes of CLASSES angles, of any width and place, in noise."""

    def __init__(self, seed: int) -> None:
        self.random = torch.Generator().manual_seed(seed)  # its own: the model's generator is not touched

    def draw(self, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Pictures and their classes."""
        kinds = torch.randint(CLASSES, (count,), generator=self.random)
        angle = (kinds * (math.pi / CLASSES))[:, None, None]
        pace, phase = (torch.rand(2, count, 1, 1, generator=self.random) + 0.5).unbind()
        row, column = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
        clean = torch.sin(pace * (row * torch.sin(angle) + column * torch.cos(angle)) + 2 * math.pi * phase)
        return (clean + NOISE * torch.randn(count, SIZE, SIZE, generator=self.random))[:, None], kinds
