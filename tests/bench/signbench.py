# SPDX-License-Identifier: GPL-3.0-or-later
"""grad_probe: what an optimizer's call costs beside what msprobe's does in it, and the comparison of two folders of
signs beside nothing but reading them.

    signbench.py [--mib 64] [--rounds 5]

Files are in the page cache for both: what is compared is the work, not the disk.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchserver import ROOT

FILES = 4


def write(folder: Path, mib: int, flips: float) -> None:
    """A step of `mib` MiB of signs in FILES parameters; flips: the share of elements with another sign."""
    step = folder / "rank0" / "step0"
    step.mkdir(parents=True)
    random = np.random.default_rng(1)
    block = random.random(1 << 20) > 0.5
    for i in range(FILES):
        signs = np.tile(block, (mib // FILES, 1))
        signs[:, : int(flips * (1 << 20))] ^= True
        np.save(step / f"w{i}.npy", signs)
    (folder / "rank0" / "grad_summary_0.csv").write_text(
        "param_name,max\r\n" + "".join(f"w{i},0\r\n" for i in range(FILES)), "utf-8-sig"
    )


def read(folders: list[Path]) -> None:
    """Every byte of the files, into one MiB of memory."""
    into = memoryview(bytearray(1 << 20))
    for folder in folders:
        for path in sorted(folder.rglob("*.npy")):
            with open(path, "rb", buffering=0) as file:
                while file.readinto(into):  # type: ignore[attr-defined]
                    pass


def seconds(of: Callable[[], Any]) -> float:
    start = time.perf_counter()
    of()
    return time.perf_counter() - start


def comparison(folder: Path, mib: int = 64, rounds: int = 5) -> list[dict[str, Any]]:
    """Rows of the bench: 2 x `mib` MiB of signs compared, and how many times as long that takes as reading them."""
    from telltale.gradprobe.similarity import compare_ranks

    folders = [folder / "a", folder / "b"]
    for one, flips in zip(folders, (0.0, 0.25)):
        write(one, mib, flips)
    found = compare_ranks(*(str(one / "rank0") for one in folders))
    assert found.total == [0.75] and len(found.parameters) == FILES
    times = [
        (seconds(lambda: read(folders)), seconds(lambda: compare_ranks(*(str(one / "rank0") for one in folders))))
        for _ in range(rounds)
    ]
    ratio = statistics.median(compared / alone for alone, compared in times)
    return [
        {
            "name": f"python: GradComparator, 2 x {mib} MiB of signs, times as long as reading them",
            "value": ratio,
            "unit": "x",
            "goal": 2.0,
            "better": "lower",
            "pass": ratio <= 2.0,
            "wall_s": statistics.median(compared for _, compared in times),
            "limit_value": statistics.median(alone for alone, _ in times),
        }
    ]


def probing(folder: Path, tensors: int = 16, numel: int = 1 << 20, rounds: int = 9) -> list[dict[str, Any]]:
    """A row of the bench: one call at grad_level L1 on the training's thread, and beside it the operations that
    msprobe's hook does there: max, min and norm, and numpy.save of `gradient > 0`. Its package of today has no
    grad_probe any more."""
    import torch
    from telltale.pytorch import PrecisionDebugger

    model = torch.nn.ParameterList([torch.nn.Parameter(torch.randn(numel)) for _ in range(tensors)])
    for parameter in model:
        parameter.grad = torch.randn(numel)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)

    def original() -> None:
        step = folder / "peer"
        step.mkdir(exist_ok=True)
        for i, parameter in enumerate(model):
            gradient = parameter.grad
            _ = gradient.max().item(), gradient.min().item(), gradient.norm().item()
            np.save(step / f"{i}.npy", (gradient.clone() > 0).numpy())

    watched, peer = [], []
    for _ in range(rounds):
        bare = seconds(optimizer.step)
        debugger = PrecisionDebugger({"task": "grad_probe", "dump_path": str(folder / "ours")})
        debugger.monitor(model)
        watched.append(seconds(optimizer.step) - bare)
        debugger.stop()
        shutil.rmtree(folder / "ours")
        peer.append(seconds(original))
    ours, theirs = (statistics.median(times) * 1e3 for times in (watched, peer))
    return [
        {
            "name": f"python: grad_probe L1, a call with {tensors * numel >> 20} Mi elements (cpu)",
            "value": ours,
            "unit": "ms",
            "goal": None,
            "better": "lower",
            "pass": None,
            "peer": "max, min, norm, numpy.save",
            "peer_value": theirs,
            "ratio": theirs / ours,
        }
    ]


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "capture/agent/python"))
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mib", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    directory = Path(tempfile.mkdtemp())
    try:
        for row in comparison(directory, options.mib, options.rounds) + probing(directory):
            print(row)
    finally:
        shutil.rmtree(directory)
