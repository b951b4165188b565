# SPDX-License-Identifier: GPL-3.0-or-later
"""telltale.histogram: every element lies in its bin, however it was read, and a training goes on as without."""

from __future__ import annotations

import bisect
import math
from typing import Any

import pytest
import torch
from recording import RecordingSink
from telltale import configfile, octaves
from telltale.bins import OCTAVE_EDGES, OCTAVES, edges_of
from telltale.kinds import Kind, Stat
from telltale.measure import Measurer
from telltale.pytorch import TrainerMon
from telltale.series import SeriesDesc, SeriesTable

KINDS = ["grad_unreduced", "grad_reduced", "param_origin", "actv", "actv_grad", "exp_avg", "exp_avg_sq"]


def brute(tensor: torch.Tensor) -> list[int]:
    counts = [0] * OCTAVES
    for value in tensor.detach().double().reshape(-1).tolist():
        if not math.isnan(value):
            counts[min(bisect.bisect_right(OCTAVE_EDGES, value) - 1, OCTAVES - 1)] += 1
    return counts


def odd(dtype: torch.dtype) -> torch.Tensor:
    """Every magnitude, zeros, and what is not finite."""
    generator = torch.Generator().manual_seed(3)
    size = torch.randn(9000, generator=generator, dtype=torch.float64)
    values = size * torch.exp2(torch.randint(-150, 120, (9000,), generator=generator).double())
    values[:50] = 0
    values[50:60] = math.nan
    values[60:65] = math.inf
    values[65:72] = -math.inf
    values[72:80] = 2.0 ** torch.arange(-4, 4).double()
    values[80:88] = -(2.0 ** torch.arange(-4, 4).double())
    return values.to(dtype) if dtype.is_floating_point else size.mul(50).to(dtype)


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int64]
)
@pytest.mark.parametrize("use_native", [True, False])
def test_every_element_lies_in_its_bin(dtype: torch.dtype, use_native: bool) -> None:
    tensor = odd(dtype)
    table = SeriesTable(Kind.GRAD_REDUCED, has_bins=True)
    rows = [table.add(SeriesDesc(f"w{i}")) for i in range(4)]
    bins = table.bins
    assert bins is not None
    measurer = Measurer(1e-8, 2, use_native=use_native, has_bins=True)
    assert measurer.one(tensor, table, rows[0]) == ""
    assert measurer.batch([tensor[::2], None, tensor[:7]], table, rows[1]) == []
    expected = {0: brute(tensor), 1: brute(tensor[::2]), 3: brute(tensor[:7])}
    assert bins.rows().tolist() == table.rows().tolist() == [0, 1, 3]
    for row, counts in expected.items():
        assert bins.values[row].tolist() == counts
    assert octaves.counts(tensor).tolist() == expected[0]


def train(config: dict[str, Any] | None, sink: RecordingSink | None = None) -> list[torch.Tensor]:
    torch.manual_seed(7)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    monitor = None
    if config is not None:
        monitor = TrainerMon(config, sinks=[sink])
        monitor.set_monitor(model, optimizer=optimizer)
    for _ in range(4):
        optimizer.zero_grad()
        model(torch.randn(5, 8)).square().mean().backward()
        optimizer.step()
    if monitor is not None:
        monitor.close()
    return [parameter.detach().clone() for parameter in model.parameters()] + [torch.get_rng_state()]


def test_each_kind_has_one_and_the_training_is_the_same_to_the_bit() -> None:
    sink = RecordingSink()
    config = {"wg_distribution": True, "xy_distribution": True, "param_distribution": True, "mv_distribution": True}
    watched = train(config | {"telltale": {"histogram": KINDS}}, sink)
    assert all(torch.equal(a, b) for a, b in zip(watched, train(None)))
    seen: dict[Kind, int] = {}
    for frame in sink.frames:
        tables = {table.kind: table for table in frame.tables if not table.stats}
        for table in frame.tables:
            if table.stats != (Stat.HIST,):
                continue
            own = tables[table.kind]
            assert [one.name for one in table.series] == [one.name for one in own.series]
            assert [one.slot for one in table.series] == [one.slot for one in own.series]
            # Nothing here is NaN: all elements are counted, and those that are zero among them.
            assert table.values.sum(axis=1).tolist() == own.values["numel"].tolist()
            seen[table.kind] = seen.get(table.kind, 0) + 1
    assert set(seen) == {Kind[word.upper()] for word in KINDS} and seen[Kind.GRAD_REDUCED] == 4
    assert edges_of(Kind.ACTV) == OCTAVE_EDGES and len(edges_of(Kind.UPDATE)) == 33


def test_the_config_names_kinds() -> None:
    assert configfile.load({"telltale": {"histogram": KINDS}}).config.histogram == KINDS
    loaded = configfile.load({"telltale": {"histogram": ["grad_reduced", "grads"]}})
    assert loaded.config.histogram == ["grad_reduced"]
    assert any("grads" in str(problem) for problem in loaded.problems)
