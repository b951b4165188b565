# SPDX-License-Identifier: GPL-3.0-or-later
"""Two processes by msrun: gradients before and after reduction, collectives by call site, and the same bits."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent


def run_ranks(out: Path, how: str) -> list[dict[str, Any]]:
    out.mkdir()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    path = os.pathsep.join([str(HERE), str(HERE.parent), os.environ["PYTHONPATH"]])
    msrun = Path(sys.executable).with_name("msrun")
    # msrun starts what is called "python".
    environment = {**os.environ, "PYTHONPATH": path, "PATH": f"{msrun.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [str(msrun), "--worker_num=2", "--local_worker_num=2", "--master_addr=127.0.0.1", f"--master_port={port}",
         "--join=True", f"--log_dir={out}/log", str(HERE / "rankworker.py"), str(out), how],
        env=environment, cwd=out, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    logs = "".join(path.read_text("utf-8", "replace")[-3000:] for path in (out / "log").glob("*worker*"))
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:] + logs
    return [json.loads((out / f"rank{rank}.json").read_text("utf-8")) for rank in (0, 1)]


@pytest.mark.long
def test_two_ranks(tmp_path: Path) -> None:
    plain, watched = run_ranks(tmp_path / "plain", "plain"), run_ranks(tmp_path / "watched", "watched")
    assert [found["bits"] for found in plain] == [found["bits"] for found in watched]
    first, second = watched
    assert (first["monitor"], second["monitor"]) == (0, 1)
    for found in watched:
        assert found["unreduced"] == pytest.approx(found["local"], rel=1e-6)
        assert not [text for text in found["sentences"] if "error" in text]
    assert first["reduced"] == second["reduced"] and first["reduced"] != pytest.approx(first["unreduced"])
    ops_seen = {name.split(" ")[0] for name in first["comm"]}
    assert "all_reduce" in ops_seen, first["comm"]
    sites = [name for name in first["comm"] if "rankworker.py[" in name]
    assert len({name.split(" pre")[0].split(" post")[0] for name in sites}) == 2, first["comm"]
