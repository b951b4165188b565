# SPDX-License-Identifier: GPL-3.0-or-later
"""The documents' other examples as they are written: alarms, pipeline groups, Accelerate, files of several steps,
converters. The English document's call of csv2tensorboard_by_step is left out: its commas stand inside the texts."""

from __future__ import annotations

import json
import shutil
import types
from pathlib import Path
from typing import Any

import pytest
from test_documents import GRADIENTS, NOW, Job, job  # noqa: F401  # a fixture

TURBULENCE = """
    "alert": {
        "rules": [{"rule_name": "AnomalyTurbulence", "args": {"threshold": 0.5}}],  // 0.5表示偏离50%则提示偏离
        "dump": true
    },
"""
NAN = """
    "alert": {
        "rules": [{"rule_name": "AnomalyNan", "args": {"threshold": 1e10}}],
        "dump": true
    },
"""
BOTH = """
    "alert": {
        "rules": [
                  {"rule_name": "AnomalyNan", "args": {"threshold": 1e10}},
                  {"rule_name": "AnomalyTurbulence", "args": {"threshold": 0.5}}
        ],
        "dump": true
    },
"""
PIPELINE = """
from msprobe.pytorch import TrainerMon
monitor = TrainerMon(
    "./monitor_config.json",
    process_group=mpu.get_pipeline_model_parallel_group(),
    params_have_main_grad=True  # 权重是否使用main_grad，通常megatron为True，deepspeed为False。默认为True。
)
monitor.set_monitor(model, 1, optimizer)
"""
OF_AN_ANOMALY = {
    "rank", "step", "micro_step", "pp_stage", "vpp_stage", "call_id", "tag_name", "message", "group_mates",
}  # fmt: skip


@pytest.mark.parametrize(
    ("fragment", "rule"), [(TURBULENCE, "AnomalyTurbulence"), (NAN, "AnomalyNan"), (BOTH, "AnomalyNan")]
)
def test_alarms_are_told_and_dumped_as_documented(
    job: Job,  # noqa: F811
    fragment: str,
    rule: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    job.space["mpu"] = types.SimpleNamespace(get_pipeline_model_parallel_group=lambda: None)
    rest = '    "wg_distribution": true, "format": "csv", "ops": ["norm"]'
    job.run(PIPELINE, "{" + fragment + rest + "}", steps=3)
    for parameter in job.model.parameters():
        parameter.register_hook(lambda gradient: gradient * float("nan" if rule == "AnomalyNan" else 100))
    job.step()
    job.close()
    assert f"Rule {rule} reports anomaly signal in ('0:" in capfd.readouterr().out
    [file] = job.out.rglob("anomaly.json")
    assert file.relative_to(job.out).as_posix() == "anomaly_detected/rank0/anomaly.json"
    entries = json.loads(file.read_text())
    for key, entry in entries.items():
        assert entry.keys() >= OF_AN_ANOMALY and entry["step"] == 3 and rule in entry["message"]
        assert key == f"{entry['tag_name']}_step_3_call_{entry['call_id']}"


class Wrapped:
    """An optimizer as Accelerate gives it where DeepSpeed is used too."""

    def __init__(self, optimizer: Any) -> None:
        self.optimizer = optimizer


ACCELERATE = """
from msprobe.pytorch import TrainerMon
model, optimizer, trainloader, evalloader, schedular = accelerator.prepare(...)
...
monitor = TrainerMon("./monitor_config.json")
monitor.set_monitor(model, grad_acc_steps=1, optimizer=optimizer.optimizer)
"""
TRANSFORMERS = """
from msprobe.pytorch import TrainerMon
class Trainer:
    def _inner_training_loop(self):
        ...
        monitor = TrainerMon("./monitor_config.json")
        monitor.set_monitor(model, grad_acc_steps=1, optimizer=self.optimizer.optimizer)
        return monitor
trainer = Trainer()
trainer.optimizer = wrapped
monitor = trainer._inner_training_loop()
"""


@pytest.mark.parametrize("script", [ACCELERATE, TRANSFORMERS])
def test_the_optimizer_inside_of_accelerates_is_watched(job: Job, script: str) -> None:  # noqa: F811
    job.space["wrapped"] = wrapped = Wrapped(job.optimizer)
    job.space["accelerator"] = types.SimpleNamespace(prepare=lambda _: (job.model, wrapped, None, None, None))
    job.run(script, GRADIENTS)
    job.close()
    assert set(job.names("grad_reduced_1-1.csv")) == {name for name, _ in job.model.named_parameters()}


def test_a_file_has_as_many_steps_as_asked_for(job: Job) -> None:  # noqa: F811
    config = """{
    "format": "csv",
    "ops": ["norm", "min", "max", "mean", "nans", "zeros"],
    "ndigits": 12, "step_count_per_record": 5, "wg_distribution": true
}
"""
    job.run(NOW, config, steps=10)
    job.close()
    files = job.files()
    kinds = "grad_reduced", "grad_unreduced"
    assert {name for name in files if name.startswith("grad")} == {
        f"{kind}_{steps}.csv" for kind in kinds for steps in ("0-4", "5-9")
    }
    head, *rows = files["grad_reduced_5-9.csv"]
    assert head[3:9] == ["norm", "min", "max", "mean", "nans", "zeros"]
    assert sorted({int(row[2]) for row in rows}) == [5, 6, 7, 8, 9]


TENSORBOARD = """
from msprobe.pytorch.monitor.csv2tb import csv2tensorboard_by_step
csv2tensorboard_by_step(
    monitor_path="~/monitor_output",  # 必填
    time_start="Dec03_21-34-40",  # 必填
    time_end="Dec03_21-34-42",  # 必填
    process_num=8,
    data_type_list=["param_origin"]
)
"""
DATABASE = """
from msprobe.core.monitor.csv2db import CSV2DBConfig, csv2db
config = CSV2DBConfig(
    monitor_path="~/monitor_output",
    time_start="Dec03_21-34-40",
    time_end="Dec03_21-34-42",
    process_num=8,
    data_type_list=["grad_unreduced"],
    step_partition=500,
    output_dirpath="~/monitor_output"
)
csv2db(config)
"""


def test_the_converters_are_called_as_documented(
    job: Job,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job.run(NOW, {"wg_distribution": True, "param_distribution": True, "format": "csv"})
    job.close()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    home = tmp_path / "home" / "monitor_output"
    [written] = {path.parent for path in job.out.rglob("*.csv")}
    for time in ("Dec03_21-34-41", "Dec03_21-34-43"):  # the second is too late
        shutil.copytree(written, home / f"{time}-rank0-abcdef")
    exec(TENSORBOARD, {"__name__": "examples"})
    [made] = home.glob("*-csv2tensorboard_by_step")
    assert {path.parent.name for path in made.rglob("events*")} == {"param_origin"}
    exec(DATABASE, {"__name__": "examples"})
    assert (home / "monitor_metrics.db").stat().st_size > 0
