# SPDX-License-Identifier: GPL-3.0-or-later
"""One MindSpore training in a process of its own that steps when it is told to, as benchworker.py is for PyTorch.

    mindsporeworker.py VARIANT SIZE

VARIANT is "bare", "telltale weights", "telltale everything", "msprobe weights" or "msprobe everything". The net is that
of tests/python/mindspore/tinynet.py.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from benchworker import CONFIGS, watch_by

sys.path.append(str(Path(__file__).resolve().parents[1] / "python" / "mindspore"))

SIZES = {"75 k": {"vocab": 64, "d": 64, "heads": 4, "layers": 2}}
_WARM_UP = 3


def main(variant: str, size: str) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a monitor prints is not an answer
    os.environ.setdefault("GLOG_v", "3")
    import mindspore as ms
    from mindspore import mint
    from tinynet import adamw, batches, loss_of, made

    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_device("CPU")
    ms.runtime.launch_blocking()  # the asynchronous launch waits in spinning threads
    net = made(**SIZES[size])
    optimizer = adamw(net, 1e-3)
    whose, _, what = variant.partition(" ")
    monitor: Any = None
    if whose == "telltale":
        from telltale.mindspore import TrainerMon

        monitor = TrainerMon(CONFIGS[what])
        monitor.set_monitor(net, optimizer)
    elif whose == "msprobe":
        from msprobe.mindspore import TrainerMon as Original

        del mint.norm  # it has no kernel on a processor: without it msprobe takes ops.norm
        watch_by(lambda path: Original(path).set_monitor(net, optimizer), CONFIGS[what])
    gradients_of = ms.value_and_grad(loss_of(net), None, optimizer.parameters)
    data = batches(b=8, s=32, vocab=SIZES[size]["vocab"])

    def step() -> None:
        loss, gradients = gradients_of(*next(data))
        if whose == "msprobe":  # it reads a weight's gradient here, and nowhere else
            for parameter, gradient in zip(optimizer.parameters, gradients):
                parameter.main_grad = gradient
        optimizer(gradients)
        float(loss.asnumpy())

    for _ in range(_WARM_UP):
        step()
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            start = time.perf_counter()
            step()
            times.append((time.perf_counter() - start) * 1e3)
        print(json.dumps({"ms": times}), file=answers, flush=True)
    if monitor is not None:
        monitor.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
