# SPDX-License-Identifier: GPL-3.0-or-later
"""A bad config never ends a training: each fault is one clear sentence, and the defaults hold."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from recording import RecordingSink
from telltale import configfile, native
from telltale.config import MonitorConfig
from telltale.kinds import Kind
from telltale.pytorch import TrainerMon
from test_configschema import BAD as BROKEN

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
    # Which targets and ranks were meant cannot be read: that selects none.
    assert sink.steps(Kind.GRAD_REDUCED) == [] and monitor.step == 2
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


@pytest.mark.parametrize("config", BROKEN, ids=json.dumps)
def test_without_the_library_the_schema_keeps_wrong_values_out(
    monkeypatch: pytest.MonkeyPatch, config: dict[str, Any]
) -> None:
    (wrong,) = native.read_config(json.dumps(config))["problems"]
    monkeypatch.setattr(native, "available", lambda: False)
    loaded = configfile.load({**config, "start_step": 7, "module_ranks": [3, *config.get("module_ranks", [])]})
    problem = loaded.problems[0]
    assert problem.is_error and problem.pointer.startswith(wrong["pointer"].rpartition("/")[0])
    assert json.dumps(list(config)[0])[1:-1] in str(problem)
    kept = configfile.load({"start_step": 7, "module_ranks": [3]}).config
    if "targets" in config:
        kept.targets, kept.all_xy = {"(none)": {}}, False
    kept.alert_rules = []
    assert loaded.config == kept


@pytest.mark.parametrize(
    "config",
    [
        {"targets": ["layers.0"]},
        {"targets": {"layers.0": "tensor", "head": {"outputs": "tensor"}}},
        {"targets": {"layers.0": {"outputs": "tensor"}, "head": {}}},
        {"module_ranks": 0},
        {"module_ranks": ["0"]},
        {"cc_distribution": {"cc_codeline": [23]}},
        {"l2_targets": {"linear_hook": "layers.0"}},
        {"l2_targets": 3, "cc_distribution": [], "module_ranks": [], "targets": {}},
    ],
    ids=json.dumps,
)
def test_what_cannot_be_read_never_widens_a_selection(monkeypatch: pytest.MonkeyPatch, config: dict[str, Any]) -> None:
    with_library = configfile.load(config).config
    monkeypatch.setattr(native, "available", lambda: False)
    without = configfile.load(config).config
    assert without == with_library
    everything = configfile.load({}).config
    assert ("l2_targets" in config and "module_ranks" in config) == (without == everything)


def test_without_the_library_several_faults_of_one_list_cost_only_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "available", lambda: False)
    ranks = [*range(11), -1, "2", 12, -3]
    loaded = configfile.load({"module_ranks": ranks, "ops": ["maxx"], "telltale": {"threads": 0, "later": 1}})
    assert loaded.config.module_ranks == [*range(11), 12]
    assert loaded.config.ops == ["norm"] and loaded.config.threads == 2 and loaded.config.extras == {"later": 1}
    assert len(loaded.problems) == 5


def test_without_library_and_validator_the_defaults_hold_and_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(native, "available", lambda: False)
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    assert configfile.load(None).config.wg_distribution
    monitor = TrainerMon({"start_step": 5}, sinks=[RecordingSink()])
    assert monitor.config.start_step == 0
    said = capsys.readouterr().err
    assert "pip install jsonschema" in said and "defaults" in said


@pytest.mark.parametrize("is_native", [True, False])
def test_it_is_said_which_default_a_field_holds(monkeypatch: pytest.MonkeyPatch, is_native: bool) -> None:
    monkeypatch.setattr(native, "available", lambda: is_native)
    config = {
        "step_interval": 0, "ops": ["maxx", "norm"], "wg": True, "telltale": {"threads": 99}, "alert": 3,
        "sa_order": "q",
    }  # fmt: skip
    assert {problem.pointer: problem.instead for problem in configfile.load(config).problems} == {
        "/step_interval": "1 is used", "/ops/0": "", "/wg": "", "/telltale/threads": "2 is used",
        "/alert": "the defaults of its fields are used", "/sa_order": '"s,b,h,d" is used',
    }  # fmt: skip


@pytest.mark.parametrize("is_native", [True, False])
@pytest.mark.parametrize(
    "config",
    [
        {"targets": 3},
        {"targets": {"layer": {"input": 3}}},
        {"module_ranks": "all"},
        {"module_ranks": ["first"]},
        {"cc_distribution": {"cc_codeline": 5}},
        {"l2_targets": {"linear_hook": [3]}},
        {"l2_targets": 7},
        {"telltale": {"attention_maps_steps": "all"}},
        {"telltale": {"attention_maps_steps": [-3]}},
    ],
)
def test_a_selection_of_which_nothing_could_be_read_is_said_to_select_nothing(
    monkeypatch: pytest.MonkeyPatch, config: dict[str, Any], is_native: bool
) -> None:
    monkeypatch.setattr(native, "available", lambda: is_native)
    assert [problem.instead for problem in configfile.load(config).problems] == ["nothing is selected by it"]


def test_a_selection_that_is_left_in_part_is_not_said_to_select_nothing() -> None:
    loaded = configfile.load({"module_ranks": ["first", 1], "targets": {"a": 3, "b": {}}})
    assert [problem.instead for problem in loaded.problems] == ["", ""]


@pytest.mark.parametrize("source", [{"step_interval": 0, "wg": True}, "/no/such/config.json"])
def test_what_is_wrong_with_a_config_is_in_the_runs_log_once(source: Any, capsys: pytest.CaptureFixture[str]) -> None:
    sink = RecordingSink()
    monitor = TrainerMon(source, sinks=[sink])
    said = [line.removeprefix("telltale: ") for line in capsys.readouterr().err.splitlines()]
    for _ in range(2):
        monitor.set_monitor(torch.nn.Linear(2, 2))
    monitor.close()
    assert said and said[0].endswith(("1 is used", "the defaults are used"))
    assert [text for kind, _, text in sink.events if kind == "log" and text in said] == said
    assert not [line for line in capsys.readouterr().err.splitlines() if line.removeprefix("telltale: ") in said]


@pytest.mark.parametrize("is_native", [True, False])
def test_an_unknown_name_of_telltales_own_object_changes_no_field(
    monkeypatch: pytest.MonkeyPatch, is_native: bool
) -> None:
    monkeypatch.setattr(native, "available", lambda: is_native)
    config = configfile.load({"telltale": {"step_interval": 0, "threads": 3}}).config
    assert config.step_interval == 1 and config.threads == 3 and config.extras == {"step_interval": 0}


def test_the_defaults_are_those_of_the_field_table() -> None:
    assert configfile.from_document(native.read_config('{"targets": {"a": {}}}')["config"]) == dataclasses.replace(
        MonitorConfig(), targets={"a": {}}
    )
