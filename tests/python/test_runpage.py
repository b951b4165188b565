# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run says of itself: hyperparameters, tags, notes, texts, images, environment, system metrics, console."""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import logging
import os
import shlex
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import telltale
import torch
from recording import RecordingSink
from serving import Server
from telltale import environment, images, runpage, systemmetrics
from telltale.agent.monitor import latest
from telltale.consolecapture import ConsoleCapture
from telltale.plainvalue import Plain


class PageSink(RecordingSink):
    """A recording sink that takes pages as the stream does."""

    def __init__(self) -> None:
        super().__init__()
        self.documents: list[tuple[str, int, str]] = []  # of events

    def takes_pages(self) -> bool:
        return True

    def event(self, kind: str, step: int, text: str, json: str = "{}", rule: str = "") -> None:
        super().event(kind, step, text, json, rule)
        self.documents.append((kind, step, json))

    def of(self, kind: str) -> list[tuple[str, int, bytes]]:
        return [(name, step, data) for one, name, step, data in self.blobs if one == kind]

    def newest(self, kind: str) -> Any:
        return json.loads(self.of(kind)[-1][2])


class Training:
    """A small watched training."""

    def __init__(self, sink: PageSink, **options: Any) -> None:
        torch.manual_seed(3)
        self.model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.monitor = telltale.watch(self.model, self.optimizer, sinks=[sink], **options)

    def step(self) -> float:
        self.optimizer.zero_grad()
        loss = self.model(torch.ones(2, 4)).square().sum()
        loss.backward()
        self.optimizer.step()
        return float(loss.detach())


@pytest.fixture
def sink() -> Iterator[PageSink]:
    telltale.finish()
    if (left := latest()) is not None:  # by a test before: it would get these settings
        left.close()
    yield PageSink()
    telltale.finish()
    telltale.capture_console(False)


def wait(found: Callable[[], Any], seconds: float = 30) -> Any:
    end = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.01)
    return value


# -- hyperparameters ---------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Settings:
    width: int = 8
    act: Any = torch.nn.ReLU


class Hostile:
    def __str__(self) -> str:
        raise RuntimeError("no")


def test_settings_of_several_calls_add_up_before_and_after_watch(sink: PageSink) -> None:
    telltale.hyperparameters({"optimizer": {"lr": 0.1, "betas": (0.9, 0.95)}, "seed": 1})
    training = Training(sink)
    telltale.hyperparameters({"optimizer": {"lr": 0.2}, "model": Settings()})
    training.step()
    telltale.hyperparameters(argparse.Namespace(epochs=3))
    assert sink.newest("hyperparameters") == {
        "optimizer": {"lr": 0.2, "betas": [0.9, 0.95]},
        "seed": 1,
        "model": {"width": 8, "act": "torch.nn.modules.activation.ReLU"},
        "epochs": 3,
    }
    assert [step for _, step, _ in sink.of("hyperparameters")] == [0, 0, 1]
    telltale.finish()
    other = PageSink()
    Training(other)
    assert not other.of("hyperparameters"), "another run begins without the first one's settings"


def test_odd_values_become_text_of_bounded_size() -> None:
    loop: dict[str, Any] = {"a": 1}
    loop["self"] = loop
    plain = Plain()
    found = plain.mapping(
        {
            1: float("nan"),
            "inf": float("-inf"),
            "big": 1 << 80,
            "tensor": torch.ones(2, 3),
            "array": np.zeros((2, 2), np.float32),
            "number": np.float64(0.5),
            "object": object(),
            "hostile": Hostile(),
            "function": os.path.join,
            "long": "x" * 10_000,
            "list": list(range(1000)),
            "set": {"b", "a"},
            "loop": loop,
            "none": None,
        }
    )
    assert found is not None
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["1"] == "nan" and found["inf"] == "-inf" and found["big"] == str(1 << 80)
    assert found["tensor"] == "tensor [2, 3] torch.float32" and found["array"] == "array [2, 2] float32"
    assert found["number"] == 0.5 and found["none"] is None and found["set"] == ["a", "b"]
    assert found["object"] == "<object object>", "the same from run to run"
    assert found["hostile"] == "(Hostile)" and found["function"] == "posixpath.join"
    assert len(found["long"]) == 400 and found["list"][-1] == "... 936 more" and found["loop"]["self"] == "(itself)"
    assert Plain().mapping([1]) is None


def test_too_many_settings_are_left_out_and_said(sink: PageSink, caplog: pytest.LogCaptureFixture) -> None:
    Training(sink)
    telltale.console.log.addHandler(caplog.handler)
    telltale.hyperparameters({f"key {i}": i for i in range(5000)})
    assert len(sink.newest("hyperparameters")) == 4000
    telltale.hyperparameters([1, 2])
    telltale.console.log.removeHandler(caplog.handler)
    assert "1000 are left out" in caplog.text and "takes a dict" in caplog.text


def test_secrets_are_hidden_and_tokens_of_a_tokenizer_are_not() -> None:
    found = Plain().mapping(
        {"hub_token": "hf_abc", "api_key": "k", "password": "p", "pad_token": "<pad>", "max_tokens": 12, "token": None}
    )
    assert found == {
        "hub_token": "***", "api_key": "***", "password": "***", "pad_token": "<pad>", "max_tokens": 12, "token": None,
    }  # fmt: skip
    line = environment.command_line(
        [
            "python",
            "train.py",
            "--api-key",
            "k1",
            "--lr",
            "0.1",
            "--hub_token=k2",
            "telltale://h:1#token=k3&fp=aa",
            "https://me:k4@host/x",
            "to_https://me:k5@host",
            "--pad-token",
            "<pad>",
            "a b",
        ]
    )
    assert not any(secret in line for secret in ("k1", "k2", "k3", "k4", "k5"))
    assert "--api-key *** --lr 0.1 --hub_token=***" in line and "'<pad>'" in line and line.endswith("'a b'")


# -- tags, notes, texts, images ----------------------------------------------------------------------------------


def test_tags_and_notes_of_watch_and_of_calls(sink: PageSink) -> None:
    telltale.add_tags("early")
    Training(sink, tags=["bf16", " two  words "], notes="first line\nsecond")
    telltale.add_tags("late", "bf16")
    telltale.set_notes("other")
    tags = [json.loads(document)["tags"] for kind, _, document in sink.documents if kind == "tags"]
    assert tags == [["early", "bf16", "two words"], ["early", "bf16", "two words", "late"]]
    notes = [json.loads(document)["notes"] for kind, _, document in sink.documents if kind == "notes"]
    assert notes == ["first line\nsecond", "other"]
    assert ("notes", 0, "first line") in sink.events


def test_one_rank_speaks_for_the_run_and_each_for_itself(sink: PageSink, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    Training(sink, tags=["a"])
    telltale.hyperparameters({"lr": 1})
    telltale.log_text("sample", "of rank 1")
    assert not sink.of("hyperparameters") and not any(kind == "tags" for kind, _, _ in sink.documents)
    assert sink.of("text") == [("sample", 0, b"of rank 1")]


def pixels_of(png: bytes) -> np.ndarray:
    """Reads what images.py writes, by the format's description."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data, head = 8, b"", b""
    while at < len(png):
        [size] = struct.unpack(">I", png[at : at + 4])
        kind, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        [crc] = struct.unpack(">I", png[at + 8 + size : at + 12 + size])
        assert zlib.crc32(kind + body) == crc
        head = body if kind == b"IHDR" else head
        data += body if kind == b"IDAT" else b""
        at += 12 + size
    width, height, depth, color = struct.unpack(">IIBB", head[:10])
    channels = {0: 1, 2: 3, 6: 4}[color]
    assert depth == 8
    rows = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + width * channels)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, channels)


def test_images_become_png_whatever_they_are() -> None:
    color = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    assert (pixels_of(images.as_png(color)) == color).all()
    assert (pixels_of(images.as_png(torch.from_numpy(color).movedim(2, 0))) == color).all()
    assert (pixels_of(images.as_png(np.array([[0.0, 0.5], [1.0, 0.25]])))[:, :, 0] == [[0, 128], [255, 64]]).all()
    assert (pixels_of(images.as_png(np.array([[False, True]])))[0, :, 0] == [0, 255]).all()
    assert (pixels_of(images.as_png(torch.tensor([[-1.0, 0.0], [1.0, 3.0]])))[:, :, 0] == [[0, 64], [128, 255]]).all()
    odd = pixels_of(images.as_png(np.array([[0.0, np.nan], [1.0, np.inf]])))
    assert odd.shape == (2, 2, 3) and (odd[:, 1] == [0xFD, 0x2D, 0x65]).all() and (odd[1, 0] == 255).all()
    png = images.as_png(color)
    assert images.as_png(png) == png
    for wrong in (
        b"no",
        np.zeros(3),
        np.zeros((2, 2, 7)),
        "text",
        np.zeros((0, 4)),
        b"\x89PNG\r\n\x1a\n" + bytes(1 << 20),
    ):
        with pytest.raises(images.ImageError):
            images.as_png(wrong)


def test_large_images_are_made_smaller_until_they_fit() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (3000, 1500, 3), dtype=np.uint8)
    png = images.as_png(noise)
    small = pixels_of(png)
    assert len(png) <= images.MOST_BYTES and max(small.shape[:2]) <= 1024
    step = -(-3000 // small.shape[0])
    assert (small == noise[::step, ::step]).all()


def test_texts_and_images_go_to_the_step_of_log(sink: PageSink) -> None:
    training = Training(sink)
    training.step()
    telltale.log_text("sample", "after step 0")
    telltale.log_text("sample", "at 7", step=7)
    telltale.log_text("long", "x" * (1 << 20))
    telltale.log_image("map", np.zeros((2, 2), np.uint8), step=3)
    telltale.log_image("bad", np.zeros(3))
    telltale.log_image("bad", np.zeros(3))
    telltale.checkpoint("last.pt")
    telltale.checkpoint(step=7)
    assert [event[:2] for event in sink.documents if event[0] == "checkpoint"] == [("checkpoint", 0), ("checkpoint", 7)]
    assert sink.of("text")[:2] == [("sample", 0, b"after step 0"), ("sample", 7, b"at 7")]
    assert len(sink.of("text")[2][2]) == 64 << 10
    [(name, step, data)] = sink.of("image")
    assert (name, step, pixels_of(data).shape) == ("map", 3, (2, 2, 1))
    assert sum("'bad' is left out" in sentence for sentence in sink.sentences()) == 1
    for i in range(1000):
        telltale.log_text("flood", str(i))
    assert 150 < len(sink.of("text")) < 400
    assert any("more than 10 texts" in sentence for sentence in sink.sentences())


# -- environment and system metrics ------------------------------------------------------------------------------


def test_the_environment_says_what_the_training_runs_on(sink: PageSink) -> None:
    Training(sink)
    wait(lambda: sink.of("environment"))
    found = sink.newest("environment")
    assert found["torch"] == torch.__version__ and found["telltale"] == telltale.__version__
    assert found["python"] == sys.version.split()[0] and found["command"] == shlex.join(sys.orig_argv)
    assert found["host"] and found["cpu"] and found["cpu_count"] == os.cpu_count() and found["memory_bytes"] > 1 << 28
    text = json.dumps(found)
    assert os.environ["PATH"] not in text and os.environ["PYTEST_CURRENT_TEST"] not in text


def test_the_commit_and_whether_files_differ_from_it(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        done = subprocess.run(["git", *who, "-C", str(tmp_path), *arguments], capture_output=True, check=True)
        return done.stdout.decode().strip()

    assert environment.git_state(str(tmp_path)) == {}
    git("init", "-b", "trunk")
    (tmp_path / "train.py").write_text("a = 1\n")
    git("add", "train.py")
    git("commit", "-m", "first")
    clean = {"git_commit": git("rev-parse", "HEAD"), "git_branch": "trunk", "git_dirty": False}
    assert environment.git_state(str(tmp_path)) == clean
    (tmp_path / "untracked").write_text("")
    assert environment.git_state(str(tmp_path)) == clean
    (tmp_path / "train.py").write_text("a = 2\n")
    assert environment.git_state(str(tmp_path)) == {**clean, "git_dirty": True}


@pytest.mark.parametrize("how", ["environment", "config"])
def test_both_can_be_switched_off(sink: PageSink, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELLTALE_SYSTEM_METRICS", "on" if how == "config" else "off")
    config: dict[str, Any] = {"wg_distribution": True}
    if how == "config":
        config["telltale"] = {"environment": False, "system_metrics": False}
    else:
        monkeypatch.setenv("TELLTALE_ENVIRONMENT", "off")
    monkeypatch.setattr(runpage, "_TICK", 0.01)
    monkeypatch.setattr(systemmetrics.SystemMetrics, "read", lambda self: pytest.fail("it is read"))
    training = Training(sink, config=config)
    for _ in range(20):
        training.step()
        time.sleep(0.01)
    telltale.finish()
    assert not sink.of("environment")
    assert not any(name.startswith("system/") for frame in sink.frames for name in frame.marks)


def test_what_the_process_uses_comes_with_its_steps(sink: PageSink, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELLTALE_SYSTEM_METRICS", "on")
    monkeypatch.setattr(runpage, "_TICK", 0.01)
    monkeypatch.setattr(runpage, "_SAMPLE_SECONDS", 0.05)
    training = Training(sink)

    def found() -> list[dict[str, float]]:
        training.step()
        return [f.marks for f in sink.frames if "system/cpu_percent" in f.marks]

    marks = wait(found)[0]
    with open("/proc/self/statm", encoding="ascii") as file:
        rss = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    assert rss / 2 < marks["system/rss_bytes"] < rss * 2
    assert 0 <= marks["system/cpu_percent"] <= 100 * (os.cpu_count() or 1) + 50
    assert 0 <= marks["system/host_memory_percent"] <= 100
    assert all("system/" not in name for frame in sink.frames for name in frame.scalars), "files have none"
    rare = [frame.step for frame in sink.frames if "system/rss_bytes" in frame.marks]
    assert len(rare) < len(sink.frames), "a step has one where there is a new one"


# -- the console -------------------------------------------------------------------------------------------------


def lines_of(data: bytes) -> list[tuple[str, str]]:
    found = []
    for line in data.decode().splitlines():
        moment, mark, text = line.split(" ", 2)
        assert abs(int(moment) / 1000 - time.time()) < 600
        found.append((mark, text))
    return found


def test_the_console_is_kept_and_the_programs_output_stays(capsys: pytest.CaptureFixture[str]) -> None:
    capture = ConsoleCapture()
    handler = logging.StreamHandler(sys.stderr)  # holds the stream itself
    assert capture.begin() == []
    print("one", "two")
    sys.stdout.write("three\nhalf")
    handler.emit(logging.LogRecord("x", logging.INFO, "", 0, "logged", (), None))
    print("\r10 %\r20 %\r30 %", file=sys.stderr)
    assert sys.stdout.write("") == 0
    assert lines_of(capture.take()) == [("o", "one two"), ("o", "three"), ("e", "logged"), ("e", "30 %")]
    print(" more")
    assert lines_of(capture.take()) == [("o", "half more")]
    sys.stdout.write("unended")
    assert capture.take() == b"" and lines_of(capture.take(True)) == [("o", "unended")]
    capture.end()
    print("unheard")
    assert capture.take(True) == b"" and "write" not in vars(sys.stdout)
    out, err = capsys.readouterr()
    assert out == "one two\nthree\nhalf more\nunendedunheard\n" and err == "logged\n\r10 %\r20 %\r30 %\n"


def test_a_flood_is_cut_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    capture = ConsoleCapture()
    capture.begin()
    for i in range(19_000):
        sys.stdout.write(f"{i}\n")
    sys.stdout.write("y" * 5000 + "\n")
    capture.end()
    lines = lines_of(capture.take(True))
    kept = [text for _, text in lines if text.isdigit()]
    assert 5000 <= len(kept) < 8000 and kept[:5000] == [str(i) for i in range(5000)]
    assert [int(text) for text in kept] == sorted({int(text) for text in kept})
    is_long_kept = any(text.startswith("y") for _, text in lines)  # where writing took so long that there is room again
    assert f"{19_001 - len(kept) - is_long_kept} lines are left out" in lines[-1][1]
    assert len(capsys.readouterr().out.splitlines()) == 19_001


def test_the_console_survives_forks_and_errors_of_the_stream(tmp_path: Path) -> None:
    script = tmp_path / "forks.py"
    script.write_text(
        """
import os, sys
sys.path.insert(0, sys.argv[1])
from telltale.consolecapture import ConsoleCapture
capture = ConsoleCapture()
capture.begin()
print("parent", flush=True)
pid = os.fork()
if pid == 0:
    print("child", flush=True)
    os._exit(0 if b"child" not in capture.take(True) else 1)
_, status = os.waitpid(pid, 0)
class Broken:
    def write(self, text):
        raise ValueError("closed")
sys.stderr = Broken()
other = ConsoleCapture()
other.begin()
try:
    sys.stderr.write("x")
    raised = False
except ValueError:
    raised = True
sys.stderr = sys.__stderr__
print(status, raised, capture.take().count(b"parent"), flush=True)
"""
    )
    package = str(Path(telltale.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, str(script), package], check=False, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n")) == ["", "0 True 1", "child", "parent"]


def test_the_watch_sends_what_was_printed_before_it_and_at_its_end(
    sink: PageSink, capsys: pytest.CaptureFixture[str]
) -> None:
    telltale.capture_console()
    print("before the watch")
    training = Training(sink)
    training.step()
    print("at the end", end="")
    telltale.finish()
    texts = [text for _, _, data in sink.of("console") for _, text in lines_of(data)]
    assert texts == ["before the watch", "at the end"]


# -- the whole way -----------------------------------------------------------------------------------------------


def test_weights_are_the_same_to_the_bit(sink: PageSink, capsys: pytest.CaptureFixture[str]) -> None:
    def weights(training: Training) -> str:
        for i in range(20):
            training.step()
            if training.monitor is not None:
                telltale.log_text("t", str(i))
                telltale.log_image("i", np.zeros((4, 4)))
                telltale.hyperparameters({"i": i})
                print(i)
        state = training.model.state_dict().values()
        return hashlib.sha256(b"".join(p.numpy().tobytes() for p in state)).hexdigest()

    telltale.capture_console()
    watched = weights(Training(sink, tags=["x"]))
    drawn = torch.rand(4)
    telltale.finish()
    plain = Training.__new__(Training)
    torch.manual_seed(3)
    plain.model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    plain.optimizer = torch.optim.Adam(plain.model.parameters())
    plain.monitor = None  # type: ignore[assignment]
    assert weights(plain) == watched
    assert torch.equal(torch.rand(4), drawn)


def test_a_server_has_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server = Server(tmp_path / "data")
    try:
        monkeypatch.setenv("TELLTALE_JOIN", server.join)
        monkeypatch.setenv("TELLTALE_SYSTEM_METRICS", "on")
        telltale.capture_console()
        telltale.hyperparameters({"optimizer": {"lr": 0.25}})
        model = torch.nn.Linear(4, 2)
        optimizer = torch.optim.Adam(model.parameters())
        monitor = telltale.watch(model, optimizer, tags=["a", "b"], notes="some words")
        print("a line")
        for step in range(3):
            model(torch.ones(2, 4)).sum().backward()
            optimizer.step()
            telltale.log_text("sample", f"text of {step}")
            wait(lambda: monitor.page._environment)
        telltale.finish()
        telltale.capture_console(False)
        assert server.stop() == 0
        found = server.inspect()
    finally:
        if server.process.poll() is None:
            server.kill()
    assert found["hyperparameters"] == {"optimizer": {"lr": 0.25}}
    assert found["tags"] == ["a", "b"] and found["notes"] == "some words"
    assert found["environment"]["torch"] == torch.__version__
    assert found["config"]["wg_distribution"] is True
    [series] = server.show("system/rss_bytes")
    assert series["values"][0]["value"] > 1 << 24
