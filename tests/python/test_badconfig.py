# SPDX-License-Identifier: GPL-3.0-or-later
"""A bad config never ends a training: each fault is one clear sentence, and the defaults hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from recording import RecordingSink
from telltale import configfile, native
from telltale.kinds import Kind
from telltale.pytorch import TrainerMon

# what is wrong -> (config, words that the sentence must hold)
BAD: dict[str, tuple[dict[str, Any], list[str]]] = {
    "an unknown field": ({"wg_distributoin": True}, ["wg_distributoin", "wg_distribution"]),
    "a text for a truth value": ({"xy_distribution": "yes"}, ["/xy_distribution", '"yes"', "true or false"]),
    "a negative interval": ({"step_interval": -1}, ["/step_interval", "-1"]),
    "an unknown op": ({"ops": ["norm", "nrom"]}, ["/ops", "nrom", "norm"]),
    "ops that are no list": ({"ops": "norm"}, ["/ops"]),
    "a rank that is no number": ({"module_ranks": ["0"]}, ["/module_ranks", '"0"']),
    "targets that are a list": ({"targets": ["layers.0"]}, ["/targets"]),
    "too many decimals": ({"ndigits": 99}, ["/ndigits", "99", "20"]),
    "an unknown format": ({"format": "parquet"}, ["/format", "parquet", "csv"]),
    "an unknown alert": (
        {"alert": {"rules": [{"rule_name": "AnomalyNaN"}]}},
        ["/alert/rules/0", "AnomalyNaN", "AnomalyNan"],
    ),
    "a shape order that does not exist": ({"sa_order": "h,s,b,d"}, ["/sa_order", "s,b,h,d"]),
    "an eps that is a text": ({"eps": "small"}, ["/eps"]),
    "half a second window": ({"append_output": ["Dec03_21-34-40"]}, ["/append_output"]),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_field_is_named_with_what_is_allowed(what: str) -> None:
    config, words = BAD[what]
    loaded = configfile.load(config)
    sentences = [str(problem) for problem in loaded.problems]
    assert len(sentences) >= 1
    for word in words:
        assert any(word in sentence for sentence in sentences), f"{word} is not in {sentences}"


def test_all_faults_are_told_at_once_and_training_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    config: dict[str, Any] = {"wg_distribution": True}
    for broken, _ in BAD.values():
        config.update(broken)
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.Adam(model.parameters())
    sink = RecordingSink()
    monitor = TrainerMon(config, sinks=[sink])
    monitor.set_monitor(model, optimizer=optimizer)
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.ones(1, 4)).sum().backward()
        optimizer.step()
    assert sink.steps(Kind.GRAD_REDUCED) == [0, 1]
    said = capsys.readouterr().err
    fields = {pointer.split("/")[1] for config, _ in BAD.values() for pointer in [f"/{name}" for name in config]}
    assert all(field in said for field in fields)
    assert said.count("telltale: ") >= len(fields)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "JSON"),
        ("[]", "object"),
        ("", ""),
        ('{"ops": ["norm"', "JSON"),
    ],
)
def test_what_is_no_config_at_all_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    path = tmp_path / "config.json"
    path.write_text(text)
    TrainerMon(str(path), sinks=[RecordingSink()])
    said = [line for line in capsys.readouterr().err.splitlines() if line]
    assert len(said) == 1 and words in said[0] and "defaults" in said[0]


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    TrainerMon(str(tmp_path / "none.json"), sinks=[RecordingSink()])
    TrainerMon(str(tmp_path), sinks=[RecordingSink()])
    said = capsys.readouterr().err
    assert "none.json" in said and "No such file" in said and "directory" in said


def test_comments_and_trailing_commas_are_read() -> None:
    loaded = configfile.load('{ // which\n "ops": ["norm", "mean",], "targets": {"a//b": {}}, }')
    assert loaded.problems == [] and loaded.config.ops == ["norm", "mean"]
    assert list(loaded.config.targets) == ["a//b"]


def test_without_the_library_the_same_config_is_in_force(monkeypatch: pytest.MonkeyPatch) -> None:
    document = {
        "targets": {"layers.0": {"input": "tuple[2]:0"}},
        "wg_distribution": True,
        "ops": ["norm", "nans"],
        "ndigits": 12,
        "format": ["csv", "api"],
        "cc_distribution": {"enable": True, "cc_codeline": ["train.py"]},
        "alert": {"rules": [{"rule_name": "AnomalyTurbulence", "args": {"threshold": 0.5}}], "dump": True},
        "telltale": {"attention_hook": True},
        "start_step": 3,
    }
    with_library = configfile.load(json.dumps(document))
    assert native.available() and with_library.problems == []
    monkeypatch.setattr(native, "available", lambda: False)
    without = configfile.load(json.dumps(document))
    assert without.problems == []
    assert without.config == with_library.config
