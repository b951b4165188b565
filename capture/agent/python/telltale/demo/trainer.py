# SPDX-License-Identifier: GPL-3.0-or-later
"""The training of `train-demo`."""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import torch

from .. import identity, short
from .corpus import BadInput, Corpus
from .fault import Fault
from .model import Shape, Transformer
from .options import parse

WINDOW = 64
BATCH = 8
PEAK_RATE = 1e-3
LAST_RATE_SHARE = 0.1
WARMUP = 50
CLIP = 1.0
FLUSH_SECONDS = 5.0
PROGRESS_SECONDS = 1.0


def learning_rate(step: int, steps: int) -> float:
    """Linear warm-up, then half a cosine down to a tenth."""
    if step < WARMUP:
        return PEAK_RATE * (step + 1) / WARMUP
    wave = 0.5 * (1.0 + math.cos(math.pi * (step - WARMUP) / max(1, steps - WARMUP)))
    return PEAK_RATE * (LAST_RATE_SHARE + (1.0 - LAST_RATE_SHARE) * wave)


def main(arguments: list[str]) -> int:
    """The exit code: 0, 1 when the training failed, 2 for bad input."""
    try:
        options = parse(arguments)
        return DemoTraining(options).run()
    except BadInput as error:
        print(f"telltale train-demo: {error}", file=sys.stderr)
        return 2


class DemoTraining:
    """Thread: main; a signal asks it to stop after the step."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._is_interrupted = False
        self._step_us: list[int] = []
        self._loss = math.nan

    def run(self) -> int:
        options = self._options
        if not os.environ.get("OMP_NUM_THREADS"):
            torch.set_num_threads(1)  # too small a model to gain from a second thread, and the dashboard needs it
        is_distributed = self._join_ranks()
        corpus = Corpus(options.text, options.seed + identity.rank(), WINDOW)
        torch.manual_seed(options.seed)
        shape = Shape(corpus.vocabulary, WINDOW, options.layers, options.heads, options.width)
        model = Transformer(shape)
        fault = Fault.parse(options.fault) if options.fault else Fault()
        fault.place(model, options.layers)
        torch.manual_seed(options.seed + identity.rank())
        trained: Any = model
        if is_distributed:
            trained = torch.nn.parallel.DistributedDataParallel(model, find_unused_parameters=fault.kind == "freeze")
        optimizer = torch.optim.AdamW(model.parameters(), PEAK_RATE, weight_decay=0.01)
        monitor = None
        if not options.no_agent:
            monitor = short.watch(trained, optimizer, options.config, name="demo-gpt", join=options.join, flush_ms=200)
        before = [signal.signal(number, self._stop) for number in (signal.SIGINT, signal.SIGTERM)]
        try:
            self._train(trained, optimizer, corpus, fault, monitor)
        finally:
            for number, handler in zip((signal.SIGINT, signal.SIGTERM), before):
                signal.signal(number, handler)
        return self._finish(model, monitor, is_distributed)

    def _stop(self, _number: int, _frame: Any) -> None:
        self._is_interrupted = True

    @staticmethod
    def _join_ranks() -> bool:
        """Under torchrun the ranks train together."""
        if "MASTER_ADDR" not in os.environ or identity.world_size() < 2:
            return False
        torch.distributed.init_process_group("gloo")
        return True

    def _train(self, model: Any, optimizer: Any, corpus: Corpus, fault: Fault, monitor: Any) -> None:
        options = self._options
        told = -math.inf
        for step in range(options.steps):
            if self._must_stop():
                break
            start = time.perf_counter()
            rate = learning_rate(step, options.steps) * fault.begin(step)
            for group in optimizer.param_groups:
                group["lr"] = rate
            ids = corpus.draw(BATCH)
            logits = model(ids[:, :-1])
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            norm = float(torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP))
            self._loss = loss.item()
            if monitor is not None:
                values = {"loss": self._loss, "lr": rate, "grad-norm": norm}
                if self._step_us:
                    values["tokens_per_s"] = BATCH * WINDOW * 1e6 / max(1, self._step_us[-1])
                monitor.log(values)
            optimizer.step()
            now = time.perf_counter()
            self._step_us.append(round((now - start) * 1e6))
            if now - told >= PROGRESS_SECONDS or step + 1 == options.steps:
                told = now
                speed = BATCH * WINDOW / (now - start)
                sys.stderr.write(
                    f"step {step}  loss {self._loss:.4f}  lr {rate:.2e}  grad-norm {norm:.3f}  {speed:.0f} tokens/s\n"
                )

    def _must_stop(self) -> bool:
        """A signal reaches every rank at once or none: they agree, or the others would wait for ever."""
        if not torch.distributed.is_initialized():
            return self._is_interrupted
        stop = torch.tensor(int(self._is_interrupted))
        torch.distributed.all_reduce(stop)
        self._is_interrupted = bool(stop)
        return self._is_interrupted

    def _finish(self, model: Any, monitor: Any, is_distributed: bool) -> int:
        counters = {"produced": 0, "acked": 0, "dropped": 0, "in_flight": 0}
        if monitor is not None:
            monitor.flush(FLUSH_SECONDS)
            counters.update({k: v for k, v in monitor.counters().items() if k in counters})
        if self._is_interrupted:
            done, wanted, left = len(self._step_us), self._options.steps, counters["in_flight"]
            text = f"stopped by a signal after step {done} of {wanted}, {left} samples in flight"
            print(f"telltale train-demo: {text}", file=sys.stderr)
        failed = self._write(model)
        summary = {
            "steps": len(self._step_us),
            **counters,
            "step_ms_p50": _median_ms(self._step_us),
            "monitor_ms_p50": None,  # hooks run inside forward, backward and step: not told apart here
            "final_loss": self._loss if math.isfinite(self._loss) else None,  # JSON has no NaN
            "interrupted": self._is_interrupted,
        }
        short.finish("finished")
        if is_distributed:
            torch.distributed.destroy_process_group()
        # One write: torchrun's ranks share the pipe, unbuffered, and print() would end the line with a second one.
        sys.stdout.write(json.dumps(summary) + "\n")
        sys.stdout.flush()
        if failed:
            print(f"telltale train-demo: {failed}", file=sys.stderr)
        return 1 if failed else 0

    def _write(self, model: torch.nn.Module) -> str:
        """Writes the files that were asked for; returns what went wrong."""
        options = self._options
        path = None
        try:
            if options.weights_out:
                path = options.weights_out
                with Path(path).open("wb") as file:
                    for parameter in model.parameters():
                        file.write(parameter.detach().contiguous().numpy().tobytes())
            if options.step_times:
                path = options.step_times
                Path(path).write_text("".join(f"{time_us}\n" for time_us in self._step_us), "utf-8")
        except OSError as error:
            return f"cannot write {path}: {error.strerror or error}"
        return ""


def _median_ms(microseconds: list[int]) -> float:
    return statistics.median(microseconds) / 1000.0 if microseconds else 0.0
