# SPDX-License-Identifier: GPL-3.0-or-later
"""telltale.open(...).frame() of ten million samples, beside pandas.read_parquet of the same table."""

from __future__ import annotations

import ctypes
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchserver import ROOT, BenchServer

STEPS, TENSORS, SAMPLES = 1000, 1667, 6  # those of a STATS record that count as samples


def record(folder: Path, join: str) -> None:
    """A run of STEPS x TENSORS x SAMPLES samples of values that wander as a training's do."""
    from telltale import native
    from telltale.kinds import Kind
    from telltale.series import STATS, SeriesDesc

    agent = native.Agent(
        join=join, run_id="frame", run_name="frame", spool_dir=str(folder / "spool"), ring_bytes=1 << 28
    )
    series = [SeriesDesc(f"layers.{i // 16}.part{i % 16}.weight", numel=4096) for i in range(TENSORS)]
    layout = agent.add_layout(Kind.GRAD_REDUCED, (), series)
    random = np.random.default_rng(1)
    scale = np.exp(random.normal(-3, 2, TENSORS))
    for step in range(STEPS):
        slab = 0
        while not slab:
            slab = agent.begin(step)
            address = agent.stats(slab, layout) if slab else 0
            if slab and not address:
                agent.abandon(slab)
                slab = 0
            if not slab:
                time.sleep(0.01)
        rows = np.frombuffer((ctypes.c_char * (TENSORS * STATS.itemsize)).from_address(address), STATS)
        rows["numel"] = rows["finite"] = 4096
        noise = scale * random.normal(1, 0.05, TENSORS)
        rows["norm"], rows["mean"] = 64 * noise, noise / 50
        rows["min"], rows["max"] = -3 * noise, 3 * noise
        rows["flags"] = 1
        agent.commit(slab)
    if not agent.close("finished"):
        raise SystemExit("readbench: the server did not take everything")


def best(of: Callable[[], Any], rounds: int = 7) -> tuple[float, float]:
    """Medians of the seconds that it takes, and of the processors' seconds."""
    times = []
    for _ in range(rounds):
        start, cpu = time.perf_counter(), time.process_time()
        of()
        times.append((time.perf_counter() - start, time.process_time() - cpu))
    return statistics.median(wall for wall, _ in times), statistics.median(cpu for _, cpu in times)


def frames(folder: Path) -> list[dict[str, Any]]:
    """Rows of the bench: a frame of all samples, its DataFrame, and one statistic of them."""
    os.environ["TELLTALE_READER_LIBRARY"] = str(ROOT / "build/release/lib/libtelltale_reader.so")
    import pandas as pd
    import telltale

    with BenchServer(folder / "read") as server:
        record(folder, server.join)
    [path] = (folder / "read").rglob("*.telltale")
    parquet = folder / "frame.parquet"
    wanted = ["norm", "mean", "min", "max", "zeros", "nans"]
    frame = telltale.open(path).frame("grad_reduced", wanted)
    assert len(frame) * len(frame.stats) == STEPS * TENSORS * SAMPLES
    frame.to_pandas().to_parquet(parquet)
    peer, peer_cpu = best(lambda: pd.read_parquet(parquet))
    rows = []
    for name, goal, of in (
        ("frame() of 10 M samples", 0.3, lambda: telltale.open(path).frame("grad_reduced", wanted)),
        ("frame().to_pandas() of 10 M", None, lambda: telltale.open(path).frame("grad_reduced", wanted).to_pandas()),
    ):
        wall, cpu = best(of)
        rows.append(
            {
                "name": f"python: telltale.open().{name}",
                "value": wall,
                "unit": "s",
                "goal": goal,
                "better": "lower",
                "pass": None if goal is None else wall <= goal,
                "cpu_s": cpu,
                "peer": "pandas.read_parquet",
                "peer_value": peer,
                "peer_cpu_s": peer_cpu,
                "bytes": path.stat().st_size,
                "peer_bytes": parquet.stat().st_size,
            }  # fmt: skip
        )
    return rows


if __name__ == "__main__":
    import tempfile

    sys.path.insert(0, str(ROOT / "capture/agent/python"))
    with tempfile.TemporaryDirectory() as directory:
        for found in frames(Path(directory)):
            print(found)
