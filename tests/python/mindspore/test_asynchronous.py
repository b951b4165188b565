# SPDX-License-Identifier: GPL-3.0-or-later
"""Under asynchronous launch, which is MindSpore's default, nothing waits for a tensor, no bit changes, and what is
stored is what blocking launch stores. Each training is a program of its own (latetraining.py): how tensors are computed
is the process's.
"""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
import pytest
from mindspore import Parameter, Tensor, ops
from recording import RecordingSink
from telltale import series
from telltale.agent.measurer import Pending
from telltale.bins import OCTAVES
from telltale.dispatch import Dispatcher
from telltale.kinds import Kind
from telltale.mindspore import executor, late
from telltale.mindspore.measure import DTYPES, Reader
from telltale.series import SeriesDesc, SeriesTable, record, samples_each

_ROOM = 1 << 30


def program(*command: str) -> subprocess.CompletedProcess[str]:
    here = Path(__file__).resolve().parent
    path = os.pathsep.join([str(here), str(here.parent), os.environ["PYTHONPATH"]])
    environment = {**os.environ, "PYTHONPATH": path}
    done = [sys.executable, *command]
    return subprocess.run(done, env=environment, cwd=here, capture_output=True, text=True, timeout=600)


def run(folder: Path, how: str, net: str, steps: int, most_kept: int = _ROOM, queue: float = 0) -> dict[str, Any]:
    folder.mkdir()
    done = program("latetraining.py", *map(str, (how, net, steps, most_kept, queue, folder)))
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = pickle.loads((folder / "found.pickle").read_bytes())
    assert not [text for text in found["sentences"] if "error" in text or "failed" in text], found["sentences"]
    return found


def files_in(folder: Path) -> dict[str, bytes]:
    """By name, without the time in the folders' names."""
    return {path.name: path.read_bytes() for path in sorted((folder / "files").rglob("*")) if path.is_file()}


@pytest.mark.parametrize(("net", "steps"), [("transformer", 3), pytest.param("transformer", 20, marks=pytest.mark.long),
                                            pytest.param("convolutional", 20, marks=pytest.mark.long)])  # fmt: skip
def test_the_same_comes_out_of_both_ways_to_launch(tmp_path: Path, net: str, steps: int) -> None:
    """Every frame in its order, every series and value, every file; the training's bits are compared in the program."""
    blocking = run(tmp_path / "blocking", "blocking", net, steps)
    late = run(tmp_path / "late", "asynchronous", net, steps)
    assert len(blocking["frames"]) >= steps
    for one, other in zip(blocking["frames"], late["frames"], strict=True):
        assert one[0] == other[0] and one[2:] == other[2:]
        kinds = [(table[0], table[1]) for table in one[1]]
        assert kinds == [(table[0], table[1]) for table in other[1]]
        for table, same in zip(one[1], other[1]):
            assert table == same, (one[0], table[0], table[1])
    assert blocking["sentences"] == late["sentences"]
    files = files_in(tmp_path / "blocking")
    assert files == files_in(tmp_path / "late") and len(files) > 20


def long_calls(found: dict[str, Any]) -> set[tuple[str, int]]:
    """Those that took a quarter of what is launched, by what was called and its how-manieth call that was."""
    counts: Counter[str] = Counter()
    long = set()
    for took, call in found["calls"]:
        name = re.sub(r" at 0x[0-9a-f]+", "", call)
        counts[name] += 1
        if took >= found["queue"] / 4:
            long.add((name, counts[name]))
    return long


def test_no_call_of_the_agent_waits_for_what_was_launched(tmp_path: Path) -> None:
    """Work of half a second is launched before each forward pass, before the loss is logged, and inside the optimizer:
    everything that is watched meets it, and goes on at once. A call that waits does so in every run of a training;
    one that a busy machine held up does not."""
    long: set[tuple[str, int]] = set()
    for attempt in range(4):
        found = run(tmp_path / str(attempt), "asynchronous", "transformer", 3, queue=0.5)
        assert found["waited"] == []
        long = long_calls(found) if attempt == 0 else long & long_calls(found)
        if not long:
            break
    assert not long
    kinds = {table[0] for frame in found["frames"] for table in frame[1]}
    assert kinds >= {Kind.ACTV, Kind.ACTV_GRAD, Kind.GRAD_REDUCED, Kind.EXP_AVG, Kind.PARAM_UPDATED, Kind.UPDATE,
                     Kind.MG_DIRECTION, Kind.LINEAR, Kind.ROUTER, Kind.ATTENTION}  # fmt: skip
    named = [{name for frame in found["frames"] if frame[0] == step for name in frame[2]} for step in range(3)]
    assert all({"lr", "loss", "grad-norm"} <= names for names in named), named


@pytest.mark.long
def test_what_no_memory_is_for_mindspore_measures_itself(tmp_path: Path) -> None:
    found = run(tmp_path / "late", "asynchronous", "transformer", 5, most_kept=0)
    kinds = {table[0] for frame in found["frames"] for table in frame[1]}
    assert kinds >= {Kind.ACTV, Kind.ACTV_GRAD, Kind.GRAD_REDUCED, Kind.EXP_AVG, Kind.PARAM_UPDATED}
    assert any("no memory was left" in text for text in found["sentences"])


_BROKEN = """
import sys, time
import mindspore as ms
ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_device("CPU")
from mindspore import Tensor, ops
from recording import RecordingSink
from telltale.mindspore import TrainerMon
from tinynet import adamw, made, train

net, sink, reached = made(layers=1), RecordingSink(), []
optimizer = adamw(net)
monitor = TrainerMon({"wg_distribution": True, "param_distribution": True}, sinks=[sink])
monitor.set_monitor(net, optimizer)
rows, far = Tensor([[1.0]]), Tensor([5000], ms.int32)

def after(step, loss):
    reached.append(step)
    if step == 1:
        if sys.argv[1] == "metric":
            monitor.flush(60)  # its step is read, and what comes is the metric's
        ops.gather(rows, far, 0)  # cannot be run, and nobody here looks at it
        monitor.log({"loss": loss})
        monitor.flush(60)  # the agent's thread is the first to wait for it

try:
    train(net, optimizer, 4, after=after)
except Exception as error:
    assert "input_indices" in str(error), error
    print("ended after", reached)
"""


@pytest.mark.parametrize("reads", ["step", "metric"])
def test_an_error_that_the_agent_meets_first_still_ends_the_training(reads: str) -> None:
    """MindSpore tells whoever waits first that what was launched could not be run, and nobody else."""
    done = program("-c", _BROKEN, reads)
    assert done.returncode == 0 and "ended after [0, 1]" in done.stdout, done.stdout + done.stderr
    assert "MindSpore could not run what the training launched" in done.stderr


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Reader:
    monkeypatch.setattr(executor, "is_blocking", lambda: False)
    return Reader(1e-8, 1)


def table_of(rows: int, kind: Kind = Kind.ACTV) -> SeriesTable:
    table = SeriesTable(kind, capacity=rows)
    for row in range(rows):
        table.add(SeriesDesc(str(row)))
    return table


def test_what_becomes_of_a_tensor_later_is_not_read_in_its_place(reader: Reader) -> None:
    """Most of what writes into a tensor counts no version."""
    two = Tensor(np.full((2, 3), 2, np.float32))

    def item(x: Tensor) -> None:
        x[0] = 7

    def part(x: Tensor) -> None:
        x[:, 1:2] = 3

    changes = (item, part, lambda x: x.assign_value(two * 5), lambda x: x.copy_(two), lambda x: ops.assign(x, two * 5))
    for kind in (Kind.GRAD_UNREDUCED, Kind.GRAD_REDUCED, Kind.PARAM_ORIGIN, Kind.ACTV, Kind.COMM):
        table = table_of(len(changes), kind)
        tensors = [two + 0 if kind is not Kind.PARAM_ORIGIN else Parameter(two + 0, name="p") for _ in changes]
        for row, tensor in enumerate(tensors):
            assert reader.one(tensor, table, row) == ""
        for change, tensor in zip(changes, tensors):
            change(tensor)
        reader.settle(table)
        assert [record["sum"] for record in table.results[: len(changes)]] == [12] * len(changes), kind


def test_a_result_of_the_forward_pass_that_is_changed_is_not_read_in_its_place(reader: Reader) -> None:
    told, kept = [], []
    reader.refuse = lambda table, row, why: told.append((row, why))
    table, weight = table_of(3), Parameter(Tensor(np.ones((2, 3), np.float32)), name="w")

    def forward(x: Tensor) -> Tensor:
        results = [x * weight for _ in range(3)]
        for row, result in enumerate(results):
            assert reader.one(result, table, row) == ""
            kept.append(result)
        results[0][0] = 7
        results[1].assign_value(x * 5)
        results[2].copy_(x * 5)  # into the same memory, which counts a version
        return sum(result.sum() for result in results)

    ms.value_and_grad(forward, None, [weight])(Tensor(np.full((2, 3), 2, np.float32)))
    step = reader.take_pending().queued
    assert step is not None and step.samples() == 18 and step.arrive() and step.lost == 6
    [shot] = step.shots()
    assert shot.rows.tolist() == [0, 1] and [record["sum"] for record in shot.values] == [12] * 2
    assert told == [(2, late.CHANGED)] and not table.rows().size


def test_of_what_comes_again_the_last_counts(reader: Reader) -> None:
    table = table_of(1)
    for value in (1.0, 3.0):
        assert reader.one(Tensor(np.full((4,), value, np.float32)), table, 0) == ""
    assert reader._budget.taken == 16
    reader.settle(table)
    assert table.results[0]["sum"] == 12 and reader._budget.taken == 0 and not reader.has_pending


def test_a_view_is_read_in_the_order_in_which_blocking_launch_reads_it(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(1).standard_normal((31, 17, 5)).astype(np.float32)
    whole = Tensor(values)
    views = [whole.transpose(2, 0, 1), whole[:, ::2], ops.broadcast_to(whole[:1], (3, 17, 5))]
    kept, now = table_of(3), table_of(3)
    for row, view in enumerate(views):
        assert reader.one(view, kept, row) == ""
    reader.settle(kept)
    monkeypatch.setattr(executor, "is_blocking", lambda: True)
    for row, view in enumerate(views):
        assert reader.one(view, now, row) == ""
    assert kept.results[:3].tobytes() == now.results[:3].tobytes()


@pytest.mark.parametrize("use_native", [True, False])
@pytest.mark.parametrize("kind", DTYPES)
def test_what_is_launched_runs_for_every_element_type(
    monkeypatch: pytest.MonkeyPatch, kind: Any, use_native: bool
) -> None:
    """What could not be run would come out as the training's own error."""
    monkeypatch.setattr(executor, "is_blocking", lambda: False)
    reader, table = Reader(1e-8, 1, use_native=use_native), table_of(3, Kind.GRAD_REDUCED)
    tensor = Tensor(np.array([[0, 1, 1]], np.float32)).astype(kind)
    for row, given in enumerate((tensor, tensor.reshape(3)[1])):
        assert reader.one(given, table, row) == ""
    reader._by_operations(tensor, table, 2)
    reader.settle(table)
    assert table.results[:3]["sum"].tolist() == [2, 1, 2]


class _Never:
    """Results that do not come before the end."""

    lost = 0

    def __init__(self) -> None:
        self.is_awaited, self.is_over = threading.Event(), threading.Event()

    def arrive(self) -> bool:
        self.is_awaited.set()
        return self.is_over.wait(60)

    def shots(self) -> list[Any]:
        return []

    def samples(self, but: Any = ()) -> int:
        return 7

    def scalars(self) -> int:
        return 0

    def release(self) -> None:
        return None

    forsake = release


class _Counting(RecordingSink):
    def __init__(self) -> None:
        super().__init__()
        self.lost: dict[int, int] = {}

    def dropped(self, step: int, samples: int, scalars: int) -> None:
        self.lost[step] = samples


def test_what_is_not_there_at_the_end_is_counted() -> None:
    sink, told = _Counting(), []
    dispatcher = Dispatcher([sink], told.append)
    worker, never = late.worker(dispatcher, told.append), _Never()
    for step in range(3):
        worker.take(step, [], Pending(queued=never), None)
    assert never.is_awaited.wait(10)
    worker.stop()
    never.is_over.set()
    worker._thread.join(10)
    assert sink.lost == {0: 7, 1: 7, 2: 7} and not sink.frames
    assert told and all("the training ended before" in text for text in told)


def test_steps_that_found_no_room_are_counted() -> None:
    """64 steps may wait; of those behind them, nothing is computed any more."""
    sink, told = _Counting(), []
    worker, never = late.worker(Dispatcher([sink], told.append), told.append), _Never()
    worker.take(0, [], Pending(queued=never), None)
    assert never.is_awaited.wait(10)

    def filled(table: SeriesTable) -> late.LateStep:
        def job(at: Any) -> None:
            at(table).results[0] = record([1.0, 1.0, 1.0, 1.0, 1, 1, 0, 0, 0, 0])

        return late.LateStep([late.Work([(table, 0)], job, [])], lambda *_: None, told.append)

    for step in range(1, 68):
        table = SeriesTable(Kind.GRAD_REDUCED, (), 1)
        table.add(SeriesDesc("w", numel=1))
        worker.take(step, [table], Pending(queued=filled(table)), None)
    never.is_over.set()
    worker.drain(10)
    worker.stop()
    worker._thread.join(10)
    assert sorted(frame.step for frame in sink.frames if frame.tables) == list(range(1, 65))
    assert sink.lost == dict.fromkeys((65, 66, 67), samples_each(table))
    assert told and all("more slowly than the steps" in text for text in told)


def test_what_there_was_no_room_for_is_lost_with_its_histogram() -> None:
    table = SeriesTable(Kind.GRAD_REDUCED, has_bins=True)
    row = table.add(SeriesDesc("w"))
    step = late.LateStep([late.Work([(table, row)], lambda at, held: None, [None])], lambda *_: None, lambda _: None)
    wanted = step.samples()
    assert wanted == samples_each(table) + OCTAVES
    assert step.arrive() and step.lost == wanted and not step.shots()


def test_a_row_beyond_the_most_histograms_is_lost_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series, "MAX_HISTOGRAMS", 1)
    table = SeriesTable(Kind.GRAD_REDUCED, has_bins=True)
    rows = [(table, table.add(SeriesDesc(name))) for name in "abc"]
    work = [late.Work([row], lambda at, held: None, [None]) for row in rows]
    step = late.LateStep(work, lambda *_: None, lambda _: None)
    wanted = step.samples()
    assert wanted == 3 * samples_each(table) + OCTAVES
    assert step.arrive() and step.lost == wanted and not step.shots()
