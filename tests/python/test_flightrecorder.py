# SPDX-License-Identifier: GPL-3.0-or-later
"""telltale.flight_recorder: what is kept, what makes it go out, and what becomes of a training."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tables
import torch
import torch.nn as nn
from models import TRAININGS
from recording import RecordingSink
from serving import Server
from telltale import configfile, flightrecorder
from telltale.config import MonitorConfig
from telltale.dispatch import Dispatcher
from telltale.flightrecorder import FlightRecorder
from telltale.kinds import Kind
from telltale.measure import Measurer, torch_stats
from telltale.pytorch import TrainerMon
from telltale.series import PRESENT, STATS, Frame, SeriesDesc, SeriesTable
from telltale.slots import Role, Slot

KEPT = [Kind.PARAM_ORIGIN, Kind.PARAM_UPDATED, Kind.ACTV, Kind.ACTV_GRAD, Kind.EXP_AVG, Kind.EXP_AVG_SQ]
GRADIENTS = [Kind.GRAD_UNREDUCED, Kind.GRAD_REDUCED]


class DashboardSink(RecordingSink):
    """Has what a dashboard would have of a run: what was sent, and what the recorder sent afterwards."""

    takes_kept = True

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Frame] = []
        self.asked: str | None = None
        self.room = 1_000_000  # steps

    def write_kept(self, frame: Frame) -> bool:
        if not self.room:
            return False
        self.room -= 1
        self.kept.append(frame)
        return True

    def recorder_asked(self) -> str | None:
        asked, self.asked = self.asked, None
        return asked

    def kept_steps(self, kind: Kind) -> list[int]:
        return [frame.step for frame in self.kept if any(shot.kind is kind for shot in frame.tables)]

    def recorder_says(self) -> list[str]:
        return [text for text in self.sentences() if "flight recorder" in text or "flight_recorder" in text]


class Training:
    """A small one whose config sends gradients alone."""

    def __init__(self, own: Any = 8, sink: RecordingSink | None = None, **config: Any) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)
        self.sink = sink if sink is not None else DashboardSink()
        document = {"wg_distribution": True, "telltale": {"flight_recorder": own}, **config}
        self.monitor = TrainerMon(document, sinks=[self.sink])
        self.monitor.set_monitor(self.model, optimizer=self.optimizer)

    @property
    def dashboard(self) -> DashboardSink:
        assert isinstance(self.sink, DashboardSink)
        return self.sink

    def run(self, steps: int, spoil: Any = None) -> None:
        for _ in range(steps):
            self.optimizer.zero_grad()
            loss = self.model(torch.randn(5, 4)).square().mean()
            loss.backward()
            if spoil is not None:
                spoil()
            self.optimizer.step()

    def spoil(self) -> None:
        with torch.no_grad():
            self.model[2].bias.grad[0] = float("nan")

    def mend(self) -> None:
        self.model[2].bias.data.zero_()
        self.optimizer.state[self.model[2].bias]["exp_avg"].zero_()
        self.optimizer.state[self.model[2].bias]["exp_avg_sq"].zero_()


CASES = json.loads((Path(__file__).parents[1] / "data" / "flightrecorder.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_rules_that_both_agents_have(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    sink = DashboardSink()
    dispatcher = Dispatcher([sink], print)
    table = SeriesTable(Kind.ACTV, capacity=8)
    table.add(SeriesDesc("a", Slot(Role.OUTPUT)))
    each = STATS.itemsize + flightrecorder.ROW_BYTES
    monkeypatch.setattr(flightrecorder, "MOST_BYTES", case.get("room", 1_000_000) * each + 1)
    kept = MonitorConfig(xy_distribution=True, flight_recorder=case["keeps"])
    recorder = dispatcher.recorder = flightrecorder.FlightRecorder(kept, dispatcher, lambda: [table])
    step = 0
    for part in case["script"]:
        for _ in range(part["steps"]):
            if not part.get("skipped"):
                bad = int(part.get("broken", False))
                table.results[0]["flags"], table.results[0]["numel"] = PRESENT, 4
                table.results[0]["nans"], table.results[0]["finite"] = bad, 4 - bad
            sink.asked = part.get("asked")
            assert recorder.take(step, [table]) == []
            table.clear()
            recorder.step_ends(step)
            step += 1
    recorder.close()
    steps, told = [], []
    for one in case["sent"]:
        first, last = one["first"], one["last"]
        steps += one.get("steps", range(first, last + 1))
        span = f"step {first}" if first == last else f"steps {first} to {last}"
        span += f" ({len(one['steps'])} of them)" if "steps" in one else ""
        told.append(f"the flight recorder sends {span} of actv, actv_grad: {one['why']}")
    assert sink.kept_steps(Kind.ACTV) == steps
    assert [text for text in sink.recorder_says() if "sends" in text] == told


def test_what_the_config_sends_is_sent_and_the_rest_is_kept_until_a_value_breaks() -> None:
    training = Training(own=8)
    training.run(20)
    sink = training.dashboard
    assert sink.kept == [] and not sink.recorder_says()
    assert [kind for kind in KEPT if sink.steps(kind)] == [], "what is kept was sent"
    for kind in GRADIENTS:
        assert sink.steps(kind) == list(range(20))
    training.run(1, training.spoil)
    training.run(3)
    for kind in KEPT:
        assert sink.kept_steps(kind)[:8] == list(range(13, 21)), kind.word
    assert [kind for kind in GRADIENTS if sink.kept_steps(kind)] == [], "it was sent twice"
    sentence = sink.recorder_says()[0]
    assert "sends steps 13 to 20 of" in sentence and "actv" in sentence
    assert "grad_reduced of 2.bias is not finite at step 20" in sentence
    names = {
        f"{desc.name} {desc.slot}" for shot in sink.kept[-1].tables for desc in shot.series if shot.kind is Kind.ACTV
    }
    assert names == {f"{n} {side}" for n in ("0", "1", "2", "") for side in ("input", "output")}


def test_what_is_kept_is_what_a_config_that_sends_it_would_have_sent() -> None:
    def values(frame: Frame) -> dict[Any, bytes]:
        return {
            (shot.kind, desc): shot.values[i].tobytes()
            for shot in frame.tables
            if shot.kind in KEPT
            for i, desc in enumerate(shot.series)
        }

    kept = Training(own=8)
    kept.run(6)
    kept.dashboard.asked = "somebody wants it"
    kept.run(1)
    kept.monitor.close()
    every = {name: True for name in ("wg_distribution", "param_distribution", "mv_distribution", "xy_distribution")}
    sent = Training(own=0, **every)
    sent.run(7)
    assert [values(frame) for frame in kept.dashboard.kept] == [values(frame) for frame in sent.sink.frames]
    assert "somebody wants it" in kept.dashboard.recorder_says()[0]


def test_after_a_trip_it_rearms_and_sends_only_what_is_new() -> None:
    training = Training(own=8)
    training.run(10)
    training.dashboard.asked = "first"
    training.run(1)
    training.run(3)
    training.dashboard.asked = "second"
    training.run(1)
    training.dashboard.asked = "third"
    training.run(20)
    assert training.dashboard.kept_steps(Kind.ACTV) == [*range(3, 11), *range(11, 15), 15]
    steps = [frame.step for frame in training.dashboard.kept]
    assert len(set(steps)) == len(steps)


def test_what_stays_broken_is_one_reason_and_breaks_again_only_after_it_was_whole() -> None:
    training = Training(own=4)
    training.run(6)
    training.run(1, training.spoil)
    training.run(10)  # everything is NaN by now
    says = training.dashboard.recorder_says()
    assert len(says) == 3, says  # the gradient, the loss and all weights, all activations
    training.run(20)
    assert training.dashboard.recorder_says() == says
    training.mend()
    for parameter in training.model.parameters():
        parameter.data.nan_to_num_(0.1)
        for moment in ("exp_avg", "exp_avg_sq"):
            training.optimizer.state[parameter][moment].nan_to_num_(0.0)
    training.run(6)
    training.run(1, training.spoil)
    assert len(training.dashboard.recorder_says()) == 4


def test_a_metric_that_is_not_finite_is_a_reason() -> None:
    training = Training(own=4)
    training.run(6)
    training.monitor.log({"loss": float("inf")})
    training.run(1)
    assert "the metric loss is not finite at step 5" in training.dashboard.recorder_says()[0]
    assert training.dashboard.kept_steps(Kind.ACTV) == [3, 4, 5, 6]


def test_a_step_that_is_given_up_is_a_reason() -> None:
    training = Training(own=4)
    training.run(6)
    training.optimizer.zero_grad()
    training.model(torch.full((5, 4), float("inf"))).square().mean().backward()
    training.optimizer.zero_grad(set_to_none=True)  # as a loss scaler has it
    training.run(1)
    [sentence] = training.dashboard.recorder_says()
    assert "step 6 was tried and given up" in sentence
    assert training.dashboard.kept_steps(Kind.ACTV) == [3, 4, 5, 6]


def test_a_training_that_ends_with_an_error_sends_what_is_kept_and_one_that_ends_well_does_not() -> None:
    for reason, steps in (("error", [2, 3, 4, 5]), ("finished", [])):
        training = Training(own=4)
        training.run(6)
        training.monitor.close(reason)
        assert training.dashboard.kept_steps(Kind.ACTV) == steps


def test_a_stream_without_room_gets_it_later_and_in_order() -> None:
    training = Training(own=8)
    training.run(10)
    sink = training.dashboard
    sink.asked, sink.room = "now", 1
    training.run(1)
    assert sink.kept_steps(Kind.ACTV) == [3]
    training.run(1)
    sink.room = 5
    training.run(1)
    assert sink.kept_steps(Kind.ACTV) == [3, 4, 5, 6, 7], "no more than some at once"
    sink.room = 100
    training.monitor.close()
    assert sink.kept_steps(Kind.ACTV) == list(range(3, 11))


def test_memory_is_bounded_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flightrecorder, "MOST_BYTES", 20_000)
    training = Training(own=32)
    training.run(10)
    [sentence] = training.dashboard.recorder_says()
    assert "instead of 32" in sentence
    engine = training.monitor.engine
    assert engine is not None and engine.recorder is not None
    assert 0 < engine.recorder._bytes <= 20_000
    training.dashboard.asked = "now"
    training.run(3)
    steps = training.dashboard.kept_steps(Kind.ACTV)
    assert 1 < len(steps) < 10 and steps[-1] == 10


def test_every_step_is_kept_where_the_config_sends_few() -> None:
    training = Training(own=4, step_interval=10)
    training.run(16)
    training.dashboard.asked = "now"
    training.run(1)
    assert training.dashboard.kept_steps(Kind.ACTV) == [13, 14, 15, 16]
    assert training.sink.steps(Kind.GRAD_REDUCED) == [0, 10]
    assert training.dashboard.kept_steps(Kind.GRAD_REDUCED) == [], "its series go on with step 20"


def test_ranks_that_send_nothing_keep_everything_and_targets_hold() -> None:
    training = Training(own=4, module_ranks=[3], targets={"2": {}})
    training.run(6)
    training.dashboard.asked = "now"
    training.run(1)
    assert training.sink.steps(Kind.GRAD_REDUCED) == []
    for kind in [*KEPT, *GRADIENTS]:
        assert training.dashboard.kept_steps(kind) == [3, 4, 5, 6], kind.word
    names = {desc.name for frame in training.dashboard.kept for shot in frame.tables for desc in shot.series}
    assert names == {"2", "2.weight", "2.bias"}


def test_it_is_off_unless_it_is_asked_for_and_says_where_it_can_keep_nothing() -> None:
    for own in (0, False):
        training = Training(own=own)
        training.run(3)
        engine = training.monitor.engine
        assert engine is not None and engine.recorder is None
    training = Training(own=True, sink=RecordingSink())
    training.run(3)
    assert any("nothing is kept" in text for text in training.sink.sentences())
    everything = {**configfile.EVERYTHING, "telltale": {"attention_hook": True, "flight_recorder": True}}
    training = Training(**everything)
    training.run(3)
    assert "the config sends all that it would keep" in training.dashboard.recorder_says()[0]


def test_true_is_32_steps() -> None:
    assert configfile.load({"telltale": {"flight_recorder": True}}).config.flight_recorder == 32
    assert configfile.load({"telltale": {"flight_recorder": 5}}).config.flight_recorder == 5
    assert configfile.load({}).config.flight_recorder == 0


def test_another_config_sends_what_is_on_its_way_and_begins_anew() -> None:
    training = Training(own=8)
    training.run(10)
    training.dashboard.asked, training.dashboard.room = "now", 0
    training.run(1)
    training.dashboard.room = 5
    document = {"wg_distribution": True, "xy_distribution": True, "telltale": {"flight_recorder": 4}}
    training.monitor.apply(configfile.load(document))
    assert training.dashboard.kept_steps(Kind.ACTV) == list(range(3, 8))
    assert "3 of the steps" in training.dashboard.recorder_says()[-1], "which it does not wait with"
    training.dashboard.room = 100
    training.run(6)
    training.dashboard.asked = "again"
    training.run(1)
    assert training.dashboard.kept_steps(Kind.ACTV) == list(range(3, 8)), "it is sent now"
    assert training.dashboard.kept_steps(Kind.EXP_AVG)[-4:] == [14, 15, 16, 17]
    assert training.sink.steps(Kind.ACTV) == list(range(11, 18))


def test_what_comes_from_a_device_is_kept_and_sent_off_the_training_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def later(self: Measurer, tensor: Any, table: Any, row: int) -> str:
        self.later(table, row, torch_stats(tensor, self.eps))
        return ""

    def batch(self: Measurer, tensors: Any, table: Any, first: int = 0) -> list[Any]:
        for row, tensor in enumerate(tensors, first):
            if tensor is not None:
                self.later(table, row, torch_stats(tensor, self.eps))
        return []

    monkeypatch.setattr(Measurer, "one", later)
    monkeypatch.setattr(Measurer, "batch", batch)
    training = Training(own=8)
    training.run(20)
    training.run(1, training.spoil)
    assert training.monitor.flush(10)
    # The end of the next step sends what is kept; the step's own results arrive after it.
    is_over = threading.Event()
    ends, take = FlightRecorder.step_ends, FlightRecorder.take_frame
    monkeypatch.setattr(FlightRecorder, "step_ends", lambda self, step: (ends(self, step), is_over.set()))
    monkeypatch.setattr(FlightRecorder, "take_frame", lambda self, frame: is_over.wait(10) and take(self, frame))
    training.run(1)
    training.monitor.close()
    sink = training.dashboard
    for kind in KEPT:
        assert sink.kept_steps(kind)[:8] == list(range(13, 21)), kind.word
        assert sink.steps(kind) == []
    assert sink.steps(Kind.GRAD_REDUCED) == list(range(22)) and sink.kept_steps(Kind.GRAD_REDUCED) == []
    assert "grad_reduced of 2.bias is not finite at step 20" in sink.recorder_says()[0]


def test_what_is_late_of_another_config_is_a_reason_and_is_not_kept() -> None:
    sink = DashboardSink()
    dispatcher = Dispatcher([sink], print)
    late, own = (tables.table(Kind.ACTV, [(SeriesDesc(name), [float("nan")])]) for name in ("then", "now"))
    kept = MonitorConfig(xy_distribution=True, flight_recorder=4)
    recorder = dispatcher.recorder = FlightRecorder(kept, dispatcher, lambda: [own])
    dispatcher.deliver(tables.frame(0, late), None)
    dispatcher.deliver(tables.frame(1, own), recorder)
    recorder.step_ends(2)
    assert sink.steps(Kind.ACTV) == [0] and sink.kept_steps(Kind.ACTV) == [1]
    [said] = sink.recorder_says()
    assert "actv of then is not finite at step 0" in said


def test_an_error_of_its_own_ends_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: Any) -> None:
        raise ValueError("no such row")

    training = Training(own=4)
    training.run(3)
    monkeypatch.setattr(flightrecorder.FlightRecorder, "_keep", breaks)
    training.run(5)
    [sentence] = training.dashboard.recorder_says()
    assert "no such row" in sentence
    assert training.sink.steps(Kind.GRAD_REDUCED) == list(range(8)) and training.sink.steps(Kind.ACTV) == []


@pytest.mark.parametrize("name", TRAININGS)
def test_a_training_ends_in_the_same_bits(name: str) -> None:
    torch.set_num_threads(1)
    sink = DashboardSink()

    def watch(model: Any, optimizers: list[Any], micros: int) -> TrainerMon:
        monitor = TrainerMon({"telltale": {"flight_recorder": 4}}, sinks=[sink])
        monitor.set_monitor(model, optimizer=optimizers, grad_acc_steps=micros)
        sink.asked = "now"
        return monitor

    bare = TRAININGS[name].run(0, 12)
    assert TRAININGS[name].run(0, 12, watch) == bare
    assert sink.kept_steps(Kind.ACTV) and sink.kept_steps(Kind.GRAD_REDUCED)
    assert not [text for text in sink.sentences() if "internal error" in text]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path / "data")
    yield server
    server.kill()


def watched(join: str, own: dict[str, Any], model: nn.Module | None = None, **config: Any) -> Training:
    training = Training.__new__(Training)
    torch.manual_seed(0)
    training.model = model if model is not None else nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    training.optimizer = torch.optim.Adam(training.model.parameters(), lr=0.01)
    training.monitor = TrainerMon({"wg_distribution": True, "telltale": own, **config}, agent={"join": join})
    training.monitor.set_monitor(training.model, optimizer=training.optimizer)
    return training


def steps_of(server: Server, series: str, kind: str) -> list[int]:
    """Steps with a value in what `telltale show` says."""
    [found] = [one for one in server.show(series) if one["kind"] == kind]
    return [
        value["step"] for value in found["values"] if value.get("state", "value") not in ("absent", "not collected")
    ]


def test_a_server_stores_what_the_recorder_sends_at_its_own_steps(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "telltale")
    training = watched(server.join, {"flight_recorder": 8})
    training.run(40)
    training.run(1, training.spoil)
    training.run(9)
    assert training.monitor.flush(20)
    counters = training.monitor.counters()
    training.monitor.close()
    assert counters["dropped"] == 0
    assert server.stop() == 0
    assert steps_of(server, "2:output", "actv")[:8] == list(range(33, 41))
    assert steps_of(server, "2.weight", "grad_reduced") == list(range(50))


def test_an_incident_that_the_server_finds_brings_what_is_kept(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "telltale")
    training = watched(server.join, {"flight_recorder": 16})
    training.run(150)
    training.optimizer.param_groups[0]["lr"] *= 50  # finite all the way: nothing breaks here
    end = time.monotonic() + 60
    while time.monotonic() < end and not [r for r in caplog.records if "flight recorder" in r.message]:
        training.run(1)
    training.run(10)
    assert training.monitor.flush(20)
    training.monitor.close()
    assert server.stop() == 0
    [first, *_] = [event for event in server.log("log") if event.get("rule") == "flight_recorder"]
    data = first["data"]
    assert data["why"].startswith("First abnormal: step") and server.log("incident")
    assert steps_of(server, "2:output", "actv")[: data["steps"]] == list(range(data["first"], data["last"] + 1))


def test_the_judge_sees_what_the_recorder_sends(server: Server) -> None:
    """A NaN that never reaches what the config sends."""

    class Masked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(4, 8)
            self.outer = nn.Linear(8, 2)
            self.spoils = False

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if self.spoils:
                x = x.clone()
                x[0, 0] = float("nan")
            return self.outer(torch.nan_to_num(self.inner(x)))

    training = watched(server.join, {"flight_recorder": 8}, Masked(), wg_distribution=False, param_distribution=True)
    training.run(30)
    training.model.spoils = True
    for _ in range(30):
        training.optimizer.zero_grad()
        training.model(torch.randn(5, 4)).detach().square().mean()
        training.model.spoils = False
        training.model.outer(torch.randn(5, 8)).square().mean().backward()
        training.optimizer.step()
    assert training.monitor.flush(20)
    training.monitor.close()
    end = time.monotonic() + 30
    while time.monotonic() < end and not server.log("incident"):
        pass
    assert server.stop() == 0
    sentences = [event["text"] for event in server.log("incident")]
    assert any("step 30" in text and "inner:input" in text for text in sentences), sentences
