# SPDX-License-Identifier: GPL-3.0-or-later
"""The analyser gives msprobe's list to the byte, and beside it one that begins with what broke.

The recordings and what msprobe's own analyser made of them are in tests/data/msprobe/alerts; its README says how.
Where mindstudio-probe is installed, the two are also compared on entries that no short training gives.
"""

from __future__ import annotations

import gzip
import itertools
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from alertfiles import alert, analysed, tags, written
from goldentraining import HAS_ORIGINAL, RECORDED, poison, spawn, train
from telltale.compat.msprobe import anomaly_processor, anomalyentries
from telltale.compat.msprobe.alertplace import parse
from telltale.compat.msprobe.anomaly_processor import OUR_KEY, First, main
from telltale.compat.msprobe.anomalyentries import Entry, read_entries

ALERTS = RECORDED / "alerts"
CASES = {"nan": "[100, 101]", "spike": "[40]", "ranks": "[8]"}
ORIGINAL = "msprobe.core.monitor.anomaly_processor"
OURS = "telltale.compat.msprobe.anomaly_processor"


def unpacked(case: str, folder: Path) -> Path:
    for packed in sorted((ALERTS / case).glob("rank*.json.gz")):
        place = folder / packed.name.partition(".")[0]
        place.mkdir(parents=True)
        (place / "anomaly.json").write_bytes(gzip.decompress(packed.read_bytes()))
    return folder


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("golden", ["first", "step"])
def test_what_msprobe_makes_of_its_recordings_comes_out_to_the_byte(case: str, golden: str, tmp_path: Path) -> None:
    folder = unpacked(case, tmp_path)
    analysed(folder, *([] if golden == "first" else ["-k", "6", "-s", CASES[case]]))
    ours = (folder / "anomaly_analyse.json").read_text()
    theirs = (ALERTS / case / f"{golden}.json").read_text()
    assert theirs.endswith("\n}") and ours.startswith(theirs[:-2] + f',\n "{OUR_KEY}": [\n')
    assert list(json.loads(ours)) == [*json.loads(theirs), OUR_KEY]


def test_the_tensor_that_broke_leads_where_msprobe_lists_false_alarms(tmp_path: Path) -> None:
    document = analysed(unpacked("nan", tmp_path))
    broken = "0:blocks.2.mlp.0.weight/rank0/"
    assert tags(document)[:3] == [
        (100, broken + "post_grad"),
        (101, "0:head.weight/rank0/acc_grad"),
        (101, "0:lnf.weight/rank0/acc_grad"),
    ]
    assert all(entry["proven"] for entry in document[OUR_KEY])
    assert {entry["step"] for key, entry in document.items() if key != OUR_KEY} == {1}
    assert not any(broken in key for key in document if key != OUR_KEY)


def test_a_burst_of_all_gradients_begins_at_the_loss_and_goes_down_the_model(tmp_path: Path) -> None:
    document = analysed(unpacked("spike", tmp_path))
    assert tags(document)[:4] == [
        (40, "0:head.weight/rank0/acc_grad"),
        (40, "0:head.input:0/rank0/actv_grad"),
        (40, "0:blocks.1.output:0/rank0/actv_grad"),
        (40, "0:blocks.1.mlp.output:0/rank0/actv_grad"),
    ]
    assert "6.91e+05 times its history" in document[OUR_KEY][0]["why"]


def test_the_rank_that_broke_leads_and_micro_steps_follow_one_another(tmp_path: Path) -> None:
    document = analysed(unpacked("ranks", tmp_path), "-k", "60")
    found = tags(document)
    assert found[0] == (8, "0:module.head.input:0/rank1/actv")
    second = found.index((8, "0:module.head.input:1/rank1/actv"))
    assert found.index((8, "0:module.blocks.1.input:0/rank1/actv_grad")) < second
    assert second < found.index((8, "0:module.head.weight/rank1/acc_grad"))


@pytest.mark.parametrize("case", CASES)
def test_before_the_fault_nothing_is_proven(case: str, tmp_path: Path) -> None:
    fault = {"nan": 100, "spike": 40, "ranks": 7}[case]
    document = analysed(unpacked(case, tmp_path), "-s", str(list(range(fault))), "-k", "100000")
    assert len(document[OUR_KEY]) == len(document) - 1 > 300
    assert not any(entry["proven"] for entry in document[OUR_KEY])


def test_what_telltale_writes_is_analysed_alike(tmp_path: Path) -> None:
    spawn(train_ours, str(tmp_path))
    document = analysed(tmp_path / "ours" / "anomaly_detected", "-k", "60")
    found = [tag for step, tag in tags(document) if step == 9]
    assert found[:4] == [
        "0:head.input:0/rank0/actv",
        "0:head.output:0/rank0/actv",
        "0:head.output:0/rank0/actv_grad",
        "0:head.input:0/rank0/actv_grad",
    ]
    layers = [parse(tag).module for tag in found if tag.endswith("actv_grad")]
    assert (
        layers.index(("blocks", "1", "mlp")) < layers.index(("blocks", "1", "mlp", "0")) < layers.index(("blocks", "0"))
    )
    weights = [parse(tag).module for tag in found if tag.endswith("/acc_grad")]
    assert weights[0] == ("head",) and weights[-1] == ("blocks", "0", "ln1")


def train_ours(_rank: int, folder: str) -> None:
    train(str(RECORDED / "single" / "config.json"), folder, steps=12, before_step=poison)


@pytest.mark.skipif(not HAS_ORIGINAL, reason="mindstudio-probe is not installed")
@pytest.mark.parametrize(
    "arguments", [[], ["-k", "700"], ["-k", "5", "-s", "[3, 1]"], ["--topk", "9999", "--step", "[2]"]]
)
def test_stages_pipelines_and_micro_steps_are_sorted_as_msprobe_sorts_them(
    arguments: list[str], tmp_path: Path
) -> None:
    choose = random.Random(7)
    kinds = ["actv", "actv_grad", "acc_grad", "pre_grad", "post_grad", "exp_avg", "exp_avg_sq", "param_origin", "x"]
    places = [
        (*place, call) for call, place in enumerate(itertools.product(range(2), range(2), range(3), kinds, range(4)))
    ]
    choose.shuffle(places)
    entries = [
        alert(f"{vpp}:m.{call}/rank{pp}/{kind}", step, call, rank=pp, pp_stage=pp, vpp_stage=vpp, micro_step=micro)
        for vpp, pp, micro, kind, step, call in places
    ]
    for pp in range(2):
        written(tmp_path, *[entry for entry in entries if entry["rank"] == pp], rank=pp)
    (tmp_path / "out").mkdir()
    theirs = [sys.executable, "-m", ORIGINAL, "-d", str(tmp_path), "-o", str(tmp_path / "out"), *arguments]
    subprocess.run(theirs, check=True, capture_output=True)
    wanted = (tmp_path / "out" / "anomaly_analyse.json").read_text()
    analysed(tmp_path, *arguments)
    assert (tmp_path / "anomaly_analyse.json").read_text().startswith(wanted[:-2] + ",")


def test_steps_that_are_not_asked_for_still_count_as_history(tmp_path: Path) -> None:
    folder = unpacked("nan", tmp_path)
    document = analysed(folder, "-s", "100", "-k", "3")
    assert tags(document)[0] == (100, "0:blocks.2.mlp.0.weight/rank0/post_grad")
    assert [entry["proven"] for entry in document[OUR_KEY]] == [True, False, False]
    for spelling in ("[101, 102]", "101,102", "(101, 102)"):
        for name in ("-s", "--step", "--step_list"):
            assert {step for step, _ in tags(analysed(folder, name, spelling, "-k", "300"))} == {101, 102}


def test_more_than_there_are_gives_all_there_are(tmp_path: Path) -> None:
    folder = written(tmp_path, *[alert(f"{i}", 1, i) for i in range(5)])
    assert len(analysed(folder)[OUR_KEY]) == 5
    document = analysed(folder, "-k", "1000000000")
    assert len(document) == 6 and len(document[OUR_KEY]) == 5
    (folder / "rank0" / "anomaly.json").write_text("{}")
    assert analysed(folder) == {OUR_KEY: []}


def test_the_first_of_many_are_those_that_sorting_all_would_give() -> None:
    keys = [random.Random(3).randrange(50) for _ in range(9000)]
    for count in (1, 8, 20000):
        first: First[int] = First(count)
        for place, key in enumerate(keys):
            first.add(key, place)
        assert first.things() == [place for place, _ in sorted(enumerate(keys), key=lambda pair: pair[1])][:count]


@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_entries_are_whole_wherever_a_piece_of_the_file_ends(
    piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anomalyentries, "_PIECE", piece)
    names = ['0:a"\\{}é\n', "", "0:x.input:0/rank0/actv"]
    path = written(tmp_path, *[alert(name, step) for name in names for step in range(30)]) / "rank0" / "anomaly.json"
    whole = json.loads(path.read_text())
    for text in (path.read_text(), json.dumps(whole, ensure_ascii=False), json.dumps(whole, separators=(",", ":"))):
        path.write_text(text)
        assert [entry._asdict() for entry in read_entries(str(path), pytest.fail)] == list(whole.values())
    said: list[str] = []
    path.write_text('{"a": 123, "b": {"step": 1, "tag_name": "t"}, "c": 45}')
    assert len(list(read_entries(str(path), said.append))) == 1
    assert said == [f'{path}: 2 of 3 entries are left out, the first because "a" is no object']


@pytest.mark.parametrize(
    ("text", "said", "left"),
    [
        ("", "is empty", 0),
        ("  ", "is empty", 0),
        ("[]", "does not begin with { as a JSON object does", 0),
        ("\0\0\0", "does not begin with {", 0),
        ('{"a": 5, "b": [], "c": {"step": 1}}', "3 of 3 entries are left out", 0),
        ('{"a": {"step": "1", "tag_name": "x"}}', '"a" has the step "1", which is no whole number', 0),
        ('{"a": {"step": 1e400, "tag_name": "x"}}', "has the step Infinity", 0),
        ('{"a": {"step": 1%s, "tag_name": "x"}}' % ("0" * 310), "which is no whole number", 0),
        ('{"a": {"step": 1, "tag_name": null}}', "has a tag_name that is no text", 0),
        ('{"a": {"step": 1, "tag_name": "x"}, "b": {"step": 1, "tag_na', "the 1 entries before that are analysed", 1),
        ('{"a": {"step": 1, "tag_name": "x"} "b": {}}', "ends in the middle or is damaged", 0),
        ('{"a": {"step": 1, "tag_name": "x", "other": 1}, 5: {}}', "the 1 entries before that", 1),
        ('{"a": ' + "[" * 200000, "is nested too deeply", 0),
        ('{"a": "' + "x" * (1 << 25) + '"}', "has no entry's end in 16777216 characters", 0),
    ],
)
def test_a_damaged_file_is_one_sentence_and_the_rest_is_analysed(
    text: str, said: str, left: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = written(tmp_path, alert("whole", 3), rank=5)
    (folder / "rank2").mkdir()
    (folder / "rank2" / "anomaly.json").write_text(text)
    document = analysed(folder, code=1)
    (sentence,) = capsys.readouterr().err.splitlines()
    assert said in sentence and "rank2" in sentence
    assert len(document[OUR_KEY]) == 1 + left
    assert (3, "whole") in tags(document)


def test_a_file_cut_anywhere_gives_the_entries_before_the_cut(tmp_path: Path) -> None:
    path = written(tmp_path, *[alert("t", step) for step in range(3)]) / "rank0" / "anomaly.json"
    text = path.read_text()
    ends = [end.end() for end in re.finditer("\n }", text)]
    assert len(ends) == 3
    for cut in range(len(text) - 1):
        path.write_text(text[:cut])
        said: list[str] = []
        found = list(read_entries(str(path), said.append))
        assert [entry.step for entry in found] == list(range(sum(end <= cut for end in ends)))
        assert len(said) == 1


def test_fields_that_are_missing_are_as_msprobe_takes_them(tmp_path: Path) -> None:
    path = tmp_path / "rank0" / "anomaly.json"
    path.parent.mkdir()
    path.write_text('{"a": {"step": 4, "tag_name": "t"}}')
    assert analysed(tmp_path)["t_step_4_call_0"] == Entry(step=4, tag_name="t")._asdict()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-d", "nowhere"], "-d nowhere cannot be read: No such file or directory"),
        (["-d", "file"], "-d file cannot be read: Not a directory"),
        (["-d", "empty"], "-d empty holds no rank*/anomaly.json; they come from `dump` under `alert`"),
        (["-d", "above"], "did you mean above/anomaly_detected?"),
        (["-d", "good", "-o", "nowhere"], "-o nowhere is no directory"),
        (["-d", "good", "-o", "file"], "-o file is no directory"),
        (["-d", "good", "-k", "0"], "'0' is no whole number above 0"),
        (["-d", "good", "-k", "-3"], "'-3' is no whole number above 0"),
        (["-d", "good", "-k", "many"], "'many' is no whole number above 0"),
        (["-d", "good", "-s", "soon"], "'soon' is no list of steps; write [1,2] or 1,2"),
        (["-d", "good", "-s", "[1, 'a']"], "is no list of steps"),
        (["-d", "good", "-s", "[1.5]"], "is no list of steps"),
        (["-d", "good", "-s", "1-5"], "is no list of steps"),
        (["-d", "good", "-s", "[" * 9999], "is no list of steps"),
        (["-d", "good", "-s", "[" + "-" * 99999 + "1]"], "is no list of steps"),
        (["-d", "good", "-s", "__import__('os')"], "is no list of steps"),
        ([], "required: -d/--data_path"),
    ],
)
def test_bad_arguments_are_one_sentence(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    written(Path("good"), alert("t", 1))
    written(Path("above/anomaly_detected"), alert("t", 1))
    Path("empty").mkdir()
    Path("file").touch()
    try:
        code = main(arguments)
    except SystemExit as exit:
        code = exit.code  # type: ignore[assignment]
    assert code == 2
    assert said in capsys.readouterr().err.splitlines()[-1]
    assert not list(tmp_path.rglob("anomaly_analyse.json"))


def test_the_result_takes_the_place_of_the_one_before_or_leaves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = written(tmp_path / "in", alert("t", 1))
    (tmp_path / "out").mkdir()
    result = tmp_path / "out" / "anomaly_analyse.json"
    result.write_text("before")

    def full(*_names: str) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        assert main(["-d", str(folder), "-o", str(tmp_path / "out")]) == 1
    assert "No space left on device" in capsys.readouterr().err
    assert result.read_text() == "before" and os.listdir(tmp_path / "out") == [result.name]
    assert main(["--data_path", str(folder), "--out_path", str(tmp_path / "out")]) == 0
    assert len(json.loads(result.read_text())) == 2 and os.listdir(tmp_path / "out") == [result.name]
    assert os.listdir(folder) == ["rank0"]


def test_it_runs_as_a_program_without_torch_whatever_names_hold(tmp_path: Path) -> None:
    folder = written(tmp_path, alert("0:é\ud800/rank0/actv", 1))
    code = f"import sys, runpy; sys.modules['torch'] = None; runpy.run_module({OURS!r}, run_name='__main__')"
    ran = subprocess.run(
        [sys.executable, "-c", code, "-d", str(folder)],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[0] == f"anomaly_analyse.json is at {folder}."
    assert lines[1:4:2] == [
        "Top 8 anomalies are listed as follows:",
        "What broke first (telltale_order), 1 of 1 proven:",
    ]
    assert lines[4].startswith("0: 0:\\xe9\\ud800/rank0/actv at step 1: norm turned nan")


def test_a_reader_that_leaves_is_no_fault(tmp_path: Path) -> None:
    folder = written(tmp_path, *[alert("t" * 500, step) for step in range(500)])
    command = f'"{sys.executable}" -m {OURS} -d "{folder}" -k 500 | head -c 1; exit ${{PIPESTATUS[0]}}'
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_half_a_million_alerts_take_seconds_and_the_memory_of_one_step(tmp_path: Path) -> None:
    steps, tensors = 250, 2000
    path = tmp_path / "rank0" / "anomaly.json"
    path.parent.mkdir()

    def text_of(step: int, nans: dict[int, str]) -> str:
        entries = {}
        for i in range(tensors):
            fresh = {"value": nans[i]} if i in nans else {"value": "1.7", "rule": "AnomalyTurbulence"}
            entry = alert(f"0:layers.{i}.mlp.weight/rank0/post_grad", step, i, **fresh)
            entries[Entry(**entry).key] = entry
        return json.dumps(entries, indent=1)[1:-2]

    with path.open("w") as file:
        file.write("{")
        alike = text_of(1_000_000_007, {})  # all steps but one: making it for each takes longer than reading it
        for step in range(1, steps + 1):
            text = text_of(step, {77: "nan"}) if step == 200 else alike.replace("1000000007", str(step))
            assert step != 2 or text == text_of(2, {})
            file.write(("," if step > 1 else "") + text)
        file.write("\n}")
    watch = (
        f"import sys, time; from {OURS} import main; code = main(sys.argv[1:]); print(time.process_time());"
        "print(open('/proc/self/status').read().partition('VmHWM:')[2].split()[0]); sys.exit(code)"
    )
    ran = subprocess.run([sys.executable, "-c", watch, "-d", str(tmp_path)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    cpu_s, peak_kb = (float(line) for line in ran.stdout.splitlines()[-2:])
    path.unlink()
    assert peak_kb < 120_000 and cpu_s < 60, (peak_kb, cpu_s)
    document = json.loads((tmp_path / "anomaly_analyse.json").read_text())
    assert tags(document)[0] == (200, "0:layers.77.mlp.weight/rank0/post_grad")
    assert len(document) == 9 and anomaly_processor.OUTPUT_NAME in ran.stdout
