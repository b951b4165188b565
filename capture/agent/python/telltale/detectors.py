# SPDX-License-Identifier: GPL-3.0-or-later
"""The two alert rules over whole tables at once: msprobe's own, to the letter, and a form that mends them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .config import AlertRule

TURBULENCE = "AnomalyTurbulence"
NAN = "AnomalyNan"
BETA = 0.99
KEPT_OPS = ("norm", "mean")  # the only ones that AnomalyTurbulence reports

WARM_UP = 32  # samples before TwoSidedScanner judges a series
DEVIATIONS = 8.0  # of a series' own scatter: 6.4 standard deviations where that is normal
SCATTER_FLOOR = 0.01  # of a logarithm: a series that never moved may move by 8 %
LEVEL_SHIFT = 16  # flags in a row after which the new level counts as normal
_TINY = 1e-38


@dataclass
class Hit:
    """One value that a rule reports."""

    position: int  # in the table that was scanned
    op: str
    rule: str
    value: float
    mean: float  # of the history before this value


@dataclass
class _History:
    """State of one table, [rows, ops]; grows with the rows."""

    ops: tuple[str, ...]
    arrays: dict[str, np.ndarray] = field(default_factory=dict)

    def at(self, name: str, rows: np.ndarray, dtype: type = np.float64) -> np.ndarray:
        """The array of a name, large enough for the rows."""
        need = int(rows.max()) + 1 if rows.size else 0
        have = self.arrays.get(name)
        if have is None or have.shape[0] < need:
            grown: np.ndarray = np.zeros((max(need, 2 * (0 if have is None else have.shape[0])), len(self.ops)), dtype)
            if have is not None:
                grown[: have.shape[0]] = have
            have = self.arrays[name] = grown
        return have


class Scanner(ABC):
    """Applies rules to tables and keeps the history of every (table, row, op). Thread: one."""

    def __init__(self, rules: Sequence[AlertRule]) -> None:
        self.rules = list(rules)
        self._histories: dict[object, _History] = {}

    def scan(self, key: object, rows: np.ndarray, ops: Sequence[str], values: np.ndarray) -> list[Hit]:
        """Hits of one step of one table, by row and then by op. rows: [n], stable over the run; values: [n, ops]
        float64, NaN where not finite."""
        history = self._histories.get(key)
        if history is None or history.ops != tuple(ops):
            history = self._histories[key] = _History(tuple(ops))
        with np.errstate(all="ignore"):
            return self._scan(history, rows, values)

    @abstractmethod
    def _scan(self, history: _History, rows: np.ndarray, values: np.ndarray) -> list[Hit]:
        """The hits of one step, and its place in the history."""

    def _hits(self, ops: tuple[str, ...], rule: np.ndarray, values: np.ndarray, mean: np.ndarray) -> list[Hit]:
        """rule: [n, ops], number of the rule that hit, -1 for none."""
        return [
            Hit(int(i), ops[j], self.rules[rule[i, j]].rule_name, float(values[i, j]), float(mean[i, j]))
            for i, j in np.argwhere(rule >= 0)
        ]


class LetterScanner(Scanner):
    """msprobe's rules as they are. avg = |x| at first, then avg' = 0.99 avg + 0.01 |x|. AnomalyTurbulence:
    |x| > avg (1 + threshold), with avg before this value, kept for norm and mean only. AnomalyNan: x is NaN, or
    |x| > threshold where one is given (without one, Inf passes). The first rule that hits decides, also when its hit is
    then not kept. One NaN or Inf makes avg stay so: AnomalyTurbulence never hits that series again."""

    def _scan(self, history: _History, rows: np.ndarray, values: np.ndarray) -> list[Hit]:
        average = history.at("average", rows)
        seen = history.at("seen", rows, np.bool_)
        size = np.abs(values)
        before = np.where(seen[rows], average[rows], size)
        average[rows] = BETA * before + (1 - BETA) * size
        seen[rows] = True
        first = np.full(values.shape, -1)
        for number, rule in enumerate(self.rules):
            if rule.rule_name == TURBULENCE:
                is_hit = size > before * (1 + (rule.threshold or 0.0))
            else:
                is_hit = np.isnan(values)
                if rule.threshold is not None:
                    is_hit |= size > rule.threshold
            first[is_hit & (first < 0)] = number
        for number, rule in enumerate(self.rules):
            if rule.rule_name == TURBULENCE:
                dropped = np.array([op not in KEPT_OPS for op in history.ops], bool)
                first[(first == number) & dropped] = -1
        return self._hits(history.ops, first, values, before)


class TwoSidedScanner(Scanner):
    """The rules mended: they see a fall as well as a rise, need WARM_UP samples before they judge, and outlive NaN, Inf
    and outliers.

    AnomalyTurbulence judges y = ln |x| of norm, and y = x of mean (which lies about zero, where ratios mean nothing).
    m and d are bias-corrected moving averages, m_t = S_t / (1 - 0.99^t) with S_t = 0.99 S_(t-1) + 0.01 y_t, and d
    likewise of |y_t - m_(t-1)|. A hit is |y - m| > max(b, 8 d), with b = ln(1 + threshold) for norm and threshold |m|
    for mean. What enters the averages is finite and clipped to m +- max(b, 8 d); after LEVEL_SHIFT hits in a row the
    series starts anew at its new level. AnomalyNan: x is NaN or Inf, a count of NaN above 0, or |x| > threshold. Each
    rule is judged by itself; the first that hits and is kept is reported."""

    def _scan(self, history: _History, rows: np.ndarray, values: np.ndarray) -> list[Hit]:
        ops = history.ops
        is_norm = np.array([op == "norm" for op in ops], bool)
        is_mean = np.array([op == "mean" for op in ops], bool)
        is_count = np.array([op == "nans" for op in ops], bool)
        finite = np.isfinite(values)
        y = np.where(is_norm, np.log(np.maximum(np.abs(values), _TINY)), values)
        sums, scatter = history.at("sum", rows), history.at("scatter", rows)
        counts, flags = history.at("count", rows), history.at("flags", rows)
        count = counts[rows]
        mean = np.where(count > 0, sums[rows] / (1 - BETA**count), y)
        spread = np.where(count > 1, scatter[rows] / (1 - BETA ** (count - 1)), 0.0)
        spread = np.maximum(spread, np.where(is_norm, SCATTER_FLOOR, 0.0))
        first = np.full(values.shape, -1)
        reach = np.full(values.shape, math.inf)
        for number, rule in enumerate(self.rules):
            threshold = rule.threshold
            if rule.rule_name == TURBULENCE:
                floor = np.where(is_norm, math.log1p(threshold or 0.0), (threshold or 0.0) * np.abs(mean))
                bound = np.maximum(floor, DEVIATIONS * spread)
                reach = np.minimum(reach, bound)
                is_hit = (count >= WARM_UP) & finite & (is_norm | is_mean) & (np.abs(y - mean) > bound)
            else:
                is_hit = ~finite | (is_count & (values > 0))
                if threshold is not None:
                    is_hit |= (np.abs(values) > threshold) & ~is_count
            first[is_hit & (first < 0)] = number
        shown = np.where(is_norm, np.exp(mean), mean)
        hits = self._hits(ops, first, values, shown)
        self._learn(rows, y, finite, mean, reach, (sums, scatter, counts, flags))
        return hits

    @staticmethod
    def _learn(
        rows: np.ndarray,
        y: np.ndarray,
        finite: np.ndarray,
        mean: np.ndarray,
        reach: np.ndarray,
        state: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    ) -> None:
        sums, scatter, counts, flags = state
        count = counts[rows]
        judged = count >= WARM_UP
        far = finite & judged & (np.abs(y - mean) > reach)
        flag = np.where(far, flags[rows] + 1, np.where(finite, 0, flags[rows]))
        anew = flag >= LEVEL_SHIFT
        fed = np.where(judged & ~anew, np.clip(y, mean - reach, mean + reach), y)
        sums[rows] = np.where(finite, np.where(anew, 0.0, BETA * sums[rows]) + (1 - BETA) * fed, sums[rows])
        away = np.where((count > 0) & ~anew, (1 - BETA) * np.abs(fed - mean), 0.0)
        scatter[rows] = np.where(finite, np.where(anew, 0.0, BETA * scatter[rows]) + away, scatter[rows])
        counts[rows] = np.where(finite, np.where(anew, 0, count) + 1, count)
        flags[rows] = np.where(anew, 0, flag)


def make_scanner(rules: Sequence[AlertRule], two_sided: bool) -> Scanner:
    """The scanner that the config asks for."""
    return TwoSidedScanner(rules) if two_sided else LetterScanner(rules)
