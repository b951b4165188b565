# SPDX-License-Identifier: GPL-3.0-or-later
"""What people do to a monitored training, and what must not happen to it then."""

from __future__ import annotations

import copy
import gc
import io
import os
import subprocess
import sys
import textwrap
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn as nn
from recording import RecordingSink
from telltale.kinds import Kind
from telltale.pytorch import TrainerMon, attentionwatch

CONFIG = {"wg_distribution": True, "xy_distribution": True, "mv_distribution": True, "ops": ["norm"]}


def small() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


def train(model: Any, optimizer: Any, steps: int = 2, width: int = 4) -> None:
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.ones(3, width)).square().sum().backward()
        optimizer.step()


def watched(model: Any, optimizer: Any, config: Any = None) -> tuple[TrainerMon, RecordingSink]:
    sink = RecordingSink()
    monitor = TrainerMon(config or CONFIG, sinks=[sink])
    monitor.set_monitor(model, optimizer=optimizer)
    return monitor, sink


def test_set_monitor_twice_counts_once() -> None:
    model = small()
    optimizer = torch.optim.Adam(model.parameters())
    monitor, sink = watched(model, optimizer)
    monitor.set_monitor(model, optimizer=optimizer)
    train(model, optimizer, 3)
    assert [frame.step for frame in sink.frames] == [0, 1, 2]
    assert sink.names(Kind.GRAD_UNREDUCED) == ["0.weight", "0.bias", "2.weight", "2.bias"]


@pytest.mark.parametrize("name", ["xy_distribution", "print_struct", "stack_info", "attention_hook"])
@pytest.mark.parametrize("is_before", [True, False])
def test_a_hook_of_the_training_may_end_the_watch(name: str, is_before: bool) -> None:
    attention = nn.MultiheadAttention(4, 2)
    model = nn.ModuleList([attention])
    register = attention.register_forward_pre_hook if is_before else attention.register_forward_hook
    register(lambda *_: monitor.close())
    config = {"telltale": {name: True}} if name == "attention_hook" else {name: True}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    monitor, sink = watched(model, optimizer, config)
    before = attention.in_proj_weight.detach().clone()
    x = torch.ones(3, 1, 4)
    attention(x, x, x)[0].square().sum().backward()
    optimizer.step()
    assert sink.closed == ["finished"] and not torch.equal(before, attention.in_proj_weight)
    assert not getattr(attentionwatch._frames, "stack", None), "a forward that nobody watches any more is remembered"


def test_a_monitor_that_nobody_keeps_lives_as_long_as_the_optimizer() -> None:
    def training() -> tuple[nn.Sequential, torch.optim.Optimizer, RecordingSink, weakref.ref[TrainerMon]]:
        model = small()
        optimizer = torch.optim.Adam(model.parameters())
        monitor, sink = watched(model, optimizer, {"wg_distribution": True})
        return model, optimizer, sink, weakref.ref(monitor)

    def train() -> tuple[RecordingSink, weakref.ref[TrainerMon]]:
        model, optimizer, sink, monitor = training()
        gc.collect()
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
        return sink, monitor

    sink, monitor = train()
    assert sink.names(Kind.GRAD_UNREDUCED)
    gc.collect()
    assert monitor() is None


def test_both_argument_orders_mean_the_same() -> None:
    for arguments in (lambda o: (2, o, None, None, 7), lambda o: (o, 2, None, None, 7)):
        model = small()
        optimizer = torch.optim.Adam(model.parameters())
        sink = RecordingSink()
        monitor = TrainerMon(CONFIG, sinks=[sink])
        monitor.set_monitor(model, *arguments(optimizer))
        train(model, optimizer, 1)
        assert sink.frames[0].step == 7
        assert monitor.engine is not None and monitor.engine.grad_acc_steps == 2


def test_without_an_optimizer_the_one_that_steps_the_model_is_watched() -> None:
    model, sink = small(), RecordingSink()
    monitor = TrainerMon(CONFIG, sinks=[sink])
    monitor.set_monitor(model)
    train(model, torch.optim.SGD(model.parameters(), lr=0.1))
    assert [frame.step for frame in sink.frames] == list(range(monitor.step)) != []


def test_something_that_is_no_model_is_refused_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    monitor = TrainerMon(CONFIG, sinks=[RecordingSink()])
    monitor.set_monitor(42, optimizer=None)
    monitor.log({"loss": 1.0})
    assert "needs a torch.nn.Module" in capsys.readouterr().err


def test_a_model_built_on_the_meta_device_is_watched_once_it_is_real() -> None:
    with torch.device("meta"):
        model = nn.Linear(4, 2)
    optimizer_of_meta = torch.optim.Adam(model.parameters())
    monitor, sink = watched(model, optimizer_of_meta)
    model.to_empty(device="cpu")
    with torch.no_grad():
        model.weight.fill_(0.5)
        model.bias.zero_()
    optimizer = torch.optim.Adam(model.parameters())
    monitor.set_monitor(model, optimizer=optimizer)
    train(model, optimizer, 2)
    assert sink.record(Kind.GRAD_UNREDUCED, "weight") is not None
    assert sink.record(Kind.GRAD_REDUCED, "weight") is not None


def test_a_replaced_parameter_is_watched_again() -> None:
    model = small()
    optimizer = torch.optim.Adam(model.parameters())
    _, sink = watched(model, optimizer)
    train(model, optimizer, 1)
    fresh = nn.Parameter(model[0].weight.detach().clone() * 2)
    model[0].weight = fresh
    optimizer.param_groups[0]["params"][0] = fresh
    train(model, optimizer, 3)
    record = sink.record(Kind.GRAD_REDUCED, "0.weight", step=3)
    assert record is not None
    assert record["sumsq"] == pytest.approx(float(fresh.grad.double().square().sum()), rel=1e-6)
    assert any("0.weight" in s and "replaced" in s for s in sink.sentences())


def test_a_deep_copy_does_not_report_into_the_original() -> None:
    model = small()
    optimizer = torch.optim.Adam(model.parameters())
    _, sink = watched(model, optimizer)
    twin = copy.deepcopy(model)
    train(model, optimizer, 1)
    before = sink.record(Kind.ACTV, "0", "output", step=0)["sumsq"]
    for _ in range(3):
        twin(torch.ones(3, 4) * 100).sum().backward()
    train(model, optimizer, 1)
    assert len(sink.frames) == 2
    assert sink.record(Kind.ACTV, "0", "output", step=1)["sumsq"] < before * 100


def test_a_watched_model_can_be_saved_and_loaded() -> None:
    model = small()
    optimizer = torch.optim.Adam(model.parameters())
    watched(model, optimizer)
    train(model, optimizer, 1)
    file = io.BytesIO()
    torch.save({"model": model, "optimizer": optimizer.state_dict()}, file)
    file.seek(0)
    loaded = torch.load(file, weights_only=False)["model"]
    assert torch.equal(loaded(torch.ones(1, 4)), model(torch.ones(1, 4)))


def test_an_error_in_the_training_passes_through_unchanged() -> None:
    class Odd(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise KeyError("my own mistake")

    model = nn.Sequential(nn.Linear(4, 4), Odd())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    watched(model, optimizer)
    with pytest.raises(KeyError, match="my own mistake"):
        model(torch.ones(1, 4))


def test_an_error_inside_the_monitor_never_reaches_the_training() -> None:
    model = small()
    optimizer = torch.optim.Adam(model.parameters())
    monitor, sink = watched(model, optimizer)
    engine = monitor.engine
    assert engine is not None

    def broken(*_: Any) -> str:
        raise RuntimeError("a bug of the monitor")

    engine.measurer.one = broken  # type: ignore[method-assign]
    engine.measurer.batch = broken  # type: ignore[method-assign, assignment]
    train(model, optimizer, 6)
    assert engine.strikes.total > 0
    assert any("switched off" in s for s in sink.sentences())
    assert sum("a bug of the monitor" in s for s in sink.sentences()) <= 12


def test_a_broken_sink_stops_neither_training_nor_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    class Broken(RecordingSink):
        def write(self, frame: Any) -> None:
            raise OSError(28, "No space left on device")

    model = small()
    optimizer = torch.optim.Adam(model.parameters())
    good = RecordingSink()
    monitor = TrainerMon(CONFIG, sinks=[Broken(), good])
    monitor.set_monitor(model, optimizer=optimizer)
    train(model, optimizer, 3)
    assert [frame.step for frame in good.frames] == [0, 1, 2]
    assert capsys.readouterr().err.count("No space left") == 1


def test_frozen_parameters_and_unused_ones_have_no_rows() -> None:
    model = small()
    model[0].weight.requires_grad_(False)
    model.unused = nn.Linear(3, 3)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad])
    monitor, sink = watched(model, optimizer, {"wg_distribution": True})
    for _ in range(2):
        optimizer.zero_grad()
        model[2](model[1](model[0](torch.ones(2, 4)))).sum().backward()
        optimizer.step()
    assert sink.names(Kind.GRAD_UNREDUCED) == ["0.bias", "2.weight", "2.bias"]
    monitor.close()


def test_a_frozen_parameter_has_empty_series_of_no_kind_and_gets_its_own_once_it_trains() -> None:
    model = small()
    model[0].weight.requires_grad_(False)
    optimizer = torch.optim.Adam(model.parameters())
    config = {"wg_distribution": True, "mv_distribution": True, "param_distribution": True}
    monitor, sink = watched(model, optimizer, config)

    def series(kind: Kind) -> list[str]:
        engine = monitor._engine
        assert engine is not None
        return [desc.name for desc in engine.table(kind).series]

    train(model, optimizer, 2)
    for kind in (Kind.GRAD_REDUCED, Kind.EXP_AVG, Kind.EXP_AVG_SQ):
        assert series(kind) == ["0.bias", "2.weight", "2.bias"]
    assert series(Kind.PARAM_ORIGIN) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    model[0].weight.requires_grad_(True)
    train(model, optimizer, 2)
    for kind in (Kind.GRAD_REDUCED, Kind.EXP_AVG, Kind.EXP_AVG_SQ):
        assert series(kind) == ["0.bias", "2.weight", "2.bias", "0.weight"]
    assert sink.record(Kind.GRAD_REDUCED, "0.weight") is not None
    assert sink.record(Kind.GRAD_REDUCED, "0.weight", step=1) is None


def run(script: str, tmp_path: Path, timeout: float = 60, **environment: str) -> subprocess.CompletedProcess[str]:
    """A training in a process of its own, spooling into tmp_path."""
    file = tmp_path / "training.py"
    file.write_text(textwrap.dedent(script))
    env = dict(os.environ, TELLTALE_MODE="offline", TELLTALE_DIR=str(tmp_path / "spool"), OMP_NUM_THREADS="1")
    env.pop("TELLTALE_JOIN", None)
    env.update(environment)
    return subprocess.run([sys.executable, str(file)], env=env, capture_output=True, text=True, timeout=timeout)


PREPARE = """
    import os, signal, sys
    import torch, torch.nn as nn
    import telltale
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.Adam(model.parameters())
    monitor = telltale.watch(model, optimizer)
    def step():
        optimizer.zero_grad()
        model(torch.ones(3, 4)).sum().backward()
        optimizer.step()
"""


def spooled(tmp_path: Path) -> int:
    return sum(file.stat().st_size for file in (tmp_path / "spool").rglob("*") if file.is_file())


def test_the_end_of_the_interpreter_loses_nothing_and_does_not_hang(tmp_path: Path) -> None:
    done = run(PREPARE + "\n    for _ in range(5): step()\n", tmp_path)
    assert done.returncode == 0, done.stderr
    assert spooled(tmp_path) > 500


def test_an_exception_ends_the_process_with_its_own_traceback(tmp_path: Path) -> None:
    done = run(PREPARE + "\n    step()\n    raise ValueError('diverged')\n", tmp_path)
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("ValueError: diverged")
    assert spooled(tmp_path) > 0


def test_ctrl_c_ends_the_training_at_once_and_keeps_its_data(tmp_path: Path) -> None:
    # Who runs the tests in the background has it ignored.
    heed = "\n    signal.signal(signal.SIGINT, signal.default_int_handler)"
    done = run(PREPARE + heed + "\n    step()\n    os.kill(os.getpid(), signal.SIGINT)\n    step()\n", tmp_path)
    assert done.returncode in (1, 130, -2)
    assert "KeyboardInterrupt" in done.stderr
    assert spooled(tmp_path) > 0


def test_a_forked_child_stays_silent_and_the_parent_goes_on(tmp_path: Path) -> None:
    script = (
        PREPARE
        + """
    step()
    child = os.fork()
    if child == 0:
        step()
        os._exit(0 if not monitor.engine.collecting else 3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    step()
    print("steps", monitor.step)
    """
    )
    done = run(script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "steps 2" in done.stdout


def test_data_loader_workers_do_not_disturb(tmp_path: Path) -> None:
    script = (
        PREPARE
        + """
    from torch.utils.data import DataLoader, TensorDataset
    for batch, in DataLoader(TensorDataset(torch.ones(12, 4)), batch_size=3, num_workers=2):
        optimizer.zero_grad(); model(batch).sum().backward(); optimizer.step()
    print("steps", monitor.step)
    """
    )
    done = run(script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "steps 4" in done.stdout


def test_a_wrong_join_string_is_named_and_training_goes_on(tmp_path: Path) -> None:
    done = run(
        PREPARE + "\n    step()\n    print('trained')\n", tmp_path, TELLTALE_JOIN="nonsense", TELLTALE_MODE="online"
    )
    assert done.returncode == 0, done.stderr
    assert "trained" in done.stdout
    assert "join" in done.stderr.lower()


def test_a_disabled_agent_does_nothing(tmp_path: Path) -> None:
    done = run(PREPARE + "\n    step()\n    print('trained')\n", tmp_path, TELLTALE_MODE="disabled")
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "spool").exists() or spooled(tmp_path) == 0


def test_what_is_logged_after_the_last_step_is_in_the_files_without_finish(tmp_path: Path) -> None:
    script = """
import torch, telltale
model = torch.nn.Linear(4, 3); optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
telltale.watch(model, optimizer, {"format": ["csv"], "wg_distribution": True})
for step in range(1, 9):
    model(torch.ones(2, 4)).square().sum().backward(); optimizer.step(); optimizer.zero_grad()
    telltale.log({"loss": 100 + step}, step=step)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=dict(os.environ, MONITOR_OUTPUT_DIR=str(tmp_path)),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0 and "not written" not in done.stderr, done.stderr
    text = "".join(path.read_text() for path in tmp_path.rglob("scalar_*.csv"))
    assert all(f"0,loss,{step},{100 + step}" in text for step in range(1, 9)), text


@pytest.mark.parametrize("config", [[], 42, b"{}", 1.5])
def test_a_config_of_a_wrong_type_is_one_sentence(config: Any, capsys: pytest.CaptureFixture[str]) -> None:
    monitor = TrainerMon(config, sinks=[RecordingSink()])
    assert f"not {type(config).__name__}; the defaults are used" in capsys.readouterr().err
    monitor.close()


@pytest.mark.parametrize("step", ["5", 0.5, float("nan"), 1 << 62, None, [1], -(1 << 63)])
def test_a_step_that_is_none_is_told_and_left_out(step: Any, capsys: pytest.CaptureFixture[str]) -> None:
    sink = RecordingSink()
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    monitor = TrainerMon({"wg_distribution": True}, sinks=[sink])
    monitor.set_monitor(model, optimizer=optimizer)
    monitor.log({"bad": 1.0, "huge": 10**400}, step=step)
    monitor.log({"good": 2.0}, step=0.0)  # type: ignore[arg-type] - a whole number all the same
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    monitor.close()
    said = capsys.readouterr().err
    assert ("must be a whole number" in said) == (step is not None)
    assert "internal error" not in said
    assert sink.scalar("good") == {0: 2.0} and (sink.scalar("bad") == {}) == (step is not None)
