# SPDX-License-Identifier: GPL-3.0-or-later
"""msprobe's csv2tensorboard_by_step: csv files of its monitor as event files, under its tags and folder names."""

from __future__ import annotations

import os
import shutil
import socket
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from ...console import log
from ...sinks.tfrecord import ScalarRecord, first_record
from .monitorfolder import DATA_TYPES, check_data_types, check_process_num, files, folders, now, rows

_OPS = ("norm", "min", "max", "zeros", "nans", "id", "mean")


def csv2tensorboard_by_step(
    monitor_path: str,
    time_start: str | None = None,
    time_end: str | None = None,
    process_num: int = 1,
    data_type_list: list[str] | None = None,
    output_dirpath: str | None = None,
) -> None:
    """Writes the csv files below `monitor_path`, of folders within the closed range of times ("Dec03_21-34-40"), as
    TensorBoard's, into {output_dirpath}/rank{R}/{type}; without one into {now}-csv2tensorboard_by_step there. What is
    in such a folder already is replaced, as msprobe has it."""
    check_process_num(process_num)
    types = check_data_types(data_type_list, DATA_TYPES)
    found = folders(monitor_path, time_start, time_end)
    if output_dirpath is None:
        output_dirpath = os.path.join(os.path.expanduser(monitor_path), f"{now()}-csv2tensorboard_by_step")
    output_dirpath = os.path.expanduser(output_dirpath)
    os.makedirs(output_dirpath, exist_ok=True)
    work = [(folder, rank, data_type, output_dirpath) for rank, folder in found.items() for data_type in types]
    if process_num == 1 or len(work) < 2:
        for one in work:
            _convert(one)
    else:
        with ProcessPoolExecutor(min(process_num, len(work))) as pool:
            list(pool.map(_convert, work))
    log.info("output has been saved to: %s", output_dirpath)


def _convert(work: tuple[str, int, str, str]) -> None:
    folder, rank, data_type, output = work
    series: dict[str, dict[int, dict[str, float]]] = {}
    for path in files(folder, data_type):
        try:
            for row in rows(path, _OPS):
                name = f"vp{row.vpp_stage}:{row.name}" + ("" if row.micro_step is None else f":micro{row.micro_step}")
                steps = series.setdefault(name, {})
                if row.step in steps:
                    raise ValueError(f"{path}: duplicated step({row.step}) of {row.name}")
                steps[row.step] = row.values
        except (OSError, ValueError) as error:
            log.error("csv2tensorboard parse %s failed: %s", path, error)
            break
    if not series:
        return
    target = os.path.join(output, f"rank{rank}", data_type)
    if os.path.exists(target):
        log.warning("existing path %s will be recovered", target)
        shutil.rmtree(target)
    os.makedirs(target)
    wall = time.time()
    path = os.path.join(target, f"events.out.tfevents.{int(wall)}.{socket.gethostname()}.{os.getpid()}.0")
    with open(path, "wb") as file:
        file.write(first_record())
        for name, steps in series.items():
            records: dict[tuple[str, ...], ScalarRecord] = {}
            for step in sorted(steps):
                ops = tuple(steps[step])
                record = records.get(ops)
                if record is None:
                    record = records[ops] = ScalarRecord([f"{name}/{op}" for op in ops])
                file.write(record.fill(step, np.array(list(steps[step].values()), np.float64), wall))
