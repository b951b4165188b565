# SPDX-License-Identifier: GPL-3.0-or-later
"""One trial's world: a server, drivers with their oracles, what breaks them, and the judge. Everything that a trial
starts or mounts ends with it, however it ends."""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import random
import select
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE_S = 60.0  # for what takes a second on an idle machine
SAMPLES_PER_STEP = 96  # samples.h
HEAL_S = 10.0  # an agent has delivered everything so long after a fault is over
REFUSED_S = 30.0  # a server whose store does not take a run asks its agent to wait so long


class Broken(Exception):
    """A promise of the product is broken, in one sentence."""


class Stopping(Exception):
    """The harness was told to end."""


class Living:
    """Every process of the harness, so that an interruption ends them all. Thread: any."""

    def __init__(self) -> None:
        self.is_stopping = False
        self._lock = threading.Lock()
        self._processes: set[subprocess.Popen[bytes]] = set()

    def add(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._processes.add(process)
        if self.is_stopping:
            process.kill()

    def remove(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._processes.discard(process)

    def stop(self) -> None:
        self.is_stopping = True
        with self._lock:
            for process in self._processes:
                process.kill()


LIVING = Living()


class Program:
    """A child process whose standard output is read line by line; what it says as errors goes to a file."""

    def __init__(self, name: str, words: list[str], log: Path, env: dict[str, str], namespace: str = "") -> None:
        if LIVING.is_stopping:
            raise Stopping
        # A child dies with the thread that runs its trial, even where the harness itself is killed.
        prefix = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
        if namespace:
            # Not `ip netns exec`: it takes a copy of every mount along, so that a disk of another trial stays in use.
            prefix += ["nsenter", f"--net=/run/netns/{namespace}"]
        self.name = name
        self._pending = b""
        with log.open("ab") as errors:
            self.process = subprocess.Popen(
                prefix + words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=env, bufsize=0
            )
        LIVING.add(self.process)

    def line(self, timeout: float = PATIENCE_S) -> str:
        """The next line; "" at the end of the output."""
        assert self.process.stdout
        deadline = time.monotonic() + timeout
        while b"\n" not in self._pending:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise Broken(f"{self.name} says nothing for {timeout:.0f} s")
            got = self.process.stdout.read(4096)
            if not got:
                return ""
            self._pending += got
        text, self._pending = self._pending.split(b"\n", 1)
        return text.decode()

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self, timeout: float = PATIENCE_S) -> int:
        """Its exit code; one that does not end is killed and is a broken promise."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Broken(f"{self.name} does not end within {timeout:.0f} s") from None

    def close(self) -> None:
        if self.process.poll() is None:
            self.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()
        LIVING.remove(self.process)


class Page:
    """The shared page of faultyio.cpp."""

    FIELDS = ("calls", "fail_from", "fail_count", "error", "swallows_syncs", "clock_offset_ns", "failed", "is_reading")

    def __init__(self, path: Path, folder: Path, library: Path) -> None:
        path.write_bytes(bytes(8 * len(self.FIELDS)))
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), 0)
        self.env = {
            "LD_PRELOAD": str(library),
            "TELLTALE_CHAOS_PAGE": str(path),
            "TELLTALE_CHAOS_FOLDER": str(folder),
        }

    def get(self, field: str) -> int:
        at = 8 * self.FIELDS.index(field)
        return int.from_bytes(self._memory[at : at + 8], "little", signed=True)

    def set(self, **fields: int) -> None:
        for field, value in fields.items():
            at = 8 * self.FIELDS.index(field)
            self._memory[at : at + 8] = value.to_bytes(8, "little", signed=True)


class Driver:
    """A process that issues samples (driver.cpp), and the oracle's file that it writes."""

    def __init__(self, program: Program, oracle: Path) -> None:
        self.program = program
        self.oracle = oracle
        self.is_acked = False
        self.is_over = False
        self.was_killed = False

    def _expect(self, word: str, timeout: float) -> list[str]:
        while True:
            words = self.program.line(timeout).split()
            if not words:
                raise Broken(f"{self.program.name} ended instead of saying {word}")
            if words[0] == "acked":
                self.is_acked = True
            if words[0] == word:
                return words[1:]

    def wait_acked(self, timeout: float = PATIENCE_S) -> None:
        if not self.is_acked:
            self._expect("acked", timeout)

    def tell(self, command: str) -> None:
        assert self.program.process.stdin
        with contextlib.suppress(BrokenPipeError):
            self.program.process.stdin.write(command.encode() + b"\n")

    def begin_flush(self, within: float) -> None:
        self.tell(f"flush {int(within * 1000)}")

    def end_flush(self, within: float) -> float:
        flushed, ms = self._expect("flushed", within + PATIENCE_S)
        if flushed != "1":
            raise Broken(f"not everything is acknowledged {within:.0f} s after the fault was over")
        return int(ms) / 1000

    def counted(self) -> tuple[int, int]:
        """Samples acknowledged and dropped so far, as the oracle has heard."""
        with self.oracle.open("rb") as file:
            file.seek(max(0, self.oracle.stat().st_size - 4096))
            for line in reversed(file.read().split(b"\n")[:-1]):
                if line.startswith(b"a "):
                    _, acked, dropped = line.split()
                    return int(acked), int(dropped)
        return 0, 0

    def kill(self) -> None:
        self.is_over = self.was_killed = True
        self.program.kill()

    def close(self) -> None:
        """Ends the training properly."""
        assert self.program.process.stdin
        self.is_over = True
        self.program.process.stdin.close()
        code = self.program.end()
        if code != 0:
            raise Broken(f"the training process ended with {code}")


class Trial(contextlib.ExitStack):
    """A folder of its own, and what every row needs. Thread: the one that runs the trial."""

    def __init__(self, build: Path, folder: Path, seed: str, index: int, count: int) -> None:
        super().__init__()
        self.count = count  # of trials of this row
        self.build = build
        self.folder = folder
        self.random = random.Random(seed)
        self.index = index
        self.drivers: list[Driver] = []
        self.figures: dict[str, float] = {}  # for the table: what is said of the largest
        self.patience = 20.0  # on top of what is promised, for a machine that is busy
        folder.mkdir(parents=True)
        self.env = {key: value for key, value in os.environ.items() if not key.startswith(("TELLTALE_", "XDG_"))}
        self.env |= {"HOME": str(folder), "QT_QPA_PLATFORM": "offscreen", "LC_ALL": "C.UTF-8"}

    def figure(self, text: str, value: float) -> None:
        self.figures[text] = value

    def wait(self, low: float, high: float) -> None:
        """Lets time pass: how long a fault lasts, or when it comes."""
        time.sleep(self.random.uniform(low, high))
        if LIVING.is_stopping:
            raise Stopping

    def until(self, what: str, is_true: Callable[[], bool], timeout: float = PATIENCE_S) -> None:
        deadline = time.monotonic() + timeout
        while not is_true():
            if LIVING.is_stopping:
                raise Stopping
            if time.monotonic() > deadline:
                raise Broken(f"{what}: not within {timeout:.0f} s")
            time.sleep(0.01)

    def _program(self, name: str, words: list[str], more: dict[str, str], namespace: str) -> Program:
        program = Program(name, words, self.folder / f"{name}.err", self.env | more, namespace)
        self.callback(program.close)
        return program

    def page(self, name: str, below: Path) -> Page:
        return Page(self.folder / f"{name}.page", below, self.build / "tests/libchaosfaults.so")

    def server(
        self, data: Path, listen: str = "127.0.0.1:0", page: Page | None = None, namespace: str = ""
    ) -> tuple[Program, str]:
        """A running `telltale serve` and its join string."""
        words = [str(self.build / "bin/telltale"), "serve", "--data-dir", str(data), "--listen", listen]
        server = self._program("server", words, page.env if page else {}, namespace)
        join = server.line()
        if not join.startswith("telltale://"):
            raise Broken(f"the server does not start: {self.said('server')}")
        return server, join

    def again(self, data: Path, join: str, page: Page | None = None) -> Program:
        """The server of the same data directory, at the same place and with the same token."""
        server, same = self.server(data, join[len("telltale://") :].split("#")[0], page)
        if same != join:
            raise Broken("the server came back with another join string")
        return server

    def stop(self, server: Program) -> None:
        server.signal(signal.SIGTERM)
        code = server.end()
        if code != 0:
            raise Broken(f"the server ended with {code}: {self.said('server')}")

    def driver(
        self, join: str, spool: Path, page: Page | None = None, pace_us: int = 2000, namespace: str = "", **more: object
    ) -> Driver:
        number = len(self.drivers)
        oracle = self.folder / f"oracle{number}"
        words = [str(self.build / "tests/chaosdriver"), "--join", join, "--spool", str(spool), "--oracle", str(oracle)]
        # Steps of several drivers differ, so that every id is of one of them.
        words += ["--first-step", str(number * 10_000_000), "--restart", str(number), "--pace-us", str(pace_us)]
        for key, value in more.items():
            words += ["--" + key.replace("_", "-"), str(value)]
        program = self._program(f"driver{number}", words, page.env if page else {}, namespace)
        driver = Driver(program, oracle)
        if program.line() != "open":
            raise Broken(f"the agent does not open: {self.said(f'driver{number}')}")
        self.drivers.append(driver)
        return driver

    def ranks(self, count: int, join: str, spool: Path, page: Page | None = None) -> None:
        """The drivers of one job, all streaming."""
        for rank in range(count):
            self.driver(join, spool, page, rank=rank, world_size=count)
        for driver in self.drivers:
            driver.wait_acked()

    def living(self) -> list[Driver]:
        return [driver for driver in self.drivers if not driver.is_over]

    def flush(self, within: float) -> None:
        """Everything issued is acknowledged within so many seconds, and what a busy machine needs on top."""
        within += self.patience
        for driver in self.living():
            driver.begin_flush(within)
        took = [driver.end_flush(within) for driver in self.living()]
        self.figure("all delivered after at most {:.1f} s", max(took))

    def said(self, name: str) -> str:
        log = self.folder / f"{name}.err"
        return (log.read_text(errors="replace").strip().splitlines() or ["(nothing)"])[-1]

    def take_leftovers(self, spool: Path, data: Path) -> None:
        """`telltale import` of what is left in the spool."""
        if not any(spool.rglob("*.seg")):
            return
        words = [str(self.build / "bin/telltale"), "import", str(spool), "--data-dir", str(data)]
        program = self._program("import", words, {}, "")
        if program.end() != 0:
            raise Broken(f"import fails: {self.said('import')}")

    def judge(self, data: Path, kept_before: int | None = None) -> dict[str, Any]:
        verdict = self.verdict(data, kept_before)
        problems = verdict["problems"] or self._misreported(data, verdict)
        if problems:
            raise Broken("; ".join(problems))
        return verdict

    def _misreported(self, data: Path, verdict: dict[str, Any]) -> list[str]:
        """What `telltale inspect` says otherwise than the judge."""
        capsule = next((data / "runs").glob("*.telltale"))
        words = [str(self.build / "bin/telltale"), "inspect", str(capsule), "--json"]
        told = json.loads(subprocess.run(words, capture_output=True, env=self.env, check=True).stdout)["samples"]
        accounted = told["stored"] + told["dropped"] + told["missing"]
        # Of a killed process the oracle does not know whether its last step was still produced.
        doubt = SAMPLES_PER_STEP * len([driver for driver in self.drivers if driver.was_killed])
        truths = {
            "stored": told["stored"] == verdict["stored"],
            "dropped": told["dropped"] == verdict["dropped"] or doubt > 0,
            "missing": doubt > 0 or told["missing"] == 0,
            "exact": told["exact"] or doubt > 0,
            "produced": told["produced"] <= verdict["issued"]
            and (not told["exact"] or told["produced"] >= verdict["issued"] - doubt),
            "the sum": told["produced"] == accounted,
        }
        return [f"inspect is wrong about {what}: {told}, {verdict}" for what, is_true in truths.items() if not is_true]

    def verdict(self, data: Path, kept_before: int | None = None) -> dict[str, Any]:
        words = [str(self.build / "tests/chaosjudge"), str(data)]
        if kept_before is not None:
            words += ["--kept-before", str(kept_before)]
        words += [str(driver.oracle) for driver in self.drivers]
        judge = self._program("judge", words, {}, "")
        line = judge.line()
        judge.end()
        if not line:
            raise RuntimeError(f"the judge cannot judge: {self.said('judge')}")
        (self.folder / "verdict.json").write_text(line)
        verdict: dict[str, Any] = json.loads(line)
        return verdict

    def end(self, server: Program, data: Path, spool: Path) -> dict[str, Any]:
        """The training ends, the server ends, what is left in the spool is imported, the judge judges."""
        for driver in self.living():
            driver.close()
        self.stop(server)
        self.take_leftovers(spool, data)
        return self.judge(data)
