# SPDX-License-Identifier: GPL-3.0-or-later
"""One thread for all sinks that write files, and how they tell of steps they could not write."""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections import deque
from typing import Callable

from ..console import log
from ..threads import start_thread

MAX_JOBS = 8192
_BETWEEN_WORDS = 30.0  # seconds
MAX_BYTES = 16 << 20  # of frames that wait; one frame is taken whatever its size


_running: weakref.WeakSet[FrameWorker] = weakref.WeakSet()


def _close_running() -> None:
    for worker in list(_running):
        worker.close()


# Handlers run last in, first out: this one is there before the monitors', whose last steps come through a worker.
atexit.register(_close_running)


class FrameWorker:
    """Runs jobs one after another on a thread of its own, from a bounded queue.

    Thread: any. A forked child has no such thread: there post() refuses and nothing waits.
    """

    def __init__(self, name: str = "telltale-files", max_jobs: int = MAX_JOBS, max_bytes: int = MAX_BYTES) -> None:
        self._name = name
        self._max_jobs = max_jobs
        self._max_bytes = max_bytes
        self._jobs: deque[tuple[Callable[[], None], int]] = deque()
        self._bytes = 0
        self._posted = 0
        self._done = 0
        self._change = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._told = False
        self._pid = os.getpid()
        self._users = 0
        self.failures = 0  # jobs that raised

    def retain(self) -> None:
        """One more sink uses the worker."""
        with self._change:
            self._users += 1

    def release(self, timeout: float) -> bool:
        """A sink is done: waits for what is queued; the last one ends the thread. False when that took too long."""
        if os.getpid() != self._pid:
            return False
        with self._change:
            self._users -= 1
            is_last = self._users <= 0
        return self.close(timeout) if is_last else self.flush(timeout)

    def post(self, job: Callable[[], None], size: int = 0, must: bool = False) -> bool:
        """Queues a job that holds `size` bytes; False when the queue is full or closed. Never waits. must: for the few
        small jobs that may not be lost (closing a file), whatever the queue holds."""
        if os.getpid() != self._pid:
            return False
        with self._change:
            if self._closed:
                return False
            if not must and self._jobs:
                if len(self._jobs) >= self._max_jobs or self._bytes + size > self._max_bytes:
                    return False
            if self._thread is None:
                try:
                    self._thread = start_thread(self._run, self._name)
                except RuntimeError as error:
                    if not self._told:
                        log.warning("no file can be written: %s; training goes on", error)
                    self._told = True
                    return False
                _running.add(self)
            self._jobs.append((job, size))
            self._bytes += size
            self._posted += 1
            self._change.notify_all()
        return True

    def flush(self, timeout: float) -> bool:
        """Waits until every job posted so far has run; False when `timeout` seconds were too few."""
        if os.getpid() != self._pid:
            return False
        deadline = time.monotonic() + timeout
        with self._change:
            target = self._posted
            while self._done < target:
                left = deadline - time.monotonic()
                if left <= 0 or self._thread is None or threading.current_thread() is self._thread:
                    return False
                self._change.wait(left)
        return True

    def close(self, timeout: float = 30.0) -> bool:
        """Runs what is queued, then ends the thread."""
        if os.getpid() != self._pid:
            return False
        is_drained = self.flush(timeout)
        with self._change:
            self._closed = True
            self._change.notify_all()
            thread = self._thread
        _running.discard(self)
        if is_drained and thread is not None and thread is not threading.current_thread():
            thread.join(timeout)
        return is_drained

    def _run(self) -> None:
        while True:
            with self._change:
                while not self._jobs and not self._closed:
                    self._change.wait()
                if not self._jobs:
                    return
                job, size = self._jobs.popleft()
            try:
                job()
            except Exception:  # noqa: BLE001 - one bad job must not end the thread
                self.failures += 1
                if self.failures == 1:
                    log.exception("a file sink failed; training goes on")
            with self._change:
                self._bytes -= size
                self._done += 1
                self._change.notify_all()


class Losses:
    """Counts the steps a sink took, wrote and lost, and tells of each outage once when it begins and once when it is
    over. Thread: any."""

    def __init__(self, sink: str) -> None:
        self._sink = sink
        self._lock = threading.Lock()
        self._lost_now = 0
        self._first = 0
        self._last = -1  # the step counted last: it comes again when a metric is logged late
        self._refused = 0
        self._last_refused = -1
        self._next_word = 0.0
        self.taken = 0
        self.written = 0
        self.lost = 0
        self.sentences: list[str] = []

    def took(self) -> None:
        """A step was handed over."""
        with self._lock:
            self.taken += 1

    def wrote(self, step: int) -> None:
        """A step is in the files."""
        with self._lock:
            self.written += 1
            if not self._lost_now:
                return
            count, first = self._lost_now, self._first
            self._lost_now = 0
        self._tell(f"{self._sink}: writing again at step {step}; {_steps(count)} from step {first} on were not written")

    def lose(self, step: int, why: str) -> None:
        """A step will not be in the files, or not whole."""
        with self._lock:
            self.lost += 1
            if self._lost_now and step == self._last:
                return
            self._last = step
            self._lost_now += 1
            if self._lost_now > 1:
                return
            self._first = step
        self._tell(f"{self._sink}: step {step} was not written: {why}. Training goes on; every later step is tried")

    def refuse(self, step: int) -> None:
        """The queue had no room for a step. Told at the first, then at most every half minute, and at the end."""
        with self._lock:
            self.lost += 1
            if self._refused and step == self._last_refused:
                return
            self._last_refused = step
            self._refused += 1
            now = time.monotonic()
            if self._refused > 1 and now < self._next_word:
                return
            self._next_word = now + _BETWEEN_WORDS
            count = self._refused
        self._tell(
            f"{self._sink}: {_steps(count)} so far were not written, the last is {step}: the training is faster than "
            "the files, and the queue is full. Training goes on; collect fewer steps (step_interval) or stream"
        )

    def abandon(self) -> None:
        """What was taken and is still waiting will not be written: the disk hangs and the job ends."""
        with self._lock:
            count = self.taken - self.written - self.lost
            self.lost += count
        if count:
            self._tell(f"{self._sink}: the last {_steps(count)} were not written: the disk did not answer in time")

    def close(self) -> None:
        """Tells of an outage that has not ended."""
        with self._lock:
            count, self._lost_now = self._lost_now, 0
            refused = self._refused
        if refused > 1:
            self._tell(f"{self._sink}: {_steps(refused)} in all were not written because the queue was full")
        if count > 1:
            self._tell(f"{self._sink}: {_steps(count)} from step {self._first} on were not written")

    def _tell(self, sentence: str) -> None:
        self.sentences.append(sentence)
        del self.sentences[:-100]
        log.warning("%s", sentence)


def _steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count} steps"


def explain(error: BaseException, path: str = "") -> str:
    """An error as the end of a sentence: "no space left on device (/data/out)"."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else f"{type(error).__name__}: {error}"
    where = path or str(getattr(error, "filename", "") or "")
    return f"{text[:1].lower()}{text[1:]}" + (f" ({where})" if where else "")
