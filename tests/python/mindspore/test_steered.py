# SPDX-License-Identifier: GPL-3.0-or-later
"""A MindSpore training that streams to a server, which gives it another config: what is wrong is found in its cell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from serving import TELLTALE
from steeredrun import SteeredRun

pytestmark = pytest.mark.skipif(not TELLTALE.exists(), reason=f"{TELLTALE} is not built")

CELL = "blocks.1.fc1"
TRAINING = """
import os, sys, time
sys.path.insert(0, FOLDER)
import mindspore as ms
import telltale
from mindspore import nn
from tinynet import adamw, loss_of, batches, made

ms.set_context(mode=ms.PYNATIVE_MODE)
ms.runtime.launch_blocking()

class Spoiled(nn.Cell):
    def __init__(self, inner):
        super().__init__()
        self.inner, self.is_on = inner, False

    def construct(self, x):
        y = self.inner(x)
        if self.is_on:
            y[1, 2, 3] = float("nan")
        return y

net = made()
spoiled = net.blocks[1].fc1 = Spoiled(net.blocks[1].fc1)
optimizer = adamw(net, 1e-3)
telltale.watch(net, optimizer, {"dynamic_on": True, "wg_distribution": True})
gradients_of = ms.value_and_grad(loss_of(net), None, optimizer.parameters)
data = batches()
for step in range(1_000_000):
    if os.path.exists(os.environ["STOP"]):
        break
    if not spoiled.is_on and os.path.exists(os.environ["STOP"] + ".nan"):
        spoiled.is_on = True
        open(os.environ["STOP"] + ".step", "w").write(str(step))
    loss, gradients = gradients_of(*next(data))
    optimizer(gradients)
    time.sleep(0.01)
telltale.finish()
""".replace("FOLDER", repr(str(Path(__file__).parent)))


@pytest.fixture
def run(tmp_path: Path) -> Iterator[SteeredRun]:
    made = SteeredRun(tmp_path, TRAINING)
    yield made
    made.close()


def incidents(run: SteeredRun) -> list[dict[str, Any]]:
    code, said = run.tell("incidents", "--json")
    return json.loads(said) if code == 0 else []


def test_a_pushed_config_shows_in_which_cell_a_nan_arose(run: SteeredRun) -> None:
    run.start(0, WORLD_SIZE="1")
    run.wait_until(lambda: len(run.steps("grad_reduced", 0, "head.weight")) >= 8)
    assert not run.steps("actv", 0, CELL)
    wanted = {"dynamic_on": True, "wg_distribution": True, "xy_distribution": True, "targets": {"blocks.1": {}}}
    code, said = run.push(wanted)
    assert code == 0 and [rank["status"] for rank in said["ranks"]] == ["applied"], said
    began = said["ranks"][0]["step"]
    run.wait_until(lambda: len(run.steps("actv", 0, CELL)) >= 8)
    assert incidents(run) == []
    (run.folder / "stop.nan").touch()
    run.wait_until(lambda: bool(incidents(run)))
    run.stop()
    assert run.server.stop() == 0
    broke = int((run.folder / "stop.step").read_text())
    # From the step on that the rank named, and at none before it, just what was pushed was collected.
    steps = run.steps("actv", 0, CELL)
    assert steps == list(range(began, steps[-1] + 1)) and began + 8 <= broke <= steps[-1]
    assert run.steps("grad_reduced", 0, "head.weight") == list(range(began))
    first = incidents(run)[0]
    place = first["rule"], first["step"], first["kind"], first["name"], first["slot"]
    assert place == ("nonfinite", broke, "actv", CELL, "output"), first
    assert "NaN in 1 of " in first["sentence"] and "Its inputs were finite" in first["sentence"], first
