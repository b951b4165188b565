# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a monitor config from a path, a text or a dict. The native core validates it by its table of fields; where the
library is missing, the JSON Schema that is made from that table does."""

from __future__ import annotations

import copy
import difflib
import json
import os
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

from . import native
from .config import AlertRule, CommConfig, LoadedConfig, MonitorConfig, Problem

SCHEMA: dict[str, Any] = json.loads((Path(__file__).parent / "monitor-config.schema.json").read_text("utf-8"))
OPS: tuple[str, ...] = tuple(SCHEMA["properties"]["ops"]["items"]["enum"])
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|,(?=\s*(?://[^\n]*\s*)*[}\]])')
_LONGEST = 400  # characters of a sentence


class ConfigError(ValueError):
    """The config as a whole cannot be read; the message is one sentence."""


LOCAL = (
    ("", "format"),
    ("", "append_output"),
    ("cc_distribution", "cc_codeline"),
    ("alert", "dump"),
    ("telltale", "stop_after_struct"),
    ("telltale", "stop_after_cc_log"),
    ("telltale", "overhead_budget"),
    ("telltale", "environment"),
)
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
        return LoadedConfig(from_document(EVERYTHING), [], json.dumps(EVERYTHING), EVERYTHING)
    if isinstance(source, dict):
        try:
            return parse(json.dumps(source))
        except (TypeError, ValueError) as error:
            raise ConfigError(f"the config is not JSON: {error}") from None
    return parse(text_of(source), "the config" if _is_text(source) else os.fspath(source))


def text_of(source: Any) -> str:
    """The text of a config that is given as a path or as that text itself. Raises ConfigError."""
    if not isinstance(source, (str, os.PathLike)):
        raise ConfigError(f"a config is a path, a JSON text or a dict, not {type(source).__name__}")
    path = os.fspath(source)
    if not isinstance(path, str):
        raise ConfigError(f"a config's path is text, not {type(path).__name__}")
    if _is_text(path):
        return path
    return _text_in(path)


def _text_in(path: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except (OSError, ValueError) as error:
        why = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else getattr(error, "strerror", "")
        raise ConfigError(f"cannot read {path}: {why or error}") from None


def _is_text(source: Any) -> bool:
    return isinstance(source, str) and (source.lstrip()[:1] == "{" or source.lstrip().startswith("//"))


def document_of(text: str, name: str = "the config") -> dict[str, Any]:
    """The object of a JSON text, which may have comments. Raises ConfigError."""
    try:
        document = json.loads(_COMMENT.sub(lambda m: m.group(1) or "", text))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{name} is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise ConfigError(f"{name} is not a JSON object")
    return document


def says(text: str, field: str) -> bool:
    """Whether the text of a config that was read has a field, whatever it says."""
    try:
        return field in document_of(text.removeprefix("\ufeff"))
    except ConfigError:
        return True


def load_or_defaults(source: Any) -> tuple[LoadedConfig, list[str]]:
    """As load(), of what a training begins with, which never fails: what holds, and a sentence for people on each
    problem."""
    try:
        loaded = load(source)
    except ConfigError as error:
        return LoadedConfig(MonitorConfig(), [], "{}"), [f"{error}; the defaults are used"]
    return loaded, [f"config {one}" + (f"; {one.instead}" if one.instead else "") for one in loaded.problems]


def load_file(path: str) -> LoadedConfig:
    """As load(), of a path."""
    return parse(_text_in(path), path)


def parse(text: str, name: str = "the config") -> LoadedConfig:
    """Reads the text of a config: the native core validates it; where the library is missing, the schema that is made
    from the core's table of fields does."""
    if native.available():
        answer = native.read_config(text)
        if not answer["ok"]:
            raise ConfigError(f"{name}: {answer['error']}")
        document = answer["config"]
        problems = [Problem(p["pointer"], p["sentence"], p["is_error"], p["instead"]) for p in answer["problems"]]
    else:
        document = document_of(text, name)
        given = json.loads(json.dumps(document))
        found = _held_to_schema(document)
        _keep_narrow(given, document)
        problems = [
            Problem(where, words, is_error, _instead(where, document) if is_error else "")
            for where, words, is_error in found
        ]
    return LoadedConfig(from_document(document), problems, text, document)


def edited(text: str, wanted: dict[str, Any]) -> str:
    """A config's text changed so that it reads as `wanted`; the native core keeps comments and order."""
    if native.available():
        return native.edit_config(text, json.dumps(wanted))
    return json.dumps(wanted, indent=4, ensure_ascii=False) + "\n"


def local_part(document: dict[str, Any]) -> list[Any]:
    """The values of what only the training's own file may change, as the core has it."""
    return [(document.get(owner) or {}).get(name) if owner else document.get(name) for owner, name in LOCAL]


def of_document(document: dict[str, Any]) -> LoadedConfig:
    """As load(), of every field as the core has them."""
    return LoadedConfig(from_document(document), [], edited("", document), document)


def from_document(document: dict[str, Any]) -> MonitorConfig:
    """A MonitorConfig of fields whose types are right."""
    config = MonitorConfig()
    own = document.get("telltale") or {}
    for name, value in [*document.items(), *((name, own[name]) for name in own if name in _OWN)]:
        if name in _PLAIN and value is not None:
            setattr(config, name, value)
    given = document.get("targets") or {}
    config.targets = {str(target): _selection(wanted) for target, wanted in given.items()}
    config.l2_targets = {str(k): [str(v) for v in names] for k, names in (document.get("l2_targets") or {}).items()}
    config.cc_distribution = CommConfig(**(document.get("cc_distribution") or {}))
    alert = document.get("alert") or {}
    config.alert_rules = [
        AlertRule(rule["rule_name"], (rule.get("args") or {}).get("threshold")) for rule in alert.get("rules") or []
    ]
    config.alert_dump = bool(alert.get("dump", False))
    kinds = document.get("format") or []
    config.format = [kinds] if isinstance(kinds, str) else list(kinds)
    config.ops = list(document.get("ops") or ["norm"])
    if config.flight_recorder is True:  # as it was read where the native core has not
        config.flight_recorder = 32
    config.extras = {name: value for name, value in own.items() if name not in _OWN}
    if not config.targets:
        config.all_xy = True
    return config


_HOOKS = SCHEMA["properties"]["l2_targets"]["properties"]
_OWN = SCHEMA["properties"]["telltale"]["properties"]
# What a selection holds of which nothing could be read, by its pointer: the native core's values.
_NOTHING: dict[str, Any] = {
    "/targets": {"(none)": {}},
    "/module_ranks": [1_000_000],
    "/cc_distribution/cc_codeline": ["(?!)"],
    "/telltale/attention_maps_steps": [1_000_000_000_000_000],
    "/l2_targets": {},
    **{f"/l2_targets/{hook}": ["(none)"] for hook in _HOOKS},
}
# What the document has under the same name and in the same form.
_PLAIN = {one.name for one in fields(MonitorConfig)} - {
    "targets", "l2_targets", "cc_distribution", "alert_rules", "alert_dump", "format", "ops", "extras",
}  # fmt: skip


def _selection(wanted: Any) -> dict[str, str]:
    if isinstance(wanted, str):
        try:
            wanted = json.loads(wanted) if wanted else {}
        except ValueError:
            return {}
    return {str(k): str(v) for k, v in wanted.items()} if isinstance(wanted, dict) else {}


def _instead(pointer: str, document: dict[str, Any]) -> str:
    """What holds in place of what could not be read there: the field's default, or nothing of a selection. "" where
    more of the field was read, and where the name is unknown."""
    field: Any = SCHEMA
    value: Any = document
    names = pointer.split("/")[1:]
    at = ""
    for name in names:
        within = field.get("properties", {}).get(name)
        if within is None:
            break
        field, at = within, f"{at}/{name}"
        value = value.get(name, field.get("default")) if isinstance(value, dict) else field.get("default")
    if at in _NOTHING and value == _NOTHING[at]:
        return "nothing is selected by it"
    if at != pointer:
        return ""
    return "the defaults of its fields are used" if "properties" in field else f"{json.dumps(value)} is used"


def _held_to_schema(document: dict[str, Any]) -> list[tuple[str, str, bool]]:
    """Takes out of a document what breaks the schema; (pointer, sentence, whether it is an error) of each."""
    try:
        from jsonschema import Draft7Validator
        from jsonschema.exceptions import best_match
    except ImportError:
        raise ConfigError(
            "a config cannot be read here, since neither telltale's native library nor the Python package jsonschema "
            "is there to check it; pip install jsonschema"
        ) from None
    problems: list[tuple[str, str, bool]] = []
    # What is taken out may leave something behind that is wrong without it.
    while found := list(Draft7Validator(SCHEMA).iter_errors(document)):
        taken: set[str] = set()
        for error in sorted(found, key=lambda e: [str(part).zfill(9) for part in e.path], reverse=True):
            places = [[*error.path, name] for name in _unknown(error)] or [list(error.path)]
            for place in places:
                pointer = "".join(f"/{part}" for part in place)
                if pointer in taken:
                    continue
                taken.add(pointer)
                words = _hint(str(place[-1]), error) if len(place) > len(error.path) else best_match([error]).message
                problems.append((pointer, f"{pointer}: {words[:_LONGEST]}", True))
                owner: Any = document
                for part in place[:-1]:
                    owner = owner[part]
                del owner[place[-1]]
    if document.get("forward_only") and document.get("backward_only"):
        sentence = (
            "forward_only and backward_only are both true: neither activations nor their gradients are collected; set "
            "one of them to false"
        )
        problems.append(("/backward_only", sentence, False))
    return problems


def _keep_narrow(given: dict[str, Any], document: dict[str, Any]) -> None:
    """What could not be read never widens a selection: where nothing of one is left, nothing is selected, though an
    empty one means everything."""
    targets = document.get("targets", {})
    for name, sides in list(targets.items()):
        if given["targets"][name] and not sides:
            del targets[name]
    maps = (document.get("telltale") or {}).get("attention_maps") or {}
    for name, heads in list(maps.items()):
        if not heads and given["telltale"]["attention_maps"][name]:
            del maps[name]  # an empty list means the first heads
    comm, hooks, own = (document.get(name, {}) for name in ("cc_distribution", "l2_targets", "telltale"))
    asked = {
        name: given[name] if isinstance(given.get(name), dict) else {}
        for name in ("cc_distribution", "l2_targets", "telltale")
    }
    selections: list[tuple[Any, dict[str, Any], str]] = [
        (given.get("targets"), document, "/targets"),
        (given.get("module_ranks"), document, "/module_ranks"),
        (asked["cc_distribution"].get("cc_codeline"), comm, "/cc_distribution/cc_codeline"),
        (asked["telltale"].get("attention_maps_steps"), own, "/telltale/attention_maps_steps"),
        *((names, hooks, f"/l2_targets/{hook}") for hook, names in asked["l2_targets"].items() if hook in _HOOKS),
    ]
    for was, owner, pointer in selections:
        name = pointer.rpartition("/")[2]
        if was not in (None, [], {}) and not owner.get(name):
            owner[name] = copy.deepcopy(_NOTHING[pointer])


def _unknown(error: Any) -> list[str]:
    """The names that an object may not have."""
    return sorted(set(error.instance) - set(_known(error))) if error.validator == "additionalProperties" else []


def _known(error: Any) -> dict[str, Any]:
    known: dict[str, Any] = error.schema.get("properties", {})
    return known


def _hint(name: str, error: Any) -> str:
    near = difflib.get_close_matches(name, _known(error), 1)
    return "this field is unknown; " + (f"did you mean {near[0]}?" if near else f"known are {', '.join(_known(error))}")
