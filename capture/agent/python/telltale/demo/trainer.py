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
from ..configfile import EVERYTHING
from . import checkpoint, ranks
from .corpus import BadInput
from .fault import Fault
from .options import parse
from .schedule import PEAK_RATE, learning_rate
from .tasks import make_task

FLUSH_SECONDS = 5.0
PROGRESS_SECONDS = 1.0
GROWTH_INTERVAL = 100  # of the loss scale, in steps
# Everything, and a histogram of each gradient.
DEMO = {**EVERYTHING, "telltale": {**EVERYTHING["telltale"], "histogram": ["grad_reduced"]}}


def main(arguments: list[str]) -> int:
    """The exit code: 0, 1 when the training failed, 2 for bad input."""
    try:
        options = parse(arguments)
        training = DemoTraining(options)
        if training.world > 1 and not ranks.are_joined():
            return ranks.run(arguments, training.world)
        code = training.run()
        if training.world > 1:
            ranks.end(code)
        return code
    except BadInput as error:
        print(f"telltale train-demo: {error}", file=sys.stderr)
        return 2


class DemoTraining:
    """Thread: main; a signal asks it to stop after the step."""

    def __init__(self, options: argparse.Namespace) -> None:
        """Raises BadInput."""
        self._options = options
        self.world = ranks.count(options)  # that train one model
        if options.model == "tp" and self.world < 2:
            raise BadInput("--model tp is cut over ranks: say --ranks 2")
        if options.model == "tp" and options.width * 4 % self.world:
            raise BadInput(f"--width {options.width} cannot be cut over {self.world} ranks")
        self._tensor_parallel = _tensor_parallel() if options.model == "tp" else None
        if self.world > 1 and (options.checkpoint or options.resume):
            raise BadInput("--checkpoint and --resume are for a training of one rank")
        self._rank = identity.rank()
        self._data_rank = 0 if self._tensor_parallel else self._rank  # tensor-parallel ranks see the same data
        self._task = make_task(options, self._data_rank)
        self.model = self._task.model
        self.fault = Fault(options.fault or "")
        self.fault.choose(options, self.model, max(self.world, identity.world_size()), self.world)
        self._joins = False  # the ranks were not joined before
        self._is_interrupted = False
        self._step_us: list[int] = []
        self._loss = math.nan

    def run(self) -> int:
        options, model = self._options, self.model
        if not os.environ.get("OMP_NUM_THREADS"):
            torch.set_num_threads(1)  # too small a model to gain from a second thread, and the dashboard needs it
        self._joins = self.world > 1 and not torch.distributed.is_initialized()
        if self._joins:
            torch.distributed.init_process_group("gloo")
        if self._tensor_parallel:
            self._tensor_parallel.shard(model, self.fault.piece(self._rank))
        self.fault.install(model, self._rank)
        torch.manual_seed(options.seed + self._data_rank)
        trained: Any = model
        if self.world > 1 and not self._tensor_parallel:
            is_frozen = self.fault.name == "freeze"
            trained = torch.nn.parallel.DistributedDataParallel(model, find_unused_parameters=is_frozen)
        optimizer = torch.optim.AdamW(model.parameters(), PEAK_RATE, weight_decay=0.01)
        scaler = _scaler(options.amp)
        first = checkpoint.resume(options.resume, model, optimizer, scaler, self._task) if options.resume else 0
        monitor = None
        if not options.no_agent:
            monitor = short.watch(
                trained,
                optimizer,
                options.config or DEMO,
                name=f"demo-{options.model}",
                join=options.join,
                start_step=first,
                flush_ms=200,
                **self._coordinates(),
            )
        before = [signal.signal(number, self._stop) for number in (signal.SIGINT, signal.SIGTERM)]
        try:
            self._train(trained, optimizer, scaler, first, monitor)
        finally:
            for number, handler in zip((signal.SIGINT, signal.SIGTERM), before):
                signal.signal(number, handler)
        return self._finish(model, monitor)

    def _coordinates(self) -> dict[str, int]:
        """Where this rank is among those that train one model."""
        if self.world < 2:
            return {}
        return {"dp": 0, "tp": self._rank} if self._tensor_parallel else {"dp": self._rank, "tp": 0}

    def _stop(self, _number: int, _frame: Any) -> None:
        self._is_interrupted = True

    def _train(self, model: Any, optimizer: Any, scaler: Any, first: int, monitor: Any) -> None:
        options, task = self._options, self._task
        told = -math.inf
        for step in range(first, options.steps):
            if ranks.agree(self._is_interrupted):  # all or none: the others would wait for ever
                self._is_interrupted = True  # never False again: a signal may come while they agree
                break
            if options.checkpoint and step == options.checkpoint[1]:
                checkpoint.save(options.checkpoint[0], step, model, optimizer, scaler, task)
            start = time.perf_counter()
            values = self._run_step(step, model, optimizer, scaler)
            if monitor is not None:
                monitor.log(values)
            if options.amp:
                scaler.step(optimizer)
                scaler.update()
            else:
                optimizer.step()
            now = time.perf_counter()
            self._step_us.append(round((now - start) * 1e6))
            if now - told >= PROGRESS_SECONDS or step + 1 == options.steps:
                told = now
                said = f"step {step}  loss {self._loss:.4f}  lr {values['lr']:.2e}  grad-norm {values['grad-norm']:.3f}"
                sys.stderr.write(f"{said}  {task.units / (now - start):.0f} {task.unit}/s\n")

    def _run_step(self, step: int, model: Any, optimizer: Any, scaler: Any) -> dict[str, Any]:
        """All of a step but the optimizer's; the run metrics."""
        options, task, fault = self._options, self._task, self.fault
        start, computed = time.perf_counter(), time.thread_time()
        rate = learning_rate(step, options.steps, options.schedule) * fault.begin(step, optimizer, scaler)
        for group in optimizer.param_groups:
            group["lr"] = rate
        batch = fault.batch(task.draw())
        optimizer.zero_grad()  # before the forward pass: so a monitor sees which steps the loss scaler gave up
        with torch.autocast("cpu", torch.float16, enabled=options.amp):
            loss = task.loss(model, batch)
        fault.after_forward(time.thread_time() - computed)
        forward_ms = (time.perf_counter() - start) * 1e3
        forward_cpu_ms = (time.thread_time() - computed) * 1e3
        scaler.scale(fault.loss(loss)).backward()
        fault.after_backward()
        scaler.unscale_(optimizer)
        norm = self._clip()
        self._loss = loss.item()
        values = {"loss": self._loss, "lr": rate, "grad-norm": norm, **task.metrics()}
        if options.amp:
            values["loss-scale"] = scaler.get_scale()
        if self.world > 1:
            # In it no rank waits for another, but where it is cut over ranks. What else the machine does is most of the
            # time on the wall, and little of that on the processor.
            values["forward_ms"], values["forward_cpu_ms"] = forward_ms, forward_cpu_ms
        if self._step_us:
            values[f"{task.unit}_per_s"] = task.units * 1e6 / max(1, self._step_us[-1])
        return values

    def _clip(self) -> float:
        """The norm of all gradients, before they are clipped."""
        most = self._options.clip or math.inf
        if self._tensor_parallel:
            return float(self._tensor_parallel.clip(self.model, most, self.fault.clips(self._rank)))
        return float(torch.nn.utils.clip_grad_norm_(self.model.parameters(), most))

    def _finish(self, model: Any, monitor: Any) -> int:
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
        if self._joins:
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
                        here = getattr(parameter, "_local_tensor", parameter)
                        file.write(here.detach().contiguous().numpy().tobytes())
            if options.step_times:
                path = options.step_times
                Path(path).write_text("".join(f"{time_us}\n" for time_us in self._step_us), "utf-8")
        except OSError as error:
            return f"cannot write {path}: {error.strerror or error}"
        return ""


def _tensor_parallel() -> Any:
    try:
        from . import tensorparallel
    except ImportError:
        raise BadInput("--model tp needs torch 2.5 or newer") from None
    return tensorparallel


def _scaler(is_enabled: bool) -> Any:
    """Where it is not enabled it does nothing."""
    if hasattr(torch.amp, "GradScaler"):
        return torch.amp.GradScaler("cpu", growth_interval=GROWTH_INTERVAL, enabled=is_enabled)
    if is_enabled:
        raise BadInput("--amp needs torch 2.3 or newer")
    return torch.cuda.amp.GradScaler(enabled=False)


def _median_ms(microseconds: list[int]) -> float:
    return statistics.median(microseconds) / 1000.0 if microseconds else 0.0
