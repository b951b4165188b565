# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# Several ranks and the server share few cores: threads that spin while they wait make every test minutes long.
os.environ.setdefault("GOMP_SPINCOUNT", "0")
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Tests start processes by the hundred: without compiled files, as containers have it, each compiles the package anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
_HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(_HERE))
sys.path.insert(0, str(_HERE.parents[1] / "capture" / "agent" / "python"))
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(_HERE.parents[1] / "capture" / "agent" / "python"), *filter(None, [os.environ.get("PYTHONPATH")])]
)


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No test sees the user's dashboard, spool or launcher."""
    for name in list(os.environ):
        if name.startswith("TELLTALE_") and name != "TELLTALE_AGENT_LIBRARY":
            monkeypatch.delenv(name)
    for name in ("RANK", "WORLD_SIZE", "DYNAMIC_MONITOR", "MONITOR_OUTPUT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TELLTALE_DIR", str(tmp_path / "telltale-spool"))
    monkeypatch.setenv("MONITOR_OUTPUT_DIR", str(tmp_path / "monitor_output"))
    # Their scalars come with time, not with steps: who counts what a training sends could not tell how many there are.
    monkeypatch.setenv("TELLTALE_SYSTEM_METRICS", "off")
    yield


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: takes minutes; `./dev test --all` runs it")
