# SPDX-License-Identifier: GPL-3.0-or-later
"""The schema for editors and the native reader hold a config.json to the same rules."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft7Validator
from telltale import native

SCHEMA = json.loads((Path(__file__).parents[2] / "resources/schema/monitor-config.schema.json").read_text())

GOOD = [
    {},
    {"targets": {"layers.0": {"output": "tuple[2]:0"}, "head": {}}, "ops": ["norm", "nans"], "eps": 1e-6},
    {"targets": {"0:a": {"input": "list[2]:1", "output": "tensor", "input_grad": "tuple[1]"}}},
    {"format": "csv", "ndigits": 6, "step_count_per_record": 4, "module_ranks": [], "collect_times": 100000},
    {"format": ["csv", "stream"], "ndigits": None, "append_output": ["Dec03_21-34-40", "Dec03_21-34-41"]},
    {"cc_distribution": {"enable": True, "cc_codeline": ["train.py\\[23\\]"], "cc_pre_hook": False}},
    {"alert": {"rules": [{"rule_name": "AnomalyTurbulence", "args": {"threshold": 0.5}}], "dump": True}},
    {"alert": {"rules": [{"rule_name": "AnomalyNan"}]}},
    {"l2_targets": {"linear_hook": ["0:head"]}, "recording_l2_features": True, "sa_order": "b,s,h,d"},
    {
        "telltale": {"attention_hook": True, "attention_queries": 0, "threads": 4, "stop_after_cc_log": True},
        "$schema": "here.json",
    },
    {"telltale": {"actv_grad_input": "total"}},
]

BAD = [
    {"wg_distributoin": True},
    {"wg_distribution": 1},
    {"ops": "norm"},
    {"ops": ["maxx"]},
    {"eps": -1},
    {"ndigits": 0},
    {"module_ranks": [-1]},
    {"step_interval": 0},
    {"step_count_per_record": 1000001},
    {"targets": {"a": {"outptu": "tensor"}}},
    {"targets": {"a": {"output": "dict[1]"}}},
    {"format": "tensorbord"},
    {"append_output": ["Dec03_21-34-40"]},
    {"cc_distribution": {"enabled": True}},
    {"alert": {"rules": [{"rule_name": "AnomalyTurbulence"}]}},
    {"alert": {"rules": [{"rule_name": "Anomaly"}]}},
    {"l2_targets": {"linear": []}},
    {"sa_order": "h,s,b,d"},
    {"telltale": {"threads": 0}},
]


def test_the_schema_is_a_schema() -> None:
    Draft7Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("config", GOOD, ids=json.dumps)
def test_both_take_a_good_config(config: dict) -> None:
    Draft7Validator(SCHEMA).validate(config)
    assert native.read_config(json.dumps(config))["problems"] == []


@pytest.mark.parametrize("config", BAD, ids=json.dumps)
def test_both_refuse_a_bad_config(config: dict) -> None:
    assert not Draft7Validator(SCHEMA).is_valid(config)
    problems = native.read_config(json.dumps(config))["problems"]
    assert [problem["is_error"] for problem in problems] == [True]


def test_what_is_in_force_satisfies_the_schema() -> None:
    for config in GOOD:
        Draft7Validator(SCHEMA).validate(native.read_config(json.dumps(config))["config"])
