# SPDX-License-Identifier: GPL-3.0-or-later
"""The documents' scripts for MindSpore's TrainerMon run as they are written; telltale.msprobe stands in for msprobe."""

from __future__ import annotations

import csv
import importlib
import importlib.util
import json
import types
from pathlib import Path
from typing import Any

import pytest
from tinynet import adamw, bits, made, train

CHINESE = """
from msprobe.mindspore import TrainerMon
monitor = TrainerMon(
    config_file_path="./monitor_config.json",
    process_group=None,
    params_have_main_grad=True,  # 权重是否使用main_grad，通常megatron为True，deepspeed为False。默认为True。
)
# 挂载监控对象
monitor.set_monitor(
    model,
    grad_acc_steps=args.global_batch_size//args.data_parallel_size//args.micro_batch_size,
    optimizer=optimizer,
    dp_group=None,
    tp_group=None
)
"""
ENGLISH = """
# Megatron-LM(core_r0.6.0) training.py
model, optimizer, opt_param_scheduler = setup_model_and_optimizer(model_provider, model_type)
# Insert the monitor tool immediately after the model and optimizer are defined.
from msprobe.mindspore import TrainerMon
monitor = TrainerMon(
 config_file_path="./monitor_config.json",
 process_group=None,
 params_have_main_grad=True, # Whether to use main_grad for weights. The default value is True.
)
# Mount objects to be monitored.
monitor.set_monitor(
 model,
 grad_acc_steps=args.global_batch_size//args.data_parallel_size//args.micro_batch_size,
 optimizer=optimizer
)
"""
WEIGHT_GRADIENTS = """{
    "targets": {
    },
    "wg_distribution": true,
    "format": "csv",
    "ops": ["norm", "min", "max", "nans"]
}
"""


@pytest.mark.parametrize("script", [CHINESE, ENGLISH])
def test_the_documents_script_watches_a_training(script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = made()
    train(plain, adamw(plain), 2, micro=2)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MONITOR_OUTPUT_DIR", str(tmp_path / "out"))
    Path("monitor_config.json").write_text(WEIGHT_GRADIENTS)
    monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: None)  # msprobe is not installed
    stand_in = importlib.import_module("telltale.msprobe")
    stand_in.install()
    net = made()
    optimizer = adamw(net)
    space: dict[str, Any] = {
        "model": net, "optimizer": optimizer, "model_provider": None, "model_type": None,
        "setup_model_and_optimizer": lambda *_: (net, optimizer, None),
        "args": types.SimpleNamespace(global_batch_size=8, data_parallel_size=2, micro_batch_size=2),
    }  # fmt: skip
    try:
        exec(script, space)
        train(net, optimizer, 2, micro=2)
        space["monitor"].close()
    finally:
        stand_in.uninstall()
    assert bits(net) == bits(plain)
    files = {path.name: path for path in (tmp_path / "out").rglob("*.csv")}
    kinds = "grad_reduced", "grad_unreduced", "scalar"  # the last is Telltale's own
    assert set(files) == {f"{kind}_{step}-{step}.csv" for kind in kinds for step in (0, 1)}
    rows = list(csv.reader(files["grad_reduced_1-1.csv"].open(newline="")))
    assert rows[0] == ["vpp_stage", "name", "step", *json.loads(WEIGHT_GRADIENTS)["ops"], "shape", "dtype"]
    assert [row[1] for row in rows[1:]] == [parameter.name for parameter in optimizer.parameters]
