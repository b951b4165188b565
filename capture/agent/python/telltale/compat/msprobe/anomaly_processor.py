# SPDX-License-Identifier: GPL-3.0-or-later
"""The first alerts of a run: msprobe's analyser with its arguments, order and file, and an order that is right.

python -m telltale.compat.msprobe.anomaly_processor -d $MONITOR_OUTPUT_DIR/anomaly_detected [-o OUT] [-k 8] [-s 1,2]

reads every rank{R}/anomaly.json below -d and writes anomaly_analyse.json with two lists of -k alerts each.

msprobe's, an object from key to entry, sorts by step, micro step, stage (unknown kinds, forward, backward, optimizer),
pipeline stage (ascending in forward, else descending) and call_id. Where two ranks tie, the lower goes first; there,
the directory's own order decides. As an answer to "what broke first" that is wrong, because

* every alert counts alike, and AnomalyTurbulence compares the second step with an average of one: its false alarms at
  step 1 fill the list, whatever happens later;
* kinds that have no stage go before the forward: parameters after the update, too;
* the moments that a step begins with go last, although they are older than its forward;
* reduced gradients are counted along the model, but the backward runs against it;
* a module is counted when it is left, so its input goes behind what is inside;
* the micro step is 0 in every entry of msprobe's; the real one is in the tag.

"telltale_order", a list, puts first what is proven to be news for its tensor (alertproof.py says what proves it; the
whole files count, whatever -s picks), and sorts both parts by step and place in the step: moments and parameters that
the step began with, then per micro step the forward and the backward against the model, then reduced gradients, then
the update (alertplace.py). An entry has msprobe's fields and `key`, `proven` and `why`. Between pipeline stages the
same holds as in msprobe's order; where pp_stage is no stage (no process group was given) it only breaks ties.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from .alertplace import Places
from .alertproof import AlertProof
from .anomalyentries import Entry, files_below, read_entries

OUTPUT_NAME = "anomaly_analyse.json"
OUR_KEY = "telltale_order"
_STAGES = {"actv": 0, "actv_grad": 1, "pre_grad": 1, "post_grad": 1, "acc_grad": 1, "exp_avg": 2, "exp_avg_sq": 2}
T = TypeVar("T")


class Finding(NamedTuple):
    """An alert as telltale_order has it."""

    entry: Entry
    proven: bool
    why: str


class First(Generic[T]):
    """The `count` things with the smallest keys; of equal ones those that came first."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._kept: list[tuple[Any, T]] = []

    def add(self, key: Any, thing: T) -> None:
        self._kept.append((key, thing))
        if len(self._kept) > 2 * self._count + 1000:
            self._cut()

    def things(self) -> list[T]:
        self._cut()
        return [thing for _, thing in self._kept]

    def _cut(self) -> None:
        self._kept.sort(key=lambda kept: kept[0])
        del self._kept[self._count :]


def analyse(
    paths: Sequence[str], count: int, steps: Sequence[int], complain: Callable[[str], object]
) -> tuple[list[Entry], list[Finding]]:
    """The first alerts in msprobe's order and in ours. steps: of these alone, empty = of all."""
    letter: First[Entry] = First(count)
    ours: First[Finding] = First(count)
    wanted = frozenset(steps)
    for path in paths:
        for key, finding in _findings(read_entries(path, complain)):
            if not wanted or finding.entry.step in wanted:
                letter.add(_letter_key(finding.entry), finding.entry)
                ours.add(key, finding)
    return letter.things(), ours.things()


def _findings(entries: Iterator[Entry]) -> Iterator[tuple[tuple[float, ...], Finding]]:
    """The alerts of one rank with their keys. Memory: one step's."""
    proof, places = AlertProof(), Places()
    for step, group in itertools.groupby(entries, key=lambda entry: entry.step):
        at_once = list(group)
        for entry, place in zip(at_once, places.of_step(at_once)):
            verdict = proof.judge(entry)
            yield (not verdict.proven, step, *place, entry.rank), Finding(entry, *verdict)


def _letter_key(entry: Entry) -> tuple[int, ...]:
    stage = _STAGES.get(entry.tag_name.rpartition("/")[2], -1)
    sign = 1 if stage == 0 else -1
    return entry.step, entry.micro_step, stage, sign * entry.vpp_stage, sign * entry.pp_stage, entry.call_id


def document(letter: Sequence[Entry], ours: Sequence[Finding]) -> str:
    """anomaly_analyse.json: what msprobe writes, to the byte, and our list in front of its last brace."""
    found: dict[str, Any] = {entry.key: entry._asdict() for entry in letter}
    found[OUR_KEY] = [
        {**finding.entry._asdict(), "key": finding.entry.key, "proven": finding.proven, "why": finding.why}
        for finding in ours
    ]
    return json.dumps(found, indent=1)


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0, 1 when something could not be read or written, 2 for bad input."""
    options = _parser().parse_args(arguments)
    faults: list[str] = []

    def complain(sentence: str) -> None:
        faults.append(sentence)
        print(f"anomaly_processor: {sentence}", file=sys.stderr)

    try:
        paths = _paths(options.data_path)
        out = options.out_path or options.data_path
        if not os.path.isdir(out):
            raise ValueError(f"-o {out} is no directory; make it, or leave -o out to write into {options.data_path}")
    except ValueError as error:
        complain(str(error))
        return 2
    letter, ours = analyse(paths, options.topk, options.step, complain)
    try:
        _write(os.path.join(out, OUTPUT_NAME), document(letter, ours))
    except OSError as error:
        complain(f"{OUTPUT_NAME} cannot be written to {out}: {error.strerror or error}")
        return 1
    _say([f"{OUTPUT_NAME} is at {out}.", *_lines(options.topk, letter, ours)])
    return 1 if faults else 0


def _lines(count: int, letter: Sequence[Entry], ours: Sequence[Finding]) -> Iterator[str]:
    yield f"Top {count} anomalies are listed as follows:"
    for index, entry in enumerate(letter):
        yield f"{index}: {entry.message}"
    proven = sum(finding.proven for finding in ours)
    yield f"What broke first ({OUR_KEY}), {proven} of {len(ours)} proven:"
    for index, (entry, is_proven, why) in enumerate(ours):
        yield f"{index}: {entry.tag_name} at step {entry.step}: {'' if is_proven else 'not proven, '}{why}"


def _say(lines: Sequence[str]) -> None:
    """To standard output, whatever a name holds and that can show; a reader that has left is no fault."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        print("\n".join(lines).encode(encoding, "backslashreplace").decode(encoding), flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it exits


def _write(path: str, text: str) -> None:
    beside = f"{path}.{os.getpid()}"
    try:
        with open(beside, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(beside, path)
    finally:
        if os.path.exists(beside):
            os.unlink(beside)


def _paths(folder: str) -> list[str]:
    try:
        paths = files_below(folder)
    except OSError as error:
        raise ValueError(f"-d {folder} cannot be read: {error.strerror or error}") from None
    if not paths:
        inside = os.path.join(folder, "anomaly_detected")
        hint = f"did you mean {inside}?" if os.path.isdir(inside) else "they come from `dump` under `alert`"
        raise ValueError(f"-d {folder} holds no rank*/anomaly.json; {hint}")
    return paths


def _steps(text: str) -> list[int]:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        value = None
    steps = list(value) if isinstance(value, (list, tuple)) else [value]
    if any(type(step) is not int for step in steps):
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is no list of steps; write [1,2] or 1,2")
    return steps


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is no whole number above 0")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="anomaly_processor", description="The first alerts of a run.")
    add = parser.add_argument
    add("-d", "--data_path", required=True, metavar="DIR", help="the folder of rank*/anomaly.json, anomaly_detected")
    add("-o", "--out_path", default="", metavar="DIR", help=f"where {OUTPUT_NAME} goes [default: --data_path]")
    add("-k", "--topk", default=8, type=_count, metavar="N", help="how many alerts to list [default: 8]")
    add("-s", "--step", "--step_list", default=[], type=_steps, metavar="L", help="of these steps alone: [1,2] or 1,2")
    return parser


if __name__ == "__main__":
    sys.exit(main())
