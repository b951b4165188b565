# SPDX-License-Identifier: GPL-3.0-or-later
"""monitor.train_state of MindFormers' PyNative Trainer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Chosen:
    """Of which parameters a norm is wanted; names in part, none = all."""

    is_on: bool = False
    parts: list[str] = field(default_factory=list)

    def selects(self, name: str) -> bool:
        return self.is_on and (not self.parts or any(part in name for part in self.parts))


@dataclass
class TrainState:
    """In force."""

    local_norm: Chosen = field(default_factory=Chosen)
    device_norm: Chosen = field(default_factory=Chosen)

    def selects(self, name: str) -> bool:
        """Whether any norm of a parameter is wanted."""
        return self.local_norm.selects(name) or self.device_norm.selects(name)


def read_train_state(given: Any, config: Any) -> tuple[TrainState, list[str]]:
    """From what the callback was given, else from the Trainer's config; and a sentence for each field that is wrong."""
    block = given if given is not None else _field(_field(config, "monitor"), "train_state")
    problems: list[str] = []
    state = TrainState()
    for name in ("local_norm", "device_norm"):
        value = _field(block, name)
        words = [value] if isinstance(value, str) else value
        if isinstance(words, bool) or words is None:
            setattr(state, name, Chosen(bool(words)))
        elif isinstance(words, (list, tuple)) and all(isinstance(word, str) for word in words):
            parts = [word for word in words if word]
            setattr(state, name, Chosen(bool(parts), parts))
        else:
            problems.append(
                f"monitor.train_state.{name} is to be true, false, a part of parameters' names or a list of them, "
                f"not {value!r}; it is off"
            )
    return state, problems


def _field(block: Any, name: str) -> Any:
    return block.get(name) if isinstance(block, Mapping) else getattr(block, name, None)
