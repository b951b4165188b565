# SPDX-License-Identifier: GPL-3.0-or-later
"""The alert rules over a recorded run find what they found while it trained, and what msprobe's own find in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from goldentraining import HAS_ORIGINAL
from serving import BUILD, TELLTALE, Server
from steeredrun import SteeredRun
from telltale.alertjudge import as_float
from telltale.compat.msprobe import anomaly_replay
from telltale.compat.msprobe.packedrun import PackedRun

TURBULENCE = {"rule_name": "AnomalyTurbulence", "args": {"threshold": 0.5}}
NAN = {"rule_name": "AnomalyNan", "args": {"threshold": 1e10}}
EVERYTHING = {
    "param_distribution": True,
    "wg_distribution": True,
    "xy_distribution": True,
    "mv_distribution": True,
    "ur_distribution": True,
    "mg_direction": True,
    "ops": ["norm", "mean", "min", "max", "zeros", "nans"],
    "alert": {"rules": [TURBULENCE, NAN], "dump": True},
}


class Recorded:
    """A demo training that a server recorded while its alerts were written."""

    def __init__(self, folder: Path, config: dict[str, Any], *arguments: str) -> None:
        self.folder = folder
        self.live = folder / "output" / "anomaly_detected"
        self.config = folder / "config.json"
        self.config.write_text(json.dumps(config))
        self.server = Server(folder / "data")
        try:
            self.train(0, *arguments)
        finally:
            self.server.stop()

    def train(self, restart: int, *arguments: str) -> None:
        small = ["--layers", "2", "--heads", "2", "--width", "16", "--config", str(self.config)]
        environment = dict(
            os.environ,
            TELLTALE_JOIN=self.server.join,
            TELLTALE_DIR=str(self.folder / "spool"),
            TELLTALE_RUN_ID="recorded",
            TORCHELASTIC_RESTART_COUNT=str(restart),
            TELLTALE_AGENT_LIBRARY=str(BUILD / "lib" / "libtelltale_agent.so"),
            MONITOR_OUTPUT_DIR=str(self.folder / "output"),
        )
        command = [sys.executable, "-m", "telltale", "train-demo", *small, *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    @property
    def capsule(self) -> str:
        return capsule_of(self.folder)

    def entries(self, rank: int = 0) -> dict[str, Any]:
        return entries_of(self.live, rank)


def capsule_of(folder: Path) -> str:
    [found] = (folder / "data").rglob("*.telltale")
    return str(found)


def entries_of(folder: Path, rank: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / f"rank{rank}" / "anomaly.json").read_text())
    return found


def replayed(run: str, folder: Path, *arguments: str) -> Path:
    out = folder / "replayed"
    assert anomaly_replay.main([run, "-o", str(out), "--program", str(TELLTALE), *arguments]) == 0
    return out


def assert_same(live: dict[str, Any], again: dict[str, Any]) -> None:
    """All of them, and each to the last digit; a NaN is equal to itself."""
    assert set(again) == set(live)
    assert {key: repr(again[key]) for key in live} == {key: repr(entry) for key, entry in live.items()}


@pytest.fixture(scope="module")
def nan(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    config = EVERYTHING | {"telltale": {"attention_hook": True}}
    folder = tmp_path_factory.mktemp("nan")
    return Recorded(folder, config, "--steps", "30", "--fault", "nan-backward@20:blocks.0.mlp.fc2")


def test_a_recorded_run_has_the_alerts_that_its_training_had(nan: Recorded, tmp_path: Path) -> None:
    live, again = nan.entries(), entries_of(replayed(nan.capsule, tmp_path))
    assert_same(live, again)
    kinds = {key.partition("_step_")[0].rpartition("/")[2] for key in live}
    assert kinds >= {"actv", "actv_grad", "acc_grad", "post_grad", "exp_avg", "param_updated", "update", "qkt"}
    assert [entry["step"] for entry in again.values()] == [entry["step"] for entry in live.values()]
    in_order = ("actv", "post_grad", "exp_avg", "exp_avg_sq", "param_origin", "param_updated", "mg_direction")
    assert of_kinds(again, in_order) == of_kinds(live, in_order), "what has one order stands in it"


def of_kinds(entries: dict[str, Any], kinds: tuple[str, ...]) -> list[str]:
    return [key for key, entry in entries.items() if entry["tag_name"].rpartition("/")[2] in kinds]


def test_infinities_and_the_mended_form_are_alike_on_every_rank(tmp_path: Path) -> None:
    config = EVERYTHING | {"telltale": {"alert_two_sided": True}}
    run = Recorded(tmp_path, config, "--steps", "60", "--ranks", "2", "--fault", "inf@45:blocks.1.mlp.fc1:1")
    out = replayed(run.capsule, tmp_path)
    for rank in (0, 1):
        live = run.entries(rank)
        assert_same(live, entries_of(out, rank))
        assert {entry["rank"] for entry in live.values()} == {rank}
        assert all(entry["group_mates"] == [0, 1] for entry in live.values())
    assert any("current value inf" in entry["message"] for entry in run.entries(1).values())


def test_routers_stable_ranks_and_short_names_are_alike(tmp_path: Path) -> None:
    routers = ["blocks.0.mlp.router", "blocks.1.mlp.router"]
    config = EVERYTHING | {
        "squash_name": True,
        "recording_l2_features": True,
        "l2_targets": {
            "moe_router_logit_hook": routers,
            "moe_router_weight_hook": routers,
            "linear_hook": ["blocks.0.attn.qkv", "blocks.1.attn.proj"],
        },
        "alert": {"rules": [NAN, {"rule_name": "AnomalyTurbulence", "args": {"threshold": 0.0}}], "dump": True},
    }
    run = Recorded(tmp_path, config, "--steps", "12", "--model", "moe", "--fault", "nan@8:blocks.1.attn")
    live = run.entries()
    assert_same(live, entries_of(replayed(run.capsule, tmp_path)))
    kinds = {entry["tag_name"].rpartition("/")[2] for entry in live.values()}
    assert kinds >= {"router_logit", "actv"}


def test_each_attempt_of_a_restarted_run_is_its_own(tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"
    run = Recorded(tmp_path, EVERYTHING, "--steps", "20", "--checkpoint", f"{checkpoint}@10")
    first = run.entries()
    run.server.start()
    try:
        run.train(1, "--steps", "25", "--resume", str(checkpoint))
    finally:
        run.server.stop()
    assert min(entry["step"] for entry in run.entries().values()) > 10
    assert_same(run.entries(), entries_of(replayed(run.capsule, tmp_path / "last")))
    assert_same(first, entries_of(replayed(run.capsule, tmp_path / "first", "--attempt", "0")))


def test_the_rules_that_were_put_in_force_count_from_then_on(tmp_path: Path) -> None:
    run = SteeredRun(tmp_path)
    output = str(tmp_path / "output")
    alert = {"rules": [{"rule_name": "AnomalyTurbulence", "args": {"threshold": 5.0}}, NAN], "dump": True}
    close = {"rules": [{"rule_name": "AnomalyTurbulence", "args": {"threshold": 0.02}}], "dump": True}
    try:
        start = {"dynamic_on": True, "wg_distribution": True, "alert": alert}
        run.start(0, CONFIG=json.dumps(start), MONITOR_OUTPUT_DIR=output)
        run.wait_for_steps(30)
        code, said = run.push(start | {"alert": close})
        assert code == 0, said
        run.wait_for_steps(said["ranks"][0]["step"] + 60)
        run.stop()
    finally:
        run.close()
    live = entries_of(tmp_path / "output" / "anomaly_detected")
    assert any(entry["step"] > said["ranks"][0]["step"] for entry in live.values())
    assert_same(live, entries_of(replayed(capsule_of(tmp_path), tmp_path)))


def shown(run: str, stat: str) -> Iterator[tuple[int, str, str, str, float]]:
    """step, name, kind, stat, value, by another way out of the run than the replay's."""
    command = [str(TELLTALE), "show", run, "--series", "*.*", "--stat", stat, "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for series in json.loads(done.stdout)["series"]:
        for value in series["values"]:
            yield value["step"], series["name"], series["kind"], stat, float(np.float32(value["value"]))


@pytest.mark.skipif(not HAS_ORIGINAL, reason="mindstudio-probe is not installed")
def test_msprobes_own_rules_find_the_same_in_the_same_numbers(nan: Recorded, tmp_path: Path) -> None:
    sys.modules.setdefault("megatron", None)  # type: ignore[arg-type]
    from msprobe.core.monitor.anomaly_processor import AnomalyDataFactory, AnomalyDataWriter, AnomalyScanner
    from msprobe.pytorch.monitor.data_writers import BaseWriterWithAD, WriterInput

    tasks = {"grad_reduced": "post_grad", "exp_avg": "exp_avg", "exp_avg_sq": "exp_avg_sq"}
    rules = AnomalyScanner.load_rules([TURBULENCE, NAN])
    original = BaseWriterWithAD(WriterInput("", rules, "", AnomalyDataFactory(0, 0, [0]), 6, 1))
    samples = [one for stat in ("norm", "mean") for one in shown(nan.capsule, stat) if one[2] in tasks]
    for step, name, kind, stat, value in sorted(samples, key=lambda one: (one[0], list(tasks).index(one[2]))):
        original.add_scalar((f"0:{name}/rank0/{tasks[kind]}", stat), value, step)
    theirs = AnomalyDataWriter.get_anomaly_dict(original.get_anomalies())
    config = tmp_path / "config.json"
    config.write_text(json.dumps(EVERYTHING | {"ops": ["norm", "mean"]}))
    again = entries_of(replayed(nan.capsule, tmp_path, "--config", str(config)))
    ours = {f"{e['tag_name']}_step_{e['step']}": e["message"] for e in again.values()}
    wanted = {f"{e['tag_name']}_step_{e['step']}": e["message"] for e in theirs.values()}
    assert len(wanted) > 300 and any("current value nan" in message for message in wanted.values())
    assert {key: message for key, message in ours.items() if key.rpartition("_step_")[0].endswith(tuple(tasks.values()))
            } == wanted  # fmt: skip


def test_another_config_is_applied_in_place_of_the_runs_own(nan: Recorded, tmp_path: Path) -> None:
    config = tmp_path / "nan.json"
    config.write_text(json.dumps({"ops": ["min"], "alert": {"rules": [{"rule_name": "AnomalyNan"}]}}))
    again = entries_of(replayed(nan.capsule, tmp_path, "--config", str(config)))
    assert min(entry["step"] for entry in again.values()) == 20
    assert all("Rule AnomalyNan" in entry["message"] and "'norm')" not in entry["message"] for entry in again.values())
    assert any(key.startswith("0:blocks.0.mlp.fc2.weight/rank0/post_grad_step_20_") for key in again)


def test_the_frames_have_every_step_and_every_value(nan: Recorded) -> None:
    run = PackedRun(nan.capsule, str(TELLTALE))
    steps: dict[str, dict[int, float]] = defaultdict(dict)
    for _, frame in run.frames():
        for table in frame.tables:
            if table.kind.word == "grad_reduced":
                for desc, value in zip(table.series, table.column("norm")):
                    steps[desc.name][frame.step] = float(value)
    run.close()
    wanted: dict[str, dict[int, float]] = defaultdict(dict)
    for step, name, kind, _, value in shown(nan.capsule, "norm"):
        if kind == "grad_reduced":
            wanted[name][step] = value
    assert repr(dict(sorted(steps.items()))) == repr(dict(sorted(wanted.items())))


def test_what_is_judged_is_a_float_and_stays_finite() -> None:
    given = np.array([0.1, 1e300, -1e300, np.inf, -np.inf, np.nan, 1e-50])
    most = float(np.finfo(np.float32).max)
    assert repr(as_float(given).tolist()) == repr([float(np.float32(0.1)), most, -most, np.inf, -np.inf, np.nan, 0.0])


def test_what_cannot_be_done_is_one_sentence(
    nan: Recorded, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("quiet.json").write_text('{"ops": ["norm"]}')
    Path("broken.json").write_text("{")
    Path("file").touch()
    Path("not.telltale").write_text("nothing of the kind")
    cases = [
        (["nowhere.telltale"], 1, "nowhere.telltale"),
        (["not.telltale"], 1, "not.telltale"),
        ([nan.capsule, "--attempt", "7"], 1, "the run has no attempt 7"),
        ([nan.capsule, "--config", "nowhere.json"], 2, "cannot read nowhere.json: No such file or directory"),
        ([nan.capsule, "--config", "broken.json"], 2, "broken.json"),
        ([nan.capsule, "--config", "quiet.json"], 2, "quiet.json has no alert rules: `alert` needs `rules`"),
        ([nan.capsule, "-o", "file"], 1, "anomaly.json cannot be written below file: "),
        ([nan.capsule, "--program", "./telltale"], 1, "./telltale cannot be started (No such file or directory)"),
        ([nan.capsule, "--program", "/bin/true"], 1, "telltale ended unexpectedly"),
    ]
    for arguments, code, said in cases:
        program = [] if "--program" in arguments else ["--program", str(TELLTALE)]
        out = [] if "-o" in arguments else ["-o", "out"]
        assert anomaly_replay.main([*arguments, *program, *out]) == code, arguments
        [sentence] = capfd.readouterr().err.splitlines()
        assert said in sentence and sentence.startswith("anomaly_replay: "), sentence
        assert not Path("out").exists(), arguments
