# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tensor of what its series names: model/core/slot.h in Python. Thread: any (values)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Union

Position = tuple[Union[int, str], ...]


class Role(IntEnum):
    """tt_role: what a tensor is to the module or call that its series names."""

    VALUE = 0  # the thing itself: a parameter, a metric
    INPUT = 1
    OUTPUT = 2
    BEFORE = 3  # an argument of a collective before the call
    AFTER = 4
    NAMED = 5  # what Slot.word says

    @property
    def word(self) -> str:
        """ "input"."""
        return ("", "input", "output", "pre", "post", "")[self]


@dataclass(frozen=True)
class Slot:
    """Its text is for people and for the names in files; nothing is ever read out of it."""

    role: Role = Role.VALUE
    number: int = -1  # among the tensors of this role, from 0; -1 = it is the only one
    head: int = -1  # of an attention
    expert: int = -1
    call: int = 0  # of several in one micro step, from 0
    word: str = ""
    position: Position = ()  # where the training code has it, from the outside in: (1, "hidden", 0)

    @classmethod
    def named(cls, word: str) -> Slot:
        """What has a name of its own."""
        return cls(Role.NAMED, word=word)

    @cached_property
    def text(self) -> str:
        """ "", "input", "input_1", "output@2", "head_3"; as telltale::Slot::text."""
        number = f"_{self.number}" if self.number >= 0 else ""
        parts = [(self.word or self.role.word) + number]
        parts += [f"{what}_{part}" for what, part in (("head", self.head), ("expert", self.expert)) if part >= 0]
        return " ".join(part for part in parts if part) + (f"@{self.call + 1}" if self.call else "")

    def __str__(self) -> str:
        return self.text
