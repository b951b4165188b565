# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an alert is news for its tensor, as far as the sentences of anomaly.json prove it."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from ...detectors import NAN, WARM_UP
from .anomalyentries import Entry

BREAKOUT = 10.0  # times the largest ratio of value and history that a tensor's alerts had before
_SENTENCE = re.compile(
    r"Rule (\w+) reports anomaly signal in \(.*?, '(\w+)'\) at step \d+"
    r"(?:, current value (\S+), history mean (\S+)\.(?=\s|$))?"
)


class Verdict(NamedTuple):
    proven: bool
    why: str


class AlertProof:
    """Judges the alerts of one rank, in the order in which they were written. Proven is

    * a value that is NaN or Inf (or a count of NaN above zero) where the history is finite, the tensor's first;
    * a value beyond AnomalyNan's threshold, above its history, the tensor's first;
    * a value that AnomalyTurbulence reports after WARM_UP steps at least, BREAKOUT times as far from its history as any
      report of that tensor and statistic before. A tensor that was silent was never farther than the smallest ratio
      reported by then, which is above the rule's threshold.

    All else may be a false alarm: an average of one or two steps, a mean about zero that the rule reports again and
    again, what was NaN from the start, what goes on. Memory: a few numbers per tensor.
    """

    def __init__(self) -> None:
        self._first: int | None = None
        self._last = 0
        self._spacing = 0  # greatest common divisor of the steps' distances: a rank may collect every 100th step
        self._broken: set[str] = set()
        self._beyond: set[str] = set()
        self._farthest: dict[tuple[str, str], float] = {}
        self._least = math.inf

    def judge(self, entry: Entry) -> Verdict:
        self._count(entry.step)
        verdicts = [
            self._judge(entry.tag_name, rule, op, _number(value), _number(mean))
            for rule, op, value, mean in _SENTENCE.findall(entry.message)
        ]
        for verdict in verdicts:
            if verdict.proven:
                return verdict
        return verdicts[0] if verdicts else Verdict(False, "the message is none of msprobe's")

    def _count(self, step: int) -> None:
        if self._first is None:
            self._first = self._last = step
        self._spacing = math.gcd(self._spacing, step - self._last)
        self._last = step

    @property
    def _history(self) -> int:
        """Steps that the rank has collected before this one, at least."""
        return 0 if self._first is None or not self._spacing else max(0, self._last - self._first) // self._spacing

    def _judge(self, tag: str, rule: str, op: str, value: float | None, mean: float | None) -> Verdict:
        if value is None or mean is None:
            return self._judge_silence(tag, rule, op)
        if not math.isfinite(value) or (op == "nans" and value > 0):
            is_first, had_none = tag not in self._broken, mean == 0 if op == "nans" else math.isfinite(mean)
            self._broken.add(tag)
            if is_first and had_none:
                return Verdict(True, f"{op} turned {value}, after a finite history (mean {mean:.6g})")
            return Verdict(False, f"{op} is {value}, and was not finite before, or has no history")
        if rule == NAN:
            is_first = tag not in self._beyond
            self._beyond.add(tag)
            if is_first and math.isfinite(mean) and abs(value) > abs(mean):
                return Verdict(True, f"{op} went beyond the threshold, to {value:.6g} (history mean {mean:.6g})")
            return Verdict(False, f"{op} was beyond the threshold before, or has no history")
        return self._judge_ratio(tag, op, value, mean)

    def _judge_silence(self, tag: str, rule: str, op: str) -> Verdict:
        """Sentences of older versions have no numbers."""
        is_first = tag not in self._beyond
        if rule == NAN:
            self._beyond.add(tag)
        if rule == NAN and is_first and self._history:
            return Verdict(True, f"{op} is reported by {NAN} for the first time")
        return Verdict(False, "the message has no values to compare")

    def _judge_ratio(self, tag: str, op: str, value: float, mean: float) -> Verdict:
        size, usual = abs(value), abs(mean)
        ratio = max(size, usual) / min(size, usual) if min(size, usual) > 0 else math.inf
        limit = BREAKOUT * max(self._farthest.get((tag, op), 0.0), min(self._least, ratio))
        if math.isfinite(ratio):
            self._least = min(self._least, ratio)
            self._farthest[tag, op] = max(ratio, self._farthest.get((tag, op), 0.0))
        if self._history < WARM_UP:
            return Verdict(False, f"{op} is {ratio:.3g} times a history of which {self._history} steps are certain")
        if ratio < limit:
            return Verdict(False, f"{op} is {ratio:.3g} times its history, which is no news below {limit:.3g} times")
        return Verdict(True, f"{op} is {ratio:.3g} times its history (mean {mean:.6g}), never before {limit:.3g} times")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
