# SPDX-License-Identifier: GPL-3.0-or-later
"""telltale.open(): every value against what `telltale show` says of the same file."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet
import pytest
import telltale
from importedrun import called, imported, lines_of
from serving import BUILD, TELLTALE, Server, result, start_training
from tables import context, desc, table
from telltale.bins import BINS, OCTAVES
from telltale.kinds import Kind, Stat
from telltale.reading import ReadError
from telltale.sinks.stream import StreamSink
from twoattempts import record_two_attempts

WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
STATS = ["norm", "mean", "min", "max", "zeros", "nans", "posinfs", "neginfs", "value", "entropy", "max_logit"]


@pytest.fixture(autouse=True)
def _native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELLTALE_READER_LIBRARY", str(BUILD / "lib" / "libtelltale_reader.so"))
    monkeypatch.setenv("TELLTALE_PROGRAM", str(TELLTALE))


@pytest.fixture(scope="module")
def capsule(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record_two_attempts(tmp_path_factory.mktemp("run"))


def asked(*words: str) -> Any:
    done = subprocess.run([str(TELLTALE), *words, "--json"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def key(series: dict[str, Any]) -> tuple[Any, ...]:
    return series["rank"], series["kind"], series["name"], series["slot"], series["micro_step"]


def same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


@pytest.mark.parametrize("threads", [1, 3])
def test_every_value_is_what_show_says(capsule: Path, threads: int) -> None:
    run = telltale.open(capsule)
    checked = 0
    for stat in STATS:
        shown = {
            key(one): one["values"] for one in asked("show", str(capsule), "--series", "*", "--stat", stat)["series"]
        }
        frame = run.frame(stat=stat, threads=threads)
        newest: dict[tuple[Any, ...], dict[int, float]] = {}
        # A later attempt counts where both have a step, as it does there.
        for row in np.argsort(frame["attempt"], kind="stable"):
            assert frame[stat][row] is not np.ma.masked
            place = tuple(frame[name][row] for name in ("rank", "kind", "name", "slot", "micro_step"))
            newest.setdefault(place, {})[int(frame["step"][row])] = float(frame[stat][row])
        assert set(newest) == {place for place, values in shown.items() if values}
        for place, values in shown.items():
            expected = {one["step"]: one["value"] for one in values if one["value"] is not None}
            assert set(newest.get(place, {})) == set(expected), (stat, place)
            for step, value in expected.items():
                number = WORDS[value] if isinstance(value, str) else value
                found = newest[place][step]  # what a float32 holds is shown by a float32's digits
                assert same(found, number) or same(found, float(np.float32(number))), (stat, place, step)
                checked += 1
    assert checked > 10_000


def test_what_is_not_finite_stays_it_and_what_was_not_measured_is_no_nan(capsule: Path) -> None:
    run = telltale.open(capsule)
    frame = run.frame(kind=["actv", "attention"], steps=(5, 6), ranks=0)
    table = frame.to_pandas()
    spoiled = table[(table.name == "blocks.0.mlp.fc1") & (table.slot == "output") & (table.attempt == 0)]
    assert [math.isnan(value) for value in spoiled.norm.to_numpy(dtype=float, na_value=0)] == [False, True]
    assert list(spoiled.nans) == [0, 1]
    assert spoiled.entropy.isna().all() and table[table.kind == "attention"].norm.isna().all()
    assert isinstance(frame["entropy"], np.ma.MaskedArray) and frame["entropy"][0] is np.ma.masked
    arrow = frame.to_arrow()
    assert arrow.num_rows == len(frame) == len(table)
    norms = arrow.column("norm")
    assert norms.null_count == (table.kind == "attention").sum() and norms.type == pa.float32()
    assert any(value is not None and math.isnan(value) for value in norms.to_pylist())
    polar = frame.to_polars()
    assert polar["norm"].null_count() == norms.null_count and polar["norm"].is_nan().sum() >= 1
    assert polar["name"].to_list() == table.name.to_list()


def test_what_is_chosen_is_what_comes(capsule: Path) -> None:
    run = telltale.open(capsule)
    assert run.name == "demo-gpt" and not run.is_live and run.ranks == [0] and run.steps == range(12)
    assert set(run.kinds["grad_reduced"]) >= {"norm", "nans", "checksum"}
    frame = run.frame("grad_reduced", "norm", "head*", steps=slice(3, 7))
    assert frame.stats == ["norm"] and set(frame["name"]) == {"head.weight"}
    assert sorted(frame["step"]) == sorted([3, 4, 5, 6] * 2) and set(frame["attempt"]) == {0, 1}
    assert list(run.frame("grad_reduced", "norm", "head*", steps=4)["step"]) == [4, 4]
    listed = run.series("grad_reduced", modules="/^head/")
    assert {one["name"] for one in listed} == {"head.weight"} and listed[0]["dtype"] == "float32"
    assert len(run.frame("grad_reduced", modules="nothing of that name")) == 0
    # Checksums are all of their 64 bits.
    sums = run.frame("param_updated", "checksum", "head.weight", steps=2)["checksum"]
    shown = asked("show", str(capsule), "--series", "head.weight", "--kind", "param_updated", "--stat", "checksum")
    text = next(one["value"] for one in shown["series"][0]["values"] if one["step"] == 2)
    assert sums.dtype == np.uint64 and f"{sums[-1]:016x}" == text


def test_histograms_come_with_their_bins(capsule: Path) -> None:
    run = telltale.open(capsule)
    frame = run.frame("ratio", "hist", "head.weight")
    [shown] = asked("show", str(capsule), "--series", "head.weight", "--kind", "ratio", "--stat", "hist")["series"]
    newest = frame["attempt"] == 1
    assert frame["hist"][newest].tolist() == [one["value"] for one in shown["values"]]
    assert list(frame.edges[1:-1]) == shown["edges"][1:-1]
    assert frame.to_arrow().column("hist").to_pylist() == frame["hist"].tolist()
    assert [list(bins) for bins in frame.to_pandas()["hist"]] == frame["hist"].tolist()


def _histograms(folder: Path, bins: list[int], series: int, steps: int) -> Path:
    """A run whose update has as many bins, other ones in every part of its steps, and from the second on not of w0."""
    server = Server(folder)
    sink = StreamSink(join=server.join, run_id="bins")
    sink.open(context())
    for part, count in enumerate(bins):
        made = table(Kind.UPDATE, [(desc(f"w{i}"), [i + 1] * count) for i in range(series)], (Stat.HIST,))
        made.present[0] = part == 0
        for step in range(part * steps, (part + 1) * steps):
            sink.write_tables(step, [made])
            if step % 64 == 0:
                assert sink.flush(20)
    sink.close("finished")
    assert server.stop() == 0
    [found] = folder.rglob("*.telltale")
    return found


def test_histograms_with_other_bins_come_alone(tmp_path: Path) -> None:
    run = telltale.open(_histograms(tmp_path, [BINS, OCTAVES], 2, 3))
    for steps, count, there in (((0, 2), BINS, [0, 1]), ((3, 5), OCTAVES, [1])):
        frame = run.frame("update", "hist", steps=steps)
        assert frame["hist"].tolist() == [[i + 1] * count for i in there for _ in range(3)]
        assert len(frame.edges) == count + 1
        assert list(frame.to_pandas()["name"]) == [f"w{i}" for i in there for _ in range(3)]
    with pytest.raises(ReadError, match="do not all have the same bins"):
        run.frame("update", "hist", steps=(2, 3))


def test_histograms_take_the_memory_of_their_counts_once(tmp_path: Path) -> None:
    run = _histograms(tmp_path, [OCTAVES], 32, 1024)
    script = f"""
import re, telltale
run = telltale.open({str(run)!r})
run.frame("update", "hist", steps=0)
memory = lambda what: 1024 * int(re.search(what + r":\\s+(\\d+)", open("/proc/self/status").read())[1])
open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
before = memory("VmRSS")
counts = run.frame("update", "hist")["hist"]
print((memory("VmHWM") - before) / counts.nbytes, counts.nbytes)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    times, size = map(float, done.stdout.split())
    assert size == 8 * OCTAVES * 32 * 1024
    assert times < 2.3, times  # the counts, and what the reader keeps for the next question; held twice 2.8


def test_the_log_the_incidents_and_the_config_are_those_of_the_program(capsule: Path) -> None:
    run = telltale.open(capsule)
    assert run.events() == asked("log", str(capsule)) and len(run.events()) > 1
    assert run.events("config") == asked("log", str(capsule), "--kind", "config")
    assert run.incidents() == asked("incidents", str(capsule))
    assert run.incidents()[0]["name"] == "blocks.0.mlp.fc1" and run.incidents()[0]["step"] == 6
    assert run.config()["wg_distribution"] is True
    assert run.document()["environment"]


def test_a_notebook_shows_runs_frames_and_pictures(capsule: Path) -> None:
    run = telltale.open(capsule)
    assert "demo-gpt" in run._repr_html_() and "blocks.0.mlp.fc1" in run._repr_html_()
    assert "12 to" not in run._repr_html_() and "0 to 11" in repr(run)
    shown = run.frame("grad_reduced")._repr_html_()
    assert "<th>norm</th>" in shown and "head.weight" not in repr(run.frame("grad_reduced", modules="head*"))
    picture = run.heatmap(kind="actv", stat="norm", size=(640, 480))
    drawn = picture._repr_png_()
    assert drawn is not None and drawn.startswith(b"\x89PNG")
    with pytest.raises(ReadError, match="nothing"):
        run.picture("nothing of that name")


def test_a_live_run_is_followed_step_by_step(tmp_path: Path) -> None:
    server = Server(tmp_path / "data")
    try:
        training = start_training(
            tmp_path, 40, TELLTALE_JOIN=server.join, TELLTALE_RUN_ID="followed", PAUSE="0.02"
        )  # fmt: skip
        found: list[Path] = []
        while not found and training.poll() is None:
            found = list((tmp_path / "data").rglob("*.telltale"))
        run = None
        while run is None:
            try:
                run = telltale.open(found[0])
                live = run.is_live
            except ReadError:
                run = None  # is just being made
        steps = {}
        for followed in run.follow(poll=0.01, kind="scalar", stat="value", modules="loss"):
            assert set(followed.frame["step"]) <= {followed.step}
            steps[followed.step] = list(followed.frame["value"])
        assert live, "it was opened too late to follow anything"
        assert result(training)["counters"]["dropped"] == 0
        assert list(steps) == list(range(40)) and all(len(losses) == 1 for losses in steps.values())
        again = run.frame("scalar", "value", "loss")
        assert [steps[int(step)][0] for step in again["step"]] == list(again["value"])
        assert not run.is_live
    finally:
        server.stop()


def test_a_frame_outlives_its_run_and_is_nobodys_to_change(capsule: Path) -> None:
    run = telltale.open(capsule)
    frame = run.frame("grad_reduced", "norm")
    before = frame["norm"].copy()
    run.close()
    del run
    column = frame["norm"]
    del frame
    assert np.array_equal(column, before, equal_nan=True) and len(column) > 0
    with pytest.raises(ValueError, match="read-only"):
        column[0] = 1


def test_bad_input_gets_a_sentence(capsule: Path, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="nowhere.telltale"):
        telltale.open(tmp_path / "nowhere.telltale")
    text = tmp_path / "text.telltale"
    text.write_text("no run at all, but a text that is long enough to have a head of its own\n" * 40)
    with pytest.raises(ReadError, match="not a Telltale run"):
        telltale.open(text)
    run = telltale.open(capsule)
    with pytest.raises(ReadError, match="there is no kind 'gradients'"):
        run.frame("gradients")
    with pytest.raises(ReadError, match="there is no statistic 'size'"):
        run.frame(stat="size")
    with pytest.raises(ReadError, match="'fp16_underflow' is made of others"):
        run.frame(stat="fp16_underflow")
    with pytest.raises(ReadError, match="regular expression"):
        run.frame(modules="/(/")
    with pytest.raises(ValueError, match="consecutive"):
        run.frame(steps=range(0, 10, 2))
    with pytest.raises(KeyError, match="no column 'size'"):
        run.frame("grad_reduced")["size"]
    run.close()
    with pytest.raises(ReadError, match="closed"):
        run.facts()


def test_what_a_damaged_file_has_lost_is_said(capsule: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.telltale"
    shutil.copy(capsule, damaged)
    import sqlite3

    with sqlite3.connect(damaged) as database:
        [name] = [row[0] for row in database.execute("select name from sqlite_master where name = 'tile'")]
        columns = [row[1] for row in database.execute(f"pragma table_info({name})")]
        assert "data" in columns, columns
        database.execute(f"update {name} set data = zeroblob(length(data)) where rowid % 2 = 0")
    database.close()
    run = telltale.open(damaged)
    with pytest.warns(UserWarning, match="cannot be read: the file is damaged"):
        frame = run.frame("grad_reduced")
    whole = telltale.open(capsule).frame("grad_reduced")
    assert frame.damaged > 0 and len(frame) <= len(whole)
    kept = frame.to_pandas().dropna()
    both = kept.merge(whole.to_pandas(), on=["attempt", "name", "slot", "step"], suffixes=("", "_whole"))
    assert len(both) == len(kept) and (both.norm == both.norm_whole).all()


def test_it_needs_no_torch(capsule: Path) -> None:
    words = f"import sys, telltale; len(telltale.open({str(capsule)!r}).frame()); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", words], check=True, timeout=60)
    assert isinstance(telltale.open(capsule).frame("scalar").to_pandas(), pd.DataFrame)


def test_the_library_gives_nothing_but_its_own_functions() -> None:
    library = BUILD / "lib" / "libtelltale_reader.so"
    said = subprocess.run(
        ["nm", "-D", "--defined-only", "--format=posix", str(library)], capture_output=True, text=True, check=True
    )
    names = {line.split()[0] for line in said.stdout.splitlines()}
    header = (Path(__file__).parents[2] / "model/reader/telltale_reader.h").read_text()
    assert names == set(re.findall(r"TR_API .*?(tr_\w+)\(", header)) and len(names) == 13


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_an_exported_table_holds_every_value_and_the_run_beside_them(capsule: Path, tmp_path: Path, form: str) -> None:
    out = tmp_path / f"run.{form}"
    words = ["export", str(capsule), "--to", form, "-o", str(out), "--json"]
    environment = dict(os.environ, TELLTALE_PYTHON=sys.executable)
    done = subprocess.run([str(TELLTALE), *words], capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    if form == "parquet":
        table = pyarrow.parquet.read_table(out)
    else:
        table = pa.ipc.open_file(out).read_all()
    run = telltale.open(capsule)
    assert report["files"] == [str(out)] and [one["what"].split(",")[0] for one in report["left_out"]] == ["histograms"]
    values = 0
    for kind in run.kinds:
        frame = run.frame(kind)
        part = table.filter(pyarrow.compute.equal(table.column("kind").cast(pa.string()), kind))
        assert part.num_rows == len(frame)
        for name in ("rank", "attempt", "micro_step", "step", *frame.stats):
            column = part.column(name)
            expected = frame[name]
            mask = np.ma.getmaskarray(expected)
            assert (np.array([not one.is_valid for one in column]) == mask).all(), (kind, name)
            found = np.array(column.fill_null(0).to_numpy(), expected.dtype)
            assert np.array_equal(found, np.ma.filled(expected, 0), equal_nan=True), (kind, name)
        values += sum(int(np.ma.count(frame[name])) for name in frame.stats)
    assert report["values"] == values > 10_000
    about = json.loads(table.schema.metadata[b"telltale"])
    assert about["document"]["config"] == run.config() and about["incidents"] == run.incidents()
    again = subprocess.run([str(TELLTALE), *words], capture_output=True, text=True, env=environment, timeout=120)
    assert again.returncode == 1 and "nothing is replaced" in again.stderr
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


def test_exported_tables_come_back_as_the_same_run(
    capsule: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = tmp_path / "tables"
    tables.mkdir()
    monkeypatch.setenv("TELLTALE_PYTHON", sys.executable)
    called("export", capsule, "--to", "parquet", "-o", tables / "values.parquet")
    called("export", capsule, "--to", "arrow", "--stat", "hist", "-o", tables / "histograms.arrow")
    again = imported(tmp_path / "data", tables)
    assert again["name"] == "demo-gpt" and again["damages"] == []
    assert lines_of(again["capsule"], tmp_path) == lines_of(str(capsule), tmp_path)


def test_without_the_package_the_program_says_what_to_install(capsule: Path, tmp_path: Path) -> None:
    words = ["export", str(capsule), "--to", "parquet", "-o", str(tmp_path / "x.parquet")]
    for python, said in (("/nowhere/python", "cannot start"), ("/usr/bin/python3", "does not have")):
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            [str(TELLTALE), *words], capture_output=True, text=True, timeout=60,
            env=dict(environment, TELLTALE_PYTHON=python),
        )  # fmt: skip
        assert done.returncode != 0 and said in done.stderr and "TELLTALE_PYTHON" in done.stderr
    refused = subprocess.run([str(TELLTALE), *words, "--follow"], capture_output=True, text=True, timeout=60)
    assert refused.returncode == 2 and "--follow has no meaning" in refused.stderr
