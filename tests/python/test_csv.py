# SPDX-License-Identifier: GPL-3.0-or-later
"""The csv files are msprobe's: names, ranges, columns, digits, quoting. A full disk costs steps, not the training."""

import csv
import errno
import json
import math
import os
import re
import threading

import numpy as np
import pytest
from tables import context, desc, frame, statistics, table
from telltale.kinds import DType, Kind, Stat
from telltale.sinks import textfile
from telltale.sinks.csv import CsvSink, step_range
from telltale.sinks.records import RecordSink
from telltale.sinks.rundir import RunDirectory, stamp, within
from telltale.sinks.tensorboard import TensorBoardSink
from telltale.sinks.worker import FrameWorker

X = [-2.5, 0.0, 1.25, 3.0000004, 1e-9, 7.0]


@pytest.fixture
def out(tmp_path, monkeypatch):
    monkeypatch.setenv("MONITOR_OUTPUT_DIR", str(tmp_path))
    return tmp_path


def written(sink, ctx, *frames):
    """Runs frames through a sink to its end; file name -> text."""
    sink.open(ctx)
    for one in frames:
        sink.write(one)
    sink.close("finished")
    folder = sink.directory.path
    if not os.path.isdir(folder):
        return {}
    names = [name for name in os.listdir(folder) if name.endswith(".csv")]
    return {name: open(os.path.join(folder, name), newline="").read() for name in names}


def rows(text):
    return list(csv.reader(text.splitlines(keepends=True)))


def test_the_directory_is_named_as_msprobe_names_it_in_shanghai_time(out):
    sink = CsvSink()
    written(sink, context(rank=3), frame(0, table(Kind.PARAM_ORIGIN, [(desc("w"), X)])))
    name = os.path.basename(sink.directory.path)
    assert re.fullmatch(r"[A-Z][a-z]{2}\d{2}_\d{2}-\d{2}-\d{2}-rank3-[0-9a-f]{8}", name)
    assert re.match(r"([\w-]{0,20})-rank(\d{1,5})-", name)
    from datetime import datetime, timezone

    assert stamp(datetime(2025, 12, 31, 23, 5, 6, tzinfo=timezone.utc)) == "Jan01_07-05-06"


def test_columns_are_in_the_users_order_with_shape_and_dtype_last_unless_placed(out):
    acts = table(Kind.ACTV, [(desc("linear", "input", 0, (10, 10)), np.ones(100))])
    files = written(CsvSink(), context(ops=["norm", "nans"], ndigits=6), frame(1, acts))
    assert rows(files["actv_1-1.csv"]) == [
        ["vpp_stage", "name", "step", "micro_step", "norm", "nans", "shape", "dtype"],
        ["0", "linear.input", "1", "0", "10.0", "0", "[10, 10]", "torch.float32"],
    ]
    files = written(CsvSink(), context(ops=["dtype", "max"], ndigits=6), frame(1, acts))
    assert rows(files["actv_1-1.csv"])[1] == ["0", "linear.input", "1", "0", "torch.float32", "1.0", "[10, 10]"]


def test_every_kind_has_its_file_and_micro_steps_stand_where_msprobe_has_them(out):
    plain = [Kind.PARAM_ORIGIN, Kind.PARAM_UPDATED, Kind.GRAD_REDUCED, Kind.EXP_AVG, Kind.EXP_AVG_SQ]
    plain += [Kind.UPDATE, Kind.UPDATE_RATIO, Kind.GRAD_UNREDUCED, Kind.ACTV, Kind.ACTV_GRAD]
    tables = [table(kind, [(desc("a.b"), X)]) for kind in plain]
    tables.append(table(Kind.MG_DIRECTION, [(desc("a.b"), (0.25,))], (Stat.AGREEMENT,)))
    heads = [(desc("a", "", 0), (3.0, 0.5, 9.0)), (desc("a", "head_1", 0), (2.0, 0.25, 7.5))]
    tables.append(table(Kind.ATTENTION, heads, (Stat.ENTROPY, Stat.SOFTMAX_MAX, Stat.MAX_LOGIT)))
    tables.append(table(Kind.LINEAR, [(desc("a"), (8.0, 1.5))], (Stat.STABLE_RANK, Stat.KERNEL_NORM)))
    tables.append(table(Kind.ROUTER, [(desc("r", "", 1), (1.0,))], (Stat.ENTROPY,)))
    files = written(CsvSink(), context(ops=["max"], ndigits=6), frame(7, *tables, scalars={"loss": 2.5}))
    heads = {name.rsplit("_", 1)[0]: text.split("\n")[0] for name, text in files.items()}
    with_micro = {"actv", "actv_grad", "attention_hook", "attention_heads", "moe_router_logit_hook"}
    for name, head in heads.items():
        assert (",micro_step," in head) == (name in with_micro), name
    assert rows(files["attention_hook_7-7.csv"])[1:] == [["0", "a.attention", "7", "0", "3.0", "0.5"]]
    assert rows(files["attention_heads_7-7.csv"])[1:] == [["0", "a.attention.head_1", "7", "0", "2.0", "0.25", "7.5"]]
    assert rows(files["linear_hook_7-7.csv"]) == [
        ["vpp_stage", "name", "step", "sr", "kernel_norm"],
        ["0", "a.linear", "7", "8.0", "1.5"],
    ]
    assert rows(files["moe_router_logit_hook_7-7.csv"])[1] == ["0", "r.moe_router", "7", "1", "1.0"]
    assert rows(files["other_7-7.csv"])[1] == ["0", "a.b", "7", "0.25", "[]", "torch.float32"]
    assert rows(files["scalar_7-7.csv"]) == [["vpp_stage", "name", "step", "value"], ["0", "loss", "7", "2.5"]]
    assert set(heads) == with_micro | {kind.word for kind in plain} | {"linear_hook", "other", "scalar"}


def test_unreduced_gradients_have_micro_steps_only_with_monitor_mbs_grad(out):
    grads = table(Kind.GRAD_UNREDUCED, [(desc("w", micro=k), X) for k in (0, 1)])
    files = written(CsvSink(), context(ops=["max"], monitor_mbs_grad=True), frame(0, grads))
    assert [row[3] for row in rows(files["grad_unreduced_0-0.csv"])] == ["micro_step", "0", "1"]


def test_a_direction_row_is_msprobes_ops_of_one_scalar(out):
    agree = table(Kind.MG_DIRECTION, [(desc("w"), (0.0,))], (Stat.AGREEMENT,))
    files = written(CsvSink(), context(ndigits=6), frame(2, agree))
    assert files["other_2-2.csv"].split("\n")[1] == "0,w,2,0.0,0.0,0.0,0.0,1.0,0,[],torch.float32"


def test_collectives_are_well_formed_rows(out):
    stats = (Stat.NORM, Stat.MEAN, Stat.MIN, Stat.MAX, Stat.ZEROS, Stat.NANS)
    unknown = dict(shape=(), dtype=DType.UNKNOWN, torch_dtype="")
    comm = table(
        Kind.COMM,
        [(desc("all_reduce", f"post_{i}", **unknown), (9.0, 1.0, -2.0, 3.0, 0.5, 0.0)) for i in (0, 1)],
        stats,
    )
    grid = rows(written(CsvSink(), context(ndigits=6), frame(0, comm))["other_0-0.csv"])
    assert {len(row) for row in grid} == {11}
    assert grid[2] == ["0", "all_reduce.post_1", "0", "-2.0", "3.0", "1.0", "9.0", "0.5", "0", "nan", "nan"]


@pytest.mark.parametrize(
    ("value", "ndigits", "text"),
    [
        (1.23456789, 6, "1.234568"),
        (0.0000254, 6, "2.5e-05"),
        (-0.0000001, 6, "-0.0"),
        (0.0000005, 6, "0.0"),
        (0.0000015, 6, "2e-06"),
        (2.675, 2, "2.68"),
        (150.0, 6, "150.0"),
        (1e22, 6, "1e+22"),
        (1234567890123.25, 1, "1234567890123.2"),
        (1 / 3, 16, "0.3333333333333333"),
        (math.nan, 6, "nan"),
        (math.inf, 6, "inf"),
        (-math.inf, None, "-inf"),
        (math.nan, None, "nan"),
        (1.2345678901, None, "1.23456789"),
        (3.25e-17, None, "3.25e-17"),
        (-7.0, None, "-7"),
    ],
)
def test_numbers_are_written_as_pandas_writes_them_or_with_nine_digits(out, value, ndigits, text):
    """The expected texts with ndigits are pandas' own: DataFrame([[value]]).round(ndigits).to_csv()."""
    one = table(Kind.LINEAR, [(desc("w"), (value, 0.0))], (Stat.STABLE_RANK, Stat.KERNEL_NORM))
    line = written(CsvSink(), context(ndigits=ndigits), frame(0, one))["linear_hook_0-0.csv"].split("\n")[1]
    assert line.split(",")[3] == text


def test_what_is_not_finite_spreads_as_in_msprobe(out):
    acts = table(Kind.PARAM_ORIGIN, [(desc("n"), [1.0, math.nan]), (desc("i"), [1.0, math.inf, 0.0])])
    grid = rows(written(CsvSink(), context(ndigits=6), frame(0, acts))["param_origin_0-0.csv"])
    assert grid[1][3:9] == ["nan", "nan", "nan", "nan", "0.0", "1"]
    assert grid[2][3:9] == ["0.0", "inf", "inf", "inf", "0.333333", "0"]


def test_integers_are_printed_as_such_where_nothing_else_is_in_the_module(out):
    whole = dict(dtype=DType.I64, torch_dtype="torch.int64")
    acts = table(
        Kind.ACTV,
        [
            (desc("ids", "input", 0, **whole), [3, 250]),
            (desc("tok", "input", 0, **whole), [3, 250]),
            (desc("tok", "output", 0), [0.5, 1.0]),
        ],
    )
    grid = rows(written(CsvSink(), context(ndigits=6), frame(0, acts))["actv_0-0.csv"])
    assert [row[4:6] for row in grid[1:]] == [["3", "250"], ["3.0", "250.0"], ["0.5", "1.0"]]


def test_activations_are_grouped_by_module_and_gradients_by_micro_step(out):
    order = [("a", 0), ("b", 0), ("a", 1), ("b", 1)]
    acts = table(Kind.ACTV, [(desc(name, "output", micro), X) for name, micro in order])
    grads = table(Kind.ACTV_GRAD, [(desc(name, "output", micro), X) for name, micro in order])
    files = written(CsvSink(), context(), frame(0, acts, grads))

    def names(file):
        return [(row[1][0], int(row[3])) for row in rows(files[file])[1:]]

    assert names("actv_0-0.csv") == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    assert names("actv_grad_0-0.csv") == order


def test_gradients_stand_in_the_order_of_their_arrival_where_it_is_known(out):
    grads = table(Kind.GRAD_UNREDUCED, [(desc(name), X if name != "b" else None) for name in "abcd"])
    grads.arrived += [3, 0, 2, 3]
    (shot,) = frame(0, grads).tables
    assert shot.arrival.tolist() == [2, 0, 1]
    files = written(CsvSink(), context(), frame(0, grads))
    assert [row[1] for row in rows(files["grad_unreduced_0-0.csv"])[1:]] == ["d", "a", "c"]
    grads.clear()
    grads.results[1] = statistics(X)
    grads.arrived.append(0)  # not what was measured: the order of the rows holds
    assert frame(1, grads).tables[0].arrival is None


def test_a_stable_rank_of_the_usual_definition_is_written_as_msprobes_ratio(out):
    stats = (Stat.STABLE_RANK, Stat.KERNEL_NORM)
    squared = (desc("a", "sr", definition="F^2/sigma^2"), (64.0, 1.5))
    ratio = (desc("a", definition="F/sigma"), (8.0, 1.5))
    for both in ([squared], [ratio, squared]):
        linear = table(Kind.LINEAR, both, stats)
        grid = rows(written(CsvSink(), context(ndigits=6), frame(0, linear))["linear_hook_0-0.csv"])
        assert [row[3:] for row in grid[1:]] == [["8.0", "1.5"]]


def test_router_weights_and_logits_have_a_file_each(out):
    both = [
        (desc("r", "weight"), (0.25, 0.0)),
        (desc("r", "logit", 1), (0.0, 1.5)),
    ]
    files = written(CsvSink(), context(ndigits=6), frame(0, table(Kind.ROUTER, both, (Stat.SIMILARITY, Stat.ENTROPY))))
    assert rows(files["moe_router_weight_hook_0-0.csv"])[1] == ["0", "r.moe_router", "0", "0.25"]
    assert rows(files["moe_router_logit_hook_0-0.csv"])[1] == ["0", "r.moe_router", "0", "1", "1.5"]


def test_a_range_of_steps_shares_a_file_and_is_aligned_to_zero(out):
    assert step_range(5, 1) == (5, 5)
    assert [step_range(s, 3) for s in range(0, 10, 3)] == [(0, 2), (3, 5), (6, 8), (9, 11)]
    frames = [frame(s, table(Kind.PARAM_ORIGIN, [(desc("w"), X)])) for s in (2, 3, 4, 9)]
    files = written(CsvSink(), context(step_count_per_record=4), *frames)
    assert {name: [row[2] for row in rows(text)[1:]] for name, text in files.items()} == {
        "param_origin_0-3.csv": ["2", "3"],
        "param_origin_4-7.csv": ["4"],
        "param_origin_8-11.csv": ["9"],
    }


def test_a_late_metric_goes_to_the_file_of_its_own_step(out):
    frames = [frame(s, scalars={"loss": float(s)}) for s in (1, 2, 1)]
    files = written(CsvSink(), context(ndigits=3), *frames)
    assert [len(rows(files[f"scalar_{s}-{s}.csv"])) for s in (1, 2)] == [3, 2]


@pytest.mark.parametrize(
    "name", ["a,b", 'say "hi"', "two\nlines", "=cmd|'/c calc'!A1", "50%", "%d %s", "a:b/c", "层.0", ""]
)
def test_any_name_is_written_and_read_back_whole(out, name):
    grads = table(Kind.GRAD_REDUCED, [(desc(name), X), (desc("b"), X)])
    grid = rows(written(CsvSink(), context(), frame(0, grads))["grad_reduced_0-0.csv"])
    assert [row[1] for row in grid[1:]] == [name, "b"]
    assert {len(row) for row in grid} == {11}


def test_a_name_that_is_not_text_does_not_stop_the_step(out):
    grads = table(Kind.GRAD_REDUCED, [(desc("bad\udc80"), X), (desc("b"), X)])
    assert "0,b,0," in written(CsvSink(), context(), frame(0, grads))["grad_reduced_0-0.csv"]


def test_squashed_names_that_collide_keep_their_full_form_in_registration_order(out):
    first, second = "a.layers.0.w", "b.layers.0.w"
    grads = table(Kind.GRAD_UNREDUCED, [(desc(second), X), (desc(first), X)])  # the order of backward
    info = {"parameters": [(0, first), (0, second)]}
    grid = rows(written(CsvSink(), context(squash_name=True, info=info), frame(0, grads))["grad_unreduced_0-0.csv"])
    assert [row[1] for row in grid[1:]] == ["b.layers.0.w", "layers.0.w"]
    acts = table(Kind.ACTV, [(desc(f"m.{i}.norm", "input", 0), X) for i in range(2)])
    grid = rows(written(CsvSink(), context(squash_name=True), frame(0, acts))["actv_0-0.csv"])
    assert [row[1] for row in grid[1:]] == ["norm.input", "m.1.norm.input"]


def test_changed_ops_never_land_under_the_old_header(out):
    sink = CsvSink()
    sink.open(context(step_count_per_record=10, ops=["norm"]))
    sink.write(frame(1, table(Kind.PARAM_ORIGIN, [(desc("w"), X)])))
    sink.open(context(step_count_per_record=10, ops=["max", "min"]))
    files = written(sink, context(step_count_per_record=10, ops=["max", "min"]),
                    frame(2, table(Kind.PARAM_ORIGIN, [(desc("w"), X)])))  # fmt: skip
    assert {name: len(rows(text)[0]) for name, text in files.items()} == {
        "param_origin_0-9.csv": 6,
        "param_origin_2-9.csv": 7,
    }


def test_rows_follow_series_that_come_and_go(out):
    frames = [
        frame(s, table(Kind.ACTV_GRAD, [(desc(name), X if name in there else None) for name in "abc"]))
        for s, there in enumerate(["abc", "ac", "abc"])
    ]
    files = written(CsvSink(), context(step_count_per_record=3), *frames)
    grid = rows(files["actv_grad_0-2.csv"])[1:]
    assert [row[1] + row[2] for row in grid] == ["a0", "b0", "c0", "a1", "c1", "a2", "b2", "c2"]


@pytest.mark.parametrize("squash", [False, True])
def test_the_structure_and_the_stacks_are_written_whatever_the_format_and_said_where(out, squash):
    said = []
    sink = RecordSink(said.append)
    sink.open(context(rank=1, squash_name=squash))
    sink.blob("module_struct", "model", 0, b'{"0:tok": {}, "0:encoder.layers.0": {}}')
    sink.blob("stack", "model", 0, json.dumps({"0:tok": 'File "x", line 1\n', "0:pos": "b"}).encode())
    sink.close("finished")
    assert json.loads((out / "module_struct/rank1/module_struct.json").read_text()) == {
        "0:tok": {},
        "0:layers.0" if squash else "0:encoder.layers.0": {},
    }
    grid = rows(open(os.path.join(sink.directory.path, "stack_info.csv"), newline="").read())
    assert grid == [["module_name", "stack_info"], ["0:tok", 'File "x", line 1\n'], ["0:pos", "b"]]
    assert [sentence.split(" in ")[-1] for sentence in said] == [
        str(out / "module_struct/rank1/module_struct.json"),
        os.path.join(sink.directory.path, "stack_info.csv"),
    ]


def test_append_output_finds_the_directory_of_its_rank_and_says_when_there_is_none(out, capsys):
    for name in ("Dec03_21-34-40-rank0-aaaaaaaa", "Dec03_21-34-41-rank1-bbbbbbbb", "Feb29_00-00-00-rank0-cccccccc"):
        (out / name).mkdir()
    window = ["Dec03_21-34-40", "Dec03_21-34-41"]
    assert within(str(out), 1, window) == str(out / "Dec03_21-34-41-rank1-bbbbbbbb")
    assert within(str(out), 0, ["Feb28_00-00-00", "Mar01_00-00-00"]) == str(out / "Feb29_00-00-00-rank0-cccccccc")
    assert within(str(out), 0, ["Dec31_00-00-00", "Mar01_00-00-00"]) == str(out / "Feb29_00-00-00-rank0-cccccccc")
    assert within(str(out), 0, ["nonsense", "Mar01_00-00-00"]) is None
    sink = CsvSink()
    written(sink, context(append_output=window), frame(0, table(Kind.PARAM_ORIGIN, [(desc("w"), X)])))
    written(CsvSink(), context(append_output=window), frame(0, table(Kind.PARAM_ORIGIN, [(desc("w"), X)])))
    assert len(rows((out / "Dec03_21-34-40-rank0-aaaaaaaa/param_origin_0-0.csv").read_text())) == 3
    written(CsvSink(), context(rank=5, append_output=window), frame(0, table(Kind.PARAM_ORIGIN, [(desc("w"), X)])))
    assert "no directory of rank 5" in capsys.readouterr().err


def test_half_a_line_of_a_killed_run_does_not_spoil_the_next(out):
    folder = out / "Dec03_21-34-40-rank0-aaaaaaaa"
    folder.mkdir()
    (folder / "param_origin_0-0.csv").write_text("vpp_stage,name,step,norm,shape,dtype\n0,w,0,1.")
    window = ["Dec03_21-34-40", "Dec03_21-34-40"]
    frames = [frame(0, table(Kind.PARAM_ORIGIN, [(desc("w"), X)]))]
    grid = rows(written(CsvSink(), context(ops=["norm"], append_output=window), *frames)["param_origin_0-0.csv"])
    assert [len(row) for row in grid] == [6, 4, 6]


def test_a_full_disk_costs_counted_steps_and_writing_goes_on_when_there_is_room(out, monkeypatch, capsys):
    full = threading.Event()
    real = os.write

    def write(fd, data):
        if full.is_set():
            if len(data) > 8:
                return real(fd, data[:8])  # what still fits
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(fd, data)

    monkeypatch.setattr(textfile.os, "write", write)
    sink = CsvSink()
    sink.open(context(step_count_per_record=10))

    def give(step):
        sink.write(frame(step, table(Kind.PARAM_ORIGIN, [(desc("w"), X)])))
        assert sink.flush(10)

    give(0)
    full.set()
    for step in (1, 2, 3):
        give(step)
    full.clear()
    give(4)
    sink.close("finished")
    text = open(os.path.join(sink.directory.path, "param_origin_0-9.csv")).read()
    assert [row[2] for row in rows(text)[1:]] == ["0", "4"]
    assert {len(row) for row in rows(text)} == {11}
    assert (sink.losses.taken, sink.losses.written, sink.losses.lost) == (5, 2, 3)
    assert len(sink.losses.sentences) == 2
    assert "step 1 was not written: no space left on device" in sink.losses.sentences[0]
    assert "writing again at step 4; 3 steps from step 1 on were not written" in sink.losses.sentences[1]


def test_a_directory_that_cannot_be_made_is_tried_again(tmp_path, monkeypatch):
    blocker = tmp_path / "out"
    blocker.write_text("a file where the directory should be")
    monkeypatch.setenv("MONITOR_OUTPUT_DIR", str(blocker))
    sink = CsvSink()
    sink.open(context())
    sink.write(frame(0, table(Kind.PARAM_ORIGIN, [(desc("w"), X)])))
    assert sink.flush(10)
    blocker.unlink()
    sink.write(frame(1, table(Kind.PARAM_ORIGIN, [(desc("w"), X)])))
    sink.close("finished")
    assert (sink.losses.written, sink.losses.lost) == (1, 1)
    assert os.listdir(sink.directory.path) == ["param_origin_1-1.csv"]


def test_a_slow_disk_never_blocks_the_training_thread(out):
    gate = threading.Event()
    worker = FrameWorker(max_jobs=4)
    sink = CsvSink(worker)
    sink.open(context())
    assert sink.flush(10)
    worker.post(gate.wait)
    for step in range(20):
        sink.write(frame(step, table(Kind.PARAM_ORIGIN, [(desc("w"), X)])))  # returns although nothing is written
    assert sink.losses.written == 0
    gate.set()
    sink.close("finished")
    assert sink.losses.taken == 20 == sink.losses.written + sink.losses.lost
    assert 3 <= sink.losses.written <= 5
    assert "queue is full" in sink.losses.sentences[0]
    assert "steps in all were not written" in sink.losses.sentences[-1]
    assert len(sink.losses.sentences) == 2


def test_a_disk_that_hangs_neither_keeps_the_job_from_ending_nor_loses_count(out):
    gate = threading.Event()
    worker = FrameWorker()
    sink = CsvSink(worker)
    sink.close_seconds = 0.05
    sink.open(context())
    worker.post(gate.wait)
    for step in range(3):
        sink.write(frame(step, table(Kind.PARAM_ORIGIN, [(desc("w"), X)])))
    sink.close("finished")
    assert (sink.losses.taken, sink.losses.written, sink.losses.lost) == (3, 0, 3)
    assert "the last 3 steps were not written" in sink.losses.sentences[-1]
    gate.set()
    for thread in threading.enumerate():
        if thread.name == "telltale-files":
            thread.join(10)
    assert (sink.losses.written, os.listdir(out)) == (0, [])


def test_frames_that_wait_are_bounded_in_memory_but_one_is_always_taken():
    gate = threading.Event()
    worker = FrameWorker(max_bytes=100)
    started = threading.Event()
    worker.post(lambda: (started.set(), gate.wait()))
    assert started.wait(10)
    while worker.post(lambda: None, 1000):
        pass
    assert worker.post(lambda: None, 1000) is False
    gate.set()
    assert worker.close()


def test_close_drains_and_a_bad_job_ends_neither_thread_nor_sink(out, capsys):
    worker = FrameWorker()
    sink = CsvSink(worker)
    sink.open(context())
    worker.post(lambda: 1 / 0)
    for step in range(30):
        sink.write(frame(step, table(Kind.PARAM_ORIGIN, [(desc("w"), X)])))
    sink.close("finished")
    assert sink.losses.written == 30
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert not [thread for thread in threading.enumerate() if thread.name == "telltale-files"]


def test_a_forked_child_neither_writes_nor_waits(out):
    sink = CsvSink()
    sink.open(context())
    sink.write(frame(0, table(Kind.PARAM_ORIGIN, [(desc("w"), X)])))
    assert sink.flush(10)
    pid = os.fork()
    if pid == 0:
        sink.write(frame(1, table(Kind.PARAM_ORIGIN, [(desc("w"), X)])))
        sink.flush(60)
        sink.close("finished")
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    sink.close("finished")
    assert os.listdir(sink.directory.path) == ["param_origin_0-0.csv"]


def test_file_sinks_share_one_thread_and_one_directory(out):
    worker, directory = FrameWorker(), RunDirectory()
    sinks = [CsvSink(worker, directory), TensorBoardSink(worker, directory)]
    for sink in sinks:
        sink.open(context())
    for sink in sinks:
        sink.write(frame(0, table(Kind.PARAM_ORIGIN, [(desc("w"), X)])))
    assert len([thread for thread in threading.enumerate() if thread.name == "telltale-files"]) == 1
    for sink in sinks:
        sink.close("finished")
    assert not [thread for thread in threading.enumerate() if thread.name == "telltale-files"]
    assert len(os.listdir(out)) == 1
    names = sorted(os.listdir(sinks[0].directory.path))
    assert [name.split(".")[0] for name in names] == ["events", "param_origin_0-0"]


def test_control_characters_of_a_name_do_not_reach_a_terminal_through_the_file() -> None:
    hostile = "a\x1b[2Jb\rc\x9bd\u202ee\tf\x00g"
    assert textfile.cell(hostile) == "a\\u001b[2Jb\\u000dc\\u009bd\\u202ee\\u0009f\\u0000g"
    assert textfile.cell("two\nlines") == '"two\nlines"' and textfile.cell("模型") == "模型"
