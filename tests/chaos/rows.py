# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of the scoreboard. A row decides only what breaks and when; what must hold afterwards is the judge's."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from diskrows import (
    ERRORS,
    broken_close,
    broken_spool,
    broken_store,
    full_agent,
    full_server,
    hang_agent,
    hang_server,
    unreadable_spool,
)
from disks import PowerDisk, SyncWitness, no_loop, no_tmpfs
from network import LossyLink, Relay
from rig import HEAL_S, REFUSED_S, Broken, Page, Program, Trial

SILENCE_S = 15.0  # both ends give up a peer that says nothing for so long


def kill_server(trial: Trial) -> None:
    data, spool = trial.folder / "data", trial.folder / "spool"
    server, join = trial.server(data)
    trial.ranks(1 + trial.index % 2, join, spool)
    if trial.index % 4 == 1:
        # In the middle of taking in what was kept while it was away.
        trial.stop(server)
        trial.wait(0.2, 0.8)
        server = trial.again(data, join)
        trial.wait(0.0, 0.5)
    else:
        trial.wait(0.0, 0.8)
    if trial.index % 4 == 2:
        # While it closes its runs.
        server.signal(signal.SIGTERM)
        trial.wait(0.0, 0.1)
    server.kill()
    server = trial.again(data, join)
    trial.flush(HEAL_S)
    trial.end(server, data, spool)


def kill_agent(trial: Trial) -> None:
    data, spool = trial.folder / "data", trial.folder / "spool"
    server, join = trial.server(data)
    driver = trial.driver(join, spool)
    driver.wait_acked()
    is_away = trial.index % 2 == 1
    if is_away:
        trial.stop(server)
        trial.wait(0.1, 1.0)
    trial.wait(0.0, 0.4)
    driver.kill()
    if is_away:
        server = trial.again(data, join)
    if trial.index % 4 < 2:
        # The next attempt of the same training delivers what the killed one left.
        following = trial.driver(join, spool)
        following.wait_acked()
        trial.end(server, data, spool)
    else:
        if trial.random.random() < 0.5:
            trial.take_leftovers(spool, data)
        trial.stop(server)
        trial.take_leftovers(spool, data)
    verdict = trial.judge(data)
    trial.figure("lost, at most {:.0f} ms", verdict["lost_ms"])


def _relayed(trial: Trial, data: Path, page: Page | None = None) -> tuple[Program, Relay, str]:
    """A server, a relay in front of it, and the server's own join string."""
    server, join = trial.server(data, page=page)
    return server, Relay(trial, join), join


def cut_server(trial: Trial, swallows_syncs: bool = False) -> None:
    disk = PowerDisk(trial, "disk")
    data, spool = disk.point / "data", trial.folder / "spool"
    page = trial.page("server", disk.point)
    server, relay, join = _relayed(trial, data, page)
    trial.ranks(1 + trial.index % 2, relay.join, spool)
    page.set(swallows_syncs=int(swallows_syncs))
    trial.wait(0.1, 1.5)
    # A machine without power says nothing more. Here the process lives on for a moment, and an fdatasync that the cut
    # meets half way returns 0 for what is lost (any program sees that, once in 30 cuts).
    relay.reset()
    disk.cut()
    server.kill()
    disk.back()
    server = trial.again(data, join)
    relay.heal()
    trial.flush(HEAL_S)
    trial.end(server, data, spool)


def cut_server_without_syncs(trial: Trial) -> None:
    cut_server(trial, swallows_syncs=True)


def cut_agent(trial: Trial) -> None:
    disk = PowerDisk(trial, "disk")
    data, spool = trial.folder / "data", disk.point / "spool"
    server, join = trial.server(data)
    driver = trial.driver(join, spool)
    driver.wait_acked()
    witness = SyncWitness(trial)
    trial.stop(server)
    trial.wait(0.5, 8.0)
    at, could = disk.cut(), witness.last_but_one()
    driver.kill()
    disk.back()
    if trial.index % 2:
        server = trial.again(data, join)
        following = trial.driver(join, spool)
        following.wait_acked()
        following.close()
        trial.stop(server)
    trial.take_leftovers(spool, data)
    # The spool is synced once a second. The rest is for a busy processor; of a busy disk the witness knows.
    verdict = trial.judge(data, kept_before=min(at - 5_000_000_000, could - 2_000_000_000))
    trial.figure("lost, at most {:.0f} ms", verdict["lost_ms"])


def half_open(trial: Trial) -> None:
    data, spool = trial.folder / "data", trial.folder / "spool"
    server, relay, _ = _relayed(trial, data)
    driver = trial.driver(relay.join, spool)
    driver.wait_acked()
    trial.wait(0.0, 0.4)
    relay.lose_connections()
    trial.wait(0.0, 2.0)
    trial.flush(SILENCE_S + HEAL_S)
    trial.end(server, data, spool)


def one_way(trial: Trial) -> None:
    data, spool = trial.folder / "data", trial.folder / "spool"
    server, relay, _ = _relayed(trial, data)
    driver = trial.driver(relay.join, spool)
    driver.wait_acked()
    trial.wait(0.0, 0.4)
    relay.go_deaf("agent" if trial.index % 2 else "server")
    # Every fifth lasts until both ends have given up.
    trial.wait(*((16.0, 18.0) if trial.index % 5 == 4 else (0.2, 3.0)))
    relay.heal()
    trial.flush(HEAL_S)
    trial.end(server, data, spool)


def reset(trial: Trial) -> None:
    data, spool = trial.folder / "data", trial.folder / "spool"
    server, relay, _ = _relayed(trial, data)
    driver = trial.driver(relay.join, spool)
    driver.wait_acked()
    for _ in range(3):
        trial.wait(0.0, 0.4)
        relay.reset()
        trial.wait(0.0, 0.3)
        relay.heal()
    trial.flush(HEAL_S)
    trial.end(server, data, spool)


def loss(trial: Trial) -> None:
    link = LossyLink(trial, 0.2)
    data, spool = trial.folder / "data", trial.folder / "spool"
    server, join = trial.server(data, f"{link.address}:0", namespace=link.server_space)
    driver = trial.driver(join, spool, namespace=link.agent_space, pace_us=5000)
    driver.wait_acked()
    trial.wait(1.0, 3.0)
    trial.flush(60.0)  # still at 20 %
    driver.close()
    if link.lost < 10:
        raise RuntimeError(f"the link lost {link.lost} packets of {link.carried}")
    trial.stop(server)
    trial.take_leftovers(spool, data)
    trial.judge(data)


def jump_clock(trial: Trial) -> None:
    data, spool = trial.folder / "data", trial.folder / "spool"
    page = trial.page("clock", trial.folder / "nothing")
    server, join = trial.server(data, page=page)
    driver = trial.driver(join, spool, page=page)
    driver.wait_acked()
    for _ in range(8):
        hours = trial.random.choice((-1, 1)) * trial.random.uniform(1, 48)
        page.set(clock_offset_ns=int(hours * 3600e9))
        trial.wait(0.05, 0.25)
    trial.flush(HEAL_S)
    verdict = trial.end(server, data, spool)
    if verdict["reconnects"] > 0:
        raise Broken("a jump of the wall clock ended the connection")


def freeze_server(trial: Trial) -> None:
    data, spool = trial.folder / "data", trial.folder / "spool"
    server, join = trial.server(data)
    driver = trial.driver(join, spool)
    driver.wait_acked()
    trial.wait(0.0, 0.3)
    server.signal(signal.SIGSTOP)
    trial.wait(SILENCE_S + 1, SILENCE_S + 4)
    server.signal(signal.SIGCONT)
    trial.flush(HEAL_S)
    trial.end(server, data, spool)


def judge_sees(trial: Trial) -> None:
    """The judge itself: whatever is changed behind its back, it says so."""
    data, spool = trial.folder / "data", trial.folder / "spool"
    server, join = trial.server(data)
    driver = trial.driver(join, spool)
    driver.wait_acked()
    trial.wait(0.3, 0.6)
    trial.end(server, data, spool)
    lines = driver.oracle.read_text().splitlines(keepends=True)
    issued = [line for line in lines if line.startswith("i ")]
    closing = lines[-1].split()

    def must_see(what: str, text: list[str]) -> None:
        driver.oracle.write_text("".join(text))
        if not any(what in problem for problem in trial.verdict(data)["problems"]):
            raise Broken(f"the judge does not see: {what}")

    must_see("was never issued", [line for line in lines if line != issued[7]])
    must_see("was never issued", [*lines, f"d {issued[3].split()[1]}\n"])
    must_see("are not stored", [*lines[:-1], "i 9000000 1\n", f"a {int(closing[2]) + 96} 0\n"])
    closing[1] = str(int(closing[1]) + 96)
    must_see("is not stored", [*lines[:-1], "i 9000000 1\n", " ".join(closing) + "\n"])
    must_see("capsule tells of", [*lines[:-1], *[" ".join([*closing[:3], "96", *closing[4:]]) + "\n"]])
    driver.oracle.write_text("".join(lines))
    capsule = next((data / "runs").glob("*.telltale"))
    shutil.copy(capsule, capsule.with_name("second.telltale"))
    must_see("2 runs where", lines)
    capsule.with_name("second.telltale").unlink()
    with capsule.open("r+b") as file:
        file.seek(capsule.stat().st_size - 4000)
        file.write(bytes(3000))
    if not trial.verdict(data)["problems"]:
        raise Broken("the judge does not see damage")


def mix(trial: Trial) -> None:
    """Five faults one after the other in one run of two ranks, each before the last one is over or after it."""
    disk = trial.folder / "disk"
    data, spool = disk / "data", disk / "spool"
    page = trial.page("both", disk)
    server, relay, join = _relayed(trial, data, page)
    trial.ranks(2, relay.join, spool, page)
    for _ in range(5):
        fault = trial.random.choice(("kill", "stop", "errors", "deaf", "reset", "lose", "freeze", "clock"))
        if fault in ("kill", "stop"):
            page.set(fail_from=0)
            server.kill() if fault == "kill" else trial.stop(server)
            trial.wait(0.0, 0.5)
            server = trial.again(data, join, page)
        elif fault == "errors":
            error, count = trial.random.choice(ERRORS), trial.random.choice((1, 3, 10))
            page.set(error=error, fail_count=count, fail_from=page.get("calls") + trial.random.randrange(1, 30))
        elif fault == "deaf":
            relay.go_deaf(*trial.random.sample(("agent", "server"), trial.random.choice((1, 2))))
        elif fault == "reset":
            relay.reset()
        elif fault == "lose":
            relay.lose_connections()
        elif fault == "freeze":
            server.signal(signal.SIGSTOP)
            trial.wait(0.1, 1.0)
            server.signal(signal.SIGCONT)
        else:
            page.set(clock_offset_ns=trial.random.randrange(-100_000, 100_000) * 10**9)
        trial.wait(0.0, 0.6)
        if trial.random.random() < 0.5:
            relay.heal()
            page.set(fail_from=0)
    relay.heal()
    page.set(fail_from=0)
    trial.flush(SILENCE_S + REFUSED_S + HEAL_S)
    trial.end(server, data, spool)


def no_namespaces() -> str:
    if os.geteuid() != 0:
        return "needs root"
    if not shutil.which("ip") or not shutil.which("nsenter") or not os.path.exists("/dev/net/tun"):
        return "needs ip, nsenter and /dev/net/tun"
    made = subprocess.run(["ip", "netns", "add", f"ttc{os.getpid()}"], capture_output=True)
    subprocess.run(["ip", "netns", "del", f"ttc{os.getpid()}"], capture_output=True)
    return "" if made.returncode == 0 else "needs network namespaces"


def nothing_missing() -> str:
    return ""


@dataclass(frozen=True)
class Row:
    key: str
    title: str
    full: int  # trials of `--all`
    short: int  # of the form that is among the tests
    run: Callable[[Trial], None]
    missing: Callable[[], str] = nothing_missing  # why it cannot run here
    must_fail: bool = False  # a control: it shows that the judge sees


ROWS = [
    Row("judge", "control: a judge that is lied to says so", 5, 1, judge_sees),
    Row("server-kill", "server killed (SIGKILL): streaming, catching up, closing", 200, 4, kill_server),
    Row("agent-kill", "agent killed (SIGKILL): server there; server away", 200, 4, kill_agent),
    Row("server-power", "power cut of the server's disk", 100, 2, cut_server, no_loop),
    Row("agent-power", "power cut of the training's host", 100, 2, cut_agent, no_loop),
    Row("no-sync", "control: power cut, syncs swallowed", 20, 3, cut_server_without_syncs, no_loop, must_fail=True),
    Row("half-open", "partition: half-open, nobody is told", 25, 1, half_open),
    Row("one-way", "partition: one direction", 25, 2, one_way),
    Row("reset", "partition: RST, three times", 25, 2, reset),
    Row("loss", "20 % of all packets lost (TLS)", 25, 1, loss, no_namespaces),
    Row("server-full", "server's disk full, then room again", 20, 1, full_server, no_tmpfs),
    Row("agent-full", "spool's disk full while the server is away", 20, 1, full_agent, no_tmpfs),
    Row("server-errors", "store: ENOSPC, EIO, EDQUOT at the n-th call", 240, 2, broken_store),
    Row("close-errors", "the same while the server closes the run", 120, 2, broken_close),
    Row("agent-errors", "spool: ENOSPC, EIO, EDQUOT at the n-th call", 120, 2, broken_spool),
    Row("agent-reads", "spool: EIO or changed bytes as it is read back", 50, 2, unreadable_spool),
    Row("clock", "wall clock jumps by hours, forth and back", 50, 1, jump_clock),
    Row("mix", "five of these faults in one run of two ranks", 100, 2, mix),
    Row("server-frozen", "server's disk hangs for a while (fsfreeze)", 20, 1, hang_server, no_loop),
    Row("agent-frozen", "spool's disk hangs (fsfreeze) while the server is there", 20, 1, hang_agent, no_loop),
    Row("freeze", "server stopped (SIGSTOP) beyond the timeout", 20, 1, freeze_server),
]
