# SPDX-License-Identifier: GPL-3.0-or-later
"""A small transformer, as the recorded runs of tests/data/mindspore trained it, and its training."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import mindspore as ms
import mindspore.experimental.optim as experimental
import numpy as np
from mindspore import Tensor, nn, ops


class Attention(nn.Cell):
    def __init__(self, d: int, heads: int) -> None:
        super().__init__()
        self.h, self.k = heads, d // heads
        self.q, self.kk, self.v, self.o = (nn.Dense(d, d) for _ in range(4))

    def construct(self, x):
        b, s, d = x.shape
        q, k, v = (f(x).reshape(b, s, self.h, self.k).transpose(0, 2, 1, 3) for f in (self.q, self.kk, self.v))
        p = ops.softmax(ops.matmul(q, k.transpose(0, 1, 3, 2)) / self.k**0.5, -1)
        return self.o(ops.matmul(p, v).transpose(0, 2, 1, 3).reshape(b, s, d))


class Block(nn.Cell):
    def __init__(self, d: int, heads: int) -> None:
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm((d,)), nn.LayerNorm((d,))
        self.attn = Attention(d, heads)
        self.fc1, self.act, self.fc2 = nn.Dense(d, 2 * d), nn.GELU(), nn.Dense(2 * d, d)

    def construct(self, x):
        x = x + self.attn(self.n1(x))
        return x + self.fc2(self.act(self.fc1(self.n2(x))))


class Tiny(nn.Cell):
    def __init__(self, vocab: int = 32, d: int = 16, heads: int = 2, layers: int = 2) -> None:
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.blocks = nn.CellList([Block(d, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm((d,))
        self.head = nn.Dense(d, vocab, has_bias=False)

    def construct(self, ids):
        x = self.emb(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Conv(nn.Cell):
    """Convolution, normalization and dense layers."""

    def __init__(self, classes: int = 4) -> None:
        super().__init__()
        self.conv1, self.norm = nn.Conv2d(3, 6, 3, has_bias=True), nn.BatchNorm2d(6)
        self.conv2, self.pool = nn.Conv2d(6, 4, 3, has_bias=True), nn.AvgPool2d(2, 2)
        self.flat, self.act = nn.Flatten(), nn.ReLU()
        self.fc1, self.fc2 = nn.Dense(4 * 4 * 4, 16), nn.Dense(16, classes)

    def construct(self, x):
        x = self.act(self.norm(self.conv1(x)))
        return self.fc2(self.act(self.fc1(self.flat(self.pool(self.act(self.conv2(x)))))))


def convolutional(seed: int = 1) -> Conv:
    ms.set_seed(seed)
    net = Conv()
    net.set_train()
    return net


def images(seed: int = 0, b: int = 4) -> Iterator[tuple[Tensor, Tensor]]:
    rng = np.random.default_rng(seed)
    while True:
        pictures = rng.standard_normal((b, 3, 8, 8)).astype(np.float32)
        yield Tensor(pictures), Tensor(rng.integers(0, 4, (b,)).astype(np.int32))


def made(seed: int = 1, recompute: bool = False, **shape: int) -> Tiny:
    """The net of the recorded runs."""
    ms.set_seed(seed)
    net = Tiny(**shape)
    net.set_train()
    if recompute:
        net.blocks[0].recompute()
    return net


def adamw(net: nn.Cell, rate: float = 1e-2) -> Any:
    return experimental.AdamW(net.trainable_params(), rate)


def loss_of(net: nn.Cell) -> Callable[[Tensor, Tensor], Tensor]:
    def forward(ids: Tensor, label: Tensor) -> Tensor:
        logits = net(ids)
        return ops.cross_entropy(logits.reshape(-1, logits.shape[-1]), label.reshape(-1))

    return forward


def batches(seed: int = 0, b: int = 4, s: int = 8, vocab: int = 32) -> Iterator[tuple[Tensor, Tensor]]:
    rng = np.random.default_rng(seed)
    while True:
        ids = rng.integers(0, vocab, (b, s + 1)).astype(np.int32)
        yield Tensor(ids[:, :-1]), Tensor(ids[:, 1:])


def train(
    net: nn.Cell,
    optimizer: Any,
    steps: int,
    micro: int = 1,
    before: Callable[[int], None] = lambda step: None,
    after: Callable[[int, Any], None] = lambda step, loss: None,
) -> None:
    """before: called as a step begins; after: as it has ended, with the loss."""
    gradients_of = ms.value_and_grad(loss_of(net), None, optimizer.parameters)
    data = images() if isinstance(net, Conv) else batches()
    for step in range(steps):
        before(step)
        total = None
        for _ in range(micro):
            loss, gradients = gradients_of(*next(data))
            total = gradients if total is None else tuple(a + b for a, b in zip(total, gradients))
        optimizer(total)
        after(step, loss)


def bits(net: nn.Cell) -> str:
    """Of all weights."""
    return hashlib.sha256(b"".join(p.asnumpy().tobytes() for p in net.get_parameters())).hexdigest()
