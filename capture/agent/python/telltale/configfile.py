# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a monitor config from a path, a text or a dict. The native core validates it; where the library is missing,
the plain checks below keep wrong values out."""

from __future__ import annotations

import difflib
import json
import os
import re
from pathlib import Path
from typing import Any, Callable

from . import native
from .config import AlertRule, CommConfig, LoadedConfig, MonitorConfig, Problem

OPS = ("norm", "min", "max", "zeros", "nans", "id", "mean", "shape", "dtype")
FORMATS = ("stream", "csv", "tensorboard", "api")
_PLAIN = (
    "recording_l2_features", "sa_order", "print_struct", "module_ranks", "ur_distribution", "xy_distribution",
    "all_xy", "forward_only", "backward_only", "mv_distribution", "param_distribution", "wg_distribution",
    "mg_direction", "stack_info", "monitor_mbs_grad", "eps", "ndigits", "step_count_per_record", "append_output",
    "squash_name", "start_step", "step_interval", "collect_times", "dynamic_on",
)  # fmt: skip
_OWN = (
    "stop_after_struct", "stop_after_cc_log", "alert_two_sided", "attention_hook", "attention_queries",
    "actv_grad_input", "threads",
)  # fmt: skip
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|,(?=\s*(?://[^\n]*\s*)*[}\]])')


class ConfigError(ValueError):
    """The config as a whole cannot be read; the message is one sentence."""


EVERYTHING: dict[str, Any] = {
    "targets": {},
    "wg_distribution": True,
    "mv_distribution": True,
    "param_distribution": True,
    "xy_distribution": True,
    "ops": ["norm", "mean", "min", "max", "zeros", "nans"],
    "telltale": {"attention_hook": True},
}


def load(source: str | os.PathLike[str] | dict[str, Any] | None) -> LoadedConfig:
    """A path, a JSON text, a dict, or None for everything. Raises ConfigError when it is no config at all; fields that
    are wrong hold their defaults and are named in `problems`."""
    if source is None:
        return parse(json.dumps(EVERYTHING))
    if isinstance(source, dict):
        try:
            return parse(json.dumps(source))
        except (TypeError, ValueError) as error:
            raise ConfigError(f"the config is not JSON: {error}") from None
    if not isinstance(source, (str, os.PathLike)):
        raise ConfigError(f"a config is a path, a JSON text or a dict, not {type(source).__name__}")
    text = os.fspath(source)
    if not isinstance(text, str):
        raise ConfigError(f"a config's path is text, not {type(text).__name__}")
    if text.lstrip()[:1] == "{" or text.lstrip().startswith("//"):
        return parse(text)
    try:
        return parse(Path(text).read_text("utf-8"), text)
    except OSError as error:
        raise ConfigError(f"cannot read {text}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"cannot read {text}: it is not UTF-8 text") from None


def parse(text: str, name: str = "the config") -> LoadedConfig:
    """Reads the text of a config."""
    if native.available() and hasattr(native.library(), "tt_config_read"):
        answer = native.read_config(text)
        if not answer["ok"]:
            raise ConfigError(f"{name}: {answer['error']}")
        problems = [Problem(p["pointer"], p["sentence"], p["is_error"]) for p in answer["problems"]]
        return LoadedConfig(from_document(answer["config"]), problems, text)
    try:
        document = json.loads(_COMMENT.sub(lambda m: m.group(1) or "", text))
    except ValueError as error:
        raise ConfigError(f"{name} is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise ConfigError(f"{name} is not a JSON object")
    problems = []
    return LoadedConfig(from_document(_checked(document, problems)), problems, text)


def from_document(document: dict[str, Any]) -> MonitorConfig:
    """A MonitorConfig of fields whose types are right."""
    config = MonitorConfig()
    for name in _PLAIN:
        if document.get(name) is not None:
            setattr(config, name, document[name])
    given = document.get("targets") or {}
    config.targets = {str(target): _selection(wanted) for target, wanted in given.items()}
    config.l2_targets = {str(k): [str(v) for v in names] for k, names in (document.get("l2_targets") or {}).items()}
    comm = document.get("cc_distribution") or {}
    config.cc_distribution = CommConfig(
        **{name: comm[name] for name in ("enable", "cc_codeline", "cc_pre_hook", "cc_log_only") if name in comm}
    )
    alert = document.get("alert") or {}
    config.alert_rules = [
        AlertRule(rule["rule_name"], (rule.get("args") or {}).get("threshold"))
        for rule in alert.get("rules") or []
        if isinstance(rule, dict) and rule.get("rule_name")
    ]
    config.alert_dump = bool(alert.get("dump", False))
    kinds = document.get("format") or []
    config.format = [kinds] if isinstance(kinds, str) else list(kinds)
    config.ops = list(document.get("ops") or ["norm"])
    own = document.get("telltale") or {}
    for name in _OWN:
        if own.get(name) is not None:
            setattr(config, name, own[name])
    config.extras = {name: value for name, value in own.items() if name not in _OWN}
    if config.xy_distribution and not config.targets:
        config.all_xy = True
    return config


def _selection(wanted: Any) -> dict[str, str]:
    if isinstance(wanted, str):
        try:
            wanted = json.loads(wanted) if wanted else {}
        except ValueError:
            return {}
    return {str(k): str(v) for k, v in wanted.items()} if isinstance(wanted, dict) else {}


_CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {}


def _check(names: str, test: Callable[[Any], bool], words: str) -> None:
    for name in names.split():
        _CHECKS[name] = (test, words)


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_check(
    "recording_l2_features print_struct ur_distribution xy_distribution all_xy forward_only backward_only "
    "mv_distribution param_distribution wg_distribution mg_direction stack_info monitor_mbs_grad squash_name "
    "dynamic_on",
    lambda v: isinstance(v, bool),
    "true or false",
)
_check("start_step collect_times", lambda v: _is_int(v) and v >= 0, "a whole number from 0")
_check("step_interval", lambda v: _is_int(v) and v >= 1, "a whole number from 1")
_check("step_count_per_record", lambda v: _is_int(v) and 1 <= v <= 1_000_000, "a whole number from 1 to 1000000")
_check("ndigits", lambda v: _is_int(v) and 1 <= v <= 20, "a whole number from 1 to 20")
_check("eps", lambda v: isinstance(v, (int, float)) and not isinstance(v, bool) and v >= 0, "a number from 0")
_check(
    "module_ranks",
    lambda v: isinstance(v, list) and all(_is_int(r) and r >= 0 for r in v),
    "a list of rank numbers",
)
_check(
    "ops",
    lambda v: isinstance(v, list) and all(op in OPS for op in v),
    "a list of " + ", ".join(OPS),
)
_check("targets l2_targets cc_distribution alert telltale", lambda v: isinstance(v, dict), "an object")
_check("sa_order", lambda v: isinstance(v, str) and v.replace(" ", "") in ("s,b,h,d", "b,s,h,d"), "s,b,h,d or b,s,h,d")
_check("append_output", lambda v: isinstance(v, list) and len(v) in (0, 2), "[] or two time stamps")
_check(
    "format",
    lambda v: all(kind in FORMATS for kind in ([v] if isinstance(v, str) else v if isinstance(v, list) else [None])),
    "one or a list of " + ", ".join(FORMATS),
)


def _checked(document: dict[str, Any], problems: list[Problem]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, value in document.items():
        check = _CHECKS.get(name)
        if check is None:
            near = difflib.get_close_matches(name, _CHECKS, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            problems.append(Problem(f"/{name}", f"/{name} is not a field of the config{hint}", False))
        elif not check[0](value):
            problems.append(Problem(f"/{name}", f"/{name} is {json.dumps(value)}; it must be {check[1]}"))
        else:
            kept[name] = value
    if kept.get("forward_only") and kept.get("backward_only"):
        sentence = (
            "forward_only and backward_only are both true: neither activations nor their gradients are collected; set "
            "one of them to false"
        )
        problems.append(Problem("/backward_only", sentence, False))
    return kept
