# SPDX-License-Identifier: GPL-3.0-or-later
"""A MindSpore training with a real server: what is wrong is found where it is, and a config comes from elsewhere."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import mindspore as ms
import numpy as np
import pytest
import telltale
from mindspore import nn
from offers import ACCEPTED, APPLIED, IN_FORCE, REFUSED, WEIGHTS, Offers
from recording import RecordingSink
from serving import TELLTALE, Server
from telltale.kinds import Kind
from telltale.mindspore import TrainerMon
from telltale.sinks.stream import StreamSink
from tinynet import adamw, bits, made, train

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


def test_a_config_comes_from_the_dashboard(tmp_path: Path) -> None:
    offers, sink = Offers(), RecordingSink()
    net = made(layers=1)
    optimizer = adamw(net)
    agent = {"join": offers.join, "spool_dir": str(tmp_path), "batch_ms": 10}
    monitor = TrainerMon(WEIGHTS, sinks=[StreamSink(), sink], agent=agent)
    try:
        monitor.set_monitor(net, optimizer)
        offers.wait(0, IN_FORCE)
        train(net, optimizer, 2)
        assert sink.steps(Kind.ACTV) == [] and sink.steps(Kind.GRAD_REDUCED) == [0, 1]
        wanted = {"dynamic_on": True, "xy_distribution": True, "targets": {"blocks.0.attn": {}}}
        rev = offers.offer(wanted)
        assert offers.wait(rev, ACCEPTED, REFUSED)["status"] == ACCEPTED
        train(net, optimizer, 2)  # it is in force from the step after the one that hears of it
        assert offers.wait(rev, APPLIED, IN_FORCE, REFUSED)["status"] != REFUSED
        assert sink.steps(Kind.ACTV) and "blocks.0.attn output" in sink.names(Kind.ACTV)
        refused = offers.offer({"dynamic_on": True, "step_interval": 0})
        assert offers.wait(refused, ACCEPTED, REFUSED)["status"] == REFUSED
        off = offers.offer({"dynamic_on": False})
        offers.wait(off, ACCEPTED)
        train(net, optimizer, 2)
        seen = len(sink.steps(Kind.ACTV))
        train(net, optimizer, 2)
        assert len(sink.steps(Kind.ACTV)) == seen
        assert not any(cell._forward_hook for _, cell in net.cells_and_names())  # what is off has no hook on the net
    finally:
        monitor.close()
        offers.close()


@pytest.mark.parametrize("is_all", [False, True])
def test_cells_under_jit_are_named_and_their_parameters_seen(is_all: bool) -> None:
    """One cell of a net, or all that a step computes."""

    class Compiled(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Dense(8, 8)

        @ms.jit
        def construct(self, x: ms.Tensor) -> ms.Tensor:
            return self.inner(x)

    class Around(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.whole = nn.Dense(8, 8), Compiled()

        def construct(self, x: ms.Tensor) -> ms.Tensor:
            return self.whole(self.first(x))

    def trained(is_watched: bool) -> tuple[str, RecordingSink]:
        ms.set_seed(5)
        net, sink = Around(), RecordingSink()
        net.set_train()
        optimizer = adamw(net)
        if is_watched:
            config = {"xy_distribution": True, "all_xy": True, "wg_distribution": True}
            monitor = TrainerMon(config, sinks=[sink])
            monitor.set_monitor(net, optimizer)

        def loss(x: ms.Tensor) -> ms.Tensor:
            return net(x).square().mean()

        gradients_of = ms.value_and_grad(ms.jit(loss) if is_all else loss, None, optimizer.parameters)
        for step in range(3):
            _, gradients = gradients_of(ms.Tensor(np.full((4, 8), step + 1, np.float32)))
            optimizer(gradients)
        if is_watched:
            monitor.close()
        return bits(net), sink

    plain, (watched, sink) = trained(False)[0], trained(True)
    assert plain == watched
    assert "whole.inner.weight" in sink.names(Kind.GRAD_UNREDUCED)
    assert ("first output" in sink.names(Kind.ACTV)) == (not is_all)
    said = [text for text in sink.sentences() if "not observed" in text]
    assert len(said) == 1 and ("no selected module ran outside" if is_all else "whole.inner") in said[0], said
