# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs that come in by `telltale import`, and every value of them."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from serving import TELLTALE

HEAD = "step,rank,attempt,kind,name,slot,micro_step,chunk,definition,stat,value"


def called(*words: str | Path, code: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(TELLTALE), *map(str, words)], capture_output=True, text=True, timeout=120,
        env=dict(os.environ, **environment),
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    return done


def imported(data: Path, *paths: Path, code: int = 0) -> dict[str, Any]:
    data.mkdir(exist_ok=True)
    done = called("import", *paths, "--data-dir", data, "--json", code=code)
    [run] = json.loads(done.stdout)["runs"]
    assert not list(data.glob("*draft*"))
    return dict(run)


def lines_of(capsule: str, tmp_path: Path) -> dict[tuple[str, ...], str]:
    """Every value of a run by what it is of."""
    out = tmp_path / f"values{len(list(tmp_path.glob('values*')))}.csv"
    called("export", capsule, "--to", "csv", "-o", out)
    with open(out, newline="") as file:
        rows = [tuple(row) for row in csv.reader(file)]
    assert ",".join(rows[0]) == HEAD
    return {row[:-1]: row[-1] for row in rows[1:]}
