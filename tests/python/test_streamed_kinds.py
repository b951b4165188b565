# SPDX-License-Identifier: GPL-3.0-or-later
"""What a config asks for arrives in the capsule of a real server, kind by kind and statistic by statistic."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import telltale
import torch
from serving import Server
from telltale.bins import ALL_EDGES, OCTAVE_EDGES
from telltale.configfile import load
from telltale.pytorch import TrainerMon
from telltale.reading import ReadError
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

KINDS = {
    "grad_unreduced": {"norm"},
    "grad_reduced": {"norm"},
    "param_origin": {"norm"},
    "param_updated": {"norm"},
    "exp_avg": {"norm"},
    "exp_avg_sq": {"norm"},
    "actv": {"norm"},
    "actv_grad": {"norm"},
    "mg_direction": {"agreement"},
    "update": {"norm", "hist"},
    "ratio": {"norm", "hist"},
    "linear": {"sr", "kernel_norm"},
    "router": {"entropy", "similarity"},
}


class Gate(torch.nn.Module):
    """A model of one router."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = torch.nn.Linear(8, 4, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.gate(x).softmax(-1)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    running = Server(tmp_path / "data")
    yield running
    if running.process.poll() is None:
        running.kill()


def test_every_kind_and_statistic_reaches_the_capsule(
    server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TELLTALE_JOIN", server.join)
    torch.manual_seed(0)
    model = Gate()
    optimizer = torch.optim.Adam(model.parameters())
    config = {
        "wg_distribution": True,
        "mv_distribution": True,
        "param_distribution": True,
        "mg_direction": True,
        "ur_distribution": True,
        "xy_distribution": True,
        "all_xy": True,
        "recording_l2_features": True,
        "l2_targets": {
            "linear_hook": ["gate"],
            "moe_router_logit_hook": ["gate"],
            "moe_router_weight_hook": ["gate"],
        },
    }
    monitor = TrainerMon(config)
    monitor.set_monitor(model, optimizer=optimizer)
    for _ in range(4):
        optimizer.zero_grad()
        model(torch.randn(6, 8)).square().sum().backward()
        optimizer.step()
    assert monitor.flush(10)
    counters = monitor.counters()
    monitor.close()
    assert counters["dropped"] == 0 and "refused" not in capsys.readouterr().err
    assert server.stop() == 0

    found: dict[str, set[str]] = {}
    for name in ("gate.weight", "gate"):
        for series in server.show(name):
            assert [value["step"] for value in series["values"]] == sorted({v["step"] for v in series["values"]})
            found.setdefault(series["kind"], set()).add(series["stat"])
    for kind, stats in KINDS.items():
        assert stats - {"kernel_norm"} <= found.get(kind, set()), (kind, found)

    [unreduced] = [s for s in server.show("gate.weight") if s["kind"] == "grad_unreduced"]
    assert unreduced["form"] == []
    [histogram] = [s for s in server.show("gate.weight") if s["kind"] == "update" and s["stat"] == "hist"]
    assert histogram["slot"] == "" and [float(edge) for edge in histogram["edges"]] == ALL_EDGES
    for step in (1, 2, 3):
        [counts] = [value["value"] for value in histogram["values"] if value["step"] == step]
        assert sum(counts) == model.gate.weight.numel()


def test_an_update_by_powers_of_two_is_read_by_all_that_read_histograms(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also where the config came to list it while the training ran."""
    monkeypatch.setenv("TELLTALE_JOIN", server.join)
    torch.manual_seed(0)
    model = Gate()
    optimizer = torch.optim.Adam(model.parameters())
    monitor = TrainerMon({"ur_distribution": True})
    monitor.set_monitor(model, optimizer=optimizer)
    for step in range(6):
        if step == 3:
            monitor.apply(load({"ur_distribution": True, "telltale": {"histogram": ["update"]}}))
        optimizer.zero_grad()
        model(torch.randn(6, 8)).square().sum().backward()
        optimizer.step()
    assert monitor.flush(10) and monitor.counters()["dropped"] == 0
    monitor.close()
    assert server.stop() == 0

    found = [s for s in server.show("gate.weight") if s["stat"] == "hist"]
    steps = {(s["kind"], len(s["edges"])): [value["step"] for value in s["values"]] for s in found}
    assert steps == {("update", 33): [1, 2], ("update", 128): [3, 4, 5], ("ratio", 33): [1, 2, 3, 4, 5]}
    [binned] = [s for s in found if len(s["edges"]) == 128]
    assert [float(edge) for edge in binned["edges"]] == OCTAVE_EDGES
    assert all(sum(value["value"]) == model.gate.weight.numel() for value in binned["values"])
    lost = server._ask("show", "--series", "gate.weight", "--stat", "hist", "--formats")["series"]
    assert [(one["kind"], len(one["values"]), "formats" in one["values"][0]) for one in lost] == [("update", 3, True)]
    server._ask("export", "--to", "tensorboard", "--kind", "update", "--stat", "hist", "-o", str(tmp_path / "events"))
    events = EventAccumulator(str(next((tmp_path / "events").rglob("rank0"))), {"histograms": 0})
    events.Reload()
    counted = {}
    for tag in events.Tags()["histograms"]:
        counted |= {event.step: event.histogram_value.bucket for event in events.Histograms(tag)}
    assert {step: len(counts) for step, counts in counted.items()} == {1: 32, 2: 32, 3: 127, 4: 127, 5: 127}
    assert [counted[value["step"]] for value in binned["values"]] == [value["value"] for value in binned["values"]]
    [capsule] = server.folder.rglob("*.telltale")
    with telltale.open(capsule) as run:
        frame = run.frame("update", "hist", steps=slice(3, None))
        assert frame["hist"].tolist() == [value["value"] for value in binned["values"]]
        assert list(frame.edges) == OCTAVE_EDGES
        assert len(run.frame("update", "hist", steps=slice(0, 3)).edges) == 33
        with pytest.raises(ReadError, match="steps"):
            run.frame("update", "hist")


class Pair(torch.nn.Module):
    """Takes and gives nested tuples and a dict, with names and keys that look like other slots."""

    def __init__(self) -> None:
        super().__init__()
        self.head_3 = torch.nn.Linear(8, 8)

    def forward(self, pair: tuple[torch.Tensor, torch.Tensor], _none: None, scale: torch.Tensor) -> tuple[object, ...]:
        a, b = pair
        return self.head_3(self.head_3(a)), {"head_3@2": (None, b * scale), "[0, 1)": a + b}


class Outer(torch.nn.Module):
    """Uses all that Pair gives."""

    def __init__(self) -> None:
        super().__init__()
        self.pair = Pair()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, more = self.pair((x, x * 2), None, scale=torch.ones(8))
        return y + more["head_3@2"][1] + more["[0, 1)"]


def test_a_slot_is_where_the_training_code_has_it_whatever_names_and_keys_look_like(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TELLTALE_JOIN", server.join)
    model = Outer()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    monitor = TrainerMon({"xy_distribution": True, "all_xy": True})
    monitor.set_monitor(model, optimizer=optimizer)
    model(torch.randn(6, 8)).square().sum().backward()
    optimizer.step()
    assert monitor.flush(10)
    monitor.close()
    assert server.stop() == 0
    found = {
        (series["name"], series["slot"]): series.get("position")
        for name in ("pair", "pair.head_3")
        for series in server.show(name)
        if series["kind"] == "actv"
    }
    assert found == {
        ("pair", "input_0"): [0, 0],
        ("pair", "input_1"): [0, 1],
        ("pair", "input_2"): [2],
        ("pair", "output_0"): [0],
        ("pair", "output_1"): [1, "head_3@2", 1],
        ("pair", "output_2"): [1, "[0, 1)"],
        ("pair.head_3", "input"): [0],
        ("pair.head_3", "input@2"): [0],
        ("pair.head_3", "output"): None,
        ("pair.head_3", "output@2"): None,
    }


def test_what_a_loss_scaler_multiplied_is_called_scaled(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELLTALE_JOIN", server.join)
    model = Gate()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
    monitor = TrainerMon({"wg_distribution": True})
    monitor.set_monitor(model, optimizer=optimizer)
    for _ in range(3):
        optimizer.zero_grad()
        scaler.scale(model(torch.ones(6, 8)).square().sum()).backward()
        scaler.step(optimizer)
        scaler.update()
    assert monitor.flush(10)
    monitor.close()
    assert server.stop() == 0
    forms = {series["kind"]: series["form"] for series in server.show("gate.weight")}
    assert forms["grad_unreduced"] == ["scaled"] and "scaled" not in forms["grad_reduced"]


def test_a_series_is_whole_over_a_change_of_the_config(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELLTALE_JOIN", server.join)
    model = Gate()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    monitor = TrainerMon({"wg_distribution": True})
    monitor.set_monitor(model, optimizer=optimizer)
    for config in ({"wg_distribution": True, "param_distribution": True}, {"wg_distribution": True}, None):
        for _ in range(3):
            model(torch.ones(6, 8)).square().sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        if config is not None:
            monitor.apply(load(config))
    assert monitor.flush(10)
    monitor.close()
    assert server.stop() == 0
    norms = {series["kind"]: series for series in server.show("gate.weight") if series["stat"] == "norm"}
    assert [value["step"] for value in norms["grad_reduced"]["values"]] == list(range(9))
    assert [value["step"] for value in norms["param_origin"]["values"]] == [3, 4, 5]
