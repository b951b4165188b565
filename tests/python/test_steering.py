# SPDX-License-Identifier: GPL-3.0-or-later
"""A training that is offered configs while it runs."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn as nn
from offers import ACCEPTED, APPLIED, EVERYTHING, IN_FORCE, REFUSED, WEIGHTS, Offers
from ranks import run_ranks
from recording import RecordingSink
from serving import BUILD
from telltale import configfile, native
from telltale.agent import steering
from telltale.agent.dynamic import ConfigFile
from telltale.kinds import Kind
from telltale.pytorch import TrainerMon
from telltale.sinks.stream import StreamSink
from torch.nn.parallel import DistributedDataParallel

OFF = {"dynamic_on": False, "wg_distribution": True}
PUSHED: list[dict[str, Any]] = [
    EVERYTHING,
    OFF,
    WEIGHTS,
    {"dynamic_on": True, "xy_distribution": True, "targets": {"2": {}}, "step_interval": 2},
    {"dynamic_on": True, "wg_distribution": True, "collect_times": 2},
    {"dynamic_on": True, "step_interval": 0},  # refused
]


@pytest.fixture
def offers() -> Iterator[Offers]:
    server = Offers()
    yield server
    server.close()


class Job:
    """A training that streams to the server, and to a sink that keeps everything."""

    def __init__(self, join: str, spool: Path, config: Any = None, model: Any = None) -> None:
        torch.manual_seed(0)
        self.model = model or nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)
        self.sink = RecordingSink()
        self.monitor: TrainerMon | None = None
        if join:
            self.monitor = TrainerMon(
                config or WEIGHTS,
                sinks=[StreamSink(), self.sink],
                agent={"join": join, "spool_dir": str(spool), "batch_ms": 10},
            )
            self.monitor.set_monitor(self.model, optimizer=self.optimizer)

    def step(self, count: int = 1) -> None:
        for _ in range(count):
            self.optimizer.zero_grad()
            self.model(torch.randn(6, 4)).square().mean().backward()
            self.optimizer.step()

    def step_until(self, condition: Any) -> None:
        end = time.monotonic() + 20
        while not condition():
            assert time.monotonic() < end
            self.step()
            time.sleep(0.005)

    @property
    def now(self) -> int:
        assert self.monitor is not None
        return self.monitor.step

    def steps(self, kind: Kind) -> list[int]:
        return self.sink.steps(kind)

    def close(self) -> None:
        if self.monitor is not None:
            self.monitor.close()

    def bits(self) -> list[bytes]:
        return [parameter.detach().numpy().tobytes() for parameter in self.model.parameters()]


@pytest.fixture
def job(offers: Offers, tmp_path: Path) -> Iterator[Job]:
    made = Job(offers.join, tmp_path)
    offers.wait(0, IN_FORCE)
    yield made
    made.close()


def push_every_seven_steps(job: Job, offers: Offers, steps: int) -> int:
    """How many configs were put in force."""
    applied = 0
    for step in range(steps):
        if step % 7 == 0:
            rev = offers.offer(PUSHED[step // 7 % len(PUSHED)])
            applied += offers.wait(rev, ACCEPTED, REFUSED)["status"] == ACCEPTED
        job.step()
    return applied


def test_weights_are_bitwise_the_same_with_a_config_every_seven_steps(job: Job, offers: Offers) -> None:
    applied = push_every_seven_steps(job, offers, 200)
    bare = Job("", Path())
    bare.step(200)
    assert job.bits() == bare.bits()
    job.close()
    heard = [answer for answer in offers.heard if answer["status"] == APPLIED]
    assert applied == 25 and len(heard) >= applied - 1
    assert not [said for said in job.sink.sentences() if "internal error" in said]


def _rank(rank: int, _world: int, joins: list[str], folder: str, steps: int) -> None:
    bits = []
    for join in (joins[rank], ""):
        torch.manual_seed(0)
        inner = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
        job = Job(join, Path(folder) / str(rank), model=DistributedDataParallel(inner))
        torch.manual_seed(rank)
        for step in range(steps):
            job.step()
            if join and step % 7 == 0:
                Path(folder, f"rank{rank}").write_text(str(step))
                end = time.monotonic() + 30
                while not Path(folder, f"offered{step}").exists():
                    assert time.monotonic() < end
                    time.sleep(0.002)
        bits.append(job.bits())
        job.close()
    assert bits[0] == bits[1]


@pytest.mark.parametrize("steps", [64, pytest.param(200, marks=pytest.mark.long)])
def test_ranks_of_ddp_train_bitwise_the_same_and_change_at_the_same_step(tmp_path: Path, steps: int) -> None:
    servers = [Offers(), Offers()]
    answers: list[list[dict[str, Any]]] = []

    def push() -> None:
        for step in range(0, steps, 7):
            while any(
                not (place := tmp_path / f"rank{rank}").exists() or place.read_text() not in (str(step),)
                for rank in range(2)
            ):
                time.sleep(0.002)
            revs = [server.offer(PUSHED[step // 7 % len(PUSHED)], step + 3) for server in servers]
            answers.append([server.wait(rev, ACCEPTED, REFUSED) for server, rev in zip(servers, revs)])
            (tmp_path / f"offered{step}").touch()

    pusher = threading.Thread(target=push, daemon=True)
    pusher.start()
    run_ranks(_rank, [server.join for server in servers], str(tmp_path), steps)
    pusher.join(10)
    applied = []
    for server in servers:
        rev = server._rev
        try:
            server.wait(rev, APPLIED, timeout=1)
        except AssertionError:
            pass  # refused, or the last one
        applied.append([(a["rev"], a["step"]) for a in server.heard if a["status"] == APPLIED])
        server.close()
    assert applied[0] == applied[1] and len(applied[0]) >= steps // 7 * 5 // 6 - 1
    assert all(step == (rev - 1) * 7 + 3 for rev, step in applied[0])


def test_the_switch_works_without_dynamic_monitor(job: Job, offers: Offers) -> None:
    job.step(3)
    off = offers.offer(OFF, at := job.now + 4)
    offers.wait(off, ACCEPTED)
    job.step(8)
    assert offers.wait(off, APPLIED)["step"] == at
    assert job.steps(Kind.GRAD_REDUCED) == list(range(at))
    on = offers.offer({**WEIGHTS, "param_distribution": True}, again := job.now + 5)
    offers.wait(on, ACCEPTED)
    job.step(9)
    assert offers.wait(on, APPLIED)["step"] == again
    assert job.steps(Kind.PARAM_ORIGIN) == list(range(again, job.now))
    assert job.steps(Kind.GRAD_REDUCED) == [*range(at), *range(again, job.now)]


def test_a_collection_that_ends_is_said(job: Job, offers: Offers) -> None:
    rev = offers.offer({**WEIGHTS, "collect_times": 3})
    offers.wait(rev, ACCEPTED)
    job.step(6)
    applied = offers.wait(rev, APPLIED)
    ended = offers.wait(rev, IN_FORCE)
    assert ended["step"] == applied["step"] + 3 and "collect_times" in ended["reason"]
    assert not json.loads(ended["json"]).get("dynamic_on", False)
    assert job.steps(Kind.GRAD_REDUCED)[-1] == ended["step"] - 1
    # Counted anew.
    rev = offers.offer({**WEIGHTS, "collect_times": 4})
    offers.wait(rev, ACCEPTED)
    job.step(8)
    assert offers.wait(rev, IN_FORCE)["step"] == offers.heard[-2]["step"] + 4


def test_hooks_in_compiled_code_are_refused_and_what_runs_goes_on(offers: Offers, tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.Sequential(nn.Linear(8, 8), nn.Tanh()), nn.Linear(8, 2))
    model[1].compile(backend="eager")
    job = Job(offers.join, tmp_path, model=model)
    offers.wait(0, IN_FORCE)
    rev = offers.offer({"dynamic_on": True, "xy_distribution": True, "targets": {"1": {}}})
    offers.wait(rev, ACCEPTED)
    job.step(2)
    refused = offers.wait(rev, REFUSED)
    assert "compiled" in refused["reason"] and "1" in refused["reason"]
    job.step(2)
    assert job.steps(Kind.GRAD_REDUCED) == list(range(job.now)) and not job.steps(Kind.ACTV)
    rev = offers.offer({"dynamic_on": True, "xy_distribution": True, "targets": {"0": {}, "1": {}}})
    offers.wait(rev, ACCEPTED)
    job.step(2)
    assert offers.wait(rev, APPLIED) and job.steps(Kind.ACTV)
    job.close()


def test_what_fails_half_way_is_refused_and_what_ran_goes_on(
    job: Job, offers: Offers, monkeypatch: pytest.MonkeyPatch
) -> None:
    job.step(2)
    engine = job.monitor.engine if job.monitor is not None else None
    assert engine is not None
    watch, failures = engine._watch, []

    def failing(found: Any, parts: Any) -> None:
        watch(found, parts)
        if not failures:
            failures.append(True)
            raise RuntimeError("no room for a hook")

    monkeypatch.setattr(engine, "_watch", failing)
    rev = offers.offer({**EVERYTHING})
    offers.wait(rev, ACCEPTED)
    job.step(3)
    assert "no room for a hook" in offers.wait(rev, REFUSED)["reason"]
    assert job.steps(Kind.GRAD_REDUCED) == list(range(job.now))
    assert not job.steps(Kind.PARAM_ORIGIN) and not job.steps(Kind.ACTV)
    rev = offers.offer({**EVERYTHING})
    offers.wait(rev, ACCEPTED)
    job.step(2)
    assert offers.wait(rev, APPLIED) and job.steps(Kind.PARAM_ORIGIN) and job.steps(Kind.LINEAR)


TEXT = '{\n  // what we watch\n  "dynamic_on": true,\n  "wg_distribution": true, // gradients\n}\n'


def test_what_only_the_jobs_own_file_may_change_is_known_here_as_in_the_core(job: Job, offers: Offers) -> None:
    changed: dict[str, Any] = {}
    for name, field in configfile.SCHEMA["properties"].items():
        for one, inner in field.get("properties", {}).items() or [(name, field)]:
            owner = name if one != name else ""
            if inner.get("type") == "boolean" and (owner, one) not in configfile.LOCAL:
                (changed.setdefault(owner, {}) if owner else changed)[one] = not inner["default"]
    changed |= {"targets": {"0": {}}, "l2_targets": {"linear_hook": ["0"]}, "module_ranks": [1], "ops": ["nans"]}
    changed |= {"eps": 0.5, "ndigits": 3, "step_count_per_record": 2, "start_step": 1, "step_interval": 2}
    changed |= {"sa_order": "b,s,h,d", "collect_times": 7, "dynamic_on": False}
    changed["alert"] = {"rules": [{"rule_name": "AnomalyNan"}]}
    changed["telltale"] |= {"threads": 2, "attention_queries": 5, "actv_grad_input": "total"}
    whole = native.read_config(json.dumps(changed))["config"]
    began = native.read_config("{}")["config"]
    assert configfile.local_part(whole) == configfile.local_part(began)
    assert offers.wait(offers.offer(changed), ACCEPTED, REFUSED)["status"] == ACCEPTED
    values: list[Any] = ["csv", ["Dec03_21-34-40", "Dec03_21-34-41"], ["a"], True, True, True, 2, False]
    assert len(values) == len(configfile.LOCAL)
    for (owner, name), value in zip(configfile.LOCAL, values):
        local = {**WEIGHTS, **({owner: {name: value}} if owner else {name: value})}
        assert configfile.local_part(native.read_config(json.dumps(local))["config"]) != configfile.local_part(began)
        assert "own config.json" in offers.wait(offers.offer(local), REFUSED, ACCEPTED)["reason"]


def test_the_overhead_budget_is_the_jobs_own(offers: Offers, tmp_path: Path) -> None:
    own = {"overhead_budget": 0.5}
    job = Job(offers.join, tmp_path, {**WEIGHTS, "telltale": own})
    offers.wait(0, IN_FORCE)
    job.step(3)
    for other in ({}, {"overhead_budget": None}, {"overhead_budget": 0}, {"overhead_budget": 80}):
        answer = offers.wait(offers.offer({**EVERYTHING, "telltale": other}), REFUSED, ACCEPTED)
        assert answer["status"] == REFUSED and "/telltale/overhead_budget" in answer["reason"]
        job.step(2)
        assert job.monitor is not None and job.monitor.config.overhead_budget == 0.5
    rev = offers.offer({**EVERYTHING, "telltale": own})
    offers.wait(rev, ACCEPTED)
    job.step(2)
    assert offers.wait(rev, APPLIED) and job.monitor.config.overhead_budget == 0.5
    engine = job.monitor.engine
    assert engine is not None and engine._budgeted is not None
    job.close()


def in_place(path: Path, text: str) -> None:
    """As editors save: who looks in between must not find half of it."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)


def job_with_file(offers: Offers, folder: Path) -> tuple[Job, Path]:
    path = folder / "config.json"
    path.write_text(TEXT)
    return Job(offers.join, folder, str(path)), path


def watch_of(job: Job) -> ConfigFile:
    watch = job.monitor.config_watch if job.monitor is not None else None
    assert watch is not None
    return watch


@pytest.mark.parametrize("is_dynamic", [False, True])
def test_what_is_applied_is_written_to_the_jobs_file(
    offers: Offers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_dynamic: bool
) -> None:
    if is_dynamic:
        monkeypatch.setenv("DYNAMIC_MONITOR", "True")
    job, path = job_with_file(offers, tmp_path)
    assert offers.wait(0, IN_FORCE)["reason"] == "the config of the start"
    for ndigits in (3, 4, 5):
        rev = offers.offer({**WEIGHTS, "param_distribution": True, "ndigits": ndigits})
        offers.wait(rev, ACCEPTED)
        job.step()
        offers.wait(rev, APPLIED)
    job.step_until(lambda: '"ndigits": 5' in path.read_text())
    assert "// what we watch" in path.read_text() and "// gradients" in path.read_text()
    assert '"param_distribution": true' in path.read_text()
    watch = watch_of(job)
    if is_dynamic:
        assert watch.look_now()
        job.step(3)  # its own writing is no news: what follows is the next that is said
        in_place(path, path.read_text().replace('"ndigits": 5', '"ndigits": 6'))
        assert watch.look_now()
        job.step()
        assert [a["rev"] for a in offers.heard if a["status"] == IN_FORCE] == [0]
        said = offers.wait(0, IN_FORCE)
        assert said["reason"] == "config.json was edited" and json.loads(said["json"])["ndigits"] == 6
    job.close()


@pytest.mark.parametrize("text", [TEXT, TEXT.replace('"dynamic_on": true,', "")])
def test_without_dynamic_monitor_an_edit_is_seen_while_a_dashboard_is_there(
    offers: Offers, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "config.json"
    path.write_text(text)
    job = Job(offers.join, tmp_path, str(path))
    offers.wait(0, IN_FORCE)
    job.step(2)
    in_place(path, text.replace("}", '  "param_distribution": true, "collect_times": 4\n}'))
    assert watch_of(job).look_now()
    job.step(2)
    said = offers.wait(0, IN_FORCE)
    edited = json.loads(said["json"])
    assert said["reason"] == "config.json was edited" and said["step"] == 3
    assert edited["dynamic_on"] and edited["param_distribution"]
    # The dashboard makes a revision of it for all ranks: what runs here goes on, and collects no more for it.
    rev = offers.offer(edited)
    offers.wait(rev, ACCEPTED)
    job.step(2)
    # Answered once the file has it: what follows cannot be written together with it.
    assert offers.wait(rev, APPLIED)["step"] == 5
    job.step(2)
    assert offers.wait(rev, IN_FORCE)["reason"] == "collect_times is reached"
    assert job.steps(Kind.PARAM_ORIGIN) == [3, 4, 5, 6] and job.steps(Kind.GRAD_REDUCED) == list(range(7))
    job.step_until(lambda: '"dynamic_on": false' in path.read_text())
    job.close()


@pytest.mark.parametrize("is_dynamic", [False, True])
def test_a_file_that_says_nothing_of_the_switch_goes_on_as_before(
    offers: Offers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_dynamic: bool
) -> None:
    if is_dynamic:
        monkeypatch.setenv("DYNAMIC_MONITOR", "True")
    path = tmp_path / "config.json"
    path.write_text(json.dumps(WEIGHTS if is_dynamic else {"wg_distribution": True}))
    job = Job(offers.join, tmp_path, str(path))
    offers.wait(0, IN_FORCE)

    def edit(fields: str) -> None:
        in_place(path, '{"wg_distribution": true, // "dynamic_on": false\n' + fields + "}")
        assert watch_of(job).look_now()
        job.step(2)

    first = int(is_dynamic)  # hooks of one step collect from the next
    for digits in range(3, 6):
        edit(f'"ndigits": {digits}')
        assert json.loads(offers.wait(0, IN_FORCE)["json"])["dynamic_on"]
    assert job.steps(Kind.GRAD_REDUCED) == list(range(first, 6))
    edit('"dynamic_on": false')
    edit('"ndigits": 6')  # what is off stays so, too
    assert job.steps(Kind.GRAD_REDUCED) == list(range(first, 7))
    edit('"dynamic_on": true')
    edit('"collect_times": 0')
    assert job.steps(Kind.GRAD_REDUCED) == [*range(first, 7), 11, 12]
    said = [text for text in job.sink.sentences() if text.startswith("nothing is collected")]
    assert [text.rpartition(": ")[2].split()[0] for text in said] == ["dynamic_on", "collect_times"]
    job.close()


@pytest.mark.parametrize("is_dynamic", [False, True])
def test_an_edit_collects_at_the_steps_of_the_ranks_that_get_it_by_the_dashboard(
    offers: Offers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_dynamic: bool
) -> None:
    if is_dynamic:
        monkeypatch.setenv("DYNAMIC_MONITOR", "True")
    jobs = []
    for rank in range(2):
        (tmp_path / str(rank)).mkdir()
        job, path = job_with_file(offers, tmp_path / str(rank))
        offers.wait(0, IN_FORCE)
        job.step(3)
        if rank == 0:
            in_place(path, TEXT.replace("true,", 'true, "step_interval": 5,', 1))
            assert watch_of(job).look_now()
            job.step(3)
            edited = json.loads(offers.wait(0, IN_FORCE)["json"])
        else:
            rev = offers.offer(edited)
            offers.wait(rev, ACCEPTED)
            job.step(3)
            offers.wait(rev, APPLIED)
        job.step(10)
        job.close()
        jobs.append(job)
    assert [[step for step in job.steps(Kind.GRAD_REDUCED) if step > 3] for job in jobs] == [[5, 10, 15]] * 2


def test_without_dynamic_monitor_and_a_dashboard_an_edit_is_not_looked_for(offers: Offers, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(TEXT)
    job = Job(offers.join, tmp_path, str(path))
    offers.wait(0, IN_FORCE)
    assert job.monitor is not None
    offers.close()
    job.step_until(lambda: not job.monitor.counters()["connected"])
    in_place(path, TEXT.replace("true", "false"))
    assert watch_of(job).look_now()
    job.step(2)
    assert job.steps(Kind.GRAD_REDUCED) == list(range(job.now))
    job.close()


@pytest.mark.parametrize("is_dynamic", [False, True])
def test_what_was_written_late_is_no_edit(
    offers: Offers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_dynamic: bool
) -> None:
    if is_dynamic:
        monkeypatch.setenv("DYNAMIC_MONITOR", "True")
    job, path = job_with_file(offers, tmp_path)
    offers.wait(0, IN_FORCE)
    sync, writing, may_go = os.fsync, threading.Event(), threading.Event()
    unanswered: list[bool] = []

    def slow_sync(handle: int) -> None:
        writing.set()
        assert may_go.wait(20)
        unanswered.append(job.monitor is not None and job.monitor._steering._answer is not None)  # type: ignore[union-attr]
        sync(handle)

    monkeypatch.setattr(os, "fsync", slow_sync)
    monkeypatch.setattr(steering, "_WRITING", 0.2)
    for ndigits in (3, 4):
        rev = offers.offer({**WEIGHTS, "ndigits": ndigits})
        offers.wait(rev, ACCEPTED)
        job.step()
        assert writing.wait(20) and not offers.so_far(APPLIED)[rev - 1 :]
        job.step_until(lambda: offers.so_far(APPLIED)[-1:] == [offers.newest])  # a disk that hangs holds up nobody
    monkeypatch.setattr(steering, "_WRITING", 20.0)
    offers.wait(offers.offer({**WEIGHTS, "ndigits": 5}), ACCEPTED)
    job.step()
    may_go.set()
    offers.wait(3, APPLIED)
    assert '"ndigits": 5' in path.read_text()
    assert unanswered[2]  # an older text on the disk answers nothing
    for _ in range(2):
        assert watch_of(job).look_now()
        job.step()
    offers.wait(offers.offer({**WEIGHTS, "ndigits": 5}), ACCEPTED)
    job.step()
    offers.wait(4, APPLIED)
    assert [answer["rev"] for answer in offers.heard if answer["status"] == IN_FORCE] == [0]
    assert '"ndigits": 5' in path.read_text()
    job.close()


def test_asking_costs_about_a_microsecond_a_step(job: Job) -> None:
    assert job.monitor is not None
    poll = job.monitor._steering.poll  # type: ignore[union-attr]
    began = time.perf_counter()
    for _ in range(20_000):
        poll(0)
    each = (time.perf_counter() - began) / 20_000
    print(f"poll with nothing offered: {each * 1e6:.2f} us")
    assert each < 50e-6  # the bound is for a machine that is busy


def test_the_agent_for_cpp_changes_at_its_step_and_writes_the_file(offers: Offers, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(TEXT)
    trainer = subprocess.Popen(
        [str(BUILD / "bin" / "telltale-demo-trainer"), "--config", str(path), "--steps", "100000", "--width", "16"],
        env=dict(os.environ, TELLTALE_JOIN=offers.join, TELLTALE_DIR=str(tmp_path / "spool")),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert offers.wait(0, IN_FORCE, timeout=60)["reason"] == "the config of the start"
        now = offers.wait(offers.offer({"dynamic_on": True, "param_distribution": True}), ACCEPTED)["step"]
        assert offers.wait(1, APPLIED)["step"] >= now
        at = now + 200
        rev = offers.offer({"dynamic_on": False, "param_distribution": True}, at)
        assert offers.wait(rev, APPLIED)["step"] == at
        end = time.monotonic() + 20
        while '"param_distribution": true' not in (text := path.read_text()) or '"dynamic_on": false' not in text:
            assert time.monotonic() < end
            time.sleep(0.01)
        assert "// gradients" in text or "// what we watch" in text
    finally:
        trainer.kill()
        trainer.wait()
