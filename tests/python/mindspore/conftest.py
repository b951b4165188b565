# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests that need MindSpore: `./dev test` runs them in .venv-mindspore; elsewhere they are skipped."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

os.environ.setdefault("GLOG_v", "3")  # MindSpore's own log: errors alone
sys.path.insert(0, str(Path(__file__).resolve().parent))


def _why_not() -> str:
    try:
        from mindspore import Tensor  # noqa: F401  # of this folder's own name there is a namespace, which has none
    except Exception as error:  # noqa: BLE001 - a broken installation is as good as none
        return f"MindSpore cannot be imported here ({error}); ./dev test runs these tests in .venv-mindspore"
    return ""


_WHY_NOT = _why_not()
if _WHY_NOT:
    collect_ignore_glob = ["test_*.py"]  # they import it
    print(f"tests/python/mindspore: {_WHY_NOT}")
else:
    import mindspore as ms

    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_device("CPU")
    # The default asynchronous launch waits in spinning threads: with two cores forty times slower.
    ms.runtime.launch_blocking()


@pytest.fixture(autouse=True)
def _no_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK_ID", "RANK_SIZE"):
        monkeypatch.delenv(name, raising=False)
