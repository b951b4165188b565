# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes what an optimizer gets, call by call, to grad_probe's files. Framework-free: arrays come in."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from ..console import log
from ..kinds import DType
from ..series import SeriesDesc
from ..sinks.worker import FrameWorker, Losses, explain
from .probeconfig import ProbeConfig
from .probestream import ProbeStream
from .reference import Reference
from .signfile import PartFile, ProbeError, header, unpacked
from .summaryfile import csv_bytes, head_of, row_of
from .tally import Tally

PART = 1 << 26  # elements that are read at a time: 8 MiB of signs
MOST_WAITING = 64 << 20  # bytes of signs that wait for the disk
_PATIENCE = 60.0  # seconds that the training waits for a disk that does not answer
_UNPACKED = 1 << 20  # elements
_MOST_JOBS = 1 << 20


class GradProbe:
    """Thread: training; files are written by a thread of the probe's own. Memory: MOST_WAITING and one part, whatever
    the model's size; of a gradient that is not contiguous the frameworks make a copy before."""

    def __init__(self, config: ProbeConfig, rank: int, world_size: int = 1, framework: str = "") -> None:
        self.config = config
        self.stream: ProbeStream | None = None
        self.rank = rank
        self.step = -1  # calls of the optimizer so far, less one
        self.folder = os.path.join(os.path.abspath(config.dump_path), f"rank{rank}")
        self._worker = FrameWorker("telltale-grad-probe", _MOST_JOBS, MOST_WAITING)
        self._losses = Losses("grad_probe")
        self._rows: list[tuple[str, tuple[int, ...], Tally]] = []
        self._told: set[str] = set()
        self._off: set[str] = set()
        self._pid = os.getpid()
        self._failed_at = -1  # the last step of which a file was not written
        self._has_holes = False  # signs of this step were left out
        if config.stream:
            try:
                self.stream = ProbeStream(config, rank, world_size, framework, self.tell)
            except (ValueError, RuntimeError) as error:
                self.tell(f"nothing is sent to the dashboard: {error}")
        self.reference: Reference | None = None
        if config.reference:
            try:
                self.reference = Reference(config.reference, rank)
            except ProbeError as error:
                self.tell(f"reference: {error}; nothing is compared while the training runs")
        if os.path.isdir(self.folder):
            self.tell(f"{self.folder} is there already: files of the same steps are overwritten")

    def tell(self, sentence: str) -> None:
        """Says a sentence once."""
        if sentence not in self._told:
            self._told.add(sentence)
            log.warning("grad_probe: %s", sentence)

    def begin_step(self) -> bool:
        """The optimizer is called; whether its gradients are wanted."""
        self.step += 1
        return os.getpid() == self._pid and self.step in self.config.step

    def wants(self, name: str) -> bool:
        """Whether the config names this parameter."""
        return not self.config.param_list or name in self.config.param_list

    def read(self, gradients: Iterable[tuple[str, Any]], take: Callable[[str, Any], None]) -> None:
        """Takes the gradients of a step that is wanted; take: gives one to take(). Never raises: what cannot be read is
        told, and left out from then on."""
        for name, gradient in gradients:
            if name in self._off:
                continue
            try:
                take(name, gradient)
            except Exception as error:  # noqa: BLE001 - nothing of ours may reach the training
                self._off.add(name)
                self.tell(f"internal error while reading {name}, which is left out: {type(error).__name__}: {error}")
        try:
            self._end_step()
        except Exception as error:  # noqa: BLE001
            self.tell(f"internal error at the end of a step: {type(error).__name__}: {error}")

    def take(self, name: str, shape: tuple[int, ...], values: np.ndarray, dtype: DType) -> Tally:
        """A gradient in its elements' order, flat and contiguous; bfloat16 as uint16. It is read here and now."""
        tally, signs = self.entry(name, shape)
        for first in range(0, values.size, PART):
            part = values[first : first + PART]
            bits = tally.add(part, dtype)
            if signs is not None and bits is not None:
                signs.put(bits, part.size)
        return tally

    def entry(self, name: str, shape: tuple[int, ...]) -> tuple[Tally, SignWriter | None]:
        """A row of this step's summary, and where its signs go if some are wanted."""
        tally = Tally(self.config)
        self._rows.append((name, shape, tally))
        if not self.config.has_signs:
            return tally, None
        return tally, SignWriter(self, self._sign_path(self.step, name), name, shape)

    def _end_step(self) -> None:
        """All gradients of the step were taken. Where a closure computes them anew, the last ones count."""
        rows, self._rows = self._rows, []
        has_holes, self._has_holes = self._has_holes, False
        self._losses.took()
        if not rows:
            self.tell(f"no parameter that is watched has a gradient at step {self.step}; its summary is empty")
        self.post(0, partial(self._write_summary, self.step, rows, has_holes))

    def post(self, size: int, job: Callable[[], None]) -> bool:
        """To the thread that writes; waits for it where it is far behind, unless the config says otherwise."""
        if self._worker.post(job, size, must=not size):
            return True
        if self.config.when_behind == "wait":
            self.tell(
                'the disk is slower than the training, which waits for it; "when_behind": "leave_out" leaves signs '
                'out instead, "step" and "param_list" choose fewer'
            )
            if self._worker.flush(_PATIENCE) and self._worker.post(job, size):
                return True
        return False

    def leave_out(self, why: str) -> None:
        """Signs of this step are not written."""
        if not self._has_holes:
            self._losses.lose(self.step, f"signs are missing, since {why}")
        self._has_holes = True

    def close(self) -> None:
        """Writes what is left."""
        if os.getpid() == self._pid and not self._worker.close(_PATIENCE):
            self._losses.abandon()
        elif self.stream is not None and os.getpid() == self._pid:
            self.stream.close()
        self._losses.close()

    def failed(self, step: int, error: OSError, path: str) -> None:
        """A file was not written. Thread: the worker's."""
        self._failed_at = step
        self._losses.lose(step, explain(error, path))

    def _sign_path(self, step: int, name: str) -> str:
        return os.path.join(self.folder, f"step{step}", f"{name.replace('/', '%2F')}.npy")

    def _compare(self, step: int, descs: list[SeriesDesc]) -> None:
        """Holds the signs that were just written beside those of the reference."""
        if self.reference is None or not self.reference.has(step) or not self.config.has_signs:
            return
        found: list[tuple[SeriesDesc, list[float]]] = []
        for desc in descs:
            try:
                similarity = self.reference.compare(step, self._sign_path(step, desc.name))
            except ProbeError as error:
                self.tell(f"reference: {error}")
                continue
            found.append((desc, [similarity]))
            if reason := self.reference.verdict(desc.name, similarity):
                sentence = f"rank {self.rank}, step {step}: {desc.name}: {reason}, against {self.config.reference}"
                self.tell(sentence)
                if self.stream is not None:
                    self.stream.event(step, sentence)
        if self.stream is not None:
            self.stream.similarities(step, found)

    def _write_summary(self, step: int, rows: list[tuple[str, tuple[int, ...], Tally]], has_holes: bool) -> None:
        descs = [SeriesDesc(name, shape=shape, numel=tally.numel) for name, shape, tally in rows]
        if self.stream is not None and self.config.grad_level == "L2":
            self.stream.distributions(step, [(desc, tally.counts) for desc, (_, _, tally) in zip(descs, rows)])
        self._compare(step, descs)
        if self.stream is not None:
            self.stream.end_step()
        path = os.path.join(self.folder, f"grad_summary_{step}.csv")
        file = PartFile(path)
        try:
            lines: list[list[Any]] = [row_of(name, shape, tally, self.config) for name, shape, tally in rows]
            file.append(csv_bytes([head_of(self.config), *lines]))
            file.finish()
            if not has_holes and self._failed_at != step:
                self._losses.wrote(step)
        except OSError as error:
            file.give_up()
            self.failed(step, error, path)


class SignWriter:
    """The signs of one gradient on their way to its file, part by part. Thread: put() training; the rest the probe's
    worker."""

    def __init__(self, probe: GradProbe, path: str, name: str, shape: tuple[int, ...]) -> None:
        self._probe = probe
        self._name = name
        self._step = probe.step
        self._file = PartFile(path)
        self._shape = shape
        self._left = self._numel = math.prod(shape)
        self._is_over = False
        if self._left == 0:
            probe.post(0, lambda: self._write(np.zeros(0, np.uint8), 0))

    def put(self, bits: np.ndarray, count: int) -> None:
        """The signs of the next elements."""
        self.put_later(bits.nbytes, count, lambda: bits)

    def put_later(self, size: int, count: int, fetch: Callable[[], np.ndarray]) -> None:
        """The same where the bits, which take so many bytes, come on the worker's thread."""
        if self._is_over:
            return
        if not self._probe.post(size, lambda: self._write(fetch(), count)):
            self._is_over = True
            self._probe.leave_out("the disk is slower than the training")
            self._probe.post(0, self._file.give_up)

    def _write(self, bits: np.ndarray, count: int) -> None:
        if self._is_over and self._left < 0:
            return
        try:
            if self._left == self._numel:
                self._file.append(header(self._shape))
            if self._probe.stream is not None:
                self._probe.stream.signs(self._name, self._step, self._shape, self._numel - self._left, count, bits)
            for first in range(0, count, _UNPACKED):
                here = min(_UNPACKED, count - first)
                self._file.append(unpacked(bits[first // 8 : (first + here + 7) // 8], here))
            self._left -= count
            if self._left == 0:
                self._file.finish()
        except OSError as error:
            self._is_over, self._left = True, -1
            self._file.give_up()
            self._probe.failed(self._step, error, self._file.path)
