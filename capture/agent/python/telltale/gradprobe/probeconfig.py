# SPDX-License-Identifier: GPL-3.0-or-later
"""The config.json of grad_probe, a small table of its own beside the monitor's: a bad field is one sentence and its
default, and training goes on."""

from __future__ import annotations

import difflib
import json
import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Union

from ..config import Problem
from ..configfile import ConfigError, document_of, text_of

Number = Union[int, float]
LEVELS = ("L0", "L1", "L2")
FORMS = ("original", "documents")
_INT64 = 1 << 63
_RANGE = re.compile(r"\s*(\d{1,18})\s*(?:-\s*(\d{1,18})\s*)?")


@dataclass(frozen=True)
class Numbers:
    """Ranks or steps as ranges with both their ends; none = all."""

    ranges: tuple[tuple[int, int], ...] = ()

    def __contains__(self, number: int) -> bool:
        return not self.ranges or any(first <= number <= last for first, last in self.ranges)


@dataclass(frozen=True)
class ProbeConfig:
    """Every field in force. `form`: whose words the files have where msprobe's code and its documents differ;
    `when_behind`: what happens where the disk is slower than the training, "wait" or "leave_out"."""

    task: str = "grad_probe"
    dump_path: str = "./grad_probe"
    rank: Numbers = Numbers()
    step: Numbers = Numbers()
    grad_level: str = "L1"
    param_list: tuple[str, ...] = ()  # empty = all
    bounds: tuple[Number, ...] = (-1, 0, 1)
    form: str = "original"
    reference: str = ""  # a dump_path whose signs are compared with while the training runs
    stream: bool = False
    stream_mib: Number = 2  # of signs a step
    when_behind: str = "wait"
    problems: list[Problem] = field(default_factory=list, compare=False)
    text: str = field(default="{}", compare=False)  # as read

    @property
    def has_signs(self) -> bool:
        return self.grad_level != "L0"

    @property
    def is_documented(self) -> bool:
        """Whether files are named and headed as the documents have it."""
        return self.form == "documents"


def _choice(*words: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if not isinstance(value, str) or value not in words:
            raise ValueError(f"it is {_shown(value)}, and it is one of {', '.join(words)}")
        return value

    return read


def _task(value: Any) -> str:
    if value != "grad_probe":
        raise ValueError(f'it is {_shown(value)}: of msprobe\'s tasks "grad_probe" is the one that is done here')
    return "grad_probe"


def _path(value: Any) -> str:
    if not isinstance(value, str) or not value or "\0" in value:
        raise ValueError(f"it is {_shown(value)}, and not the path of a folder")
    return value


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"it is {_shown(value)}, and it is true or false")
    return value


def _size(value: Any) -> Number:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1024:
        raise ValueError(f"it is {_shown(value)}, and not a number from 0 to 1024")
    return value


def _numbers(value: Any) -> Numbers:
    if not isinstance(value, list):
        raise ValueError(f'it is {_shown(value)}, and not a list as [0, 1, "4-6"]')
    ranges = []
    for one in value:
        found = _RANGE.fullmatch(one) if isinstance(one, str) else None
        if isinstance(one, int) and not isinstance(one, bool) and one >= 0:
            ranges.append((one, one))
        elif found is not None and int(found[1]) <= int(found[2] or found[1]):
            ranges.append((int(found[1]), int(found[2] or found[1])))
        else:
            raise ValueError(f'{_shown(one)} in it is no number from 0 on and no range as "4-6"')
    return Numbers(tuple(ranges))


def _names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"it is {_shown(value)}, and not a list of names of parameters")
    return tuple(value)


def _bounds(value: Any) -> tuple[Number, ...]:
    if not isinstance(value, list):
        raise ValueError(f"it is {_shown(value)}, and not a list of numbers as [-1, 0, 1]")
    for one in value:
        if isinstance(one, bool) or not isinstance(one, (int, float)) or not math.isfinite(one):
            raise ValueError(f"{_shown(one)} in it is no number")
        if not -_INT64 <= one < _INT64:
            raise ValueError(f"{_shown(one)} in it is farther from 0 than an int64 goes")
    if any(a >= b for a, b in zip(value, value[1:])):
        raise ValueError(f"its numbers {_shown(value)} do not rise from each to the next")
    return tuple(value)


_TABLE: dict[str, dict[str, Callable[[Any], Any]]] = {
    "": {"task": _task, "dump_path": _path, "rank": _numbers, "step": _numbers},
    "grad_probe": {"grad_level": _choice(*LEVELS), "param_list": _names, "bounds": _bounds},
    "telltale": {
        "form": _choice(*FORMS),
        "reference": _path,
        "stream": _switch,
        "stream_mib": _size,
        "when_behind": _choice("wait", "leave_out"),
    },
}
# What msprobe's other tasks and versions have at the top of the same file.
_THEIRS = {
    "acl_config", "accuracy_check", "async_dump", "dump_enable", "enable_dataloader", "free_benchmark",
    "is_benchmark_log", "is_deterministic", "level", "overflow_check", "precision", "run_ut", "seed", "statistics",
    "summary_mode", "tensor", "extra_info",
}  # fmt: skip


def read_config(source: str | os.PathLike[str] | dict[str, Any] | None, **over: Any) -> ProbeConfig:
    """Of a path, a JSON text or a dict; over: fields at its top that hold in place of its own, but for None. Never
    fails: what is wrong is in `problems`, and the defaults hold."""
    over = {name: value for name, value in over.items() if value is not None}
    try:
        text = json.dumps(source) if isinstance(source, dict) else text_of("{}" if source is None and over else source)
        document = {**document_of(text), **over}
    except (ConfigError, TypeError, ValueError) as error:
        return ProbeConfig(problems=[Problem("", f"{error}; the defaults are used")])
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for owner, fields in _TABLE.items():
        part = document.get(owner, {}) if owner else document
        if not isinstance(part, dict):
            problems.append(Problem(f"/{owner}", f"/{owner}: it is {_shown(part)}, and not an object"))
            continue
        for name, value in part.items():
            pointer = f"/{owner}/{name}" if owner else f"/{name}"
            if name in fields:
                try:
                    values[name] = fields[name](value)
                except ValueError as error:
                    instead = f"{_shown(_plain(getattr(ProbeConfig(), name)))} is used"
                    problems.append(Problem(pointer, f"{pointer}: {error}", True, instead))
            elif owner or not (name in _THEIRS or name in _TABLE):
                home = next((f"/{other}/{name}" for other, known in _TABLE.items() if other and name in known), "")
                near = [home] if home else difflib.get_close_matches(name, [*fields, *(() if owner else _TABLE)], 1)
                hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(fields)}"
                problems.append(Problem(pointer, f"{pointer}: this field is unknown; {hint}", False))
    for name in ("task", "dump_path"):
        if name not in document:
            instead = f"{_shown(getattr(ProbeConfig(), name))} is used"
            problems.append(Problem(f"/{name}", f"/{name}: it is missing", True, instead))
    return replace(ProbeConfig(**values, problems=problems), text=text)


def is_of_grad_probe(source: str | os.PathLike[str]) -> bool:
    """Whether it is such a config, and none of the monitor's, which has no task."""
    try:
        return "task" in document_of(text_of(source))
    except ConfigError:
        return False


def _plain(value: Any) -> Any:
    return list(value.ranges) if isinstance(value, Numbers) else value


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:77] + "..."
