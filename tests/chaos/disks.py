# SPDX-License-Identifier: GPL-3.0-or-later
"""Disks of a trial: one that can lose its power, one that is soon full."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import struct
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rig import Trial

EXT4_IOC_SHUTDOWN = 0x8004587D
WITHOUT_LOG_FLUSH = 2


def run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")


def unmount(point: Path) -> None:
    """A disk without power stays busy for a moment after its last user is gone; a frozen one is thawed."""
    subprocess.run(["fsfreeze", "-u", str(point)], capture_output=True)
    for _ in range(100):
        if not os.path.ismount(point):
            return
        if subprocess.run(["umount", str(point)], capture_output=True).returncode == 0:
            return
        time.sleep(0.05)
    subprocess.run(["umount", "-l", str(point)], capture_output=True)


def no_mount(make: Callable[[Path], tuple[str, ...]]) -> str:
    """Why this machine cannot mount what `make` makes in a folder and names."""
    if os.geteuid() != 0:
        return "needs root"
    with tempfile.TemporaryDirectory() as folder:
        point = Path(folder) / "point"
        point.mkdir()
        try:
            run("mount", *make(Path(folder)), str(point))
        except (OSError, RuntimeError) as error:
            return str(error)
        unmount(point)
    return ""


def no_tmpfs() -> str:
    return no_mount(lambda _: ("-t", "tmpfs", "none"))


@functools.cache
def no_loop() -> str:
    def make(folder: Path) -> tuple[str, ...]:
        image = folder / "image"
        with image.open("wb") as file:
            file.truncate(8 << 20)
        run("mkfs.ext4", "-q", str(image))
        return "-o", "loop", str(image)

    return no_mount(make)


class PowerDisk:
    """An ext4 of its own in a file. cut() is what losing power is to it: nothing that was not synced by then is ever
    written, and every later call fails; the file beneath keeps what had reached it."""

    def __init__(self, trial: Trial, name: str, mebibytes: int = 96) -> None:
        self.point = trial.folder / name
        self._image = trial.folder / f"{name}.img"
        with self._image.open("wb") as image:
            image.truncate(mebibytes << 20)
        run("mkfs.ext4", "-q", "-m", "0", str(self._image))
        self.point.mkdir()
        trial.callback(unmount, self.point)
        self._mount()

    def _mount(self) -> None:
        run("mount", "-o", "loop", str(self._image), str(self.point))

    def cut(self) -> int:
        """When, on the monotonic clock."""
        folder = os.open(self.point, os.O_RDONLY)
        fcntl.ioctl(folder, EXT4_IOC_SHUTDOWN, struct.pack("I", WITHOUT_LOG_FLUSH))
        os.close(folder)
        return time.monotonic_ns()

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """Whoever writes to it waits, and cannot be woken."""
        run("fsfreeze", "-f", str(self.point))
        try:
            yield
        finally:
            run("fsfreeze", "-u", str(self.point))

    def back(self) -> None:
        """Power is there again; whoever used the disk is gone."""
        unmount(self.point)
        self._mount()


class SyncWitness:
    """Another program that syncs what it writes, twice a second, on a disk like the one that will be cut: what it has
    by then, a spool has, and where builds keep the real disk busy that may be old."""

    def __init__(self, trial: Trial) -> None:
        disk = PowerDisk(trial, "witness", 16)
        self._file = (disk.point / "file").open("ab", 0)
        self._begun: list[int] = []  # of those that ended
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        trial.callback(self.stop)

    def _run(self) -> None:
        while not self._is_over.wait(0.5):
            begun = time.monotonic_ns()
            self._file.write(bytes(4096))
            os.fsync(self._file.fileno())
            self._begun.append(begun)

    def last_but_one(self) -> int:
        """When the last sync but one of those that ended began: whoever syncs as often, and out of step, has that."""
        return self._begun[-2] if len(self._begun) > 1 else 0

    def stop(self) -> None:
        self._is_over.set()
        self._thread.join()
        self._file.close()


class SmallDisk:
    """A tmpfs of a few MiB."""

    def __init__(self, trial: Trial, name: str, mebibytes: int) -> None:
        self.point = trial.folder / name
        self._ballast = self.point / "ballast"
        self.point.mkdir()
        trial.callback(unmount, self.point)
        run("mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "none", str(self.point))

    def leave(self, kibibytes: int) -> None:
        """Fills the disk up to that much."""
        room = os.statvfs(self.point)
        free = room.f_bavail * room.f_frsize
        with contextlib.suppress(OSError), self._ballast.open("ab", 0) as ballast:  # somebody else may be faster
            ballast.write(bytes(max(0, free - (kibibytes << 10))))

    def make_room(self) -> None:
        self._ballast.unlink(missing_ok=True)
