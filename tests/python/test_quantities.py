# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinds and statistics are those of the one table, and the exact one arrives exactly."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from serving import TELLTALE, Server
from tables import context, desc, frame
from telltale import native
from telltale.configfile import load
from telltale.kinds import Kind, Stat
from telltale.measure import DTYPES, Measurer
from telltale.pytorch import TrainerMon
from telltale.series import HASHED, PRESENT, SeriesTable, samples_each
from telltale.sinks.csv import CsvSink

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("makekinds", ROOT / "model/core/makekinds.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_what_is_made_of_the_table_is_what_it_says_today(maker: ModuleType) -> None:
    for path, text in maker.MADE.items():
        assert path.read_text("utf-8") == text(), f"run model/core/makekinds.py: {path} is not what kindtable.h says"


def test_every_row_of_the_table_is_read(maker: ModuleType) -> None:
    text = (ROOT / "model/core/kindtable.h").read_text()
    rows = [line for line in text.splitlines() if line.startswith("TELLTALE_") and "(" in line]
    unsent = maker.rows("TELLTALE_KIND_ALIAS") + maker.rows("TELLTALE_DERIVED_STAT")
    assert len(rows) == len(Kind) + len(Stat) + len(unsent)
    assert [int(kind) for kind in Kind] == list(range(1, len(Kind) + 1))
    assert [int(stat) for stat in Stat] == list(range(1, len(Stat) + 1))
    assert (Kind.UPDATE_RATIO.word, Stat.POS_INFS.word, Stat.POS_INFS.member) == ("ratio", "posinfs", "pos_infs")
    assert samples_each(SeriesTable(Kind.ACTV)) == 6 and samples_each(SeriesTable(Kind.SCALAR, (Stat.VALUE,))) == 0
    binned = SeriesTable(Kind.ACTV, has_bins=True).bins
    assert binned is not None and samples_each(binned) == 127
    assert samples_each(SeriesTable(Kind.UPDATE, (Stat.HIST,))) == 32


def bits_of(tensor: torch.Tensor) -> int:
    """The definition: the elements' bits as torch views them as integers, added up."""
    width = tensor.element_size()
    kind = np.uint8 if tensor.dtype in (torch.bool, torch.uint8) else np.dtype(f"i{width}")
    flat = tensor.clone(memory_format=torch.contiguous_format).reshape(-1)
    return sum(np.array(flat.view(torch.uint8).tolist(), np.uint8).view(kind).tolist()) % 2**64


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("use_native", [True, False])
def test_a_checksum_is_the_sum_of_the_bits_by_either_way(dtype: torch.dtype, use_native: bool) -> None:
    measurer = Measurer(1e-8, 2, use_native=use_native, checksum=True)
    generator = torch.Generator().manual_seed(3)
    table = SeriesTable(Kind.PARAM_ORIGIN)
    tensors = []
    for shape in ((1,), (7, 9), (8193,), (3, 5, 11)):
        bits = torch.randint(0, 256, (*shape, torch.empty((), dtype=dtype).element_size()), generator=generator)
        whole = (bits % 2 if dtype is torch.bool else bits).to(torch.uint8).view(dtype)[..., 0]
        tensors += [whole, whole.T if whole.dim() == 2 else whole[::2]]
    for tensor in tensors:
        assert measurer.one(tensor, table, table.add(desc("w"))) == ""
    first = len(tensors)
    for _ in tensors:
        table.add(desc("w"))
    assert measurer.batch(tensors, table, first) == []
    for row, tensor in enumerate(tensors * 2):
        assert table.results[row]["flags"] == PRESENT | HASHED
        assert int(table.results[row]["checksum"]) == bits_of(tensor)


def test_a_flipped_bit_changes_it_and_another_order_does_not() -> None:
    measurer = Measurer(1e-8, 1, checksum=True)
    table = SeriesTable(Kind.PARAM_ORIGIN)
    for _ in range(3):
        table.add(desc("w"))
    weights = torch.randn(1000)
    flipped = weights.clone()
    flipped.view(torch.int32)[17] ^= 1
    for row, tensor in enumerate((weights, flipped, weights[torch.randperm(1000)])):
        measurer.one(tensor, table, row)
    here, other, shuffled = table.results["checksum"][:3].tolist()
    assert other != here == shuffled


def test_nothing_is_hashed_unless_it_is_asked_for() -> None:
    table = SeriesTable(Kind.PARAM_ORIGIN)
    table.add(desc("w"))
    Measurer(1e-8, 1).one(torch.randn(10), table, 0)
    assert (table.results[0]["flags"], table.results[0]["checksum"]) == (PRESENT, 0)
    assert not load("{}").config.checksum and load('{"telltale": {"checksum": true}}').config.checksum


def test_checksums_arrive_exactly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(tmp_path / "data")
    try:
        monkeypatch.setenv("TELLTALE_JOIN", server.join)
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(40, 64), torch.nn.Linear(64, 3)).to(torch.float64)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        monitor = TrainerMon({"param_distribution": True, "xy_distribution": True, "telltale": {"checksum": True}})
        monitor.set_monitor(model, optimizer=optimizer)
        expected: dict[str, list[int]] = {"0.bias": [], "1.weight": [], "1:output": []}
        for _ in range(3):
            optimizer.zero_grad()
            for name in ("0.bias", "1.weight"):
                expected[name].append(bits_of(model.get_parameter(name).detach()))
            out = model(torch.randn(5, 40, dtype=torch.float64))
            expected["1:output"].append(bits_of(out.detach()))
            out.square().sum().backward()
            optimizer.step()
        assert monitor.flush(10)
        assert monitor.counters()["dropped"] == 0
        monitor.close()
        assert server.stop() == 0
    finally:
        if server.process.poll() is None:
            server.kill()
    server.inspect()
    [capsule] = (tmp_path / "data").rglob("*.telltale")
    show = [str(TELLTALE), "show", str(capsule), "--stat", "checksum"]
    for name, sums in expected.items():
        kind = "actv" if ":" in name else "param_origin"
        one = [*show, "--series", name, "--kind", kind]
        document = json.loads(subprocess.run([*one, "--json"], capture_output=True, text=True, check=True).stdout)
        [row] = document["series"]
        assert [value["value"] for value in row["values"]] == [f"{one:016x}" for one in sums]
        text = subprocess.run(one, capture_output=True, text=True, check=True).stdout
        assert f"{sums[-1]:016x}" in text
    assert any(one > 2**53 for sums in expected.values() for one in sums)
    drawn = subprocess.run(
        [str(TELLTALE), "render", str(capsule), "--view", "heatmap", "--kind", "param_origin", "--stat", "checksum",
         "-o", str(tmp_path / "x.png")],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert drawn.returncode != 0 and "checksum says whether tensors are the same" in drawn.stderr


def test_a_statistic_that_does_not_exist_or_fit_is_refused_in_a_sentence(tmp_path: Path) -> None:
    agent = native.Agent(mode="offline", run_id="refused", spool_dir=str(tmp_path))
    try:
        for stats, words in (
            ([99], "there is no statistic with the number 99"),
            ([Stat.NORM, max(Stat) + 1], f"there is no statistic with the number {max(Stat) + 1}"),
            ([Stat.ENTROPY, Stat.CHECKSUM], "the statistic entropy is no member of tt_stats"),
        ):
            assert agent.add_layout(Kind.PARAM_ORIGIN, [int(one) for one in stats], [desc("w")]) == 0
            assert words in agent.last_error()[1]
    finally:
        agent.close("finished")


def test_csv_files_have_it_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONITOR_OUTPUT_DIR", str(tmp_path))
    table = SeriesTable(Kind.PARAM_ORIGIN)
    weights = torch.randn(100)
    Measurer(1e-8, 1, checksum=True).one(weights, table, table.add(desc("w")))
    sink = CsvSink()
    sink.open(context(ops=["norm"], checksum=True))
    sink.write(frame(0, table))
    sink.close("finished")
    [path] = tmp_path.rglob("param_origin*.csv")
    head, line = path.read_text().splitlines()
    cells = dict(zip(head.split(","), line.split(",")))
    assert cells["checksum"] == f"{bits_of(weights):016x}"
