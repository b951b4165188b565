# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of msprobe's document of grad_probe run as they are written; what stands around them (the model, the
loop) it leaves to the reader."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from test_documents import _WITHOUT_MSPROBE
from test_gradprobe import summary

CONFIG = """
   {
    "task": "grad_probe",
    "dump_path": "./dump_path",
    "rank": [],
    "step": [],
    "grad_probe": {
        "grad_level": "L1",
        "param_list": [],
        "bounds": [-1, 0, 1]
    }
   }
"""
MONITOR = """
from msprobe.pytorch import PrecisionDebugger
debugger = PrecisionDebugger("config_json_path")
debugger.monitor(model)
"""
STOP = """
debugger.stop()
"""
ON_THE_CLASS = """
PrecisionDebugger.monitor(module)
"""
COMPARE = """
from msprobe import *
GradComparator.compare_distributed("配置文件里写的dump_path",
                                    "配置文件里写的dump_path",
                                    "比对结果输出目录")
"""
IMPORTED = """
from msprobe.pytorch import GradComparator as of_pytorch, PrecisionDebugger
from msprobe.core.grad_probe.grad_compare import GradComparator as of_core
assert GradComparator is of_pytorch is of_core
"""
MODEL = "import torch\nmodel = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 2))\n"
LOOP = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
"""


def run(folder: Path, script: str) -> str:
    """In a process of its own, where msprobe is not; what it writes to standard error."""
    (folder / "first").mkdir(exist_ok=True)
    (folder / "first" / "sitecustomize.py").write_text(_WITHOUT_MSPROBE)
    (folder / "script.py").write_text(script, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "telltale.compat.msprobe", "script.py"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder / "first"), os.environ.get("PYTHONPATH", "")])},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_the_documents_scripts_run_as_written(tmp_path: Path) -> None:
    (tmp_path / "config_json_path").write_text(CONFIG)
    said = run(tmp_path, MODEL + MONITOR + LOOP + STOP)
    assert len(said.splitlines()) == 1 and "gives Telltale's TrainerMon" in said
    names = [f"{layer}.{what}" for layer in (0, 1) for what in ("weight", "bias")]
    found = sorted(str(path.relative_to(tmp_path)) for path in (tmp_path / "dump_path").rglob("*") if path.is_file())
    assert found == sorted(
        [f"dump_path/rank0/grad_summary_{step}.csv" for step in range(3)]
        + [f"dump_path/rank0/step{step}/{name}.npy" for step in range(3) for name in names]
    )
    assert summary(tmp_path / "dump_path").splitlines()[0] == "param_name,max,min,norm,shape"

    (tmp_path / "dump_path").rename(tmp_path / "配置文件里写的dump_path")
    assert len(run(tmp_path, COMPARE + IMPORTED).splitlines()) == 1
    out = tmp_path / "比对结果输出目录" / "rank0"
    assert sorted(path.name for path in out.iterdir()) == ["similarities.csv", "similarities_picture"]
    pictures = {path.name for path in (out / "similarities_picture").iterdir()}
    assert pictures == {f"{name}_similarities.png" for name in [*names, "summary"]}


def test_the_public_interface_is_called_on_the_class(tmp_path: Path) -> None:
    level = json.loads(CONFIG)
    level["grad_probe"]["grad_level"] = "L2"
    (tmp_path / "config_json_path").write_text(json.dumps(level))
    begin = "from msprobe.pytorch import PrecisionDebugger\nPrecisionDebugger('config_json_path')\nmodule = model\n"
    run(tmp_path, MODEL + begin + ON_THE_CLASS + LOOP)  # and without stop(), which only graph mode needs
    assert summary(tmp_path / "dump_path", 2).splitlines()[0].startswith('param_name,"(-inf, -1]","(-1, 0]",')
    assert len(list((tmp_path / "dump_path/rank0/step2").iterdir())) == 4
