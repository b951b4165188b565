# SPDX-License-Identifier: GPL-3.0-or-later
"""What the stream takes in is stored or counted as dropped, whatever its names and numbers."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tables
import torch
from eventreader import read_events
from recording import RecordingSink
from serving import Server
from telltale import configfile, deviceworker
from telltale.bins import BINS, OCTAVES
from telltale.config import MonitorConfig
from telltale.dispatch import Dispatcher
from telltale.kinds import Kind, Stat
from telltale.pytorch import TrainerMon
from telltale.pytorch.framework import PyTorch
from telltale.series import Frame, SeriesDesc, SeriesTable, TableSnapshot, is_histogram, samples_each
from telltale.sinks.base import RunContext, Sink
from telltale.sinks.stream import StreamSink
from telltale.sinks.tensorboard import TensorBoardSink

LONG = "损" * 400  # 1200 bytes: a cut at the 1024th tears a character


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    running = Server(tmp_path / "data")
    yield running
    if running.process.poll() is None:
        running.kill()


def opened(server: Server) -> StreamSink:
    sink = StreamSink(join=server.join, run_id="ledger")
    sink.open(RunContext(MonitorConfig(), rank=0, world_size=1))
    return sink


def counted(sink: StreamSink) -> dict[str, int]:
    assert sink.agent is not None and sink.agent.flush(20)
    return sink.agent.counters()


def test_names_of_any_length_and_content_are_stored(server: Server) -> None:
    sink = opened(server)
    names = [LONG, LONG + "a", "with\0nul", "lone \ud800 surrogate", "plain"]
    for step in range(10):
        sink.write_late(step, dict.fromkeys(names, float(step)))
    sink.event("k\0" * 2000, 1, LONG * 100)
    sink.blob(LONG, LONG, 1, b"bytes")
    counters = counted(sink)
    sink.close("finished")
    assert counters["scalars_produced"] == counters["scalars_acked"] == 10 * len(names)
    assert server.stop() == 0
    inspected = server.inspect()
    assert inspected["series"] == len(names) and inspected["dropped"] == []


def test_the_log_names_the_rule_that_an_event_comes_from(server: Server) -> None:
    sink = opened(server)
    sink.event("anomaly", 3, "out of bounds", '{"op": "norm"}', "AnomalyTurbulence")
    sink.event("anomaly", 4, "64 more alerts")
    sink.close("finished")
    assert server.stop() == 0
    first, second = server.log("anomaly")
    assert (first["rule"], first["step"], first["data"]) == ("AnomalyTurbulence", 3, {"op": "norm"})
    assert "rule" not in second and second["data"] == {}


def test_metrics_beyond_the_most_are_counted_and_told_once(server: Server, capfd: pytest.CaptureFixture[str]) -> None:
    sink = opened(server)
    for step in range(2):
        sink.write_late(step, {f"metric_{i}": 1.0 for i in range(4200)})
    counters = counted(sink)
    sink.close("finished")
    assert counters["scalars_produced"] == 2 * 4200
    assert counters["scalars_dropped"] == 2 * (4200 - 4096)
    assert counters["scalars_acked"] == 2 * 4096
    told = capfd.readouterr().err
    assert told.count("more than 4096 metric names") == 1
    assert "208 of 8400 metrics were not stored: no series could be added for them (208)" in told
    assert server.stop() == 0
    assert sum(drop["items"] for drop in server.inspect()["dropped"]) == 208


def test_series_beyond_the_most_of_a_stream_are_counted(server: Server) -> None:
    sink = opened(server)
    table = SeriesTable(Kind.ACTV)
    for i in range(204_800):
        table.add(SeriesDesc(f"s{i}", numel=1))
    rows = np.array([0, 204_799])
    table.flags[rows] = 1
    sink.write_tables(0, [table])
    shot = table.snapshot()
    assert shot is not None
    sink.write(Frame(1, [shot]))
    counters = counted(sink)
    sink.close("finished")
    assert counters["produced"] == 24 and counters["dropped"] == 12 and counters["acked"] == 12


def test_the_last_word_of_another_sink_reaches_the_stream(server: Server) -> None:
    class LastWord(Sink):
        def close(self, reason: str) -> None:
            dispatcher.event("log", 3, "the last word")

    stream = opened(server)
    dispatcher = Dispatcher([stream, LastWord()], print)
    dispatcher.close("finished")
    assert server.stop() == 0
    assert server.inspect()["events"] == 1


class _Job:
    """A training of two equal layers, to a server and to a sink that keeps what was measured. Its results wait for
    `is_slow` on the worker."""

    def __init__(self, server: Server, patch: pytest.MonkeyPatch, config: dict[str, Any], *sinks: Sink) -> None:
        self.is_slow = threading.Event()
        arrive = deviceworker._Step.arrive_somehow

        def late(step: Any) -> str:
            self.is_slow.wait(20)
            return arrive(step)

        self._patch = patch
        patch.setattr(deviceworker._Step, "arrive_somehow", late)
        patch.setattr(PyTorch, "number", lambda _self, value: None)
        patch.setattr(PyTorch, "on_device", lambda _self, value: value.detach().reshape(1).double())
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(*(torch.nn.Linear(5, 5, bias=False) for _ in range(2)))
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.stream, self.kept = StreamSink(join=server.join, run_id="late"), RecordingSink()
        self.monitor = TrainerMon(config, sinks=[self.stream, self.kept, *sinks])
        self.monitor.set_monitor(self.model, optimizer=self.optimizer)

    def steps(self, count: int) -> None:
        for _ in range(count):
            loss = self.model(torch.randn(4, 5, requires_grad=True)).square().mean()
            loss.backward()
            self.monitor.log({"loss": loss})
            self.optimizer.step()

    def end(self) -> dict[str, int]:
        """All results come. What the stream counted."""
        self.is_slow.set()
        assert self.monitor.flush(20)
        counters = counted(self.stream)
        self.monitor.close()
        self._patch.undo()
        return counters

    def shots(self) -> list[tuple[int, TableSnapshot]]:
        """Of each step, as they were measured."""
        return [(frame.step, shot) for frame in self.kept.frames for shot in frame.tables]


def samples_of(shots: Iterable[TableSnapshot]) -> int:
    return sum(samples_each(shot) * len(shot.rows) for shot in shots)


def config_of(listed: list[str]) -> dict[str, Any]:
    return {"ur_distribution": True, "telltale": {"histogram": listed}}


@pytest.mark.parametrize("first, then", [([], ["update"]), (["update"], [])])
def test_what_arrives_after_the_bins_have_changed_is_counted_and_goes_into_no_others(
    server: Server,
    first: list[str],
    then: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    job = _Job(server, monkeypatch, config_of(first))
    job.steps(3)  # the first finds no moments
    job.monitor.apply(configfile.load(config_of(then)))
    job.steps(2)
    counters = job.end()
    shots = job.shots()
    counts = {step: shot.values for step, shot in shots if shot.kind is Kind.UPDATE and is_histogram(shot)}
    assert list(counts) == [1, 2, 3, 4] and counts[2].shape != counts[3].shape
    assert counters["produced"] == samples_of(shot for _, shot in shots)
    assert counters["dropped"] == samples_of(shot for step, shot in shots if step < 3)
    assert counters["dropped"] > counts[1].size + counts[2].size
    assert counters["produced"] == counters["acked"] + counters["dropped"]
    told = "values of update came after another config had begun; they are dropped and counted"
    assert capfd.readouterr().err.count(told) == 1
    assert server.stop() == 0
    for row, name in enumerate(["0.weight", "1.weight"]):
        shown = [one for one in server.show(name) if one["kind"] == "update" and one["stat"] == "hist"]
        stored = {value["step"]: value["value"] for one in shown for value in one["values"]}
        assert stored == {step: counts[step][row].tolist() for step in (3, 4)}


def layer(number: int) -> dict[str, Any]:
    more = {"histogram": ["actv"]}
    return {"format": "tensorboard", "xy_distribution": True, "targets": {str(number): {}}, "telltale": more}


@pytest.mark.parametrize("is_watched_again", [False, True])
def test_what_arrives_after_the_targets_have_changed_gets_no_other_name(
    server: Server,
    is_watched_again: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MONITOR_OUTPUT_DIR", str(tmp_path))
    files = TensorBoardSink()
    job = _Job(server, monkeypatch, layer(0), files)
    job.steps(3)
    if is_watched_again:
        job.monitor._loaded = configfile.load(layer(1))
        job.monitor.set_monitor(job.model, optimizer=job.optimizer, start_iteration=3)
    else:
        job.monitor.apply(configfile.load(layer(1)))
    job.steps(2)
    counters = job.end()
    old, new = ([(step, shot) for step, shot in job.shots() if (step >= 3) is late] for late in (False, True))
    assert len(old) == 9 and len(new) == 6  # values, histograms and gradients
    assert {desc.name for _, shot in old for desc in shot.series} == {"0"}
    assert {desc.name for _, shot in new for desc in shot.series} == {"1"}
    assert all(shot.rows.tolist() == [0, 1] for _, shot in old + new)
    assert counters["produced"] == samples_of(shot for _, shot in old + new)
    assert counters["dropped"] == samples_of(shot for _, shot in old)
    assert counters["produced"] == counters["acked"] + counters["dropped"]
    said = capfd.readouterr().err
    for kind in ("actv", "actv_grad"):
        told = f"values of {kind} came after another config had begun; they are dropped and counted"
        assert said.count(told) == 1
    assert server.stop() == 0
    stored = {
        (one["kind"], one["stat"], one["slot"]): {value["step"]: value["value"] for value in one["values"]}
        for one in server.show("1")
    }
    measured: dict[tuple[str, str, str], dict[int, Any]] = {}
    for step, shot in new:
        values = shot.values.tolist() if is_histogram(shot) else shot.column("norm")
        stat = "hist" if is_histogram(shot) else "norm"
        for desc, value in zip(shot.series, values):
            measured.setdefault((shot.kind.word, stat, desc.slot.text), {})[step] = pytest.approx(value)
    assert stored == measured
    # Files take their names from each step itself, so there the late ones are kept, under their own.
    curves, _ = read_events(tmp_path)
    found = {(tag, step): value for (_, tag), curve in curves.items() for step, value in curve.items()}
    expected = {
        (f"0:{desc.name}.{desc.slot}:0/rank0/{shot.kind.word}_norm", step): value
        for step, shot in old + new
        if not is_histogram(shot)
        for desc, value in zip(shot.series, shot.column("norm"))
    }
    assert {key: value for key, value in found.items() if key[0].endswith("_norm")} == pytest.approx(expected)


def test_what_is_late_is_kept_by_the_recorder_of_its_own_config(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = _Job(server, monkeypatch, {"param_distribution": True})
    job.steps(3)
    ring = {"telltale": {"flight_recorder": 4}}
    job.monitor.apply(configfile.load(ring))
    job.steps(2)
    job.monitor.apply(configfile.load({"param_distribution": True}))
    job.steps(1)
    job.is_slow.set()
    assert job.monitor.flush(20)
    counters = counted(job.stream)
    job.monitor.close()
    shots = job.shots()
    assert {step for step, _ in shots} == {0, 1, 2, 5}  # of 3 and 4 all was kept
    assert counters["dropped"] == samples_of(shot for step, shot in shots if step < 3)
    assert counters["produced"] == counters["acked"] + counters["dropped"] == samples_of(shot for _, shot in shots)


def test_values_that_are_not_of_their_layouts_size_are_counted(
    server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    sink = opened(server)
    narrow, wide = (tables.table(Kind.UPDATE, [(SeriesDesc("w"), [1] * n)], (Stat.HIST,)) for n in (BINS, OCTAVES))
    sink.know(narrow)
    sink._parts[wide.key] = sink._parts[narrow.key]
    sink.write_tables(0, [wide])
    sink.write(tables.frame(1, wide))
    assert sink.write_kept(tables.frame(2, wide))
    sink.write_tables(3, [narrow])
    counters = counted(sink)
    sink.close("finished")
    assert counters["dropped"] == 3 * OCTAVES and counters["acked"] == BINS
    assert counters["produced"] == counters["acked"] + counters["dropped"]
    assert capfd.readouterr().err.count("a series has 127 of them where 32 are expected") == 1


def test_a_kept_step_that_waits_for_room_counts_what_it_lacks_once(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = opened(server)
    known = tables.table(Kind.UPDATE, [(SeriesDesc("w"), [1.0])])
    kept = tables.frame(0, tables.table(Kind.ACTV, [(SeriesDesc("w"), [1.0])]), known)
    sink.know(known)
    with monkeypatch.context() as patch:
        patch.setattr(sink, "_scatter", lambda *_: False)
        assert not any(sink.write_kept(kept) for _ in range(3))
    assert sink.write_kept(kept)
    counters = counted(sink)
    sink.close("finished")
    each = samples_each(known)
    assert (counters["produced"], counters["dropped"], counters["acked"]) == (2 * each, each, each)
