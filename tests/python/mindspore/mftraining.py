# SPDX-License-Identifier: GPL-3.0-or-later
"""The net and the training that the recorded event files of tests/data/mindspore are of."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

VOCABULARY, LENGTH, STEPS, BATCH = 32, 8, 6, 4
RECORDED = Path(__file__).resolve().parents[2] / "data" / "mindspore"


class Attention(nn.Cell):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.q, self.kk, self.v, self.o = (nn.Dense(width, width) for _ in range(4))

    def construct(self, x: Tensor) -> Tensor:
        b, s, d = x.shape
        split = (b, s, self.heads, d // self.heads)
        q, k, v = (f(x).reshape(split).transpose(0, 2, 1, 3) for f in (self.q, self.kk, self.v))
        p = ops.softmax(ops.matmul(q, k.transpose(0, 1, 3, 2)) / split[3] ** 0.5, -1)
        return self.o(ops.matmul(p, v).transpose(0, 2, 1, 3).reshape(b, s, d))


class Block(nn.Cell):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.attn = Attention(width, heads)
        self.fc1, self.act, self.fc2 = nn.Dense(width, 2 * width), nn.GELU(), nn.Dense(2 * width, width)

    def construct(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.n1(x))
        return x + self.fc2(self.act(self.fc1(self.n2(x))))


class Tiny(nn.Cell):
    def __init__(self, layers: int = 2, width: int = 16) -> None:
        super().__init__()
        self.emb = nn.Embedding(VOCABULARY, width)
        self.blocks = nn.CellList([Block(width, 2) for _ in range(layers)])
        self.norm = nn.LayerNorm((width,))
        self.head = nn.Dense(width, VOCABULARY, has_bias=False)

    def construct(self, ids: Tensor) -> Tensor:
        x = self.emb(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Router(nn.Cell):
    """Keeps what MindFormers' router adds up: each expert's share of the step's tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.expert_load = Parameter(Tensor(np.float32([0.1, 0.2, 0.3, 0.4])), name="expert_load", requires_grad=False)


class Layer(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.mlp = nn.Cell()
        self.mlp.router = Router()


class WithLoss(nn.Cell):
    """The net, and beside it what a mixture-of-experts model of MindFormers has."""

    def __init__(self) -> None:
        super().__init__()
        self.net = Tiny()
        self.ce = nn.CrossEntropyLoss()
        self.decoder = nn.Cell()
        self.decoder.layers = nn.CellList([Layer(), Layer()])

    def construct(self, ids: Tensor, label: Tensor) -> Tensor:
        return self.ce(self.net(ids).reshape(-1, VOCABULARY), label.reshape(-1))

    def get_max_attention_logit(self) -> dict[str, Tensor]:
        return {f"decoder.layers.{i}.self_attention": Tensor(np.float32([1.5, 2.5])) for i in range(2)}

    def update_topk_bias(self, _steps: int) -> list[tuple[str, Tensor]]:
        routers = [layer.mlp.router for layer in self.decoder.layers]
        return [(f"decoder.layers.{i}.mlp.router", one.expert_load.value()) for i, one in enumerate(routers)]


class Step(nn.TrainOneStepCell):
    """Gives what MindFormers' training cell gives: loss, overflow, loss scale, learning rate, norm of all gradients;
    and writes what its static graph writes on a device, where `folder` says to."""

    def __init__(self, network: nn.Cell, optimizer: nn.Cell, folder: str = "") -> None:
        super().__init__(network, optimizer)
        self.both = ms.value_and_grad(network, None, optimizer.parameters)
        self.scale, self.no, self.rate = Tensor([1024.0], ms.float32), Tensor([False]), Tensor(1e-3, ms.float32)
        self.folder = folder
        self.files = 0

    def put(self, name: str, value: Any) -> None:
        if self.folder:
            np.save(f"{self.folder}/{name}_float32_{self.files}.npy", np.float32(value))
            self.files += 1

    def construct(self, ids: Tensor, label: Tensor) -> tuple[Tensor, ...]:
        loss, gradients = self.both(ids, label)
        norm = ops.sqrt(sum([(one * one).sum() for one in gradients]))
        self.put("local_loss__lm", loss.asnumpy())
        for parameter, one in zip(self.optimizer.parameters, gradients):
            self.put("local_norm__" + parameter.name, np.linalg.norm(one.asnumpy()))
        self.put("device_local_norm", norm.asnumpy())
        self.put("finish_step", 0)
        self.optimizer(gradients)
        return loss, self.no, self.scale, self.rate, norm


def batches(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    ids = generator.integers(0, VOCABULARY, (BATCH, LENGTH + 1)).astype(np.int32)
    return ids[:, :-1], ids[:, 1:]


def dataset() -> Any:
    """Six samples four times over, in fours: six steps. Others each time it is asked, as when it was recorded."""
    generator = np.random.default_rng(0)

    def each() -> Iterator[Any]:
        samples = [tuple(one[0] for one in batches(generator)) for _ in range(STEPS)]
        return iter(samples * BATCH)

    return ds.GeneratorDataset(each, ["ids", "label"], shuffle=False).batch(BATCH)


def train(callbacks: list[Any], transport: Path | None = None, **changed: Any) -> Step:
    """Trains as it was recorded. transport: the dump_path into which the graph's numbers go. changed: of the cell."""
    ms.set_seed(1)
    folder = ""
    if transport is not None:
        folder = str(transport / "rank_0")
        os.makedirs(folder)
        ms.set_auto_parallel_context(
            dump_local_norm_path=str(transport), dump_local_norm=True, dump_device_local_norm=True
        )
    try:
        network = WithLoss()
        network.set_train()
        optimizer = nn.AdamWeightDecay(network.trainable_params(), 1e-3)
        cell = Step(network, optimizer, folder)
        for name, value in changed.items():
            setattr(cell, name, value)
        cell.set_train()
        ms.train.Model(cell).train(1, dataset(), callbacks=callbacks, dataset_sink_mode=False)
    finally:
        ms.reset_auto_parallel_context()
    return cell


def weights(cell: Step) -> dict[str, bytes]:
    return {one.name: one.asnumpy().tobytes() for one in cell.network.trainable_params()}
