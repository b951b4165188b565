# SPDX-License-Identifier: GPL-3.0-or-later
"""One training on a CUDA card in a process of its own that does what it is told, so that several can take turns.

    cudaworker.py VARIANT SIZE

VARIANT is "bare", "telltale weights", "telltale histograms" (the same, each tensor with one and a checksum), "telltale
everything", "msprobe weights" or "msprobe everything". Reads a word and a number a line, and answers each with one line
of JSON:

    steps N     milliseconds a step, over N steps that the host queues as fast as it can and then waits for
    look N      what N steps do on the card and wait for
    weights N   a digest of the weights after N steps from the start, by deterministic algorithms
    copy N      bytes a second that the card reads and writes when it copies N bytes

Ends with standard input. What the agent collects goes to its spool (mode "offline"): no server takes part.
"""

from __future__ import annotations

import hashlib
import json
import os
import statistics
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from benchgpt import Gpt
from benchworker import EVERYTHING, OPS, clock, watch_by_msprobe

WEIGHTS = {
    "wg_distribution": True, "mv_distribution": True, "param_distribution": True, "ops": OPS, "targets": {},
}  # fmt: skip
HISTOGRAMS = {
    **WEIGHTS,
    "telltale": {
        "histogram": ["grad_unreduced", "grad_reduced", "param_origin", "exp_avg", "exp_avg_sq"],
        "checksum": True,
    },
}
CONFIGS = {"weights": WEIGHTS, "histograms": HISTOGRAMS, "everything": EVERYTHING}
SIZES = {
    "0.83 M": {"d": 128, "n": 4, "h": 4, "t": 64, "b": 8},
    "120 M": {"d": 1280, "n": 6, "h": 20, "t": 1024, "b": 16},
}
_WARM_UP = 5
# What waits for the card, by the names of CUDA's runtime and driver; copies to pageable memory are seen by torch.
_WAITS = ("DeviceSynchronize", "StreamSynchronize", "EventSynchronize", "CtxSynchronize")
_ALLOCATIONS = ("cudaMalloc", "cudaHostAlloc", "cudaMallocHost", "cudaFree", "cudaFreeHost", "cuMemAlloc_v2")


class Training:
    """Thread: one."""

    def __init__(self, variant: str, size: str) -> None:
        torch.manual_seed(0)
        shape = SIZES[size]
        text = Path(__file__).resolve().parents[2] / "LICENSE"
        self._text = torch.tensor(list(text.read_bytes()), device="cuda")
        self._batch, self._length = shape["b"], shape["t"]
        self._offsets = torch.arange(self._length, device="cuda")
        self._model = Gpt(shape["d"], shape["n"], shape["h"], self._length).cuda()
        self._start = {name: value.detach().clone() for name, value in self._model.state_dict().items()}
        self._optimizer = torch.optim.AdamW(self._model.parameters(), 1e-4)
        self._generator = torch.Generator(device="cuda").manual_seed(1)
        self.monitor: Any = None
        self.inside: list[int] | None = None
        monitor, _, what = variant.partition(" ")
        if monitor == "telltale":
            from telltale.pytorch import TrainerMon

            folder = tempfile.mkdtemp(dir=os.environ["TELLTALE_DIR"])
            self.monitor = TrainerMon(
                {**CONFIGS[what], "format": ["stream"]}, agent={"mode": "offline", "spool_dir": folder}
            )
            self.monitor.set_monitor(self._model, optimizer=self._optimizer)
            self.inside = clock(self.monitor.engine)
        elif monitor == "msprobe":
            watch_by_msprobe(self._model, self._optimizer, CONFIGS[what])

    def run(self, count: int) -> None:
        """Queues steps; waits for nothing."""
        for _ in range(count):
            self._optimizer.zero_grad()
            at = torch.randint(
                len(self._text) - self._length - 1, (self._batch, 1), generator=self._generator, device="cuda"
            )
            x, y = self._text[at + self._offsets], self._text[at + self._offsets + 1]
            with torch.autocast("cuda", torch.bfloat16):
                loss = F.cross_entropy(self._model(x).flatten(0, 1), y.flatten())
            loss.backward()
            self._optimizer.step()

    def settle(self) -> None:
        """Waits for the card, and for a moment for what the agent does behind the training."""
        torch.cuda.synchronize()
        if self.monitor is not None:
            self.monitor.flush(0.3)

    def steps(self, count: int) -> dict[str, Any]:
        self.run(2)
        self.settle()
        before = self.inside[0] if self.inside is not None else 0
        start = time.perf_counter()
        self.run(count)
        queued = time.perf_counter() - start
        torch.cuda.synchronize()
        whole = time.perf_counter() - start
        inside = (self.inside[0] - before) / 1e6 / count if self.inside is not None else 0.0
        self.settle()
        return {"ms": whole * 1e3 / count, "host_ms": queued * 1e3 / count, "inside_ms": inside}

    def look(self, count: int) -> dict[str, Any]:
        self.run(2)
        self.settle()
        waits = self._warned_waits(count)
        self.settle()
        events = self._events(count)
        found = _of_events(events, count)
        found["waits"] += waits
        if self.monitor is not None:
            found["read_bytes"], found["tensors"] = self._read(count)
        return found

    def _warned_waits(self, count: int) -> int:
        """Waits that torch itself knows of, a step."""
        seen: list[str] = []
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = lambda message, *_rest, **_more: seen.append(str(message))
            torch.cuda.set_sync_debug_mode("warn")
            try:
                self.run(count)
            finally:
                torch.cuda.set_sync_debug_mode("default")
        return sum("synchronizing CUDA operation" in message for message in seen) / count

    def _events(self, count: int) -> list[dict[str, Any]]:
        """Of the profiler: what the card did, and the calls of the training's threads while steps were queued."""
        kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        with torch.profiler.profile(activities=kinds) as profiler:
            with torch.profiler.record_function("the steps"):
                self.run(count)
            torch.cuda.synchronize()
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/trace.json"
            profiler.export_chrome_trace(path)
            trace: list[dict[str, Any]] = json.loads(Path(path).read_text())["traceEvents"]
        return trace

    def _read(self, count: int) -> tuple[float, float]:
        """Bytes and tensors that the agent measures in a step."""
        from telltale.measure import DTYPES
        from telltale.sinks.base import Sink

        sizes = {code: dtype.itemsize for dtype, code in DTYPES.items()}
        total = [0, 0]

        class Counting(Sink):
            wants = type(self.monitor.engine.dispatcher.sinks[0]).wants

            def write(self, frame: Any) -> None:
                for shot in frame.tables:
                    if not shot.stats:
                        read = zip(shot.series, shot.values["numel"].tolist())
                        total[0] += sum(sizes[desc.dtype] * numel for desc, numel in read)
                        total[1] += len(shot.series)

        sinks = self.monitor.engine.dispatcher.sinks
        sinks.append(Counting())
        self.run(count)
        torch.cuda.synchronize()
        self.monitor.flush(5)
        sinks.pop()
        return total[0] / count, total[1] / count

    def weights(self, count: int) -> dict[str, Any]:
        torch.use_deterministic_algorithms(True)
        try:
            self._model.load_state_dict(self._start)
            self._optimizer.state.clear()
            self._generator.manual_seed(7)
            self.run(count)
        finally:
            torch.use_deterministic_algorithms(False)
        digest = hashlib.sha256()
        for parameter in self._model.parameters():
            digest.update(parameter.detach().cpu().numpy().tobytes())
        return {"digest": digest.hexdigest()}

    @staticmethod
    def copy(size: int) -> dict[str, Any]:
        source = torch.randint(255, (size,), dtype=torch.uint8, device="cuda")
        to = torch.empty_like(source)
        seconds = []
        for _ in range(20):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            to.copy_(source)
            end.record()
            end.synchronize()
            seconds.append(start.elapsed_time(end) / 1e3)
        versions = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
        return {"bytes_per_second": 2 * size / statistics.median(seconds), **versions}


def _of_events(events: list[dict[str, Any]], count: int) -> dict[str, Any]:
    kernels = [event for event in events if event.get("cat") == "kernel"]
    own = [event for event in kernels if event["name"].startswith("telltale_")]
    steps = next(event for event in events if event.get("name") == "the steps" and "dur" in event)
    first, last = steps["ts"], steps["ts"] + steps["dur"]
    calls = Counter(
        event["name"]
        for event in events
        if event.get("cat") in ("cuda_runtime", "cuda_driver") and first <= event["ts"] <= last
    )
    return {
        "kernels": len(kernels) / count,
        "kernel_ms": sum(event["dur"] for event in kernels) / 1e3 / count,
        "own_kernels": len(own) / count,
        "own_ms": sum(event["dur"] for event in own) / 1e3 / count,
        "copies": sum(event.get("cat") in ("gpu_memcpy", "gpu_memset") for event in events) / count,
        "waits": sum(n for name, n in calls.items() if name.endswith(_WAITS)) / count,
        "allocations": sum(n for name, n in calls.items() if name in _ALLOCATIONS) / count,
        "calls": {name: n / count for name, n in calls.most_common()},
    }


def main(variant: str, size: str) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a monitor prints is not an answer
    training = Training(variant, size)
    training.run(_WARM_UP)
    for line in sys.stdin:
        word, number = line.split()
        print(json.dumps(getattr(training, word)(int(number))), file=answers, flush=True)
    if training.monitor is not None:
        training.monitor.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
