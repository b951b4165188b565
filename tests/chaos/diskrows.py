# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the scoreboard in which a disk is full, fails, or gives back other bytes."""

from __future__ import annotations

import contextlib
import errno
import signal

from disks import PowerDisk, SmallDisk
from rig import HEAL_S, REFUSED_S, Broken, Page, Trial

ERRORS = (errno.ENOSPC, errno.EIO, errno.EDQUOT)


def full_server(trial: Trial) -> None:
    disk = SmallDisk(trial, "disk", 16)
    data, spool = disk.point / "data", trial.folder / "spool"
    server, join = trial.server(data)
    driver = trial.driver(join, spool, pace_us=500)
    driver.wait_acked()
    disk.leave(trial.random.randrange(0, 600))
    last = [-1, 0]

    def is_stuck() -> bool:
        acked = driver.counted()[0]
        last[1] = last[1] + 1 if acked == last[0] else 0
        last[0] = acked
        return last[1] > 150  # looks of 10 ms

    trial.until("the disk fills up", is_stuck)
    disk.make_room()
    trial.flush(HEAL_S)
    trial.end(server, data, spool)


def full_agent(trial: Trial) -> None:
    disk = SmallDisk(trial, "disk", 2 + trial.index % 3)
    data, spool = trial.folder / "data", disk.point / "spool"
    server, join = trial.server(data)
    driver = trial.driver(join, spool, pace_us=300)
    driver.wait_acked()
    trial.stop(server)
    trial.until("samples are dropped", lambda: driver.counted()[1] > 0)
    trial.wait(0.0, 0.5)
    server = trial.again(data, join)
    driver.tell("hold")
    trial.flush(HEAL_S)
    driver.tell("go")
    trial.wait(0.1, 0.2)
    verdict = trial.end(server, data, spool)
    if verdict["dropped"] == 0:
        raise Broken("nothing was dropped in the end")


def _plan_error(trial: Trial, calls: int) -> dict[str, int]:
    """The n-th call fails, n from 1 to `calls` over the trials of the row; once, with the next one, or for a while."""
    return {
        "error": ERRORS[trial.index % len(ERRORS)],
        "fail_from": 1 + trial.index * calls // trial.count,
        "fail_count": trial.random.choice((1, 2, 25)),
    }


def _await_errors(trial: Trial, page: Page) -> None:
    """Until the errors have all been met, or for a while where whoever meets them waits longer and longer."""
    trial.until("calls that fail", lambda: page.get("failed") > 0)
    count = page.get("fail_count")
    with contextlib.suppress(Broken):
        trial.until("more of them", lambda: page.get("failed") >= count, 2.0)
    page.set(fail_from=0)


def broken_store(trial: Trial) -> None:
    data, spool = trial.folder / "data", trial.folder / "spool"
    page = trial.page("server", data)
    plan = _plan_error(trial, 160)
    # Every other trial counts from the first acknowledgement instead of from the server's start.
    is_streaming = trial.index % 2 == 1
    if not is_streaming:
        page.set(**plan)
    try:
        server, join = trial.server(data, page=page)
    except Broken:
        # It may refuse to start on a disk that is not well, in a sentence; it must not die of it.
        if "telltale:" not in trial.said("server"):
            raise
        page.set(fail_from=0)
        server, join = trial.server(data, page=page)
    driver = trial.driver(join, spool)
    if is_streaming:
        driver.wait_acked()
        page.set(**plan | {"fail_from": page.get("calls") + plan["fail_from"]})
    if page.get("fail_from") > 0:
        _await_errors(trial, page)
    trial.flush(REFUSED_S + HEAL_S)
    if server.process.poll() is not None:
        raise Broken(f"the server died: {trial.said('server')}")
    trial.end(server, data, spool)


def broken_close(trial: Trial) -> None:
    data, spool = trial.folder / "data", trial.folder / "spool"
    page = trial.page("server", data)
    server, join = trial.server(data, page=page)
    driver = trial.driver(join, spool)
    driver.wait_acked()
    trial.wait(0.0, 0.7)
    trial.flush(HEAL_S)
    driver.close()
    plan = _plan_error(trial, 40)
    page.set(**plan | {"fail_from": page.get("calls") + plan["fail_from"]})
    server.signal(signal.SIGTERM)
    # It may say that it could not close the run; the next start closes it.
    if server.end() not in (0, 1):
        raise Broken(f"the server died: {trial.said('server')}")
    page.set(fail_from=0)
    trial.stop(trial.again(data, join))
    trial.judge(data)


def broken_spool(trial: Trial) -> None:
    data, spool = trial.folder / "data", trial.folder / "spool"
    page = trial.page("agent", spool)
    page.set(**_plan_error(trial, 40))
    server, join = trial.server(data)
    driver = trial.driver(join, spool, page=page)
    driver.wait_acked()
    trial.stop(server)
    _await_errors(trial, page)
    if trial.index % 2:
        server = trial.again(data, join)
        trial.flush(HEAL_S)
        trial.end(server, data, spool)
    else:
        driver.close()
        trial.take_leftovers(spool, data)
        trial.judge(data)


def unreadable_spool(trial: Trial) -> None:
    data, spool = trial.folder / "data", trial.folder / "spool"
    page = trial.page("agent", spool)
    server, join = trial.server(data)
    driver = trial.driver(join, spool, page=page)
    driver.wait_acked()
    trial.stop(server)
    trial.wait(0.5, 1.5)
    if trial.index % 2:
        page.set(is_reading=1, error=errno.EIO, fail_from=1 + trial.index // 2, fail_count=trial.random.choice((1, 3)))
    else:
        segment = max(spool.rglob("*.seg"))
        with segment.open("r+b") as file:
            file.seek(trial.random.randrange(segment.stat().st_size * 3 // 4))
            file.write(trial.random.randbytes(64))
    server = trial.again(data, join)
    trial.flush(HEAL_S)
    verdict = trial.end(server, data, spool)
    trial.figure("at most {:.0f} samples dropped, all counted", verdict["dropped"])


def hang_server(trial: Trial) -> None:
    disk = PowerDisk(trial, "disk")
    data, spool = disk.point / "data", trial.folder / "spool"
    server, join = trial.server(data)
    trial.ranks(1, join, spool)
    trial.wait(0.0, 0.4)
    with disk.frozen():
        trial.wait(0.5, 4.0)
    trial.flush(HEAL_S)
    trial.end(server, data, spool)


def hang_agent(trial: Trial) -> None:
    """Streaming does not need the spool's disk."""
    disk = PowerDisk(trial, "disk")
    data, spool = trial.folder / "data", disk.point / "spool"
    server, join = trial.server(data)
    driver = trial.driver(join, spool)
    driver.wait_acked()
    if trial.index % 2:
        # With a spool in use.
        trial.stop(server)
        trial.wait(0.2, 0.6)
        server = trial.again(data, join)
        trial.flush(HEAL_S)
    trial.wait(0.0, 0.4)
    with disk.frozen():
        trial.wait(0.5, 3.0)
        trial.flush(HEAL_S)
    trial.end(server, data, spool)
