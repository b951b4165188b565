# SPDX-License-Identifier: GPL-3.0-or-later
"""The gradient noise scale of a real data-parallel training of two ranks: judged as it is worked out here."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from serving import TELLTALE

sys.path.append(str(Path(__file__).resolve().parents[1] / "judge"))

import record  # noqa: E402

AVERAGED = 64


def values(capsule: Path, kind: str) -> dict[tuple[int, int], float]:
    """By rank and step the sum of squares of all series of a kind."""
    command = [TELLTALE, "show", capsule, "--series", "*", "--kind", kind, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    sums: dict[tuple[int, int], float] = defaultdict(float)
    for series in json.loads(done.stdout)["series"]:
        if kind != "scalar" or series["name"] == "grad-norm":
            for point in series["values"]:
                sums[series["rank"], point["step"]] += float(point["value"]) ** 2
    return sums


def judged(capsule: Path, folder: Path, **parameters: Any) -> list[dict[str, Any]]:
    (folder / "rules.json").write_text(json.dumps({"rules": {"noise_scale": parameters}}))
    command = [TELLTALE, "judge", capsule, "--rules", folder / "rules.json", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [one for one in json.loads(done.stdout) if one["rule"] == "noise_scale"]


def test_the_noise_scale_of_two_ranks_is_that_of_the_paper(tmp_path: Path) -> None:
    entry = {"arguments": ["--ranks", "2", "--layers", "1", "--width", "16", "--heads", "2"]}
    [capsule] = record.record("noise", entry, 1, tmp_path, steps=220)
    local, reduced, told = (values(capsule, kind) for kind in ("grad_unreduced", "grad_reduced", "scalar"))
    gradient = noise = 0.0
    estimates = []
    for step in range(220):
        small = (local[0, step] + local[1, step]) / 2
        big = max(reduced[0, step], told[0, step])  # what the training logs is of before it clips
        assert 0 < big <= small * 1.001
        weight = max(1 / AVERAGED, 1 / (step + 1))
        gradient += (2 * big - small - gradient) * weight
        noise += (2 * (small - big) - noise) * weight
        estimates.append(noise / gradient)
    assert any(told[0, step] > 1.1 * reduced[0, step] for step in range(220)), "it clips, and that is undone"
    assert not judged(capsule, tmp_path), "off unless it is asked for"
    found = judged(capsule, tmp_path, on=True, factor=1.1, steps=1, batches=1e9)
    assert found
    said = re.search(r"noise scale of ranks 0, 1 is ([\d.e+-]+) batches of a step", found[0]["sentence"])
    assert said and float(said[1]) == pytest.approx(estimates[found[0]["step"]] / 2, rel=1e-3)
