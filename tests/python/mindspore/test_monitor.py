# SPDX-License-Identifier: GPL-3.0-or-later
"""TrainerMon for MindSpore: its arguments, what it hooks and lets go, and what it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
import pytest
import telltale
from mindspore import nn, ops
from recording import RecordingSink
from telltale.kinds import Kind
from telltale.mindspore import TrainerMon
from telltale.mindspore.hooks import Guarded
from tinynet import adamw, batches, loss_of, made, train

WEIGHTS = {"wg_distribution": True}


def hooks_on(net: nn.Cell, optimizer: nn.Cell) -> int:
    cells = [cell for root in (net, optimizer) for _, cell in root.cells_and_names()]
    return sum(len(cell._forward_hook) + len(cell._forward_pre_hook) for cell in cells)


def test_the_documented_order_and_msprobes_own() -> None:
    for given in ((2, "optimizer"), ("optimizer", 2)):
        net, sink = made(layers=1), RecordingSink()
        optimizer = adamw(net)
        monitor = TrainerMon(WEIGHTS, params_have_main_grad=False, sinks=[sink])
        monitor.set_monitor(net, *(optimizer if value == "optimizer" else value for value in given))
        train(net, optimizer, 1, micro=2)
        assert sink.steps(Kind.GRAD_REDUCED) == [0]
        monitor.close()


def test_the_deprecated_names_work_and_say_so() -> None:
    net, sink = made(layers=1), RecordingSink()
    optimizer = adamw(net)
    with pytest.warns(DeprecationWarning, match="opt_ty"):
        monitor = TrainerMon(WEIGHTS, None, False, "Megatron_DistributedOptimizer", sinks=[sink])
    with pytest.warns(DeprecationWarning, match="set_wrapped_optimizer"):
        monitor.set_wrapped_optimizer(optimizer)
    with pytest.warns(DeprecationWarning, match="monitor_gnorm_with_ad"):
        monitor.monitor_gnorm_with_ad(net, grad_acc_steps=1, start_iteration=5)
    train(net, optimizer, 1)
    assert sink.steps(Kind.GRAD_REDUCED) == [5]
    monitor.close()


def test_nothing_is_left_on_the_net_when_it_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    net = made()
    optimizer = adamw(net)
    monitor = TrainerMon({"xy_distribution": True, "all_xy": True, **WEIGHTS}, sinks=[RecordingSink()])
    monitor.set_monitor(net, optimizer)
    assert hooks_on(net, optimizer) > 20
    train(net, optimizer, 1)
    monitor.close()
    assert hooks_on(net, optimizer) == 0
    called: list[int] = []
    monkeypatch.setattr(Guarded, "__call__", lambda *_given: called.append(1))
    train(net, optimizer, 1)
    assert not called


def test_steps_that_are_not_collected_cost_no_hook() -> None:
    net, sink = made(layers=1), RecordingSink()
    optimizer = adamw(net)
    config = {"xy_distribution": True, "all_xy": True, "start_step": 2, "step_interval": 2, "collect_times": 1}
    monitor = TrainerMon(config, sinks=[sink])
    monitor.set_monitor(net, optimizer)
    seen: list[int] = []
    train(net, optimizer, 5, before=lambda step: seen.append(len(net.head._forward_hook)))
    assert [count > 0 for count in seen] == [False, False, True, False, False]
    assert sink.steps(Kind.ACTV) == [2]
    monitor.close()


class Pair(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Dense(4, 4), nn.Dense(4, 4)

    def construct(self, x: ms.Tensor, y: ms.Tensor) -> tuple[ms.Tensor, ms.Tensor]:
        return self.left(x), self.right(y)


class Twice(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.pair = Pair()

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        a, b = self.pair(x, y=x * 2)
        return (a * b).mean()


def test_tuples_are_selected_by_place_and_keywords_are_seen() -> None:
    ms.set_seed(2)
    net, sink = Twice(), RecordingSink()
    net.set_train()
    optimizer = adamw(net)
    targets = {"pair": {"input": "tuple[2]:1", "output": "tuple[2]:0", "output_grad": "tuple[2]:1"}}
    monitor = TrainerMon({"xy_distribution": True, "targets": targets}, sinks=[sink])
    monitor.set_monitor(net, optimizer)
    gradients_of = ms.value_and_grad(net, None, optimizer.parameters)
    _, gradients = gradients_of(ms.Tensor(np.ones((3, 4), np.float32)))
    optimizer(gradients)
    own = [name for name in sink.names(Kind.ACTV) if name.startswith("pair ")]
    assert own == ["pair input_1", "pair output_0"]
    assert sink.record(Kind.ACTV, "pair", "input_1")["max"] == 2
    assert [name for name in sink.names(Kind.ACTV_GRAD) if name.startswith("pair ")] == ["pair output_1"]
    monitor.close()


def test_two_nets_by_name_and_two_optimizers() -> None:
    first, second = made(layers=1), made(2, layers=1)
    optimizers = [adamw(first), adamw(second)]
    sink = RecordingSink()
    names = [parameter.name for parameter in first.get_parameters()]
    monitor = telltale.watch({"one": first, "two": second}, optimizers, WEIGHTS, sinks=[sink])
    assert [parameter.name for parameter in first.get_parameters()] == names
    data = batches()
    for _ in range(2):
        for net, optimizer in zip((first, second), optimizers):
            _, gradients = ms.value_and_grad(loss_of(net), None, optimizer.parameters)(*next(data))
            optimizer(gradients)
    assert sink.steps(Kind.GRAD_REDUCED) == [0, 1]
    assert {name.split(".")[0] for name in sink.names(Kind.GRAD_REDUCED)} == {"one", "two"}
    assert monitor is telltale.current()
    telltale.finish()


def test_without_an_optimizer_one_sentence_says_what_to_do() -> None:
    sink = RecordingSink()
    monitor = TrainerMon(WEIGHTS, sinks=[sink])
    monitor.set_monitor(made(layers=1))
    assert [text for text in sink.sentences() if "watch(net, optimizer)" in text]
    monitor.close()


def test_gradients_that_do_not_fit_the_optimizer_are_said_and_training_decides() -> None:
    net, sink = made(layers=1), RecordingSink()
    optimizer = adamw(net)
    monitor = TrainerMon(WEIGHTS, sinks=[sink])
    monitor.set_monitor(net, optimizer)
    with pytest.raises(Exception):  # noqa: B017 - MindSpore's own
        optimizer(())
    assert any("was called with 0 gradients" in text for text in sink.sentences())
    monitor.close()


def test_metrics_are_logged_and_read_in_the_loop() -> None:
    net, sink = made(layers=1), RecordingSink()
    optimizer = adamw(net)
    monitor = telltale.watch(net, optimizer, {"wg_distribution": True, "format": "api"}, sinks=[sink])
    train(net, optimizer, 2, after=lambda step, loss: telltale.log({"loss": loss, "many": ops.ones(3)}, step=step))
    reduced, unreduced = monitor.generate_wgrad_metrics()
    assert set(reduced) and len(unreduced) == len(reduced)
    [tag] = [tag for tag in reduced if "head.weight" in tag]
    assert tag == "0:head.weight/rank0/post_grad" and reduced[tag]["norm"] > 0
    assert any("'many' is a tensor of 3 elements" in text for text in sink.sentences())
    telltale.finish()


def test_an_alert_names_the_gradient_and_the_step(tmp_path: Path) -> None:
    config: dict[str, Any] = {
        "wg_distribution": True,
        "format": "csv",
        "alert": {"rules": [{"rule_name": "AnomalyNan", "args": {"threshold": 1e10}}], "dump": True},
    }
    net = made(layers=1)
    optimizer = adamw(net)
    monitor = TrainerMon(json.dumps(config))
    monitor.set_monitor(net, optimizer)
    gradients_of, data = ms.value_and_grad(loss_of(net), None, optimizer.parameters), batches()
    for step in range(4):
        _, gradients = gradients_of(*next(data))
        if step == 2:
            values = gradients[3].asnumpy().copy()
            values.flat[0] = np.nan
            gradients = gradients[:3] + (ms.Tensor(values),) + gradients[4:]
        optimizer(gradients)
    monitor.close()
    [path] = tmp_path.rglob("anomaly.json")
    found = json.loads(path.read_text("utf-8"))
    first = min(found.values(), key=lambda entry: entry["step"])
    assert first["step"] == 2 and optimizer.parameters[3].name in first["tag_name"]
