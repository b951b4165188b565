# SPDX-License-Identifier: GPL-3.0-or-later
"""What the stream takes in is stored or counted as dropped, whatever its names and numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from serving import Server
from telltale.config import MonitorConfig
from telltale.dispatch import Dispatcher
from telltale.kinds import Kind
from telltale.series import Frame, SeriesDesc, SeriesTable
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
