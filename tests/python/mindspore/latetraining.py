# SPDX-License-Identifier: GPL-3.0-or-later
"""A program for test_asynchronous.py: trains a small net with nothing and with everything watched, under one of the two
ways to launch, and writes what came out.

    latetraining.py blocking|asynchronous NET STEPS MOST_KEPT QUEUE_SECONDS FOLDER

With QUEUE_SECONDS, that much work is launched before each forward pass, before each optimizer and inside it, and
whatever the agent does is timed.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import threading
import time
from pathlib import Path
from typing import Any, Callable

import mindspore as ms
import mindspore.experimental.optim as experimental
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_device("CPU")
if sys.argv[1] == "blocking":
    ms.runtime.launch_blocking()

from recording import RecordingSink  # noqa: E402
from telltale.mindspore import TrainerMon, executor, measure  # noqa: E402
from telltale.mindspore import framework as hooks  # noqa: E402
from telltale.mindspore.shell import Shell  # noqa: E402
from telltale.series import Frame  # noqa: E402
from test_bits import EVERYTHING  # noqa: E402
from tinynet import Attention, adamw, bits, convolutional, made, train  # noqa: E402

CONFIG = {
    **EVERYTHING,
    "recording_l2_features": True,
    "l2_targets": {"linear_hook": [], "moe_router_weight_hook": ["head"], "moe_router_logit_hook": ["head"],
                   "attention_hook": ["blocks.0.attn.core"]},
    "sa_order": "b,s,h,d",
    "alert": {"rules": [{"rule_name": "AnomalyTurbulence", "args": {"threshold": 0.5}}], "dump": True},
}


class Core(nn.Cell):
    """What is told of attention: a cell that is called with query and key, [b, s, h, d]."""

    def construct(self, q: Any, k: Any, v: Any) -> Any:
        q, k, v = (x.transpose(0, 2, 1, 3) for x in (q, k, v))
        p = ops.softmax(ops.matmul(q, k.transpose(0, 1, 3, 2)) / q.shape[-1] ** 0.5, -1)
        return ops.matmul(p, v).transpose(0, 2, 1, 3)


class Told(Attention):
    def __init__(self, d: int, heads: int) -> None:
        super().__init__(d, heads)
        self.core = Core()

    def construct(self, x: Any) -> Any:
        b, s, d = x.shape
        q, k, v = (f(x).reshape(b, s, self.h, self.k) for f in (self.q, self.kk, self.v))
        return self.o(self.core(q, k, v).reshape(b, s, d))


def transformer() -> Any:
    net = made(layers=1)
    net.blocks[0].attn = Told(16, 2)
    net.set_train()
    return net


NETS: dict[str, Callable[[], Any]] = {"transformer": transformer, "convolutional": convolutional}
_WAITING = ("data_ptr", "asnumpy", "item", "__float__", "__int__", "__bool__", "tolist")
_inside = threading.local()  # how deep this thread is in the agent's calls


class Busy:
    """Launches work that takes a while, and takes the time of the agent's calls meanwhile."""

    def __init__(self, seconds: float) -> None:
        self._matrix = Tensor(np.full((700, 700), 1e-3, np.float32))
        self.calls: list[tuple[float, str]] = []
        self.waited: list[str] = []
        self._count = 1
        self.launch().asnumpy()
        while self.seconds() < seconds:
            self._count *= 2

    def seconds(self) -> float:
        began = time.perf_counter()
        self.launch().asnumpy()
        return time.perf_counter() - began

    def launch(self) -> Tensor:
        x = self._matrix
        for _ in range(self._count):
            x = ops.matmul(x, self._matrix)
        return x

    def timed(self, owner: Any) -> None:
        genuine = owner.__call__

        def call(hook: Any, *given: Any, **named: Any) -> Any:
            _inside.depth = getattr(_inside, "depth", 0) + 1
            began = time.perf_counter()
            try:
                return genuine(hook, *given, **named)
            finally:
                _inside.depth -= 1
                took = time.perf_counter() - began
                self.calls.append((took, repr(getattr(hook, "f", getattr(hook, "_hook", hook)))))

        owner.__call__ = call

    def spy(self, name: str) -> None:
        genuine = getattr(Tensor, name)

        def spied(tensor: Any, *given: Any, **named: Any) -> Any:
            if getattr(_inside, "depth", 0):
                self.waited.append(name)
            return genuine(tensor, *given, **named)

        setattr(Tensor, name, spied)


class BusyAdamW(experimental.AdamW):
    busy: Busy

    def construct(self, gradients: Any) -> Any:
        done = super().construct(gradients)
        self.busy.launch()
        return done


def trained(kind: str, steps: int, config: Any, sinks: Any, busy: Busy | None) -> tuple[str, str]:
    """The weights' bits, and what the generator draws next."""
    net = NETS[kind]()
    before = bits(net)
    optimizer = adamw(net)
    if busy is not None:
        BusyAdamW.busy = busy
        optimizer = BusyAdamW(net.trainable_params(), 1e-2)
    monitor = None
    if config is not None:
        monitor = TrainerMon(config, sinks=sinks)
        monitor.set_monitor(net, optimizer)

    def after(step: int, loss: Any) -> None:
        if busy is not None:
            busy.launch()
        if monitor is not None:
            monitor.log({"loss": loss})

    train(net, optimizer, steps, before=lambda step: busy.launch() if busy is not None else None, after=after)
    if monitor is not None:
        monitor.flush(60)
        monitor.close()
    assert bits(net) != before, "the optimizer changes no weight"
    return bits(net), ops.rand(4).asnumpy().tobytes().hex()


def written(frame: Frame) -> Any:
    """A frame in plain values, but for the time."""
    tables = [
        (shot.kind, shot.stats, shot.series, shot.rows.tolist(), shot.values.tobytes(), shot.only,
         None if shot.arrival is None else shot.arrival.tolist())
        for shot in frame.tables
    ]  # fmt: skip
    return frame.step, tables, dict(sorted(frame.scalars.items())), frame.definitions


def main(how: str, kind: str, steps: int, most_kept: int, queue: float, folder: Path) -> None:
    assert executor.is_blocking() == (how == "blocking")
    measure.MOST_KEPT = most_kept
    busy = None
    if queue:
        busy = Busy(queue)
        for owner in (Shell, hooks._Shielded):
            busy.timed(owner)
        for name in _WAITING:
            busy.spy(name)
    plain = trained(kind, steps, None, None, busy)
    sink = RecordingSink()
    watched = trained(kind, steps, CONFIG, [sink], busy)
    assert plain == watched, "the bits differ"
    found: dict[str, Any] = {"sentences": sink.sentences(), "frames": [written(frame) for frame in sink.frames]}
    if busy is not None:
        found |= {"calls": busy.calls, "waited": busy.waited, "queue": busy.seconds()}
    else:
        config = folder / "config.json"
        config.write_text(json.dumps({**CONFIG, "format": "csv", "step_count_per_record": 2}))
        os.environ["MONITOR_OUTPUT_DIR"] = str(folder / "files")
        assert trained(kind, steps, str(config), None, None) == plain
    (folder / "found.pickle").write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]), Path(sys.argv[6]))
