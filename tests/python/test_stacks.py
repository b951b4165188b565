# SPDX-License-Identifier: GPL-3.0-or-later
"""Each module's stack is taken once, in msprobe's words."""

import copy
import json
import os
import re
import subprocess
import sys

import torch
from telltale.agent import stacks
from telltale.agent.stacks import StackRecorder
from telltale.agent.structrecorder import module_keys
from telltale.pytorch.framework import PyTorch
from torch import nn

TORCH = PyTorch()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)
        self.unused = nn.ReLU()

    def forward(self, x):
        y = self.inner(x)  # where inner is called
        return y


def test_a_stack_has_msprobes_form_and_begins_where_the_training_calls_the_module():
    model = Net()
    recorder = StackRecorder(TORCH, module_keys(TORCH, [model]))
    recorder.install()
    model(torch.ones(1, 2))
    recorder.remove()
    assert list(recorder.stacks) == ["0:inner", "0:"] and not recorder.is_complete
    text = recorder.stacks["0:inner"]
    frames = re.findall(r"File (.*), line (\d+), in (\S+), \n (.*) \n", text)
    assert "".join(f"File {p}, line {n}, in {f}, \n {c} \n" for p, n, f, c in frames) == text
    assert "telltale" not in text
    assert os.path.dirname(torch.__file__) not in text
    calls = frames[:2]
    assert {frame[0] for frame in calls} == {__file__}
    assert [frame[2] for frame in calls] == ["forward", calls[1][2]]
    assert calls[0][3] == "y = self.inner(x)  # where inner is called"
    assert calls[1][3] == "model(torch.ones(1, 2))"
    assert json.loads(recorder.to_json()) == recorder.stacks


def test_the_demos_training_counts_as_the_users_code(tmp_path):
    config = tmp_path / "monitor_config.json"
    config.write_text(json.dumps({"targets": {}, "stack_info": True, "format": "csv"}))
    command = [sys.executable, "-m", "telltale", "train-demo", "--width", "16", "--layers", "1", "--heads", "2"]
    command += ["--steps", "2", "--config", str(config)]
    environment = os.environ | {"MONITOR_OUTPUT_DIR": str(tmp_path / "out")}
    subprocess.run(command, check=True, cwd=tmp_path, env=environment, capture_output=True, timeout=240)
    [file] = tmp_path.rglob("stack_info.csv")
    text = file.read_text()
    assert "trainer.py, line" in text and stacks.NO_STACK not in text
    assert f"{os.sep}agent{os.sep}stacks.py" not in text


def test_only_the_first_call_counts():
    model = nn.ReLU()
    recorder = StackRecorder(TORCH, module_keys(TORCH, [model]))
    recorder.install()
    recorder.install()
    model(torch.ones(1))
    first = dict(recorder.stacks)
    [model(torch.ones(1)) for _ in range(2)]
    assert recorder.stacks == first and recorder.is_complete and len(model._forward_hooks) == 1
    recorder.remove()
    assert not model._forward_hooks


def test_code_without_source_is_left_out():
    model = nn.ReLU()
    recorder = StackRecorder(TORCH, module_keys(TORCH, [model]))
    recorder.install()
    exec(compile("model(x)", "<nowhere>", "exec"), {"model": model, "x": torch.ones(1)})
    assert "File <nowhere>" not in recorder.stacks["0:"] and "test_code_without_source" in recorder.stacks["0:"]
    assert stacks.call_stack_text(None, "torch") == stacks.NO_STACK


def test_an_error_is_reported_and_not_raised(monkeypatch):
    told = []
    monkeypatch.setattr(stacks, "call_stack_text", lambda frame, leave_out: 1 / 0)
    model = nn.ReLU()
    keys = module_keys(TORCH, [model])
    recorder = StackRecorder(TORCH, keys, report=lambda what, error: told.append((what, type(error))))
    recorder.install()
    model(torch.ones(1))
    assert told == [("call stacks", ZeroDivisionError)] and recorder.stacks == {"0:": stacks.NO_STACK}


def test_a_copy_of_the_model_is_silent():
    model = nn.ReLU()
    recorder = StackRecorder(TORCH, module_keys(TORCH, [model]))
    recorder.install()
    copy.deepcopy(model)(torch.ones(1))
    assert recorder.stacks == {}
