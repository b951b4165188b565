# SPDX-License-Identifier: GPL-3.0-or-later
"""watch() without an optimizer, with one that is made anew, of several models; what it is told that it cannot use."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import telltale
import torch
from ranks import Recorder, assert_bitwise, state_of
from telltale.kinds import Kind
from torch import nn

CONFIG = {"wg_distribution": True, "mv_distribution": True, "param_distribution": True, "xy_distribution": True}


def _model(seed: int = 0) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))


def _train(model: nn.Module, optimizer: Any, steps: int) -> None:
    x = torch.randn(16, 4, generator=torch.Generator().manual_seed(1))
    for _ in range(steps):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()


def test_the_optimizer_that_steps_the_model_is_found_and_measured_from_its_first_step_on() -> None:
    given, found = Recorder(), Recorder()
    for recorder, is_given in ((given, True), (found, False)):
        model = _model()
        optimizer = torch.optim.Adam(model.parameters(), 0.01)
        telltale.watch(model, *([optimizer] if is_given else []), config=CONFIG, sinks=[recorder])
        _train(model, optimizer, 3)
        telltale.finish()
    for kind in (Kind.GRAD_UNREDUCED, Kind.GRAD_REDUCED, Kind.PARAM_UPDATED, Kind.EXP_AVG, Kind.ACTV):
        for step in range(3):
            mine = {(d.name, d.slot): v.tobytes() for d, v in found.found(kind, step)}
            assert mine == {(d.name, d.slot): v.tobytes() for d, v in given.found(kind, step)}, (kind, step)
    assert found.scalars(0)["lr"] == 0.01


def test_an_optimizer_made_anew_after_watch_is_watched_and_said(capfd: pytest.CaptureFixture[str]) -> None:
    recorder, model = Recorder(), _model()
    telltale.watch(model, torch.optim.SGD(model.parameters(), 0.01), config=CONFIG, sinks=[recorder])
    again = torch.optim.Adam(model.parameters(), 0.01)
    _train(model, again, 2)
    anew = torch.optim.SGD(model.parameters(), 0.5)  # and in the middle of the training
    _train(model, anew, 2)
    telltale.finish()
    assert [recorder.names(Kind.GRAD_REDUCED, step) for step in range(4)] == [recorder.names(Kind.GRAD_REDUCED, 0)] * 4
    assert recorder.names(Kind.GRAD_REDUCED, 0) == {"0.weight", "0.bias", "2.weight", "2.bias"}
    assert recorder.scalars(3)["lr"] == 0.5
    said = capfd.readouterr().err
    assert said.count("another optimizer than the one that watch() was given steps the parameters") == 1


def test_adopting_changes_no_bit() -> None:
    bare = _model()
    _train(bare, torch.optim.Adam(bare.parameters(), 0.01), 5)
    model = _model()
    telltale.watch(model, config=CONFIG, sinks=[Recorder()])
    _train(model, torch.optim.Adam(model.parameters(), 0.01), 5)
    telltale.finish()
    assert_bitwise(state_of(bare), state_of(model), "adopted")


def test_another_models_optimizer_is_not_adopted() -> None:
    recorder, model, other = Recorder(), _model(), _model(1)
    telltale.watch(model, config=CONFIG, sinks=[recorder])
    _train(other, torch.optim.SGD(other.parameters(), 0.01), 3)
    assert telltale.current() is not None and telltale.current().step == 0
    _train(model, torch.optim.SGD(model.parameters(), 0.01), 2)
    assert telltale.current().step == 2
    telltale.finish()


def test_a_training_without_a_step_says_that_nothing_is_stored(capfd: pytest.CaptureFixture[str]) -> None:
    model = _model()
    telltale.watch(model, torch.optim.SGD(model.parameters(), 0.01), config=CONFIG, sinks=[Recorder()])
    model(torch.ones(2, 4)).sum().backward()
    telltale.finish()
    assert "no optimizer has stepped the watched parameters" in capfd.readouterr().err


def test_models_given_by_name_have_it_in_front_of_theirs(capfd: pytest.CaptureFixture[str]) -> None:
    recorder, first, second = Recorder(), _model(), _model(1)
    optimizers = [torch.optim.SGD(first.parameters(), 0.01), torch.optim.SGD(second.parameters(), 0.01)]
    telltale.watch({"generator": first, "discriminator": second}, optimizers, config=CONFIG, sinks=[recorder])
    for _ in range(2):
        for model, optimizer in zip((first, second), optimizers, strict=True):
            _train(model, optimizer, 1)
    telltale.finish()
    for step in range(2):
        names = recorder.names(Kind.GRAD_REDUCED, step)
        assert {"generator.0.weight", "discriminator.0.weight"} <= names and len(names) == 8
        assert {"generator.0", "discriminator.2"} <= recorder.names(Kind.ACTV, step)
    assert "telltale:" not in capfd.readouterr().err


def test_what_watch_cannot_use_is_one_sentence_each(capfd: pytest.CaptureFixture[str]) -> None:
    model = _model()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    telltale.watch(model, optimizer, config={"lr": 1e-3}, grad_acc_step=4, sinks=[Recorder()])
    _train(model, optimizer, 2)
    telltale.finish()
    said = capfd.readouterr().err
    assert "watch() has no argument 'grad_acc_step'; did you mean grad_acc_steps?" in said
    assert said.count("the config selects no tensor of this model") == 1


def test_log_takes_nested_dicts_and_says_what_it_cannot_take(capfd: pytest.CaptureFixture[str]) -> None:
    recorder, model = Recorder(), _model()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    telltale.watch(model, optimizer, config=CONFIG, sinks=[recorder])
    _train(model, optimizer, 1)
    telltale.log({"loss": {"ce": 1.5, "aux": {"z": 2}}, "text": "x", "vector": torch.ones(3)})
    telltale.log(3)  # type: ignore[arg-type]
    telltale.finish()
    scalars = recorder.scalars(0)
    assert scalars["loss/ce"] == 1.5 and scalars["loss/aux/z"] == 2
    said = capfd.readouterr().err
    assert "the metric 'text' is str, not a number" in said
    assert "the metric 'vector' is a tensor of 3 elements, not a number" in said
    assert 'log() takes a dict, as {"loss": 2.31}, not int' in said


@pytest.mark.parametrize(
    ("ending", "reason"),
    [("sys.exit(3)", "error"), ("sys.exit()", "finished"), ("sys.exit(0)", "finished"), ("pass", "finished"),
     ("sys.exit('no data')", "error"), ("raise ValueError", "error")],
)  # fmt: skip
def test_how_a_training_ends_is_kept(ending: str, reason: str) -> None:
    code = (
        "import sys, torch, telltale\n"
        "from telltale.sinks import Sink\n"
        "class Ends(Sink):\n"
        "    def close(self, reason): print(reason)\n"
        "model = torch.nn.Linear(2, 1)\n"
        "optimizer = torch.optim.SGD(model.parameters(), 0.1)\n"
        "telltale.watch(model, optimizer, sinks=[Ends()])\n"
        "model(torch.ones(1, 2)).sum().backward(); optimizer.step()\n" + ending
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.stdout.strip() == reason
    assert done.returncode == {"sys.exit(3)": 3}.get(ending, 1 if reason == "error" else 0)


class _Agent:
    """What the stream sink sees of the native agent."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.events: list[str] = []
        self.blobs: dict[str, bytes] = {}

    def add_layout(self, _kind: int, _stats: Any, descs: Any) -> int:
        self.names += [desc.name for desc in descs]
        return len(self.names)

    def event(self, _kind: str, _step: int, text: str, _document: str = "{}", _rule: str = "") -> bool:
        self.events.append(text)
        return True

    def blob(self, kind: str, _name: str, _step: int, data: bytes) -> bool:
        self.blobs[kind] = data
        return True


def test_the_dashboard_sees_names_without_wrappers_and_a_table_of_them() -> None:
    from telltale.series import SeriesDesc, SeriesTable
    from telltale.sinks.stream import StreamSink

    sink, agent = StreamSink(), _Agent()
    sink.agent = agent  # type: ignore[assignment]
    table = SeriesTable(Kind.GRAD_REDUCED)
    for name in ("module._orig_mod.fc.weight", "module.out.bias", "out.bias", "plain.bias"):
        table.add(SeriesDesc(name, numel=1))
    metrics = SeriesTable(Kind.SCALAR, (), 4)
    metrics.add(SeriesDesc("module.loss", numel=1))
    sink.know(table)
    sink.know(metrics)
    # What would take another one's name keeps its own, and a metric is called as the user called it.
    assert agent.names == ["fc.weight", "module.out.bias", "out.bias", "plain.bias", "module.loss"]
    assert json.loads(agent.blobs["names"]) == {"module._orig_mod.fc.weight": "fc.weight"}
    assert agent.events == ["names are shown without what wrappers put into them: _orig_mod, module"]


def test_the_structure_has_the_wrapped_model_in_the_wrappers_place() -> None:
    from telltale.pytorch.structure import structure_json

    class Wrapper(nn.Module):
        def __init__(self, module: nn.Module) -> None:
            super().__init__()
            self.module = module

    wrapped, plain = json.loads(structure_json(Wrapper(_model()))), json.loads(structure_json(_model()))
    assert wrapped == plain


def test_a_run_that_is_named_again_goes_on_however_it_ended(tmp_path: Path) -> None:
    from serving import Server

    server = Server(tmp_path / "data")
    for attempt in range(2):
        model = _model()
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        with telltale.run(run_id="baseline-7"):
            options = {"join": server.join, "spool_dir": str(tmp_path / "spool")}
            telltale.watch(model, optimizer, CONFIG, start_step=attempt * 3, **options)
            _train(model, optimizer, 3)
    assert server.stop() == 0
    run = server.inspect()  # one capsule
    assert (run["first_step"], run["last_step"]) == (0, 5)
    assert [(source["attempt"], source["state"]) for source in run["sources"]] == [(0, "finished"), (1, "finished")]
