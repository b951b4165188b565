# SPDX-License-Identifier: GPL-3.0-or-later
"""A small run with everything in it that is hard to take along."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from serving import Server

EVERYTHING = {
    "param_distribution": True,
    "wg_distribution": True,
    "xy_distribution": True,
    "mv_distribution": True,
    "ur_distribution": True,
    "telltale": {"checksum": True, "attention_hook": True},
}


def record_two_attempts(folder: Path, everything: dict[str, object] = EVERYTHING) -> Path:
    """A training of two attempts whose activations hold a NaN, and then nothing else. Its capsule lies in
    `folder`/data."""
    (folder / "config.json").write_text(json.dumps(everything))
    server = Server(folder / "data")
    small = ["--layers", "1", "--heads", "2", "--width", "16", "--steps", "12", "--config", str(folder / "config.json")]
    try:
        for restart, more in enumerate((["--fault", "nan@6:blocks.0.mlp.fc1"], [])):
            environment = dict(
                os.environ, TELLTALE_JOIN=server.join, TELLTALE_RUN_ID="exported", TELLTALE_DIR=str(folder / "spool"),
                TORCHELASTIC_RESTART_COUNT=str(restart), TELLTALE_SYSTEM_METRICS="off",
            )  # fmt: skip
            done = subprocess.run(
                [sys.executable, "-m", "telltale", "train-demo", *small, *more], env=environment, capture_output=True,
                text=True, timeout=120,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
    finally:
        server.stop()
    [capsule] = (folder / "data").rglob("*.telltale")
    return capsule
