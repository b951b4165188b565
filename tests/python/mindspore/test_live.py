# SPDX-License-Identifier: GPL-3.0-or-later
"""A MindSpore training with a real server: what is wrong is found where it is, and a config comes from elsewhere."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import mindspore as ms
import pytest
import telltale
from serving import TELLTALE, Server
from telltale.mindspore import TrainerMon
from tinynet import adamw, made, train

pytestmark = pytest.mark.skipif(not TELLTALE.exists(), reason=f"{TELLTALE} is not built")
BREAKS = 12


def incidents(folder: Path) -> list[dict]:
    [capsule] = folder.rglob("*.telltale")
    done = subprocess.run(
        [str(TELLTALE), "incidents", str(capsule), "--json"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_nan_in_one_weight_is_found_in_its_cell_at_its_step(tmp_path: Path) -> None:
    server = Server(tmp_path / "data")
    try:
        net = made()
        optimizer = adamw(net, 1e-3)
        monitor = telltale.watch(net, optimizer, join=server.join, name="mindspore")
        assert isinstance(monitor, TrainerMon)  # watch() knows a Cell

        def before(step: int) -> None:
            if step == BREAKS:
                weight = net.blocks[1].fc1.weight
                values = weight.asnumpy().copy()
                values[3, 5] = float("nan")
                weight.set_data(ms.Tensor(values))

        def after(step: int, loss: ms.Tensor) -> None:
            telltale.log({"loss": loss}, step=step)

        train(net, optimizer, BREAKS + 4, before=before, after=after)
        assert monitor.flush(20)
        counters = monitor.counters()
        telltale.finish()
        assert counters["dropped"] == 0 and counters["produced"] > 0
        server.stop()
        found = incidents(tmp_path / "data")
        assert found and found[0]["name"].startswith("blocks.1.fc1") and found[0]["step"] == BREAKS, found[:2]
    finally:
        telltale.finish()
        server.kill()
