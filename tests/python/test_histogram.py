# SPDX-License-Identifier: GPL-3.0-or-later
"""telltale.histogram: every element lies in its bin, however it was read, and a training goes on as without."""

from __future__ import annotations

import bisect
import math
from typing import Any

import pytest
import torch
from recording import RecordingSink
from telltale import configfile, native, octaves
from telltale.bins import ALL_EDGES, BINS, DEFINITION, OCTAVE_EDGES, OCTAVES, OCTAVES_DEFINITION, edges_of
from telltale.kinds import Kind, Stat
from telltale.measure import Measurer
from telltale.pytorch import TrainerMon, histogram
from telltale.pytorch.optimizerparts import UpdatePart
from telltale.series import SeriesDesc, SeriesTable, is_histogram

KINDS = [
    "grad_unreduced", "grad_reduced", "param_origin", "actv", "actv_grad", "exp_avg", "exp_avg_sq", "update", "ratio",
]  # fmt: skip


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
    fields = ("wg_distribution", "xy_distribution", "param_distribution", "mv_distribution", "ur_distribution")
    config: dict[str, Any] = dict.fromkeys(fields, True)
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
            assert table.values.shape[1] == OCTAVES
    assert {kind.word for kind in seen} == set(KINDS) and seen[Kind.GRAD_REDUCED] == 4
    assert seen[Kind.UPDATE] == seen[Kind.UPDATE_RATIO] == 3  # none at the first step, and never two
    assert edges_of(OCTAVES) == OCTAVE_EDGES and edges_of(BINS) == ALL_EDGES


@pytest.mark.parametrize("is_native", [True, False])
@pytest.mark.parametrize("listed", [[], ["update"], ["ratio"], ["update", "ratio"]])
def test_the_update_has_one_histogram_with_the_bins_that_are_asked_for(
    listed: list[str], is_native: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved, made, passes = UpdatePart.moved, [], []

    def watched(self: UpdatePart, *given: Any) -> Any:
        made[:] = moved(self, *given)
        return tuple(made)

    def linear(self: UpdatePart, tensor: torch.Tensor) -> torch.Tensor:
        passes.append(tensor)
        return histogram.counts(tensor)

    monkeypatch.setattr(native, "available", lambda: is_native)
    monkeypatch.setattr(UpdatePart, "moved", watched)
    monkeypatch.setattr(UpdatePart, "counts", linear)
    weight = torch.nn.Parameter(torch.ones(40, 30))
    model = torch.nn.ParameterDict({"weight": weight})
    optimizer = torch.optim.Adam([weight])
    sink = RecordingSink()
    monitor = TrainerMon({"ur_distribution": True, "telltale": {"histogram": listed}}, sinks=[sink])
    monitor.set_monitor(model, optimizer=optimizer)
    torch.manual_seed(3)
    for _ in range(2):
        weight.grad = torch.randn(40, 30) * torch.exp2(torch.randint(-40, 40, (40, 30)).float())
        optimizer.step()
    state = optimizer.state[weight]
    state["exp_avg"][0, :5], state["exp_avg"][0, 5], state["exp_avg"][0, 6] = math.nan, math.inf, -math.inf
    state["exp_avg"][1], state["exp_avg_sq"][1] = 0, 0  # a row that never had a gradient
    state["exp_avg_sq"][2, :7] = 0  # squares that were too small for their type
    optimizer.step()
    monitor.close()
    assert len(passes) == 2 * (2 - len(listed))  # the first step finds no moments
    for kind, tensor in zip((Kind.UPDATE, Kind.UPDATE_RATIO), made):
        [shot] = [one for one in sink.frames[-1].tables if one.kind is kind and is_histogram(one)]
        values = sink.record(kind, "weight")
        is_listed = kind.word in listed
        assert shot.values[0].tolist() == (brute(tensor) if is_listed else histogram.counts(tensor).tolist())
        assert shot.series[0].definition == (OCTAVES_DEFINITION if is_listed else DEFINITION)
        assert int(values["nans"]) == int(tensor.isnan().sum()) == 1200 - int(shot.values[0].sum()) > 0
        assert int(values["pos_infs"] + values["neg_infs"]) == int(tensor.isinf().sum()) > 0


def test_a_kind_that_is_not_collected_has_no_histogram() -> None:
    sink = RecordingSink()
    train({"wg_distribution": True, "telltale": {"histogram": ["update", "ratio", "actv"]}}, sink)
    assert not [table for frame in sink.frames for table in frame.tables if is_histogram(table)]


def test_another_config_changes_the_bins_while_the_training_runs() -> None:
    weight = torch.nn.Parameter(torch.ones(4, 3))
    optimizer = torch.optim.Adam([weight])
    sink = RecordingSink()
    monitor = TrainerMon({"ur_distribution": True}, sinks=[sink])
    monitor.set_monitor(torch.nn.ParameterDict({"weight": weight}), optimizer=optimizer)
    for listed in ([], ["update"], []):
        monitor.apply(configfile.load({"ur_distribution": True, "telltale": {"histogram": listed}}))
        for _ in range(2):
            weight.grad = torch.randn(4, 3)
            optimizer.step()
    monitor.close()
    shots = [one for frame in sink.frames for one in frame.tables if one.kind is Kind.UPDATE and is_histogram(one)]
    assert [one.values.shape[1] for one in shots] == [BINS, OCTAVES, OCTAVES, BINS, BINS]


def test_the_config_names_kinds() -> None:
    assert configfile.load({"telltale": {"histogram": KINDS}}).config.histogram == KINDS
    loaded = configfile.load({"telltale": {"histogram": ["grad_reduced", "grads"]}})
    assert loaded.config.histogram == ["grad_reduced"]
    assert any("grads" in str(problem) for problem in loaded.problems)
