# SPDX-License-Identifier: GPL-3.0-or-later
"""Both agents measure the same tensors alike: one training in both languages, decoded from one server's capsules."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn as nn
from serving import BUILD, TELLTALE, Server
from telltale.pytorch import TrainerMon

STEPS = 3
CONFIG = {
    "targets": {},
    "wg_distribution": True,
    "mv_distribution": True,
    "param_distribution": True,
    "xy_distribution": True,
    "ops": ["norm", "mean", "min", "max", "zeros", "nans"],
    "telltale": {"histogram": ["grad_unreduced", "grad_reduced", "param_origin", "actv", "actv_grad", "exp_avg_sq"]},
}
SERIES = ("first", "second", "first.weight", "first.bias", "second.weight", "second.bias")
STATS = ("norm", "mean", "min", "max", "zeros", "nans", "posinfs", "neginfs")


def dyadic(shape: tuple[int, ...], seed: int) -> torch.Tensor:
    count = int(torch.Size(shape).numel())
    return torch.tensor([((i * 5 + seed * 3) % 17 - 8) / 8 for i in range(count)]).view(shape)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 8), nn.Linear(8, 2)
        with torch.no_grad():
            for seed, parameter in enumerate(self.parameters()):
                parameter.copy_(dyadic(tuple(parameter.shape), seed))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.relu(self.first(x)))


def train(config: dict[str, Any], micros: int, join: str) -> None:
    """Streams and writes csv at once."""
    torch.set_num_threads(1)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    monitor = TrainerMon(
        {**config, "format": ["stream", "csv"]}, agent={"join": join, "run_id": "python", "run_name": "python"}
    )
    monitor.set_monitor(model, optimizer=optimizer, grad_acc_steps=micros)
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = 0.0
        for micro in range(micros):
            error = model(dyadic((3, 4), step * micros + micro)).square().sum()
            error.backward()
            loss += error.item()
        monitor.log({"loss": loss})
        optimizer.step()
    assert monitor.flush(20)
    monitor.close()


def decoded(capsule: str) -> dict[tuple[Any, ...], float]:
    """(kind, name, slot, micro step, stat, step) -> value of a capsule."""
    found: dict[tuple[Any, ...], float] = {}
    for name in SERIES:
        for stat in STATS:
            done = subprocess.run(
                [str(TELLTALE), "show", capsule, "--series", name, "--stat", stat, "--json"],
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert done.returncode == 0, done.stderr
            for entry in json.loads(done.stdout)["series"]:
                for value in entry["values"]:
                    key = (entry["kind"], entry["name"], entry["slot"], entry["micro_step"], stat, value["step"])
                    found[key] = float("nan") if value["value"] is None else float(value["value"])
    return found


def histograms(capsule: str) -> dict[tuple[Any, ...], list[int]]:
    """(kind, name, slot, micro step, step) -> counts of a capsule."""
    arguments = [str(TELLTALE), "show", capsule, "--series", "*", "--stat", "hist", "--json"]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return {
        (entry["kind"], entry["name"], entry["slot"], entry["micro_step"], value["step"]): value["value"]
        for entry in json.loads(done.stdout)["series"]
        for value in entry["values"]
    }


def cells(folder: Path) -> dict[tuple[Any, ...], float]:
    """(kind, name with slot, micro step, stat, step) -> value of every cell of the csv files that has a statistic."""
    found: dict[tuple[Any, ...], float] = {}
    for path in folder.rglob("*.csv"):
        kind = path.stem.rsplit("_", 1)[0]
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                for stat in set(CONFIG["ops"]) & set(row) if kind != "scalar" else ():
                    key = (kind, row["name"], int(row.get("micro_step") or 0), stat, int(row["step"]))
                    found[key] = float(row[stat])
    return found


@pytest.mark.parametrize("micros", [1, 2])
@pytest.mark.parametrize("mbs", [False, True])
def test_both_agents_store_the_same_values(
    tmp_path: Path, micros: int, mbs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MONITOR_OUTPUT_DIR", str(tmp_path / "csv"))
    config = {**CONFIG, "monitor_mbs_grad": mbs}
    server = Server(tmp_path / "data")
    try:
        env = dict(os.environ, TELLTALE_JOIN=server.join, TELLTALE_RUN_ID="cpp", TELLTALE_DIR=str(tmp_path / "spool"))
        text = json.dumps(config)
        program = BUILD / "tests" / "goldentrainer"
        subprocess.run([str(program), text, str(STEPS), str(micros)], env=env, check=True, timeout=120)
        train(config, micros, server.join)
    finally:
        assert server.stop() == 0
    capsules = {name: str(next((tmp_path / "data").rglob(f"*_{name}_*.telltale"))) for name in ("cpp", "python")}
    theirs, ours = decoded(capsules["cpp"]), decoded(capsules["python"])

    def comparable(key: tuple[Any, ...]) -> bool:
        # LibTorch has no hook after accumulation: its unreduced gradient is that of one micro step.
        return not (key[0] == "grad_unreduced" and micros > 1)

    assert len(theirs) > 500
    assert {key for key in ours if comparable(key)} == {key for key in theirs if comparable(key)}
    for key, value in theirs.items():
        if not comparable(key):
            continue
        exact = key[-1] == 0 and key[0] not in ("param_updated",)
        expected = value if exact else pytest.approx(value, rel=2e-5, abs=1e-6)
        assert ours[key] == expected or (value != value and ours[key] != ours[key]), key

    binned, own = histograms(capsules["cpp"]), histograms(capsules["python"])
    assert {key for key in binned if comparable(key)} == {
        key for key in own if comparable(key) and not key[1].startswith("(")
    }
    assert {key[0] for key in binned} == set(CONFIG["telltale"]["histogram"])
    for binned_key, counts in binned.items():
        if binned_key[-1] == 0 and comparable(binned_key):
            assert own[binned_key] == counts, binned_key

    # The csv files have a cell for everything that the C++ agent measured, and the same number in it.
    written = cells(tmp_path / "csv")
    expected = {
        (kind, f"{name}.{slot}".rstrip("."), max(micro, 0), stat, step): value
        for (kind, name, slot, micro, stat, step), value in theirs.items()
        if stat in CONFIG["ops"] and comparable((kind,))
    }
    of_model = "."  # what its own rows begin with
    assert {key for key in written if comparable(key) and not key[1].startswith(of_model)} == set(expected)
    for key, value in expected.items():
        assert written[key] == pytest.approx(value, rel=2e-5, abs=1.5e-6), key
