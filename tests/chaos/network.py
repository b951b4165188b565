# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks of a trial: a relay between agent and server that goes deaf or breaks, and a link that loses packets."""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import select
import socket
import struct
import threading
from typing import Any

from disks import run
from rig import Trial

TUNSETIFF = 0x400454CA
IFF_TUN_NO_PI = 0x1001
RESET = struct.pack("ii", 1, 0)


class Pair:
    """One relayed connection."""

    def __init__(self, agent: socket.socket, server: socket.socket) -> None:
        self.agent = agent
        self.server = server
        self.is_dead = False  # its ends have lost each other and are not told
        self.waiting = {agent: b"", server: b""}  # read from the one, not yet taken by the other

    def other(self, end: socket.socket) -> socket.socket:
        return self.server if end is self.agent else self.agent

    def close(self, by_reset: bool = False) -> None:
        for end in (self.agent, self.server):
            if by_reset:
                with contextlib.suppress(OSError):
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            end.close()


class Relay:
    """Relays bytes between agents and the server, in a thread of its own. While a direction is deaf its bytes wait, as
    a network's would in the sender's kernel; a lost connection is never told to either end."""

    def __init__(self, trial: Trial, join: str) -> None:
        port = join.split("#")[0].rsplit(":", 1)[1]
        self._target = ("127.0.0.1", int(port))
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._listening.setblocking(False)
        # What the agent is told instead of the server's own.
        self.join = join.replace(f":{port}#", f":{self._listening.getsockname()[1]}#", 1)
        self._lock = threading.Lock()
        self._pairs: list[Pair] = []
        self._deaf: set[str] = set()  # "agent", "server": whose words go nowhere
        self._refuses = False
        self._wake_read, self._wake_write = os.pipe()
        self._is_over = False
        self._thread = threading.Thread(target=self._relay, daemon=True)
        self._thread.start()
        trial.callback(self._close)

    def go_deaf(self, *ends: str) -> None:
        with self._lock:
            self._deaf = set(ends)
        os.write(self._wake_write, b".")

    def heal(self) -> None:
        with self._lock:
            self._deaf = set()
            self._refuses = False
        os.write(self._wake_write, b".")

    def lose_connections(self) -> None:
        """Every connection of now is dead for ever, and both ends believe in it."""
        with self._lock:
            for pair in self._pairs:
                pair.is_dead = True

    def reset(self) -> None:
        """Ends every connection by RST; new ones are refused until heal()."""
        with self._lock:
            self._refuses = True
            for pair in self._pairs:
                pair.close(by_reset=True)
            self._pairs.clear()
        os.write(self._wake_write, b".")

    def _close(self) -> None:
        self._is_over = True
        os.write(self._wake_write, b".")
        self._thread.join()
        for pair in self._pairs:
            pair.close()
        self._listening.close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def _relay(self) -> None:
        while not self._is_over:
            with self._lock:
                reading: list[Any] = [self._wake_read, self._listening]
                writing: list[Any] = []
                for pair in self._pairs:
                    if pair.is_dead:
                        continue
                    for end, name in ((pair.agent, "agent"), (pair.server, "server")):
                        if name in self._deaf:
                            continue
                        if pair.waiting[end]:
                            writing.append(pair.other(end))
                        else:
                            reading.append(end)
            try:
                readable, writable, _ = select.select(reading, writing, [], 1.0)
            except (OSError, ValueError):  # a socket was reset meanwhile
                continue
            if self._wake_read in readable:
                os.read(self._wake_read, 64)
            with self._lock:
                if self._listening in readable:
                    self._accept()
                for pair in list(self._pairs):
                    self._move(pair, readable, writable)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            agent, _ = self._listening.accept()
            if self._refuses:
                agent.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                agent.close()
                return
            try:
                server = socket.create_connection(self._target, 5)
            except OSError:
                agent.close()
                return
            for end in (agent, server):
                end.setblocking(False)
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._pairs.append(Pair(agent, server))

    def _move(self, pair: Pair, readable: list[Any], writable: list[Any]) -> None:
        try:
            for end in (pair.agent, pair.server):
                if end in readable and not pair.waiting[end]:
                    got = end.recv(65536)
                    if not got:
                        raise ConnectionError
                    pair.waiting[end] = got
                if pair.waiting[end] and (pair.other(end) in writable or end in readable):
                    with contextlib.suppress(BlockingIOError):
                        sent = pair.other(end).send(pair.waiting[end])
                        pair.waiting[end] = pair.waiting[end][sent:]
        except OSError:
            pair.close()
            self._pairs.remove(pair)


class LossyLink:
    """Two network namespaces with a link between them that loses a share of all packets: two TUN devices, and a thread
    that carries packets from one to the other."""

    def __init__(self, trial: Trial, loss: float) -> None:
        name = f"ttc{os.getpid() % 100000}x{trial.index}"
        self.server_space, self.agent_space = name + "s", name + "a"
        self.address = "10.77.0.1"
        self.lost = self.carried = 0
        self._random = random.Random(trial.random.random())
        self._loss = loss
        self._devices = []
        for space, address in ((self.server_space, "10.77.0.1/30"), (self.agent_space, "10.77.0.2/30")):
            run("ip", "netns", "add", space)
            trial.callback(run, "ip", "netns", "del", space)
            device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            self._devices.append(device)
            fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", space.encode(), IFF_TUN_NO_PI))
            run("ip", "link", "set", space, "netns", space)
            run("ip", "-n", space, "address", "add", address, "dev", space)
            run("ip", "-n", space, "link", "set", space, "up")
            run("ip", "-n", space, "link", "set", "lo", "up")
        self._is_over = False
        self._thread = threading.Thread(target=self._carry, daemon=True)
        self._thread.start()
        trial.callback(self._close)

    def _close(self) -> None:
        self._is_over = True
        self._thread.join()
        for device in self._devices:
            os.close(device)

    def _carry(self) -> None:
        first, second = self._devices
        while not self._is_over:
            for device in select.select(self._devices, [], [], 0.1)[0]:
                with contextlib.suppress(BlockingIOError, OSError):
                    packet = os.read(device, 65536)
                    if self._random.random() < self._loss:
                        self.lost += 1
                        continue
                    os.write(second if device == first else first, packet)
                    self.carried += 1
