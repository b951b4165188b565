# SPDX-License-Identifier: GPL-3.0-or-later
"""What the stream takes in is stored or counted as dropped, whatever its names and numbers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tables
import torch
from recording import RecordingSink
from serving import Server
from telltale import configfile, deviceworker
from telltale.bins import BINS, OCTAVES
from telltale.config import MonitorConfig
from telltale.dispatch import Dispatcher
from telltale.kinds import Kind, Stat
from telltale.pytorch import TrainerMon
from telltale.pytorch.framework import PyTorch
from telltale.series import Frame, SeriesDesc, SeriesTable, is_histogram, samples_each
from telltale.sinks.base import RunContext, Sink
from telltale.sinks.stream import StreamSink

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
    """A training whose update has histograms, to a server and to a sink that keeps what was measured. Its results wait
    for `is_slow` on the worker."""

    def __init__(self, server: Server, patch: pytest.MonkeyPatch, listed: list[str]) -> None:
        self.is_slow = threading.Event()
        arrive = deviceworker._Step.arrive_somehow

        def late(step: Any) -> str:
            self.is_slow.wait(20)
            return arrive(step)

        patch.setattr(deviceworker._Step, "arrive_somehow", late)
        patch.setattr(PyTorch, "number", lambda _self, value: None)
        patch.setattr(PyTorch, "on_device", lambda _self, value: value.detach().reshape(1).double())
        torch.manual_seed(0)
        self.weight = torch.nn.Parameter(torch.ones(6, 5))
        self.optimizer = torch.optim.Adam([self.weight])
        self.stream, self.kept = StreamSink(join=server.join, run_id="late"), RecordingSink()
        self.monitor = TrainerMon(config_of(listed), sinks=[self.stream, self.kept])
        self.monitor.set_monitor(torch.nn.ParameterDict({"weight": self.weight}), optimizer=self.optimizer)

    def steps(self, count: int) -> None:
        for _ in range(count):
            self.weight.grad = torch.randn(6, 5)
            self.monitor.log({"loss": self.weight.sum()})
            self.optimizer.step()


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
    job = _Job(server, monkeypatch, first)
    job.steps(3)  # the first finds no moments
    job.monitor.apply(configfile.load(config_of(then)))
    job.steps(2)
    job.is_slow.set()
    assert job.monitor.flush(20)
    counters = counted(job.stream)
    job.monitor.close()
    monkeypatch.undo()
    shots = [(frame.step, shot) for frame in job.kept.frames for shot in frame.tables]
    counts = {step: shot.values for step, shot in shots if shot.kind is Kind.UPDATE and is_histogram(shot)}
    assert list(counts) == [1, 2, 3, 4] and counts[2].shape != counts[3].shape
    assert counters["produced"] == sum(samples_each(shot) * len(shot.rows) for _, shot in shots)
    assert counters["dropped"] == counts[1].size + counts[2].size
    assert counters["produced"] == counters["acked"] + counters["dropped"]
    told = "values of update came after another config had begun; they are dropped and counted"
    assert capfd.readouterr().err.count(told) == 1
    assert server.stop() == 0
    shown = [one for one in server.show("weight") if one["kind"] == "update" and one["stat"] == "hist"]
    stored = {value["step"]: value["value"] for one in shown for value in one["values"]}
    assert stored == {step: counts[step][0].tolist() for step in (3, 4)}


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
