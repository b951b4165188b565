# SPDX-License-Identifier: GPL-3.0-or-later
"""training.py DATA: a small training that streams to the server of TELLTALE_JOIN, which keeps its runs in DATA, and is
read back: by PyTorch where there is one, otherwise a line fitted with numpy."""

from __future__ import annotations

import ctypes
import sys
import time
from pathlib import Path

import numpy as np
import telltale
from telltale import native
from telltale.kinds import Kind
from telltale.quantities import Stat
from telltale.series import SeriesDesc

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]
STEPS = 20


def by_torch() -> list[float]:
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.Adam(model.parameters())
    monitor = telltale.watch(model, optimizer, name="wheel")
    losses = []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = model(torch.randn(4, 8)).square().mean()
        loss.backward()
        optimizer.step()
        telltale.log({"loss": loss}, step=step)
        losses.append(loss.item())
    assert monitor.flush(30), monitor.counters()
    telltale.finish()
    return losses


def by_numpy() -> list[float]:
    agent = native.Agent(run_name="wheel", framework="numpy", rank=0, world_size=1)
    layout = agent.add_layout(int(Kind.SCALAR), [int(Stat.VALUE)], [SeriesDesc("loss")])
    draws = np.random.default_rng(0)
    weights, losses = np.zeros(8), []
    for step in range(STEPS):
        data = draws.normal(size=(16, 8))
        error = data @ (weights - 1)
        losses.append(float(np.square(error).mean()))
        weights -= 0.1 * data.T @ error / 16
        slab = agent.begin(step)
        value, present = agent.doubles(slab, layout)
        ctypes.c_double.from_address(value).value = losses[-1]
        ctypes.c_uint8.from_address(present).value = 1
        agent.commit(slab)
    assert agent.flush(30), (agent.counters(), agent.last_error())
    assert agent.close("finished")
    return losses


def main() -> None:
    native.library()
    losses = by_torch() if torch else by_numpy()
    until = time.monotonic() + 20
    while True:  # the server closes its file a moment after the goodbye
        files = list(Path(sys.argv[1]).rglob("*.telltale"))
        run = telltale.open(files[0]) if files else None
        read = list(run.frame("scalar", "value", "loss")["value"]) if run else []
        if len(read) == STEPS or time.monotonic() > until:
            break
        time.sleep(0.1)
    assert np.array_equal(read, losses), (read, losses)
    by = "of PyTorch" if torch else "with numpy"
    print(f"{STEPS} steps {by}, kernel {native.kernel_name()}: read back as they were")
    if torch and run:
        norms = run.frame("grad_reduced", "norm", "weight")["norm"]
        assert len(norms) == STEPS and np.all(np.asarray(norms) > 0), norms


main()
