# SPDX-License-Identifier: GPL-3.0-or-later
"""One of two processes that train together, started by msrun: writes what its sink has recorded as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import mindspore as ms
import mindspore.mint.distributed as distributed
import numpy as np
from mindspore import communication, nn, ops
from recording import RecordingSink, norm
from telltale.kinds import Kind
from telltale.mindspore import TrainerMon
from tinynet import adamw, bits, loss_of, made

CONFIG = {"wg_distribution": True, "cc_distribution": {"enable": True, "cc_pre_hook": True}}


def main(out: Path, is_watched: bool) -> None:
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_device("CPU")
    ms.runtime.launch_blocking()
    communication.init()
    rank = communication.get_rank()
    net, sink = made(layers=1), RecordingSink()
    optimizer = adamw(net)
    monitor = TrainerMon(CONFIG, sinks=[sink]) if is_watched else None
    if monitor is not None:
        monitor.set_monitor(net, optimizer)
    reducer = nn.DistributedGradReducer(optimizer.parameters, mean=True, degree=2)
    gradients_of = ms.value_and_grad(loss_of(net), None, optimizer.parameters)
    rng = np.random.default_rng(rank)
    local = []
    for _ in range(3):
        ids = rng.integers(0, 32, (4, 9)).astype(np.int32)
        loss, gradients = gradients_of(ms.Tensor(ids[:, :-1]), ms.Tensor(ids[:, 1:]))
        local.append(float(np.linalg.norm(gradients[-1].asnumpy().astype(np.float64))))
        reduced = reducer(gradients)
        total = loss * 1.0
        distributed.all_reduce(total)
        ops.AllReduce()(loss)
        optimizer(reduced)
    found = {"rank": rank, "bits": bits(net), "local": local}
    if monitor is not None:
        name = optimizer.parameters[-1].name
        found |= {
            "monitor": monitor.rank,
            "unreduced": [norm(sink.record(Kind.GRAD_UNREDUCED, name, step=step)) for step in range(3)],
            "reduced": [norm(sink.record(Kind.GRAD_REDUCED, name, step=step)) for step in range(3)],
            "comm": sink.names(Kind.COMM),
            "sentences": sink.sentences(),
        }
        monitor.close()
    (out / f"rank{rank}.json").write_text(json.dumps(found))


main(Path(sys.argv[1]), sys.argv[2] == "watched")
