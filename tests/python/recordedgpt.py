# SPDX-License-Identifier: GPL-3.0-or-later
"""The small GPT and the training that msprobe 26.2 was recorded with, and its L2 values of that training."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

TEXT = "/usr/share/common-licenses/GPL-3"

# blocks.{0,1}.attn.core at steps 0..5: (entropy, softmax_max), six decimals; the layout was b,s,h,d.
ATTENTION = {
    "blocks.0.attn.core": [
        (3.164249, 0.104668),
        (3.163738, 0.104094),
        (3.158320, 0.107113),
        (3.159346, 0.108285),
        (3.155206, 0.110918),
        (3.159763, 0.106466),
    ],
    "blocks.1.attn.core": [
        (3.153378, 0.109036),
        (3.161023, 0.106275),
        (3.156678, 0.109706),
        (3.160184, 0.106132),
        (3.155627, 0.108032),
        (3.154946, 0.108061),
    ],
}

# (sr, kernel_norm) at steps 0..5: two effective power steps from a random start.
LINEAR = {
    "blocks.0.mlp.0": [
        (8.571479, 1.527375),
        (8.836289, 1.481951),
        (8.275618, 1.583505),
        (8.530174, 1.537992),
        (8.664839, 1.516273),
        (8.504855, 1.547299),
    ],
    "head": [
        (7.800242, 1.187516),
        (7.606406, 1.215399),
        (7.664119, 1.204630),
        (8.038721, 1.147641),
        (7.792270, 1.183679),
        (7.795277, 1.183494),
    ],
}


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
