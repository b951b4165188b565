# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps whose statistics lie on a device are fetched and delivered off the training thread, whole and in order."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import threading
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn as nn
from recording import RecordingSink, norm
from telltale import devicestats, deviceworker, native
from telltale.bins import OCTAVES
from telltale.kinds import Kind, Stat
from telltale.measure import Measurer, torch_stats
from telltale.pytorch import TrainerMon
from telltale.pytorch.framework import PyTorch
from telltale.pytorch.optimizerparts import UpdatePart
from telltale.series import STATS, SeriesDesc, SeriesTable, is_histogram


class Card:
    """The native library, with a card that holds the host's tensors: what is queued is written when its mark is asked
    for the second time."""

    def __init__(self) -> None:
        self._lib = native.library()
        self._queued: list[tuple[int, bytes]] = []
        self._marks: dict[int, int] = {}
        self.is_broken = False
        self.is_slow = threading.Event()
        self.is_slow.set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lib, name)

    def tt_device_open(self, device: int) -> bytes | None:
        return None

    def tt_device_stats_tensor(self, device: int, *rest: Any) -> int:
        pointer, numel, code, eps, result, bins, _stream = rest
        for pool, address in ((devicestats._STATS, result), (devicestats._COUNTS, bins)):
            assert all(not chunk.address <= address < chunk.address + pool.bytes for chunk in pool.idle)
        here, counts = np.zeros(1, STATS), np.zeros(1, devicestats.HISTOGRAM)
        self._lib.tt_stats_tensor_bins(pointer, numel, code, eps, here.ctypes.data, counts.ctypes.data, 1)
        self._queued.append((result, here.tobytes()))
        if bins:
            self._queued.append((bins, counts.tobytes()))
        return 0

    def tt_device_stats(
        self, device: int, tensors: int, count: int, eps: float, results: int, bins: int, stream: int
    ) -> int:
        here, counts = np.zeros(count, STATS), np.zeros(count, devicestats.HISTOGRAM)
        self._lib.tt_stats_bins(tensors, count, eps, here.ctypes.data, counts.ctypes.data, 1)
        for values, addresses in ((here, results), (counts, bins)):
            if addresses:
                to = (ctypes.c_uint64 * count).from_address(addresses)
                self._queued += [(address, one.tobytes()) for address, one in zip(to, values) if address]
        return 0

    def tt_device_mark(self, device: int, stream: int) -> int:
        mark = len(self._marks) + 1
        self._marks[mark] = len(self._queued)
        return mark

    def tt_device_passed(self, device: int, mark: int) -> int:
        self.is_slow.wait(10)
        if self.is_broken:
            return -1
        if self._marks[mark] >= 0:
            for result, values in self._queued[: self._marks[mark]]:
                ctypes.memmove(result, values, len(values))
            self._marks[mark] = -1
            return 0
        return 1


class Ordinary(devicestats._Chunk):
    """Memory that no card could write."""

    def __init__(self, pool: Any) -> None:
        empty = torch.empty
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(torch, "empty", lambda size, dtype, pin_memory: empty(size, dtype=dtype))
            super().__init__(pool)


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Card:
    """Every tensor lies on it."""
    card = Card()
    monkeypatch.setattr(native, "library", lambda: card)
    monkeypatch.setattr(devicestats, "_Chunk", Ordinary)
    for pool in (devicestats._STATS, devicestats._COUNTS):
        monkeypatch.setattr(pool, "idle", deque())
        monkeypatch.setattr(pool, "all", [])
    monkeypatch.setattr(devicestats, "stream_of", lambda device: 7)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    monkeypatch.setattr(Measurer, "one", lambda self, tensor, table, row: self._on_card(tensor, table, row))
    return card


def train(sink: Threaded, steps: int = 5) -> TrainerMon:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = torch.optim.Adam(model.parameters())
    own = {"histogram": ["grad_reduced", "actv"], "checksum": True}
    config = {"wg_distribution": True, "xy_distribution": True, "param_distribution": True, "telltale": own}
    monitor = TrainerMon(config, sinks=[sink])
    monitor.set_monitor(model, optimizer=optimizer)
    for step in range(steps):
        optimizer.zero_grad()
        loss = model(torch.ones(3, 4) * (step + 1)).square().sum()
        loss.backward()
        monitor.log({"loss": loss}, step=step)
        optimizer.step()
    return monitor


def train_on(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    model(torch.ones(3, 4)).square().sum().backward()
    optimizer.step()


class Threaded(RecordingSink):
    """Notes which thread delivers."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: set[int] = set()

    def write(self, frame: Any) -> None:
        self.threads.add(threading.get_ident())
        super().write(frame)


def test_results_that_are_fetched_later_equal_those_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = {}
    for deferred in (False, True):
        if deferred:
            # As for a tensor on a device: computed where it lies, fetched at the end of the step.
            def later(self: Measurer, tensor: Any, table: Any, row: int) -> str:
                self.later(table, row, torch_stats(tensor, self.eps))
                return ""

            monkeypatch.setattr(Measurer, "one", later)
        sink = Threaded()
        monitor = train(sink)
        assert monitor.flush(5)
        monitor.close()
        frames[deferred] = sink
    direct, fetched = frames[False], frames[True]
    assert threading.get_ident() not in fetched.threads
    assert [frame.step for frame in fetched.frames] == [0, 1, 2, 3, 4]
    assert fetched.scalar("loss") == direct.scalar("loss")
    for kind in (Kind.GRAD_UNREDUCED, Kind.GRAD_REDUCED, Kind.ACTV, Kind.ACTV_GRAD, Kind.PARAM_UPDATED):
        assert fetched.names(kind) == direct.names(kind)
        for step in range(5):
            for name in direct.names(kind):
                module, _, slot = name.partition(" ")
                if module in ("input", "output"):
                    continue
                one, other = direct.record(kind, module, slot, step), fetched.record(kind, module, slot, step)
                assert norm(other) == pytest.approx(norm(one), rel=1e-6), (kind, name, step)
                assert int(other["numel"]) == int(one["numel"])


def test_a_histogram_comes_from_a_device_as_it_went(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = {}
    whole = UpdatePart._histogram
    for deferred in (False, True):
        if deferred:
            # As for counts that lie on a device.
            def later(self: UpdatePart, engine: Any, kind: Kind, source: Any, found: torch.Tensor) -> None:
                whole(self, engine, kind, source, found)
                row = self._histograms[kind, id(source)]
                table = engine.extra_table(kind, (Stat.HIST,))
                table.present[row] = 0
                engine.measurer.later(table, row, found)

            monkeypatch.setattr(UpdatePart, "_histogram", later)
        torch.manual_seed(0)
        model = nn.Linear(4, 8)
        optimizer = torch.optim.Adam(model.parameters())
        sink = RecordingSink()
        monitor = TrainerMon({"ur_distribution": True}, sinks=[sink])
        monitor.set_monitor(model, optimizer=optimizer)
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.randn(3, 4)).square().sum().backward()
            optimizer.step()
        assert monitor.flush(5)
        monitor.close()
        counts[deferred] = {
            (frame.step, shot.kind, desc.name): value.tolist()
            for frame in sink.frames
            for shot in frame.tables
            if shot.stats == (Stat.HIST,)
            for desc, value in zip(shot.series, shot.values)
        }
    assert counts[True] == counts[False] and len(counts[True]) == 2 * 2 * 2
    assert all(len(found) == 32 and sum(found) in (8, 32) for found in counts[True].values())


def test_what_a_card_writes_later_equals_what_is_read_at_once(card: Card, monkeypatch: pytest.MonkeyPatch) -> None:
    there, here = Threaded(), Threaded()
    monitor = train(there)
    assert monitor.flush(5)
    monitor.close()
    monkeypatch.undo()
    train(here).close()
    assert threading.get_ident() not in there.threads
    assert [frame.step for frame in there.frames] == [frame.step for frame in here.frames] == [0, 1, 2, 3, 4]
    assert there.scalar("loss") == here.scalar("loss")
    assert there.scalar("grad-norm") == pytest.approx(here.scalar("grad-norm"))
    for sink in (there, here):
        assert all("2-norm of all" in frame.definitions["grad-norm"] for frame in sink.frames)
    generations = [sink.frames[0].tables[0].generation for sink in (there, here)]
    assert len(set(generations)) == 2  # each monitor has its own
    for one, other in zip(there.frames, here.frames):
        assert [{shot.generation for shot in frame.tables} for frame in (one, other)] == [{own} for own in generations]
        tables, others = ({shot.key[:-1]: shot for shot in frame.tables} for frame in (one, other))
        assert len(tables) == len(one.tables) and set(tables) == set(others) and sum(map(is_histogram, one.tables)) == 2
        for key, shot in tables.items():
            assert shot.series == others[key].series
            assert shot.values.tobytes() == others[key].values.tobytes()
            order = others[key].arrival
            if order is not None:
                assert shot.arrival is not None and shot.arrival.tolist() == order.tolist()


def test_a_card_counts_the_update_as_the_host_does(card: Card, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for _ in range(2):
        torch.manual_seed(0)
        model = nn.Linear(4, 2)
        optimizer = torch.optim.Adam(model.parameters())
        sink = Threaded()
        monitor = TrainerMon({"ur_distribution": True, "telltale": {"histogram": ["update", "ratio"]}}, sinks=[sink])
        monitor.set_monitor(model, optimizer=optimizer)
        for _ in range(3):
            train_on(model, optimizer)
        assert monitor.flush(5)
        monitor.close()
        shots = [(frame.step, shot) for frame in sink.frames for shot in frame.tables if is_histogram(shot)]
        found.append({(step, shot.kind): shot.values.tolist() for step, shot in shots})
        monkeypatch.undo()  # the host's turn
    assert found[0] == found[1] and len(found[0]) == 2 * 2
    assert all(len(counts) == OCTAVES for rows in found[0].values() for counts in rows)


def test_memory_that_a_card_writes_is_used_again_only_when_it_is_written(card: Card) -> None:
    sink = Threaded()
    monitor = train(sink, 1)
    assert monitor.flush(5)
    (first,) = devicestats._STATS.idle
    engine = monitor.engine
    assert engine is not None
    for _ in range(3):
        train_on(engine.roots[0], engine.found.optimizers[0])
        assert not devicestats._STATS.idle or devicestats._STATS.idle[0] is first
        assert monitor.flush(5)
        assert list(devicestats._STATS.idle) == [first]
    monitor.close()
    assert [frame.step for frame in sink.frames] == [0, 1, 2, 3]


def test_what_a_card_that_failed_never_writes_is_counted(card: Card) -> None:
    class Counting(Threaded):
        lost = 0

        def dropped(self, step: int, samples: int, scalars: int) -> None:
            self.lost += samples

    card.is_broken = True
    sink = Counting()
    monitor = train(sink)
    monitor.flush(5)
    monitor.close()
    # 4 parameters: gradients; and 3 modules with an input, an output and their gradients
    assert sink.lost >= 5 * 6 * (4 + 3 * 4) and not sink.frames
    assert any("device failed" in sentence for sentence in sink.sentences())


def test_a_step_that_comes_too_soon_behind_others_is_counted(card: Card, monkeypatch: pytest.MonkeyPatch) -> None:
    class Counting(Threaded):
        lost = 0

        def dropped(self, step: int, samples: int, scalars: int) -> None:
            self.lost += 1

    monkeypatch.setattr(deviceworker, "_MOST_WAITING", 1)
    card.is_slow = threading.Event()
    sink = Counting()
    monitor = train(sink, 5)
    card.is_slow.set()
    monitor.flush(5)
    monitor.close()
    assert len(sink.frames) + sink.lost == 5 and sink.lost >= 2


def test_a_batch_of_empty_tensors_is_no_step_lost(card: Card) -> None:
    table = SeriesTable(Kind.GRAD_REDUCED)
    table.add(SeriesDesc("empty"))
    measurer = Measurer(1e-8, 1)
    assert measurer._batch_on_card(0, [(0, torch.empty(0))], table) == []
    assert not measurer.has_pending


def test_tensors_of_one_launch_come_into_their_rows_from_any_piece_of_memory(card: Card) -> None:
    count = devicestats._STATS.rows + 7
    table = SeriesTable(Kind.ACTV)
    for i in range(count):
        table.add(SeriesDesc(str(i)))
    dtypes = (torch.float32, torch.bfloat16, torch.int64)
    tensors = [torch.full((1 + i % 5,), i % 100).to(dtypes[i % 3]) for i in range(count)]
    measurer = Measurer(1e-8, 1)
    there = [(count - 1 - i, tensor) for i, tensor in enumerate(tensors)]
    assert measurer._batch_on_card(0, [*there[:3], (3, torch.empty(0)), *there[3:]], table) == []
    pending = measurer.take_pending()
    assert pending.queued is not None and pending.queued.arrive(5)
    (shot,) = pending.queued.shots()
    assert shot.rows.tolist() == list(range(count))
    assert shot.values["max"].tolist() == [float(tensor[0]) for tensor in tensors[::-1]]
    assert shot.values["numel"].tolist() == [tensor.numel() for tensor in tensors[::-1]]


def test_a_row_that_is_measured_twice_in_a_launch_holds_the_last(card: Card) -> None:
    table = SeriesTable(Kind.ACTV, has_bins=True)
    table.add(SeriesDesc("twice"))
    measurer = Measurer(1e-8, 1)
    assert measurer._batch_on_card(0, [(0, torch.ones(5)), (0, torch.full((3,), 8.0))], table) == []
    pending = measurer.take_pending()
    assert pending.queued is not None and pending.queued.arrive(5)
    shot, counts = pending.queued.shots()
    places = {address for address, values in card._queued if len(values) > STATS.itemsize}
    assert len(places) == 2  # no two tensors count into one place
    assert shot.values["max"].tolist() == [8.0] and counts.values.max() == counts.values.sum() == 3


def metrics_on_a_device(
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[Threaded, TrainerMon, nn.Module, torch.optim.Optimizer]:
    """A monitored training whose tensors count as metrics on a device."""
    monkeypatch.setattr(PyTorch, "number", lambda _self, value: None)
    monkeypatch.setattr(PyTorch, "on_device", lambda _self, value: value.detach().reshape(1).double())
    sink = Threaded()
    monitor = TrainerMon({"wg_distribution": True}, sinks=[sink])
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    monitor.set_monitor(model, optimizer=optimizer)
    return sink, monitor, model, optimizer


@pytest.mark.parametrize("is_late", [False, True])
def test_metrics_on_a_device_come_with_their_step(is_late: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    sink, monitor, model, optimizer = metrics_on_a_device(monkeypatch)
    expected = {}
    for step in range(4):
        loss = model(torch.ones(3, 4)).square().sum()
        loss.backward()
        if not is_late:
            monitor.log({"loss": loss})
        optimizer.step()
        optimizer.zero_grad()
        if is_late:
            monitor.log({"loss": loss})
        expected[step] = float(loss.detach())
    assert monitor.flush(5)
    monitor.close()
    assert sink.scalar("loss") == expected


def test_a_metric_on_a_device_goes_out_before_one_of_a_later_step(monkeypatch: pytest.MonkeyPatch) -> None:
    sink, monitor, model, optimizer = metrics_on_a_device(monkeypatch)
    model(torch.ones(3, 4)).square().sum().backward()
    monitor.log({"loss": torch.tensor(1.0), "other": torch.tensor(9.0)}, step=0)
    monitor.log({"loss": torch.tensor(2.0)}, step=0)
    monitor.log({"loss": 3.0}, step=7)
    optimizer.step()
    assert monitor.flush(5)
    monitor.close()
    seen = [(frame.step, frame.scalars["loss"]) for frame in sink.frames if "loss" in frame.scalars]
    assert seen == [(0, 2.0), (7, 3.0)] and sink.scalar("other") == {0: 9.0}


@pytest.mark.skipif(shutil.which("clang++-14") is None, reason="needs Debian's clang-14")
def test_the_kernels_text_is_that_of_their_source(tmp_path: Path) -> None:
    kernels = Path(__file__).parents[2] / "model/stats"
    subprocess.run([kernels / "makeptx.sh", tmp_path / "made.ptx"], check=True)
    assert (tmp_path / "made.ptx").read_text() == (kernels / "devicekernel.ptx").read_text()
