# SPDX-License-Identifier: GPL-3.0-or-later
"""A decoder-only transformer over characters."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

WEIGHT_SPREAD = 0.02  # GPT-2's initialization


@dataclass(frozen=True)
class Shape:
    vocabulary: int
    window: int = 64
    layers: int = 4
    heads: int = 4
    width: int = 160
    dropout: float = 0.1


class CoreAttention(nn.Module):
    """Called with queries, keys and values in b,h,s,d."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.is_causal = True
        self.softmax_scale = (shape.width // shape.heads) ** -0.5
        self.dropout = shape.dropout
        self.score_factor = 1.0  # a fault makes it grow
        self.input_factor = 1.0  # as well, of queries and keys

    def forward(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        if self.input_factor != 1.0:
            query, key = query * self.input_factor, key * self.input_factor
        return nn.functional.scaled_dot_product_attention(
            query,
            key,
            value,
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=True,
            scale=self.softmax_scale * self.score_factor,
        )


class Attention(nn.Module):
    """Causal self-attention, x: [b, s, width]."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.qkv = nn.Linear(shape.width, 3 * shape.width)
        self.core = CoreAttention(shape)
        self.proj = nn.Linear(shape.width, shape.width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        return self.proj(self.core(query, key, value).transpose(1, 2).flatten(-2))


class Mlp(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.fc1 = nn.Linear(shape.width, 4 * shape.width)
        self.fc2 = nn.Linear(4 * shape.width, shape.width)
        self.drop = nn.Dropout(shape.dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.drop(self.fc2(nn.functional.gelu(self.fc1(x))))


class Block(nn.Module):
    def __init__(self, shape: Shape, make_mlp: Callable[[Shape], nn.Module]) -> None:
        super().__init__()
        self.ln1 = nn.LayerNorm(shape.width)
        self.attn = Attention(shape)
        self.ln2 = nn.LayerNorm(shape.width)
        self.mlp = make_mlp(shape)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class Transformer(nn.Module):
    """ids: [b, s] of int64 -> logits: [b, s, vocabulary]."""

    def __init__(self, shape: Shape, make_mlp: Callable[[Shape], nn.Module] = Mlp) -> None:
        super().__init__()
        self.tok_emb = nn.Embedding(shape.vocabulary, shape.width)
        self.pos_emb = nn.Embedding(shape.window, shape.width)
        self.drop = nn.Dropout(shape.dropout)
        self.blocks = nn.ModuleList(Block(shape, make_mlp) for _ in range(shape.layers))
        self.ln_f = nn.LayerNorm(shape.width)
        self.head = nn.Linear(shape.width, shape.vocabulary, bias=False)
        for name, parameter in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(parameter)
            elif parameter.dim() > 1:
                spread = WEIGHT_SPREAD / math.sqrt(2 * shape.layers) if name.endswith("proj.weight") else WEIGHT_SPREAD
                nn.init.normal_(parameter, 0.0, spread)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.drop(self.tok_emb(ids) + self.pos_emb(torch.arange(ids.shape[1], device=ids.device)))
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln_f(x))
