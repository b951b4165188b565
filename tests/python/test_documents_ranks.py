# SPDX-License-Identifier: GPL-3.0-or-later
"""What the documents say of jobs with several ranks: process groups, communication, and the switch that is written
back."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
import torch.nn as nn
from ranks import Recorder, run_ranks
from telltale.agent.commpart import StopAfterCcLog
from telltale.agent.dynamic import collecting_here
from telltale.kinds import Kind
from telltale.pytorch import TrainerMon
from telltale.pytorch.commpart import CommPart


class Training:
    """Data parallel by hand: gradients are reduced between backward and step."""

    def __init__(self, config: Any, sinks: Any = None, **groups: Any) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
        self.model[0].weight.tensor_model_parallel = True
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.monitor = TrainerMon(config, groups.pop("process_group", None), sinks=sinks)
        self.monitor.set_monitor(self.model, grad_acc_steps=1, optimizer=self.optimizer, **groups)

    def steps(self, count: int, poison: bool = False, reduces: bool = True) -> None:
        for _ in range(count):
            self.optimizer.zero_grad()
            self.model(torch.full((2, 4), dist.get_rank() + 1.0)).square().sum().backward()
            for parameter in self.model.parameters() if reduces else ():
                dist.all_reduce(parameter.grad)
            if poison:
                self.model[2].bias.grad[0] = float("nan")
            self.optimizer.step()
        self.monitor.close()


def at(folder: str, name: str) -> Path:
    """Output of one part of the test, one folder for all ranks."""
    os.environ["MONITOR_OUTPUT_DIR"] = str(Path(folder, name))
    return Path(folder, name)


def cells(out: Path, rank: int, file: str) -> list[str]:
    return [row[1] for path in out.glob(f"*-rank{rank}-*/{file}") for row in csv.reader(path.open(newline=""))][1:]


def of_groups(rank: int, folder: str) -> None:
    every = ["0.weight", "0.bias", "2.weight", "2.bias"]
    config = {"wg_distribution": True, "format": ["csv", "tensorboard"]}
    for group, left in (("dp_group", []), ("tp_group", ["0.weight"])):
        out = at(folder, group)
        Training(config, **{group: dist.group.WORLD}).steps(1)
        dist.barrier()
        assert cells(out, 0, "grad_reduced_0-0.csv") == every, group
        assert cells(out, 1, "grad_reduced_0-0.csv") == left, group
        assert sorted(cells(out, rank, "grad_unreduced_0-0.csv")) == sorted(every), group
        [events] = out.glob("*-rank1-*/events.out.tfevents.*")
        assert (b"0:0.weight/rank1/post_grad_norm" in events.read_bytes()) == bool(left)
        assert b"0:2.bias/rank1/post_grad_norm" not in events.read_bytes()
    recorder = Recorder()
    Training(config, [recorder], dp_group=dist.group.WORLD).steps(1)
    assert recorder.names(Kind.GRAD_REDUCED, 0) == set(every), "the stream has every rank"


def of_the_pipeline(rank: int, folder: str) -> None:
    out = at(folder, "pipeline")
    rules = {"rules": [{"rule_name": "AnomalyNan", "args": {"threshold": 1e10}}], "dump": True}
    config = {"wg_distribution": True, "alert": rules, "format": "csv"}
    Training(config, process_group=dist.new_group([1, 0])).steps(1, poison=True)
    [(key, entry)] = json.loads((out / f"anomaly_detected/rank{rank}/anomaly.json").read_text()).items()
    assert key.startswith(f"0:2.bias/rank{rank}/post_grad_step_0_call_")
    assert (entry["group_mates"], entry["pp_stage"]) == ([0, 1], rank)


def of_communication(rank: int, folder: str) -> None:
    at(folder, "communication")
    config: dict[str, Any] = {"cc_distribution": {"enable": True, "cc_codeline": [], "cc_pre_hook": True}}
    found = []
    for is_on_host in (True, False):
        if not is_on_host:  # as for tensors on a device: measured where they lie, fetched at the end of the step
            CommPart._is_on_host = staticmethod(lambda _tensor: False)  # type: ignore[method-assign]
        recorder = Recorder()
        Training(config, [recorder]).steps(3)
        found.append([(desc, values) for step in range(3) for desc, values in recorder.found(Kind.COMM, step)])
    here, there = found
    assert len(here) == len(there) == 6, [desc.name for desc, _ in here]
    for (desc, values), (other, others) in zip(here, there):
        assert (desc.name, desc.slot, desc.numel) == (other.name, other.slot, other.numel)
        assert "all_reduce" in desc.name and values["norm"] > 0
        for name in values.dtype.names:
            assert float(others[name]) == pytest.approx(float(values[name]), rel=1e-6), name
    logged = Training(
        {"cc_distribution": {"enable": True, "cc_log_only": True}, "telltale": {"stop_after_cc_log": True}}
    )
    with pytest.raises(StopAfterCcLog):
        logged.steps(3)
    assert logged.optimizer.state[logged.model[2].bias]["step"] == 1, "before the second step"
    logged.monitor.close()
    for reduces in (True, False):
        recorder = Recorder()
        Training({"cc_distribution": {"enable": True, "cc_log_only": True}}, [recorder]).steps(3, reduces=reduces)
        tables = [text for text in recorder.sentences if text.startswith("collectives by call site")]
        assert len(tables) == int(reduces), "none where nothing was called"
        assert all("all_reduce 8x, torch.float32, group " in text for text in tables), tables
        assert any("no collective has been called" in text for text in recorder.sentences) != reduces


def of_the_switch(rank: int, folder: str) -> None:
    """Two ranks of one node of which one collects; two nodes with a file of their own each."""
    os.environ["DYNAMIC_MONITOR"] = "True"
    at(folder, "switch")
    text = '{"dynamic_on": true, "collect_times": 1, "wg_distribution": true, "module_ranks": [1]}'
    for name, place in (("shared", {"LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": "2"}), (f"own{rank}", None)):
        os.environ.update(place or {"LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1"})
        path = Path(folder, f"{name}.json")
        path.write_text(text if place else text.replace(', "module_ranks": [1]', ""))
        dist.barrier()
        Training(str(path)).steps(4)
        dist.barrier()
        assert json.loads(path.read_text())["dynamic_on"] is False, name
    del os.environ["DYNAMIC_MONITOR"]


def work(rank: int, _world: int, folder: str) -> None:
    of_groups(rank, folder)
    of_the_pipeline(rank, folder)
    of_the_switch(rank, folder)
    of_communication(rank, folder)


def test_groups_communication_and_the_switch_are_as_documented(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run_ranks(work, str(tmp_path))
    out, err = capfd.readouterr()
    # Printed by the lowest rank before the second step, with stack, element type and group; once a training.
    logs = out.split("telltale: collectives by call site, element type and process group:\n")[1:]
    assert len(logs) == 4
    for log in logs:
        [entry] = json.JSONDecoder().raw_decode(log)[0]["all_reduce"]
        assert entry["dtype"] == "torch.float32" and entry["group"] and entry["calls"] == 8
        caller = next(line for line in entry["stack"] if "test_documents_ranks.py[" in line)
        assert caller.endswith("   steps")
    assert err.count("files leave out the reduced gradients of 4 parameters") == 1
    assert err.count("files leave out the reduced gradients of 3 parameters") == 1
    assert '"stop_after_cc_log": true' in err and "failed" not in err and "internal error" not in err


@pytest.mark.parametrize(
    ("rank", "environment", "module_ranks", "collecting"),
    [
        (5, {"LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "4"}, [], [4, 5, 6, 7]),
        (5, {"LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "4"}, [1, 5, 6], [5, 6]),
        (5, {"OMPI_COMM_WORLD_LOCAL_RANK": "1", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}, [], [4, 5]),
        (5, {"LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"}, [9], [4, 5]),
        (5, {}, [], [5]),
        (5, {"LOCAL_RANK": "x", "LOCAL_WORLD_SIZE": "2"}, [], [5]),
        (0, {"LOCAL_RANK": "3", "LOCAL_WORLD_SIZE": "4"}, [], [0]),
    ],
)
def test_the_launcher_says_which_ranks_share_a_file(
    monkeypatch: pytest.MonkeyPatch, rank: int, environment: dict[str, str], module_ranks: list[int], collecting: Any
) -> None:
    for name in ("LOCAL_RANK", "LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert collecting_here(rank, module_ranks) == collecting
