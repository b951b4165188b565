# SPDX-License-Identifier: GPL-3.0-or-later
"""The small GPT and the training that msprobe 26.2 was recorded with."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

TEXT = "/usr/share/common-licenses/GPL-3"


class CoreAttention(nn.Module):
    """Called with queries, keys and values, [b, s, h, d], as Megatron's is."""

    def forward(self, q, k, v):
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)


class Attention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.qkv = nn.Linear(d, 3 * d)
        self.core = CoreAttention()
        self.proj = nn.Linear(d, d)
        self.h = h

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.h, d // self.h).unbind(2)
        return self.proj(self.core(q, k, v).reshape(b, t, d))


class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.ln1 = nn.LayerNorm(d)
        self.attn = Attention(d, h)
        self.ln2 = nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, vocab=256, d=128, n=4, h=4, t=64):
        super().__init__()
        self.tok = nn.Embedding(vocab, d)
        self.pos = nn.Embedding(t, d)
        self.blocks = nn.ModuleList(Block(d, h) for _ in range(n))
        self.lnf = nn.LayerNorm(d)
        self.head = nn.Linear(d, vocab, bias=False)

    def forward(self, ix):
        x = self.tok(ix) + self.pos(torch.arange(ix.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.lnf(x))


def train(steps: int = 6, prepare: Callable[[GPT], None] = lambda model: None, t: int = 64, b: int = 8) -> GPT:
    """The recorded training, seed and batches included; prepare(model) sees it before the first step."""
    torch.manual_seed(0)
    with open(TEXT, "rb") as file:
        text = torch.tensor(list(file.read()))
    model = GPT(t=t)
    prepare(model)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    generator = torch.Generator().manual_seed(1)
    for _ in range(steps):
        optimizer.zero_grad()
        start = torch.randint(0, len(text) - t - 1, (b,), generator=generator)
        x = torch.stack([text[j : j + t] for j in start])
        y = torch.stack([text[j + 1 : j + t + 1] for j in start])
        F.cross_entropy(model(x).flatten(0, 1), y.flatten()).backward()
        optimizer.step()
    return model
