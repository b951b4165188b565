# SPDX-License-Identifier: GPL-3.0-or-later
"""Trainings on an NVIDIA card: the kernels give what the host's give, nothing waits, no bit changes."""

from __future__ import annotations

import threading
import warnings
from bisect import bisect_right
from collections import deque
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn as nn
from probed import Named, config, give
from recording import RecordingSink
from telltale import devicestats, native, series
from telltale.bins import OCTAVE_EDGES, OCTAVES
from telltale.kinds import Kind, Stat
from telltale.measure import DTYPES, Measurer
from telltale.pytorch import PrecisionDebugger, TrainerMon
from telltale.series import HASHED, STATS, SeriesDesc, SeriesTable, TableSnapshot, is_histogram

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
EPS = 1e-8
EVERYTHING = {
    "wg_distribution": True,
    "param_distribution": True,
    "mv_distribution": True,
    "ur_distribution": True,
    "mg_direction": True,
    "xy_distribution": True,
    "all_xy": True,
}
BINNED = ["grad_reduced", "param_origin", "actv", "exp_avg_sq", "update"]
FULL = {**EVERYTHING, "telltale": {"histogram": BINNED, "checksum": True}}


def table_of(
    count: int, kind: Kind = Kind.ACTV, stats: tuple[Stat, ...] = (), has_bins: bool = False
) -> SeriesTable:
    table = SeriesTable(kind, stats, has_bins=has_bins)
    for i in range(count):
        table.add(SeriesDesc(str(i)))
    return table


def arrived(measurer: Measurer) -> TableSnapshot:
    return all_arrived(measurer, 1)[0]


def all_arrived(measurer: Measurer, how_many: int) -> list[TableSnapshot]:
    pending = measurer.take_pending()
    assert not pending.tensors, "by torch's operations, not by the kernels"
    assert pending.queued is not None and pending.queued.arrive(20)
    shots = pending.queued.shots()
    pending.queued.release()
    assert len(shots) == how_many
    return shots


def tensors_of_every_kind() -> list[torch.Tensor]:
    """On the host: every dtype, in sizes around a pack, a block and a launch, at every alignment, with NaN and Inf."""
    generator = torch.Generator().manual_seed(3)
    out = []
    for dtype in DTYPES:
        for size in (1, 2, 7, 255, 257, 8191, 65_537, 1_000_003):
            for offset in (0, 1, 3):
                values = torch.randn(size + offset, generator=generator, dtype=torch.float64) * 10
                if dtype.is_floating_point:  # every octave that it has, and those that it has not
                    values *= torch.exp2(torch.randint(-160, 140, values.shape, generator=generator).double())
                if dtype.is_floating_point and size > 6:
                    values[offset], values[offset + size // 3] = -torch.inf, torch.inf
                    values[offset + size // 2], values[-1] = torch.nan, 0
                values = values > 0 if dtype is torch.bool else values.abs() if dtype is torch.uint8 else values
                out.append(values.to(dtype)[offset:])
    return out


def on_the_card(tensor: torch.Tensor) -> torch.Tensor:
    """At the same alignment."""
    base = torch.empty(tensor.numel() + 3, dtype=tensor.dtype, device="cuda")
    out = base[tensor.storage_offset() : tensor.storage_offset() + tensor.numel()]
    return out.copy_(tensor)


@pytest.mark.parametrize("how", ["one by one", "at once", "of one moment"])
@pytest.mark.parametrize("is_full", [False, True], ids=["plain", "with checksums and histograms"])
def test_a_card_gives_what_the_host_gives(how: str, is_full: bool) -> None:
    tensors = tensors_of_every_kind()
    host, card = (Measurer(EPS, 1, checksum=is_full, has_bins=is_full) for _ in range(2))
    expected, table = (table_of(len(tensors), has_bins=is_full) for _ in range(2))
    there = [on_the_card(tensor) for tensor in tensors]
    for row, tensor in enumerate(tensors):
        assert host.one(tensor, expected, row) == ""
    if how == "at once":
        assert card.batch(there, table) == []
    elif how == "of one moment":
        assert card.together(list(enumerate(there)), table) == []
    else:
        for row, tensor in enumerate(there):
            assert card.one(tensor, table, row) == ""
    shot, *binned = all_arrived(card, 2 if is_full else 1)
    assert shot.rows.tolist() == list(range(len(tensors)))
    for counts in binned:
        assert expected.bins is not None
        assert counts.rows.tolist() == shot.rows.tolist()
        for row, tensor in enumerate(tensors):
            assert counts.values[row].tolist() == expected.bins.values[row].tolist(), (tensor.dtype, tensor.numel())
    for row, tensor in enumerate(tensors):
        one, other = shot.values[row], expected.results[row]
        scale = float(other["sumsq"]) ** 0.5
        for name in STATS.names or ():
            close = {"sum": scale, "mean": scale, "sumsq": float(other["sumsq"]), "norm": float(other["norm"])}
            if name in close:
                assert float(one[name]) == pytest.approx(float(other[name]), rel=1e-6, abs=1e-6 * close[name])
            else:
                assert one[name] == other[name], (tensor.dtype, tensor.numel(), name)


@pytest.mark.parametrize("is_full", [False, True])
def test_the_same_tensors_give_the_same_bits(is_full: bool) -> None:
    tensors = [on_the_card(tensor) for tensor in tensors_of_every_kind()]
    card, table = Measurer(EPS, 1, checksum=is_full), table_of(len(tensors), has_bins=is_full)
    many = 1 + is_full
    card.batch(tensors, table)
    first = [shot.values.tobytes() for shot in all_arrived(card, many)]
    for row, tensor in enumerate(tensors):
        card.one(tensor, table, row)
    assert [shot.values.tobytes() for shot in all_arrived(card, many)] == first


def test_some_of_a_launch_have_histograms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series, "MAX_HISTOGRAMS", 3)
    measurer, table = Measurer(EPS, 1), table_of(5, has_bins=True)
    measurer.together([(row, torch.full((row + 1,), 2.0, device="cuda")) for row in (4, 0, 2)], table)
    shot, counts = all_arrived(measurer, 2)
    assert shot.rows.tolist() == [0, 2, 4] and counts.rows.tolist() == [0, 2]
    assert [row.nonzero()[0].tolist() for row in counts.values] == [[bisect_right(OCTAVE_EDGES, 2.0) - 1]] * 2
    assert counts.values.max(axis=1).tolist() == [1, 3]


def test_tensors_of_one_moment_are_read_by_one_launch_wherever_their_elements_lie(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    qkv = torch.randn(4, 16, 3, 8)
    tensors = [*qkv.unbind(2), qkv.transpose(0, 1), qkv[:0], qkv[0, 0, 0]]
    host, card = Measurer(EPS, 1), Measurer(EPS, 1)
    expected, table = table_of(len(tensors)), table_of(len(tensors))
    for row, tensor in enumerate(tensors):
        assert host.one(tensor, expected, row) == ""
    there = qkv.cuda()
    found = [*there.unbind(2), there.transpose(0, 1), there[:0], there[0, 0, 0]]
    launches: list[int] = []
    queue = card._cards._lib.tt_device_stats
    monkeypatch.setattr(card._cards._lib, "tt_device_stats", lambda *given: launches.append(given[2]) or queue(*given))
    assert card.together(list(enumerate(found)), table) == []
    assert launches == [5]
    shot = arrived(card)
    assert shot.rows.tolist() == [0, 1, 2, 3, 5]
    for row, values in zip(shot.rows, shot.values):
        for name in ("numel", "finite", "min", "max", "nans"):
            assert values[name] == expected.results[row][name]


def test_signs_agree_as_on_the_host() -> None:
    generator = torch.Generator().manual_seed(5)
    pairs = []
    for size in (1, 5, 1000, 123_457):
        for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
            left, right = (torch.randn(size, generator=generator) for _ in range(2))
            left[0], right[-1] = 0, torch.nan
            pairs.append((left.to(dtype), right))
    rows = list(range(len(pairs)))
    host, card = (table_of(len(pairs), Kind.MG_DIRECTION, (Stat.AGREEMENT,)) for _ in range(2))
    Measurer(EPS, 1).agreement(pairs, host, rows)
    measurer = Measurer(EPS, 1)
    measurer.agreement([(left.cuda(), right.cuda()) for left, right in pairs], card, rows)
    assert arrived(measurer).values[:, 0].tolist() == host.values[: len(pairs), 0].tolist()


def test_what_a_graph_captures_is_told_and_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for pool in (devicestats._STATS, devicestats._COUNTS):
        monkeypatch.setattr(pool, "idle", deque())  # memory would have to be asked for
    tensor, measurer, table = torch.ones(8, device="cuda"), Measurer(EPS, 1), table_of(1)
    measurer.prepare([tensor])
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        doubled = tensor * 2
        assert "captured" in measurer.one(doubled, table, 0)
    graph.replay()
    torch.cuda.synchronize()
    assert doubled.tolist() == [2] * 8 and not measurer.has_pending


def test_another_thread_may_ask_for_results_while_a_graph_is_captured() -> None:
    tensor = torch.ones(8, device="cuda")
    Measurer(EPS, 1).prepare([tensor])
    lib = native.library()
    mark = lib.tt_device_mark(0, 0)
    passed: list[int] = []
    asking = threading.Thread(target=lambda: passed.append(lib.tt_device_passed(0, mark)))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        doubled = tensor * 2
        asking.start()
        asking.join()
    graph.replay()
    torch.cuda.synchronize()
    assert doubled.tolist() == [2] * 8 and passed == [1]


class Training:
    def __init__(self, config: dict[str, Any] | None = None) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 8)).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), 0.01)
        self.sink = RecordingSink()
        self.losses: list[torch.Tensor] = []
        self.monitor = None
        if config is not None:
            self.monitor = TrainerMon(config, sinks=[self.sink])
            self.monitor.set_monitor(self.model, optimizer=self.optimizer)

    def run(self, steps: int) -> Training:
        generator = torch.Generator(device="cuda").manual_seed(1)
        for _ in range(steps):
            batch = torch.randn(16, 32, device="cuda", generator=generator)
            self.optimizer.zero_grad()
            with torch.autocast("cuda", torch.bfloat16):
                loss = self.model(batch).float().square().mean()
            loss.backward()
            self.optimizer.step()
            self.losses.append(loss.detach())
            if self.monitor is not None:
                self.monitor.log({"loss": loss})
        return self

    def close(self) -> Training:
        assert self.monitor is not None and self.monitor.flush(20)
        self.monitor.close()
        return self


@pytest.mark.parametrize("config", [EVERYTHING, FULL], ids=["everything", "full"])
def test_no_bit_of_a_training_changes(config: dict[str, Any]) -> None:
    bare, watched = Training().run(50), Training(config).run(50).close()
    for one, other in zip(bare.model.parameters(), watched.model.parameters()):
        assert torch.equal(one, other)


@pytest.mark.parametrize("config", [EVERYTHING, FULL], ids=["everything", "full"])
def test_nothing_waits_for_the_card(config: dict[str, Any]) -> None:
    training = Training(config).run(3)
    waits: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *rest, **more: waits.append(str(message))
        torch.cuda.set_sync_debug_mode("warn")
        try:
            torch.ones((), device="cuda").item()  # this one waits
            assert "called a synchronizing CUDA operation" in waits.pop()
            training.run(5)
        finally:
            torch.cuda.set_sync_debug_mode("default")
    training.close()
    assert not [wait for wait in waits if "called a synchronizing CUDA operation" in wait]
    if config is FULL:
        shots = [shot for frame in training.sink.frames for shot in frame.tables]
        binned = {shot.kind for shot in shots if is_histogram(shot) and shot.values.shape[1] == OCTAVES}
        assert binned >= {Kind.GRAD_REDUCED, Kind.PARAM_ORIGIN, Kind.ACTV, Kind.UPDATE}
        measured = [shot.values["flags"] for shot in shots if shot.values.dtype == STATS]
        assert measured and all((flags & HASHED != 0).all() for flags in measured)


def test_grad_probe_writes_of_a_card_what_it_writes_of_the_host(tmp_path: Path) -> None:
    gradients = {"large": torch.randn(3, 5_000_001), "odd": torch.tensor([0.0, torch.inf, torch.nan, -1.0, 2e-7])}
    for device in ("cpu", "cuda"):
        for level in ("L0", "L2"):
            model = Named(**gradients).to(device)
            PrecisionDebugger(config(tmp_path / device / level, level)).monitor(model)
            give(model, {name: gradient.to(device) for name, gradient in gradients.items()})
            PrecisionDebugger.stop()
    for path in (path.relative_to(tmp_path / "cpu") for path in (tmp_path / "cpu").rglob("*") if path.is_file()):
        assert (tmp_path / "cpu" / path).read_bytes() == (tmp_path / "cuda" / path).read_bytes(), path


def test_losses_and_the_norm_of_all_gradients_come_from_the_card() -> None:
    training = Training(EVERYTHING).run(5).close()
    assert training.sink.scalar("loss") == {i: float(loss) for i, loss in enumerate(training.losses)}
    squares = [0.0] * 5
    for frame in training.sink.frames:
        for shot in frame.tables:
            if shot.kind is Kind.GRAD_REDUCED:
                squares[frame.step] = float(shot.values["sumsq"].sum())
    assert training.sink.scalar("grad-norm") == pytest.approx({i: square**0.5 for i, square in enumerate(squares)})
