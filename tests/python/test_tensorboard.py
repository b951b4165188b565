# SPDX-License-Identifier: GPL-3.0-or-later
"""Event files hold the documents' tags, and TensorBoard's own reader reads them."""

import math
import os
from pathlib import Path

import numpy as np
import pytest
from tables import SIX, context, desc, frame, table
from telltale import native
from telltale.bins import DEFINITION, OCTAVE_EDGES, OCTAVES_DEFINITION
from telltale.kinds import Kind, Stat
from telltale.sinks import textfile
from telltale.sinks.tensorboard import TensorBoardSink
from telltale.sinks.tfrecord import ScalarRecord, crc32c, masked
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

RECORDED = Path(__file__).resolve().parent.parent / "data" / "msprobe"


def read(folder):
    """Tag -> [(step, value)] by TensorBoard's own reader."""
    found = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    found.Reload()
    return {tag: [(e.step, e.value) for e in found.Scalars(tag)] for tag in found.Tags()["scalars"]}


@pytest.fixture
def sink(tmp_path, monkeypatch):
    monkeypatch.setenv("MONITOR_OUTPUT_DIR", str(tmp_path))
    made = TensorBoardSink()
    yield made
    made.close("finished")


@pytest.mark.parametrize("is_native", [True, False])
def test_crc32c_is_the_one_tensorboard_checks(monkeypatch, is_native):
    monkeypatch.setattr(native, "available", lambda: is_native)
    assert crc32c(b"123456789") == 0xE3069283
    rng = np.random.default_rng(0)
    for size in [*range(0, 200, 7), 64, 128, 4096, 4097, 70_001]:
        data = rng.bytes(size)
        assert masked(crc32c(data)) == masked_crc32c(data), size


def test_tags_are_the_documents_and_every_value_is_read_back(sink):
    sink.open(context(rank=2))
    acts = [("a.b", "input_0", 0), ("a.b", "output", 1)]
    values = {0: [1.0, -3.5, 0.0], 1: [math.nan, 2.0, 1.0], 2: [math.inf, 0.0, 1.0]}
    for step, x in values.items():
        sink.write(
            frame(
                step,
                table(Kind.ACTV, [(desc(name, slot, micro), x) for name, slot, micro in acts]),
                table(Kind.GRAD_REDUCED, [(desc("head.weight"), x)]),
                table(Kind.ATTENTION, [(desc("a", "", 0), (3.0, 0.5))], (Stat.ENTROPY, Stat.SOFTMAX_MAX)),
                scalars={"loss": 2.0 + step, "lr": 1e-3},
            )
        )
    sink.close("finished")
    assert [name.split(".")[0] for name in os.listdir(sink.folder)] == ["events"]
    got = read(sink.folder)
    assert set(got) == {
        *(f"0:a.b.{slot}:{micro}/rank2/actv_{op}" for _, slot, micro in acts for op in SIX),
        *(f"0:head.weight/rank2/post_grad_{op}" for op in SIX),
        *(f"0:a.attention:0/rank2/qkt_{op}" for op in ("entropy", "softmax_max")),
        "loss",
        "lr",
    }
    assert got["loss"] == [(0, 2.0), (1, 3.0), (2, 4.0)]
    assert got["lr"] == [(step, pytest.approx(1e-3)) for step in range(3)]
    norms = got["0:a.b.input_0:0/rank2/actv_norm"]
    assert norms[0] == (0, pytest.approx(math.sqrt(13.25)))
    assert math.isnan(norms[1][1]) and norms[2] == (2, math.inf)
    assert [value for _, value in got["0:a.b.input_0:0/rank2/actv_nans"]] == [0.0, 1.0, 0.0]


TASKS = {Kind.ACTV: "actv", Kind.ACTV_GRAD: "actv_grad", Kind.GRAD_REDUCED: "post_grad"}


@pytest.mark.parametrize("kind", TASKS)
def test_the_names_in_tags_are_those_that_msprobe_recorded(sink, kind):
    """Its converter (vp0:name:micro0/op in a folder per kind) writes another form than its format "tensorboard", of
    which the documents are the source."""
    recorded = read(RECORDED / "single" / "tb" / "rank0" / kind.word)
    wanted, rows = set(), {}
    for tag in recorded:
        stem, _, op = tag.removeprefix("vp0:").rpartition("/")
        name, _, micro = stem.partition(":micro")
        wanted.add(f"0:{name}{':' + micro if micro else ''}/rank0/{TASKS[kind]}_{op}")
        module, _, slot = name.rpartition(".") if micro else (name, "", "")
        rows[stem] = (desc(module, slot, int(micro) if micro else -1), [1.0])
    sink.open(context(ops=sorted({tag.rpartition("/")[2] for tag in recorded})))
    sink.write(frame(0, table(kind, rows.values())))
    sink.close("finished")
    assert set(read(sink.folder)) == wanted


def test_strange_tags_and_large_values_do_not_spoil_the_file(sink):
    sink.open(context(ops=["max"]))
    names = ["层", "a/b:c", "x" * 300, ""]
    sink.write(frame(1 << 40, table(Kind.PARAM_ORIGIN, [(desc(name), [2e30]) for name in names])))
    sink.write(frame(3, table(Kind.PARAM_ORIGIN, [(desc(name), [2e30]) for name in names])))
    sink.close("finished")
    got = read(sink.folder)
    assert set(got) == {f"0:{name}/rank0/param_origin_max" for name in names}
    assert [step for step, _ in got["0:/rank0/param_origin_max"]] == [1 << 40, 3]


def test_a_record_is_reused_without_leaving_old_values():
    record = ScalarRecord(["a", "b"])
    first = record.fill(1, np.array([1.0, 2.0]), 0.0)
    record.fill(2, np.array([9.0, 9.0]), 0.0)
    assert record.fill(1, np.array([1.0, 2.0]), 0.0) == first


def test_a_full_disk_leaves_a_file_that_reads_and_goes_on(sink, monkeypatch):
    import errno

    real, full = os.write, []

    def write(fd, data):
        if full:
            if len(data) > 10:
                return real(fd, data[:10])
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(fd, data)

    monkeypatch.setattr(textfile.os, "write", write)
    sink.open(context(ops=["max"]))
    for step in range(4):
        full[:] = [1] if step in (0, 2) else []
        sink.write(frame(step, table(Kind.PARAM_ORIGIN, [(desc("w"), [float(step)])])))
        assert sink.flush(10)
    sink.close("finished")
    assert read(sink.folder) == {"0:w/rank0/param_origin_max": [(1, 1.0), (3, 3.0)]}
    assert (sink.losses.written, sink.losses.lost) == (2, 2)


def test_histograms_are_read_back_with_their_bins_and_open_ends(sink):
    sink.open(context())
    x = np.concatenate([np.linspace(-3, 1.5, 1000), [0.5] * 7])
    counts = np.array([(x < -1).sum(), *np.histogram(x, 30, (-1, 1))[0], (x > 1).sum()], np.float64)
    whole = table(Kind.UPDATE, [(desc("w"), x)])
    sink.write(frame(4, whole, table(Kind.UPDATE, [(desc("w", definition=DEFINITION), counts)], (Stat.HIST,))))
    sink.close("finished")
    found = EventAccumulator(sink.folder)
    found.Reload()
    [event] = found.Histograms("0:w/rank0/adam_update")
    assert event.step == 4
    value = event.histogram_value
    assert (value.min, value.max, value.num) == (-3, 1.5, 1007)
    assert (value.sum, value.sum_squares) == (pytest.approx(x.sum()), pytest.approx((x * x).sum()))
    limits, read_back = np.array(value.bucket_limit), np.array(value.bucket)
    for low, high in ((-3, -1), (-1, -0.2), (0.4, 0.6), (1, 1.5)):
        inside = (limits > low + 1e-9) & (limits <= high + 1e-9)
        assert read_back[inside].sum() == pytest.approx(((x >= low) & (x < high)).sum(), abs=1), (low, high)
    assert not [tag for tag in found.Tags()["scalars"] if "[" in tag]


def test_a_histogram_of_the_update_by_powers_of_two_is_read_back_with_its_bins(sink):
    sink.open(context())
    x = np.concatenate([np.linspace(-3, 1.5, 1000), [1e-20, 0.0, 5e30]])
    counts, _ = np.histogram(x, OCTAVE_EDGES)
    series = [(desc("w", definition=OCTAVES_DEFINITION), counts)]
    sink.write(frame(4, table(Kind.UPDATE, [(desc("w"), x)]), table(Kind.UPDATE, series, (Stat.HIST,))))
    sink.close("finished")
    found = EventAccumulator(sink.folder)
    found.Reload()
    [event] = found.Histograms("0:w/rank0/adam_update")
    assert event.histogram_value.bucket_limit[:-1] == OCTAVE_EDGES[1:-1]
    assert event.histogram_value.bucket == counts.tolist() and sum(counts) == 1003
