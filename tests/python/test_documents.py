# SPDX-License-Identifier: GPL-3.0-or-later
"""Configs and scripts as msprobe's documents have them run as they are written, on small models of the same shape.

The scripts import msprobe itself; telltale.msprobe stands in for it. What stands around them (the model, the loop) is
what the documents leave to the reader.
"""

from __future__ import annotations

import contextlib
import csv
import importlib.util
import json
import os
import sqlite3
import subprocess
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import telltale.msprobe
import torch
import torch.nn as nn
import torch.nn.functional as F
from serving import Server

telltale.msprobe.uninstall()  # the import has put it in place, and other tests look for the original


class FlashAttention(nn.Module):
    """Called with [batch, sequence, heads, width] of each."""

    def forward(self, q: Any, k: Any, v: Any) -> Any:
        q, k, v = (tensor.transpose(1, 2) for tensor in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)


class CoreAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.flash_attention = FlashAttention()

    def forward(self, q: Any, k: Any, v: Any) -> Any:
        return self.flash_attention(q, k, v)


class SelfAttention(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear_qkv = nn.Linear(width, 3 * width)
        self.core_attention = CoreAttention()

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        q, k, v = self.linear_qkv(x).view(batch, length, 3, 2, width // 2).unbind(2)
        return self.core_attention(q, k, v).reshape(batch, length, width)


class BiasLinear(nn.Linear):
    """Gives its bias apart, as Megatron's do: (output, bias)."""

    def forward(self, x: Any) -> Any:
        return F.linear(x, self.weight), self.bias


class Mlp(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear_fc1 = nn.Linear(width, 2 * width)
        self.linear_fc2 = BiasLinear(2 * width, width)

    def forward(self, x: Any) -> Any:
        return self.linear_fc2(torch.tanh(self.linear_fc1(x)))


class Layer(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.self_attention = SelfAttention(width)
        self.mlp = Mlp(width)

    def forward(self, x: Any, mask: Any) -> Any:
        x = x + self.self_attention(x) * mask
        out, bias = self.mlp(x)
        return x + out + bias


class Encoder(nn.Module):
    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(width) for _ in range(layers))

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x, torch.ones(()))
        return x


class Embedding(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.word_embedding = nn.Embedding(16, width)

    def forward(self, ids: Any) -> Any:
        return self.word_embedding(ids)


class LanguageModel(nn.Module):
    def __init__(self, layers: int = 2, width: int = 8) -> None:
        super().__init__()
        self.embedding = Embedding(width)
        self.encoder = Encoder(width, layers)

    def forward(self, ids: Any) -> Any:
        return self.encoder(self.embedding(ids))


class GptModel(nn.Module):
    def __init__(self, layers: int = 2) -> None:
        super().__init__()
        self.language_model = LanguageModel(layers)

    def forward(self, ids: Any) -> Any:
        return self.language_model(ids)


SET_UP = """
model, optimizer, opt_param_scheduler = setup_model_and_optimizer(
        model_provider, model_type)
"""

NOW = """
from msprobe.pytorch import TrainerMon
monitor = TrainerMon(
    config_file_path="./monitor_config.json",
    params_have_main_grad=True,  # 权重是否使用main_grad，通常megatron为True，deepspeed为False。默认为True。
)
# 挂载监控对象
monitor.set_monitor(
    model,
    grad_acc_steps=args.global_batch_size//args.data_parallel_size//args.micro_batch_size,
    optimizer=optimizer,
    dp_group=None,
    tp_group=None,
    start_iteration=0  # 断点续训时提供当前iteration，默认从0开始
)
"""

ENGLISH = """
# Insert the monitor tool immediately after the model and optimizer are defined.
from msprobe.pytorch import TrainerMon
monitor = TrainerMon(
 config_file_path="./monitor_config.json",
 params_have_main_grad=True, # Whether to use main_grad for the weight. The default value is True.
)
monitor.set_monitor(
 model,
 grad_acc_steps=args.global_batch_size//args.data_parallel_size//args.micro_batch_size,
 optimizer=optimizer
)
"""

FORMERLY = """
from msprobe.pytorch import TrainerMon
monitor = TrainerMon(
    config_file_path="./monitor_config.json",
    params_have_main_grad=True,
    opt_ty=None  # 优化器类型，默认为None，具体取值参考公开接口
)
monitor.set_wrapped_optimizer(optimizer)
# 挂载监控对象
monitor.monitor_gnorm_with_ad(
    model,
    grad_acc_steps=args.global_batch_size//args.data_parallel_size//args.micro_batch_size,
    optimizer=optimizer,
    dp_group=None,
    tp_group=None,
    start_iteration=0  # 断点续训时提供当前iteration，默认从0开始
)
"""

WRAPPED = FORMERLY.replace("    optimizer=optimizer,\n", "")
BY_POSITION = """
from msprobe.pytorch import TrainerMon
monitor = TrainerMon("./monitor_config.json", None, True)
grad_acc_steps = args.global_batch_size//args.data_parallel_size//args.micro_batch_size
monitor.set_monitor(model, grad_acc_steps, optimizer, None, None, 0)
"""


class Job:
    """One run of a script, with what the documents leave out around it."""

    def __init__(self, folder: Path, model: nn.Module | None = None) -> None:
        self.folder = folder
        self.out = Path(os.environ["MONITOR_OUTPUT_DIR"])
        torch.manual_seed(0)
        self.model = model if model is not None else GptModel()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)
        self.micros = 2
        self.space: dict[str, Any] = {
            "setup_model_and_optimizer": lambda *_: (self.model, self.optimizer, None),
            "model_provider": None,
            "model_type": None,
            "args": types.SimpleNamespace(global_batch_size=8, data_parallel_size=2, micro_batch_size=2),
        }

    def run(self, script: str, config: str | dict[str, Any], steps: int = 2) -> Any:
        """The config under the documents' name, the script, and a training; the monitor."""
        text = config if isinstance(config, str) else json.dumps(config)
        (self.folder / "monitor_config.json").write_text(text, encoding="utf-8")
        exec(compile(SET_UP + script, "training.py", "exec"), self.space)
        for _ in range(steps):
            self.step()
        return self.space["monitor"]

    def step(self) -> None:
        self.optimizer.zero_grad()
        self.backward()
        self.optimizer.step()

    def backward(self) -> None:
        for _ in range(self.micros):
            self.model(torch.arange(6).view(2, 3)).square().mean().backward()

    def close(self) -> None:
        self.space["monitor"].close()

    def files(self) -> dict[str, list[list[str]]]:
        """Name -> rows of every csv file of the only rank."""
        return {path.name: list(csv.reader(path.open(newline=""))) for path in sorted(self.out.rglob("*.csv"))}

    def names(self, file: str) -> list[str]:
        return [row[1] for row in self.files()[file][1:]]


# Where a machine has msprobe itself, as the golden tests want it, the documents' scripts run as if it had not.
_WITHOUT_MSPROBE = """
import importlib.util
_find = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == "msprobe" else _find(name, package)
"""


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Job]:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in sys.modules if name.split(".")[0] == "msprobe"]:
        monkeypatch.delitem(sys.modules, name)
    find = importlib.util.find_spec
    hiding = lambda name, *rest: None if name == "msprobe" else find(name, *rest)  # noqa: E731
    monkeypatch.setattr(importlib.util, "find_spec", hiding)
    assert telltale.msprobe.install()
    made = Job(tmp_path)
    yield made
    if "monitor" in made.space:
        made.close()
    telltale.msprobe.uninstall()


WEIGHTS = """{
    "targets": {
    },
    "param_distribution": true,
    "format": "csv",
    "ops": ["norm", "min", "max", "nans"]
}
"""
GRADIENTS = WEIGHTS.replace("param_distribution", "wg_distribution")
OPTIMIZER = WEIGHTS.replace("param_distribution", "mv_distribution")
ACTIVATIONS = """{
    "targets": {
    },
    "xy_distribution": true,
    "forward_only": false,
    "backward_only": false,
    "all_xy": true,
    "format": "csv",
    "ops": ["norm", "min", "max", "nans"]
}
"""
QUICK_START = """{
"targets": {},
"wg_distribution": true,
"format": "csv",
"ops": ["min","max", "mean", "norm"],
"ndigits": 16
}
"""
MICRO_STEPS = """{
    "wg_distribution": true,
    "monitor_mbs_grad": true
}
"""
CONFIGS = {
    "weights": (WEIGHTS, ["param_origin", "param_updated"]),
    "gradients": (GRADIENTS, ["grad_reduced", "grad_unreduced"]),
    "activations": (ACTIVATIONS, ["actv", "actv_grad"]),
    "optimizer": (OPTIMIZER, ["exp_avg", "exp_avg_sq"]),
    "quick start": (QUICK_START, ["grad_reduced", "grad_unreduced"]),
    "micro steps": (MICRO_STEPS, ["grad_reduced", "grad_unreduced"]),
}
SCRIPTS = {"now": NOW, "english": ENGLISH, "formerly": FORMERLY, "wrapped": WRAPPED, "by position": BY_POSITION}


@pytest.mark.parametrize("name", CONFIGS)
def test_each_documents_config_collects_what_it_says(job: Job, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    config, prefixes = CONFIGS[name]
    job.run(NOW, config)
    job.close()
    files = job.files()
    assert sorted({file.rpartition("_")[0] for file in files} - {"scalar"}) == prefixes
    for prefix in prefixes:
        head, *rows = files[f"{prefix}_1-1.csv"]
        assert [cell for cell in head if cell in json.loads(config).get("ops", ["norm"])]
        assert len({row[1] for row in rows}) >= 10, "targets: {} is everything"
        has_micros = "micro_step" in head
        assert has_micros == (prefix.startswith("actv") or (name == "micro steps" and prefix == "grad_unreduced"))
        assert {row[3] for row in rows} == {"0", "1"} if has_micros else True
    assert "failed" not in capfd.readouterr().err


@pytest.mark.parametrize("name", SCRIPTS)
def test_each_documents_script_runs_as_written(job: Job, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        monitor = job.run(SCRIPTS[name], GRADIENTS)
        reduced, unreduced = monitor.generate_wgrad_metrics()
    job.close()
    assert set(job.names("grad_reduced_0-0.csv")) == {name for name, _ in job.model.named_parameters()}
    assert reduced["0:language_model.embedding.word_embedding.weight/rank0/post_grad"]["norm"] > 0 and unreduced
    deprecated = [str(one.message).split("(")[0] for one in seen if one.category is DeprecationWarning]
    old = name in ("formerly", "wrapped")
    assert deprecated == (["set_wrapped_optimizer", "monitor_gnorm_with_ad"] if old else [])
    said = capfd.readouterr().err
    assert "failed" not in said and "no torch optimizer" not in said


def test_scripts_run_without_a_changed_line_in_a_process_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "monitor_config.json").write_text('{"wg_distribution": true, "format": "csv"}')
    (tmp_path / "train.py").write_text(
        "import sys, torch\nfrom beside import words\nassert sys.argv[1:] == ['--lr', '1'], sys.argv\n"
        "model = torch.nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters())\n"
        "from msprobe.pytorch import TrainerMon\n"
        'monitor = TrainerMon(config_file_path="./monitor_config.json")\n'
        "monitor.set_monitor(model, grad_acc_steps=1, optimizer=optimizer)\n"
        "model(torch.ones(1, 2)).sum().backward()\noptimizer.step()\nprint(words)\n"
        "try:\n    from msprobe.pytorch import seed_all\nexcept ImportError as error:\n    print(error)\n"
    )
    (tmp_path / "beside.py").write_text("words = 'trained'\n")
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "sitecustomize.py").write_text(_WITHOUT_MSPROBE)
    paths = os.pathsep.join([str(tmp_path / "first"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "telltale.msprobe", "train.py", "--lr", "1"],
        env={**os.environ, "PYTHONPATH": paths},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("trained\ncannot import name 'seed_all'") and "telltale" in done.stdout
    assert "gives Telltale's TrainerMon" in done.stderr
    assert len(list(tmp_path.rglob("grad_reduced_0-0.csv"))) == 1


@pytest.mark.parametrize(
    ("name", "is_installed"),
    [
        ("msprobe.core.monitor.anomaly_processor", False),
        ("msprobe.pytorch.monitor.anomaly_analyse", False),
        ("msprobe.core.monitor.anomaly_processor", True),
        ("msprobe.pytorch.monitor.anomaly_analyse", True),
    ],
)
def test_the_documents_analyser_runs_by_its_name_there(tmp_path: Path, name: str, is_installed: bool) -> None:
    (tmp_path / "found" / "rank0").mkdir(parents=True)
    entry = {"rank": 0, "step": 3, "tag_name": "0:w/rank0/post_grad", "message": "news"}
    (tmp_path / "found" / "rank0" / "anomaly.json").write_text(json.dumps({"w": entry}))
    first = tmp_path / "first"
    first.mkdir()
    if is_installed:  # without torch there is nothing to run it with, so it is seen to be its own
        place = first / "msprobe" / "core" / "monitor"
        place.mkdir(parents=True)
        for folder in (place, place.parent, place.parent.parent):
            (folder / "__init__.py").write_text("")
        (place / "anomaly_processor.py").write_text("import sys\nprint('its own', sys.argv[1:])\n")
    else:
        (first / "sitecustomize.py").write_text(_WITHOUT_MSPROBE + "\nimport sys\nsys.modules['torch'] = None\n")
    paths = os.pathsep.join([str(first), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "telltale.compat.msprobe", "-m", name, "-d", "found", "-k", "5"],
        env={**os.environ, "PYTHONPATH": paths},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    if is_installed and name.endswith("anomaly_processor"):
        assert done.stdout.splitlines() == ["its own ['-d', 'found', '-k', '5']"]
    else:  # an installed one has long had no anomaly_analyse
        assert done.stdout.startswith("anomaly_analyse.json is at found.")
        assert "telltale_order" in json.loads((tmp_path / "found" / "anomaly_analyse.json").read_text())


def test_the_analyser_is_imported_by_its_name_there(job: Job) -> None:
    processor = importlib.import_module("msprobe.core.monitor.anomaly_processor")
    assert processor is importlib.import_module("msprobe.pytorch.monitor.anomaly_analyse")
    assert processor.main is importlib.import_module("telltale.compat.msprobe.anomaly_processor").main


def test_a_module_that_nobody_has_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(_WITHOUT_MSPROBE)
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "telltale.compat.msprobe", "-m"]
    for name, said in (
        ("msprobe.core.nothing", "there is no module msprobe.core.nothing; of msprobe's"),
        ("", "usage:"),
    ):
        done = subprocess.run(
            [*command, name][: None if name else -1],
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 2 and said in done.stderr.splitlines()[-1], done.stderr


def test_an_installed_msprobe_stays_unless_it_is_to_be_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    telltale.msprobe.uninstall()
    for name in [name for name in sys.modules if name.split(".")[0] == "msprobe"]:
        monkeypatch.delitem(sys.modules, name)  # the real one, which another test has compared with
    (tmp_path / "msprobe" / "pytorch").mkdir(parents=True)
    (tmp_path / "msprobe" / "__init__.py").write_text("")
    (tmp_path / "msprobe" / "pytorch" / "__init__.py").write_text("TrainerMon = PrecisionDebugger = 'its own'\n")
    monkeypatch.syspath_prepend(tmp_path)
    try:
        assert not telltale.msprobe.install()
        assert "install(replace=True)" in capfd.readouterr().err
        assert telltale.msprobe.install(replace=True)
        from msprobe.pytorch import PrecisionDebugger, TrainerMon

        assert TrainerMon is telltale.pytorch.TrainerMon and PrecisionDebugger == "its own"
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "msprobe"]:
            del sys.modules[name]
        telltale.msprobe.uninstall()


def test_targets_of_the_documents_select(tmp_path: Path, job: Job) -> None:
    job.model = LanguageModel()
    job.optimizer = torch.optim.Adam(job.model.parameters())
    config = """// 示例：监控"module.encoder.layers.0.mlp"的所有参数和"module.embedding.word_embedding.weight"这一参数
{
    "targets": {
        "module.encoder.layers.0.mlp": {},
        "module.embedding.word_embedding.weight": {}
    }, "param_distribution": true
}
"""
    job.run(NOW, config, steps=1)
    job.close()
    mlp = [f"encoder.layers.0.mlp.{name}" for name, _ in job.model.encoder.layers[0].mlp.named_parameters()]
    assert job.names("param_origin_0-0.csv") == ["embedding.word_embedding.weight", *mlp]


DETAILED = """
{
    "targets": {
        "language_model.encoder.layers.0": {"input": "tuple[2]:0", "output": "tensor",
                                            "input_grad":"tuple[2]:0", "output_grad":"tuple[1]:0"}
    },
    "dynamic_on": false,
    "start_step": 0,
    "collect_times": 100000000,
    "step_interval": 1,
    "print_struct": false,
    "module_ranks": [0,1,2,3],
    "ur_distribution": true,
    "xy_distribution": true,
    "all_xy": true,
    "forward_only": false,
    "backward_only": false,
    "mv_distribution": true,
    "param_distribution": true,
    "wg_distribution": true,
    "monitor_mbs_grad": true,
    "cc_distribution": {"enable":true, "cc_codeline":[]},
    "alert": {
        "rules": [{"rule_name": "AnomalyTurbulence", "args": {"threshold": 0.5}}],
        "dump": false
    },
    "format": "csv",
    "ops": ["min", "max", "norm", "zeros", "nans", "mean"],
    "eps": 1e-8,
    "ndigits": 12,
    "step_count_per_record": 1,
    "append_output": [],
    "squash_name": true
}
"""


def test_the_detailed_config_takes_every_field(job: Job, capfd: pytest.CaptureFixture[str]) -> None:
    job.run(NOW, DETAILED)
    job.close()
    names = {row[1] for row in job.files()["actv_1-1.csv"][1:]}
    # The target has what its text selects, everything else has all; names are short. The mask is input 1.
    assert {name for name in names if name.startswith("layers.0.in") or name.startswith("layers.0.out")} == {
        "layers.0.input_0",
        "layers.0.output",
    }
    assert {"layers.1.input_0", "layers.1.input_1", "layers.0.mlp.linear_fc2.output_1"} <= names
    gradients = {row[1] for row in job.files()["actv_grad_1-1.csv"][1:]}
    assert "layers.0.input_0" in gradients and "layers.0.output" in gradients
    err = capfd.readouterr().err
    assert "config" not in err and "failed" not in err


def test_print_struct_writes_its_file_and_its_names_are_targets(
    job: Job, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    job.run(NOW, '{\n    "print_struct": true\n}', steps=1)
    job.close()
    path = job.out / "module_struct" / "rank0" / "module_struct.json"
    said = capfd.readouterr().err
    assert f"the model's structure is in {path}" in said and "stop_after_struct" in said
    struct = json.loads(path.read_text())
    fc2 = struct["0:language_model.encoder.layers.1.mlp.linear_fc2"]
    assert [fc2["output"]["config"], fc2["output"]["1"]] == ["tuple[2]", "size=(8,), dtype=torch.float32"]
    sides = {side: described["config"] for side, described in fc2.items()}
    assert sides["input"] == "list[1]"
    short = {"0:1.mlp.linear_fc2": sides}
    os.environ["MONITOR_OUTPUT_DIR"] = str(tmp_path / "again")
    again = Job(tmp_path)
    again.run(NOW, {"targets": short, "xy_distribution": True}, steps=1)
    again.close()
    fc2_name = "language_model.encoder.layers.1.mlp.linear_fc2"
    assert set(again.names("actv_0-0.csv")) == {f"{fc2_name}.input", f"{fc2_name}.output_0"}
    assert "msprobe writes" in capfd.readouterr().err


def test_l2_features_of_the_documents_are_collected(job: Job, capfd: pytest.CaptureFixture[str]) -> None:
    config = """{
    "l2_targets": {
        "attention_hook": ["0:0.self_attention.core_attention.flash_attention"],
        "linear_hook": ["0:0.self_attention.linear_qkv", "0:1.self_attention.linear_qkv"]
    },
    "recording_l2_features": true,
    "sa_order": "b,s,h,d"
}"""
    job.run(NOW, config, steps=1)
    job.close()
    first = "language_model.encoder.layers.0.self_attention"
    assert set(job.names("attention_hook_0-0.csv")) == {f"{first}.core_attention.flash_attention.attention"}
    assert job.names("linear_hook_0-0.csv") == [
        f"language_model.encoder.layers.{layer}.self_attention.linear_qkv.linear" for layer in (0, 1)
    ]
    assert "matches no" not in capfd.readouterr().err


def test_an_empty_attention_hook_is_off_and_an_empty_linear_hook_is_everything(
    job: Job, capfd: pytest.CaptureFixture[str]
) -> None:
    job.run(NOW, {"l2_targets": {"attention_hook": [], "linear_hook": []}, "recording_l2_features": True}, steps=1)
    job.close()
    files = job.files()
    assert not [name for name in files if name.startswith("attention")]
    assert len(job.names("linear_hook_0-0.csv")) == 6
    assert "attention_hook is empty, which means no attention module" in capfd.readouterr().err


def test_csv_with_a_join_string_goes_to_the_file_and_the_dashboard_says_why_it_has_nothing(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    server = Server(tmp_path / "data")
    try:
        monkeypatch.setenv("TELLTALE_JOIN", server.join)
        job.run(NOW, GRADIENTS)
        job.close()
        assert server.stop() == 0
        [capsule] = (tmp_path / "data").rglob("*.telltale")
    finally:
        server.kill()
    assert "grad_reduced_1-1.csv" in job.files()
    why = [line for line in capfd.readouterr().err.splitlines() if "the dashboard shows none" in line]
    assert len(why) == 1 and '"stream" to "format" for both' in why[0]
    with contextlib.closing(sqlite3.connect(f"file:{capsule}?mode=ro", uri=True)) as store:
        texts = [text for (text,) in store.execute("SELECT text FROM event")]
        assert [text for text in texts if "the dashboard shows none" in text], texts
        assert store.execute("SELECT count(*) FROM series").fetchone() == (0,)
        assert {"structure", "config"} <= {kind for (kind,) in store.execute("SELECT kind FROM blob")}


def test_both_only_fields_warn_and_collect_neither(job: Job, capfd: pytest.CaptureFixture[str]) -> None:
    job.run(NOW, {"xy_distribution": True, "forward_only": True, "backward_only": True})
    job.close()
    assert not [name for name in job.files() if name.startswith("actv")]
    said = capfd.readouterr().err
    assert said.count("neither activations nor their gradients are collected") == 1


def test_the_api_can_be_asked_and_changed_anywhere(job: Job, capfd: pytest.CaptureFixture[str]) -> None:
    config = {"wg_distribution": True, "xy_distribution": True, "format": "api", "ops": ["norm"]}
    job.run(NOW, config, steps=0)
    job.backward()  # the first call of all, and before the first step
    script = "reduced, unreduced = monitor.generate_wgrad_metrics()\nactv, actv_grad = monitor.generate_xy_metrics()\n"
    exec(script, job.space)
    weight = job.model.language_model.encoder.layers[0].mlp.linear_fc1.weight
    tag = "0:language_model.encoder.layers.0.mlp.linear_fc1"
    assert job.space["reduced"][f"{tag}.weight/rank0/post_grad"]["norm"] == pytest.approx(float(weight.grad.norm()))
    assert job.space["unreduced"][f"{tag}.weight/rank0/pre_grad"]["norm"] == pytest.approx(float(weight.grad.norm()))
    assert (
        f"{tag}.output:1/rank0/actv" in job.space["actv"]
        and f"{tag}.output:1/rank0/actv_grad" in job.space["actv_grad"]
    )
    job.optimizer.step()
    last = float(weight.grad.norm())
    job.optimizer.zero_grad()
    exec(script, job.space)  # cleared: those of the last step
    assert job.space["reduced"][f"{tag}.weight/rank0/post_grad"]["norm"] == pytest.approx(last)
    assert f"{tag}.output:1/rank0/actv" in job.space["actv"]
    exec('if True:\n    monitor.ops = ["min", "max"]\n', job.space)
    job.step()
    exec(script, job.space)
    assert job.space["reduced"][f"{tag}.weight/rank0/post_grad"].keys() == {"min", "max"}
    with pytest.deprecated_call():
        exec("if True:\n    monitor.reload_xy(xy_distribution=False)\n", job.space)
    exec(script, job.space)
    assert job.space["actv"] == {} and "xy_distribution is not true" in capfd.readouterr().err
    assert not list(job.out.rglob("*.csv"))


def test_nothing_of_the_interface_ends_a_training(job: Job, capfd: pytest.CaptureFixture[str]) -> None:
    from telltale.pytorch import TrainerMon

    with pytest.deprecated_call():
        monitor = TrainerMon({"format": "api"}, param_have_main_grad=True, color="red")
    monitor.generate_wgrad_metrics()
    monitor.generate_xy_metrics()
    monitor.set_monitor()
    monitor.set_monitor(job.model, 1, job.optimizer, None, None, 0, 7, optimizer=job.optimizer, optimzer=1)
    monitor.ops = 5  # type: ignore[assignment]
    monitor.ops = [["norm"]]  # type: ignore[list-item]
    monitor.apply = None  # type: ignore[assignment,method-assign]
    monitor.ops = ["min"]
    for call in (monitor.reload_xy, monitor.set_wrapped_optimizer, monitor.monitor_gnorm_with_ad):
        with pytest.deprecated_call():
            call()
    job.step()
    monitor.close()
    said = capfd.readouterr().err
    for part in (
        "no argument 'color'",
        "no argument 'optimzer'",
        "given optimizer twice",
        "reload_xy() failed",
        "7 positional arguments",
    ):
        assert part in said, said


def test_what_a_target_asks_for_and_never_passes_is_said(job: Job, capfd: pytest.CaptureFixture[str]) -> None:
    class Pair(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(8, 8)

        def forward(self, x: Any) -> Any:
            return None, self.inner(x)

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding, self.first, self.second = nn.Embedding(16, 8), Pair(), Pair()

        def forward(self, ids: Any) -> Any:
            return self.second(self.first(self.embedding(ids))[1])[1]

    job.model = Model()
    job.optimizer = torch.optim.Adam(job.model.parameters())
    targets = {"first": {"output": "tuple[2]:1", "output_grad": "tuple[2]:1"}, "second": {"output": "tuple[2]:0"}}
    job.run(NOW, {"targets": targets, "xy_distribution": True}, steps=1)
    job.close()
    for file in ("actv_0-0.csv", "actv_grad_0-0.csv"):
        assert {name for name in job.names(file) if "inner" not in name} == {"first.output"}
    said = [line for line in capfd.readouterr().err.splitlines() if "asks for" in line]
    assert len(said) == 1 and '"output": "tuple[2]:0"' in said[0] and "(NoneType, Tensor)" in said[0]


def test_dynamic_start_collects_from_step_1_and_writes_the_switch_back(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DYNAMIC_MONITOR", "True")
    text = '{\n  // 场景3\n  "dynamic_on": true, "start_step": 9, "collect_times": 2,\n  "wg_distribution": true}\n'
    job.run(NOW, text, steps=5)
    job.close()
    steps = sorted(name for name in job.files() if name.startswith("grad_reduced"))
    assert steps == ["grad_reduced_1-1.csv", "grad_reduced_2-2.csv"]
    assert (job.folder / "monitor_config.json").read_text() == text.replace("true", "false", 1)


def test_full_names_in_files_are_told_to_who_may_expect_short_ones(
    job: Job, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    job.run(NOW, '{"param_distribution": true}', steps=1)
    assert '"squash_name": true' in capfd.readouterr().err
    job.close()
    again = Job(tmp_path)
    again.run(NOW, '{"param_distribution": true, "squash_name": false}', steps=1)
    again.close()
    assert "squash_name" not in capfd.readouterr().err


def test_stacks_and_structure_are_written_with_every_format(job: Job, capfd: pytest.CaptureFixture[str]) -> None:
    job.run(
        NOW, '{"stack_info": true, "print_struct": true, "format": "tensorboard", "param_distribution": true}', steps=1
    )
    job.close()
    rows = job.files()["stack_info.csv"]
    assert rows[0] == ["module_name", "stack_info"] and len(rows) == 1 + sum(
        type(module).forward is not nn.Module.forward for module in job.model.modules()
    )
    assert (job.out / "module_struct" / "rank0" / "module_struct.json").exists()
    said = capfd.readouterr().err
    assert "stack_info.csv" in said and "module_struct.json" in said
    [event_file] = job.out.glob("*-rank0-*/events.out.tfevents.*")
    assert b"0:language_model.embedding.word_embedding.weight/rank0/param_origin_norm" in event_file.read_bytes()
