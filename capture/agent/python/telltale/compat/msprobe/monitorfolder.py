# SPDX-License-Identifier: GPL-3.0-or-later
"""The csv files of msprobe's monitor: which folders there are, what is in a file, and the checks of its converters."""

from __future__ import annotations

import csv
import datetime
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...console import log

DATA_TYPES = (
    "actv", "actv_grad", "exp_avg", "exp_avg_sq", "grad_unreduced", "grad_reduced", "param_origin", "param_updated"
)  # fmt: skip
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_FOLDER = re.compile(r"([\w-]{0,20})-rank(\d{1,5})-")
_TIME = re.compile(r"([A-Z][a-z]{2})(\d{2})_(\d{2})-(\d{2})-(\d{2})$")
_SHANGHAI = datetime.timezone(datetime.timedelta(hours=8))
_MOST_PROCESSES = 128


def time_of(text: str) -> tuple[int, ...]:
    """ "Dec03_21-34-40" as numbers in order; there is no year in it."""
    found = _TIME.match(text)
    if found is None or found[1] not in _MONTHS:
        raise ValueError(f"{text!r} is no time of msprobe's: expected something like Dec03_21-34-40")
    return (_MONTHS.index(found[1]), *(int(part) for part in found.groups()[1:]))


def now() -> str:
    """This moment as msprobe writes it, wherever this runs."""
    time = datetime.datetime.now(_SHANGHAI)
    return f"{_MONTHS[time.month - 1]}{time:%d_%H-%M-%S}"


def folders(monitor_path: str, time_start: str | None, time_end: str | None) -> dict[int, str]:
    """The folder of each rank within the closed range of times; of several the newest, which is said."""
    monitor_path = os.path.expanduser(monitor_path)
    if not os.path.isdir(monitor_path):
        raise FileNotFoundError(f"there is no folder {monitor_path}")
    first = time_of(time_start) if time_start is not None else None
    last = time_of(time_end) if time_end is not None else None
    if first and last and first > last:
        raise ValueError(f"time_start({time_start}) greater than time_end({time_end})")
    found: dict[int, tuple[tuple[int, ...], str]] = {}
    for name in sorted(os.listdir(monitor_path)):
        match = _FOLDER.match(name)
        if match is None or not os.path.isdir(os.path.join(monitor_path, name)):
            continue
        try:
            time = time_of(match[1])
        except ValueError:
            continue
        if (first and time < first) or (last and time > last):
            continue
        rank = int(match[2])
        if rank in found:
            log.warning("rank %d has several folders in %s: %s counts", rank, monitor_path, max(name, found[rank][1]))
        found[rank] = max(found.get(rank, ((), "")), (time, name))
    return {rank: os.path.join(monitor_path, name) for rank, (_, name) in sorted(found.items())}


def files(folder: str, data_type: str) -> list[str]:
    """The files of a type, by their steps."""
    pattern = re.compile(rf"{re.escape(data_type)}_(\d+)-(\d+)\.csv$")
    matches = [(int(match[1]), name) for name in os.listdir(folder) if (match := pattern.match(name))]
    return [os.path.join(folder, name) for _, name in sorted(matches)]


@dataclass(frozen=True)
class Row:
    vpp_stage: int
    name: str
    step: int
    micro_step: int | None  # None: the file has none
    values: dict[str, float]


def rows(path: str, ops: tuple[str, ...]) -> Iterator[Row]:
    """The rows of a file with those of the statistics that it has. ValueError names the line that is no row."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        head = next(reader, [])
        places = {word: i for i, word in enumerate(head)}
        if not {"vpp_stage", "name", "step"} <= set(places):
            raise ValueError(f"{path}: its first line does not name vpp_stage, name and step")
        known = [(op, places[op]) for op in head if op in ops]
        for cells in reader:
            if len(cells) != len(head):
                raise ValueError(f"{path}, line {reader.line_num}: {len(cells)} cells under {len(head)} columns")
            try:
                yield Row(
                    int(cells[places["vpp_stage"]]), cells[places["name"]], int(cells[places["step"]]),
                    int(cells[places["micro_step"]]) if "micro_step" in places else None,
                    {op: float(cells[place]) if cells[place] else math.nan for op, place in known},
                )  # fmt: skip
            except ValueError as error:
                raise ValueError(f"{path}, line {reader.line_num}: {error}") from error


def check_process_num(process_num: Any) -> None:
    if isinstance(process_num, bool) or not isinstance(process_num, int) or process_num <= 0:
        raise ValueError(f"process_num({process_num}) is not a positive integer")
    if process_num > _MOST_PROCESSES:
        raise ValueError(f"The maximum supported process_num is {_MOST_PROCESSES}, current value: {process_num}.")


def check_data_types(data_type_list: Any, known: tuple[str, ...]) -> list[str]:
    """The types that are wanted: all that are known where none is named."""
    if data_type_list is None:
        return list(known)
    if not isinstance(data_type_list, list):
        raise ValueError(f"data_type_list({data_type_list}) is not a list")
    for data_type in data_type_list:
        if data_type not in known:
            raise ValueError(f"data type({data_type}) is not supported, supported data type: {list(known)}")
    return data_type_list or list(known)
