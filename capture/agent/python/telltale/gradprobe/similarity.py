# SPDX-License-Identifier: GPL-3.0-or-later
"""How alike the signs of two trainings are, step by step and parameter by parameter."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from .probefolder import RankFolder, open_rank
from .signfile import ProbeError, equal_signs, open_signs
from .signrule import SignVerdict, judge

SUMMARY = "summary"
_MOST_NOTES = 100


@dataclass
class Similarities:
    """Of one rank: shares of equal signs, NaN where there is nothing to compare; `total` counts each element once."""

    steps: list[int]
    parameters: dict[str, list[float]] = field(default_factory=dict)
    total: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what could not be compared, one sentence each

    def note(self, sentence: str) -> None:
        if len(self.notes) < _MOST_NOTES and sentence not in self.notes:
            self.notes.append(sentence)

    def verdicts(self) -> dict[str, SignVerdict]:
        """What msprobe's rule says of each parameter."""
        judged = {name: judge(zip(self.steps, values)) for name, values in self.parameters.items()}
        return {name: verdict for name, verdict in judged.items() if verdict is not None}


@dataclass(frozen=True)
class Finding:
    """A parameter that is suspicious by the rule."""

    rank: int | None
    name: str
    verdict: SignVerdict

    @property
    def sentence(self) -> str:
        """ "rank 0, step 3: layers.1.weight: the share of equal signs falls from 1 to 0 (a drop over 0.03)"."""
        where = "" if self.rank is None else f"rank {self.rank}, "
        return f"{where}step {self.verdict.suspicious}: {self.name}: {self.verdict.reason}"


def findings(by_rank: dict[int | None, Similarities]) -> list[Finding]:
    """What the rule finds, by step, then by how far it falls."""
    found = [
        Finding(rank, name, verdict)
        for rank, of in by_rank.items()
        for name, verdict in of.verdicts().items()
        if verdict.suspicious is not None
    ]
    return sorted(found, key=lambda one: (one.verdict.suspicious or 0, one.verdict.then, one.rank or 0))


def compare_ranks(path1: str, path2: str) -> Similarities:
    """Two folders of one rank each. What is missing or damaged in them is a note, and the rest is compared; ProbeError
    where there is nothing to compare."""
    a, b = open_rank(path1), open_rank(path2)
    steps = sorted(a.steps.keys() & b.steps.keys())
    if not steps:
        raise ProbeError(f"{path1} and {path2} have no step in common")
    found = Similarities(steps)
    for sentence in [*a.problems, *b.problems]:
        found.note(sentence)
    for ours, others in ((a, b), (b, a)):
        if alone := sorted(ours.steps.keys() - others.steps.keys()):
            words = f"step {alone[0]}" if len(alone) == 1 else f"{len(alone)} steps from {alone[0]} on"
            found.note(f"{words}: only {ours.path} has signs of them")
    for i, step in enumerate(steps):
        _compare_step(a, b, i, step, found)
    for name in dict.fromkeys([*a.order, *b.order]):
        if name not in found.parameters:
            found.note(f"{name} stands in a summary, and neither {path1} nor {path2} has signs of it")
    order = {name: i for i, name in enumerate(a.order or b.order)}
    found.parameters = dict(sorted(found.parameters.items(), key=lambda of: order.get(of[0], len(order))))
    if not found.parameters:
        raise ProbeError(f"{path1} and {path2} have no file of signs that can be compared; {' '.join(found.notes[:1])}")
    return found


def _compare_step(a: RankFolder, b: RankFolder, i: int, step: int, found: Similarities) -> None:
    same = total = 0
    try:
        left, right = a.files(step), b.files(step)
    except ProbeError as error:
        found.note(str(error))
        left = right = {}
    for name in sorted(left.keys() | right.keys()):
        if name not in left or name not in right:
            if name in left or name in right:  # in neither: it had no gradient
                found.note(f"step {step}: {(b if name in left else a).path} has no signs of {name}")
            continue
        values = found.parameters.setdefault(name, [math.nan] * len(found.steps))
        try:
            first, second = open_signs(left[name]), open_signs(right[name])
            equal = equal_signs(first, second)
        except ProbeError as error:
            found.note(str(error))
            continue
        values[i] = equal / first.numel if first.numel else 0
        same, total = same + equal, total + first.numel
    found.total.append(same / total if total else math.nan if left else 0)
