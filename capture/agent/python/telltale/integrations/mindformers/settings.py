# SPDX-License-Identifier: GPL-3.0-or-later
"""monitor_config and tensorboard of a MindSpore Transformers job, as its documents have them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

FORMATS = (
    "local_loss_format",
    "device_local_loss_format",
    "local_norm_format",
    "device_local_norm_format",
    "optimizer_state_format",
    "weight_state_format",
    "max_attention_logit_format",
)
_WORDS = ("tensorboard", "log")
# Of the original's fields, those that steer the training and not what is seen of it.
_NOT_OURS = (
    "check_for_global_norm",
    "global_norm_spike_threshold",
    "global_norm_spike_count_threshold",
    "health_checkpoint",
)


@dataclass
class StableRank:
    """stable_rank_config"""

    format: frozenset[str] = frozenset()
    step_interval: int = 100
    target: list[str] = field(default_factory=lambda: [".*"])
    moe_show_mode: str = "all"


@dataclass
class MonitorSettings:
    """monitor_config in force; a bad field holds its default. `formats`: where each metric goes, {} = it is off."""

    monitor_on: bool = False
    dump_path: str = "./dump"
    target: list[str] = field(default_factory=lambda: [".*"])
    invert: bool = False
    step_interval: int = 1
    throughput_baseline: float = 0.0
    print_struct: bool = False
    formats: dict[str, frozenset[str]] = field(default_factory=dict)
    stable_rank: StableRank = field(default_factory=StableRank)

    def format(self, name: str) -> frozenset[str]:
        """ "local_norm" -> {"log", "tensorboard"}; empty = not asked for."""
        return self.formats.get(name + "_format", frozenset())

    def selects(self, parameter: str) -> bool:
        """Whether `target` and `invert` choose a parameter."""
        return any(re.search(pattern, parameter) for pattern in self.target) != self.invert


@dataclass
class BoardSettings:
    """The `tensorboard` block. An empty folder: none was given."""

    tensorboard_dir: str = ""
    tensorboard_queue_size: int = 10
    log_loss_scale_to_tensorboard: bool = False
    log_timers_to_tensorboard: bool = False
    log_expert_load_to_tensorboard: bool = False


class _Reader:
    """Takes fields out of a block; what is wrong becomes a sentence each."""

    def __init__(self, block: Any, where: str, problems: list[str]) -> None:
        self._where = where
        self._problems = problems
        self.values: dict[str, Any] = {}
        if isinstance(block, Mapping):
            self.values = dict(block)
        elif block is not None:
            problems.append(f"{where} is to be a block of fields, not {type(block).__name__}; it is left out")

    def wrong(self, name: str, what: str, value: Any) -> None:
        self._problems.append(f"{self._where}.{name} is to be {what}, not {value!r}; the default is used")

    def flag(self, name: str) -> bool:
        value = self.values.get(name)
        if value is not None and not isinstance(value, bool):
            self.wrong(name, "true or false", value)
        return value is True

    def count(self, name: str, default: int) -> int:
        value = self.values.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            self.wrong(name, "a whole number above 0", value)
            return default
        return value

    def text(self, name: str, default: str) -> str:
        value = self.values.get(name) or default
        if not isinstance(value, str):
            self.wrong(name, "a text", value)
            return default
        return value

    def patterns(self, name: str) -> list[str]:
        value = self.values.get(name)
        if not value:
            return [".*"]
        if not isinstance(value, (list, tuple)) or not all(isinstance(one, str) for one in value):
            self.wrong(name, "a list of names or regular expressions", value)
            return [".*"]
        for one in value:
            try:
                re.compile(one)
            except re.error as error:
                self.wrong(name, f"a list of regular expressions ({one!r}: {error})", value)
                return [".*"]
        return list(value)

    def format(self, name: str) -> frozenset[str]:
        value = self.values.get(name)
        words = [value] if isinstance(value, str) and value else value or []
        if isinstance(words, (list, tuple, set, frozenset)) and all(word in _WORDS for word in words):
            return frozenset(words)
        self._problems.append(
            f'{self._where}.{name} is to be "tensorboard", "log", a list of them or null, not {value!r}; '
            "the metric is off"
        )
        return frozenset()

    def unknown(self, known: tuple[str, ...]) -> None:
        for name in self.values.keys() - set(known):
            self._problems.append(f"{self._where} has no field {name!r}; it is left out")


def read_monitor(block: Any) -> tuple[MonitorSettings, list[str]]:
    """The settings of a monitor_config (a mapping; None = off), and a sentence for each field that is wrong."""
    problems: list[str] = []
    read = _Reader(block, "monitor_config", problems)
    settings = MonitorSettings(
        monitor_on=read.flag("monitor_on"),
        dump_path=read.text("dump_path", "./dump"),
        target=read.patterns("target"),
        invert=read.flag("invert"),
        step_interval=read.count("step_interval", 1),
        print_struct=read.flag("print_struct"),
        formats={name: read.format(name) for name in FORMATS},
    )
    baseline = read.values.get("throughput_baseline")
    if isinstance(baseline, (int, float)) and not isinstance(baseline, bool) and baseline > 0:
        settings.throughput_baseline = float(baseline)
    elif baseline is not None:
        read.wrong("throughput_baseline", "a number above 0 or null", baseline)
    settings.stable_rank = _read_stable_rank(read.values.get("stable_rank_config"), problems)
    for name in _NOT_OURS:
        if read.values.get(name):
            problems.append(
                f"monitor_config.{name} steers the training: MindSpore Transformers' own callback sees to it, "
                "Telltale only watches"
            )
    known = ("monitor_on", "dump_path", "target", "invert", "step_interval", "throughput_baseline", "print_struct")
    read.unknown((*known, "stable_rank_config", *FORMATS, *_NOT_OURS))
    return settings, problems


def _read_stable_rank(block: Any, problems: list[str]) -> StableRank:
    read = _Reader(block, "monitor_config.stable_rank_config", problems)
    settings = StableRank(read.format("format"), read.count("step_interval", 100), read.patterns("target"))
    mode = read.values.get("moe_show_mode") or "all"
    mode = mode[0] if isinstance(mode, (list, tuple)) and len(mode) == 1 else mode
    if mode in ("all", "full", "statistics"):
        settings.moe_show_mode = mode
    else:
        read.wrong("moe_show_mode", '"all", "full" or "statistics"', mode)
    read.unknown(("format", "step_interval", "target", "do_aggregation", "moe_show_mode", "power_iteration_num"))
    if read.values.get("do_aggregation"):
        problems.append("monitor_config.stable_rank_config.do_aggregation: each rank's own part is measured instead")
    return settings


def read_board(block: Any) -> tuple[BoardSettings, list[str]]:
    """The settings of a `tensorboard` block (a mapping; None = none), and a sentence for each field that is wrong."""
    problems: list[str] = []
    read = _Reader(block, "tensorboard", problems)
    flags = [name for name in BoardSettings.__dataclass_fields__ if name.startswith("log_")]
    settings = BoardSettings(
        read.text("tensorboard_dir", ""),
        read.count("tensorboard_queue_size", 10),
        **{name: read.flag(name) for name in flags},
    )
    read.unknown(tuple(BoardSettings.__dataclass_fields__))
    return settings, problems
