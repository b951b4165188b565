# SPDX-License-Identifier: GPL-3.0-or-later
"""What grad_probe wrote of two trainings, compared: the rule finds a wrong sign, and nothing where there is none."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from probed import STEPS, config, flip_from, train
from telltale.gradprobe.comparator import GradComparator
from telltale.gradprobe.signfile import ProbeError, equal_signs, open_signs
from telltale.gradprobe.signrule import judge
from telltale.gradprobe.similarity import findings

NAMES = ["0.weight", "0.bias", "3.weight", "3.bias"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ "clean" and "again" are the same training, in "flipped" a layer's gradient has the wrong sign from step 3 on."""
    folder = tmp_path_factory.mktemp("trained")
    train(config(folder / "clean"))
    train(config(folder / "again", "L2"))
    train(config(folder / "flipped"), flip_from(3, "3.weight"))
    return folder


@pytest.fixture
def pair(trained: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Copies of two equal ones, to be damaged."""
    for name in ("clean", "again"):
        shutil.copytree(trained / name, tmp_path / name)
    return tmp_path / "clean", tmp_path / "again"


def similarities(folder: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO((folder / "similarities.csv").read_bytes().decode("utf-8-sig"), newline="")))


def test_a_flipped_sign_is_found_by_rule_step_and_parameter(
    trained: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = GradComparator.compare_distributed(str(trained / "clean"), str(trained / "flipped"), str(tmp_path / "out"))
    assert [(one.rank, one.verdict.suspicious, one.name) for one in found][:1] == [(0, 3, "3.weight")]
    sentence = "rank 0, step 3: 3.weight: the share of equal signs falls from 1 to 0 (a drop over 0.03)"
    assert found[0].sentence == sentence and sentence in capfd.readouterr().err
    assert all(one.verdict.suspicious >= 3 for one in found)
    head, *rows, last = similarities(tmp_path / "out/rank0")
    assert head == ["step", *map(str, range(STEPS))] and [row[0] for row in rows] == NAMES and last[0] == "summary"
    sizes = [128, 16, 64, 4]
    for step in range(STEPS):
        weighted = sum(float(row[1 + step]) * size for row, size in zip(rows, sizes)) / sum(sizes)
        assert float(last[1 + step]) == pytest.approx(weighted, rel=1e-12)


def test_equal_trainings_are_silent(trained: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert GradComparator.compare_distributed(trained / "clean", trained / "again", tmp_path) == []
    assert capfd.readouterr().err == ""
    assert (tmp_path / "rank0/similarities.csv").read_bytes() == b"\xef\xbb\xbf" + b"".join(
        (",".join([name, *["1.0"] * STEPS]) + "\r\n").encode() if name != "step"
        else (",".join([name, *map(str, range(STEPS))]) + "\r\n").encode()
        for name in ["step", *NAMES, "summary"]
    )  # fmt: skip


def test_pictures_have_the_names_of_msprobe_and_on_request_of_its_documents(trained: Path, tmp_path: Path) -> None:
    one = trained / "clean/rank0", trained / "flipped/rank0"
    GradComparator.compare(*one, tmp_path / "original")
    GradComparator.compare(*one, tmp_path / "documents", is_documented=True)
    for folder, suffix in (("original", "_similarities"), ("documents", "")):
        pictures = {path.name: path.read_bytes() for path in (tmp_path / folder / "similarities_picture").iterdir()}
        assert set(pictures) == {f"{name}{suffix}.png" for name in NAMES} | {"summary_similarities.png"}
        for data in pictures.values():
            assert data[:8] == b"\x89PNG\r\n\x1a\n"
    changed, clean = (pixels(pictures[f"{name}.png"]) for name in ("3.weight", "0.weight"))
    red = (changed == (214, 39, 40)).all(axis=2)
    assert red.any() and not (clean == (214, 39, 40)).all(axis=2).any()
    y, x = np.argwhere(red).mean(axis=0)
    assert 0.5 < (x - 92) / (604 - 92) < 0.7 and y > 350  # the fourth of six steps, at the bottom


def pixels(png: bytes) -> np.ndarray:
    """Of one without filters."""
    size = int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")
    start = png.index(b"IDAT")
    data = zlib.decompress(png[start + 4 : start + 4 + int.from_bytes(png[start - 4 : start], "big")])
    return np.frombuffer(data, np.uint8).reshape(size[1], -1)[:, 1:].reshape(size[1], size[0], 3)


def test_the_rule_is_that_of_the_desktop() -> None:
    """The cases of model/judge/signrule.h: at first, by a drop, and neither."""
    nan = float("nan")
    assert judge([(0, 0.97), (1, 0.941), (2, 0.912)]).suspicious is None  # never over 0.03 at once
    assert judge([(0, 0.9699)]).suspicious == 0
    assert judge([(0, nan), (4, 0.9)]).suspicious == 4
    late = judge([(0, 1.0), (1, 0.99), (2, nan), (3, 0.95), (4, 0.1)])
    assert (late.suspicious, late.before, late.then) == (3, 0.99, 0.95)
    assert (late.first_step, late.least_step, late.least, late.largest_drop) == (0, 4, 0.1, 0.95 - 0.1)
    assert judge([(5, nan)]) is None and judge([]) is None
    slow = judge([(i, 1 - 0.02 * i) for i in range(20)])
    assert slow.suspicious is None and slow.least == pytest.approx(0.62)


def damage(folder: Path, what: str) -> str:
    """Damages one file of a folder; what is said of it."""
    file = folder / "rank0/step2/3.weight.npy"
    if what == "missing":
        file.unlink()
        return "has no signs of 3.weight"
    if what == "cut off":
        file.write_bytes(file.read_bytes()[:-5])
        return "3.weight.npy is cut off: 192 bytes are right, and it has 187"
    if what == "no head":
        file.write_bytes(b"signs")
        return "3.weight.npy is no NumPy file that can be read"
    if what == "empty":
        file.write_bytes(b"")
        return "3.weight.npy is no NumPy file that can be read"
    if what == "floats":
        np.save(file, np.zeros((4, 16), np.float32))
        return "3.weight.npy has elements of float32, and signs are bools"
    if what == "another shape":
        np.save(file, np.zeros((16, 4), np.bool_))
        return "has the shape [4, 16] and"
    if what == "objects":
        np.save(file, np.array([{}]), allow_pickle=True)
        return "3.weight.npy has elements of object"
    shutil.rmtree(file.parent)
    return "step 2: only"


@pytest.mark.parametrize(
    "what", ["missing", "cut off", "no head", "empty", "floats", "another shape", "objects", "step"]
)
def test_what_is_damaged_is_one_sentence_and_the_rest_is_compared(
    pair: tuple[Path, Path], tmp_path: Path, what: str, capfd: pytest.CaptureFixture[str]
) -> None:
    sentence = damage(pair[1], what)
    assert GradComparator.compare_distributed(*pair, tmp_path / "out") == []
    said = capfd.readouterr().err.splitlines()
    assert len(said) == 1 and sentence in said[0], said
    head, *rows = similarities(tmp_path / "out/rank0")
    if what == "step":
        assert head == ["step", "0", "1", "3", "4", "5"]
    else:
        assert {row[0]: row[3] for row in rows} == {**dict.fromkeys([*NAMES, "summary"], "1.0"), "3.weight": ""}


@pytest.mark.parametrize("what", ["no header", "not utf-8", "gone"])
def test_a_damaged_summary_costs_no_more_than_the_order(
    pair: tuple[Path, Path], tmp_path: Path, what: str, capfd: pytest.CaptureFixture[str]
) -> None:
    for path in [*pair[0].rglob("*.csv"), *pair[1].rglob("*.csv")]:
        if what == "gone":
            path.unlink()
        else:
            path.write_bytes(b"1,2\r\n" if what == "no header" else b"\xff\xfe\x00\xd8")
    assert GradComparator.compare_distributed(*pair, tmp_path / "out") == []
    said = capfd.readouterr().err
    assert ("is no summary of grad_probe" in said) == (what == "no header")
    assert ("is no csv text" in said) == (what == "not utf-8")
    assert [row[0] for row in similarities(tmp_path / "out/rank0")] == ["step", *sorted(NAMES), "summary"]


def test_folders_with_nothing_to_compare_are_one_sentence(tmp_path: Path, trained: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    (tmp_path / "level0/rank0").mkdir(parents=True)
    for a, b, said in (
        (trained / "clean", empty, "have no folder rank0, rank1, ... in common"),
        (trained / "clean", tmp_path / "nowhere", "nowhere cannot be read: No such file or directory"),
        (trained / "clean", tmp_path / "level0", "has no folder step0, step1, ... (grad_level L1 and L2 write them)"),
    ):
        with pytest.raises(ProbeError, match=".") as raised:
            GradComparator.compare_distributed(a, b, tmp_path / "out")
        assert said in str(raised.value) and "\n" not in str(raised.value)
    with pytest.raises(ProbeError, match="it has ranks inside: compare_distributed"):
        GradComparator.compare(trained / "clean", trained / "again", tmp_path / "out")


def test_files_as_the_documents_and_graph_mode_write_them_are_read(pair: tuple[Path, Path], tmp_path: Path) -> None:
    for path in pair[1].rglob("*.csv"):
        path.write_text(path.read_text("utf-8-sig").replace("param_name", "Param_name"), "utf-8")
    (pair[1] / "rank0/step1").rename(pair[1] / "rank0/step_1")
    (pair[1] / "rank0").rename(pair[1] / "rank_0")
    assert GradComparator.compare_distributed(*pair, tmp_path / "out") == []
    assert [row[0] for row in similarities(tmp_path / "out/rank0")] == ["step", *NAMES, "summary"]


def test_signs_of_another_order_in_memory_are_compared_by_place(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    a, b = random.random((37, 11)) > 0.5, random.random((37, 11)) > 0.5
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", np.asfortranarray(b))
    assert open_signs(str(tmp_path / "b.npy")).is_fortran
    equal = equal_signs(*(open_signs(str(tmp_path / f"{name}.npy")) for name in "ab"))
    assert equal == int((a == b).sum())


def test_a_large_file_is_compared_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("telltale.gradprobe.signfile.CHUNK", 64)
    random = np.random.default_rng(0)
    a, b = random.random(1001) > 0.5, random.random(1001) > 0.5
    for name, signs in (("a", a), ("b", b)):
        np.save(tmp_path / f"{name}.npy", signs)
    assert equal_signs(*(open_signs(str(tmp_path / f"{name}.npy")) for name in "ab")) == int((a == b).sum())


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "telltale.gradcompare", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_the_command_says_it_in_one_sentence_and_by_its_exit_code(trained: Path, tmp_path: Path) -> None:
    clean, again, flipped = (trained / name for name in ("clean", "again", "flipped"))
    same = run(clean, again, "--fail")
    assert (same.returncode, same.stderr) == (0, "")
    assert same.stdout == "signs: 0 of 4 suspicious (below 0.97 at first, or a drop over 0.03)\n"
    other = run(clean, flipped, "--fail", "-o", tmp_path / "out")
    assert other.returncode == 1 and other.stderr == ""
    assert other.stdout.splitlines()[1].strip().startswith("rank 0, step 3: 3.weight: the share of equal signs falls")
    assert (tmp_path / "out/rank0/similarities_picture/3.weight_similarities.png").exists()
    document = json.loads(run(clean / "rank0", flipped / "rank0", "--json").stdout)
    assert document["suspicious"][0]["name"] == "3.weight" and document["suspicious"][0]["suspicious"] == 3
    assert document["total"]["all"]["2"] == 1.0 > document["total"]["all"]["3"]
    wrong = run(clean, tmp_path / "nowhere")
    assert (wrong.returncode, len(wrong.stderr.splitlines())) == (2, 1)


def test_a_parameter_without_a_gradient_in_both_is_nothing_to_say(
    pair: tuple[Path, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for folder in pair:
        (folder / "rank0/step4/0.bias.npy").unlink()
    assert GradComparator.compare_distributed(*pair, tmp_path / "out") == []
    assert capfd.readouterr().err == ""
    assert similarities(tmp_path / "out/rank0")[2][5] == ""
    for file in [file for folder in pair for file in folder.rglob("0.bias.npy")]:
        file.unlink()
    assert GradComparator.compare_distributed(*pair, tmp_path / "out") == []
    [line] = capfd.readouterr().err.splitlines()
    assert "0.bias stands in a summary, and neither" in line


def test_findings_come_by_step(trained: Path) -> None:
    from telltale.gradprobe.similarity import compare_ranks

    of = compare_ranks(str(trained / "clean/rank0"), str(trained / "flipped/rank0"))
    of.parameters["late"] = [1.0, 1.0, 1.0, 1.0, 1.0, 0.5]
    of.parameters["early"] = [0.5] * 6
    found = [(one.verdict.suspicious, one.name) for one in findings({0: of})]
    assert found[0] == (0, "early") and found == sorted(found, key=lambda one: one[0]) and (5, "late") in found
