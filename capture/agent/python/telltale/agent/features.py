# SPDX-License-Identifier: GPL-3.0-or-later
"""What a config asks for beside weights and gradients: a framework has a row for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..config import MonitorConfig
from ..flightrecorder import is_left_out, kept_config
from .clock import Clock
from .part import Part
from .targets import TargetSet

Modules = list[tuple[str, int, Any]]  # name, chunk, module


@dataclass
class Asked:
    """What a feature is made from. The engine has its sinks by now: dispatcher.wants says what they want."""

    engine: Clock
    chunks: list[Any]
    targets: TargetSet
    config: MonitorConfig  # the engine's, or what the flight recorder keeps

    def modules(self) -> Modules:
        """All modules."""
        modules = self.engine.framework.modules
        return [(name, vpp, module) for vpp, chunk in enumerate(self.chunks) for name, module in modules(chunk)]

    def listed(self, what: str) -> list[str] | None:
        """A list of l2_targets, None where there is none."""
        config = self.config
        return config.l2_targets.get(what) if config.recording_l2_features else None

    def named(self, what: str) -> Modules:
        """The modules that a list of l2_targets names itself (not what lies below them)."""
        names = self.listed(what)
        if not names:
            return []
        modules = self.modules()
        chosen = TargetSet(names, [(vpp, name) for name, vpp, _ in modules])
        found = [(name, vpp, module) for name, vpp, module in modules if name and chosen.names(name, vpp)]
        for sentence in chosen.unmatched_sentences((name for name, _, _ in modules), "module"):
            self.engine.tell(f"{what}: {sentence}; nothing is collected for it")
        if chosen.reading():
            self.engine.tell(f"{what}: {chosen.reading()}")
        return found


# What the config must ask for, and who makes it.
Feature = tuple[Callable[[Any], bool], Callable[[Asked], Iterable[Part]]]


def make_features(engine: Clock, features: Sequence[Feature], chunks: list[Any], targets: TargetSet) -> list[Part]:
    """The parts that the config asks for, in the order of `features`, and those that the flight recorder does."""
    found: list[Part] = []
    kept = kept_config(engine.config, engine.rank)
    for config in (None if is_left_out(engine.config, engine.rank) else engine.config, kept):
        if config is None:
            continue
        asked = Asked(engine, chunks, targets, config)
        parts = [part for is_asked, make in features if is_asked(config) for part in make(asked)]
        for part in parts:
            part.is_kept = config is kept
        found += parts
    return found
