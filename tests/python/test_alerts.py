# SPDX-License-Identifier: GPL-3.0-or-later
"""The alert rules are msprobe's to the letter unless the mended form is asked for; the dump is whole at all times."""

import errno
import json
import math
import os
import re
from pathlib import Path

import numpy as np
import pytest
from tables import context, desc, frame, table
from telltale import anomalyfile
from telltale.alerts import AlertSink
from telltale.anomalyfile import AnomalyFile
from telltale.config import AlertRule
from telltale.detectors import LEVEL_SHIFT, WARM_UP, LetterScanner, TwoSidedScanner
from telltale.kinds import Kind

RECORDED = Path(__file__).resolve().parent.parent / "data" / "msprobe" / "single"
TURBULENCE, NAN = "AnomalyTurbulence", "AnomalyNan"


@pytest.fixture
def out(tmp_path, monkeypatch):
    monkeypatch.setenv("MONITOR_OUTPUT_DIR", str(tmp_path))
    return tmp_path


class Reference:
    """msprobe's rules one scalar at a time, as its page describes them."""

    def __init__(self, rules):
        self.rules = rules
        self.averages = {}

    def judge(self, key, op, value):
        average = self.averages.setdefault(key, abs(value))
        self.averages[key] = 0.99 * average + (1 - 0.99) * abs(value)
        for rule in self.rules:
            if rule.rule_name == TURBULENCE:
                is_hit = abs(value) > average * (1 + rule.threshold)
            else:
                is_hit = math.isnan(value) or (rule.threshold is not None and abs(value) > rule.threshold)
            if is_hit:
                return (
                    None if rule.rule_name == TURBULENCE and op not in ("norm", "mean") else (rule.rule_name, average)
                )
        return None


@pytest.mark.parametrize(
    "rules",
    [
        [AlertRule(TURBULENCE, 0.5)],
        [AlertRule(NAN)],
        [AlertRule(TURBULENCE, 0.2), AlertRule(NAN, 3.0)],
        [AlertRule(NAN, 3.0), AlertRule(TURBULENCE, 0.0)],
        [AlertRule(TURBULENCE, 4.0), AlertRule(TURBULENCE, 0.5), AlertRule(NAN)],
    ],
)
def test_whole_tables_are_judged_as_one_scalar_after_another(rules):
    rng = np.random.default_rng(1)
    ops = ("min", "norm", "mean", "nans")
    scanner, reference = LetterScanner(rules), Reference(rules)
    for step in range(60):
        rows = np.flatnonzero(rng.random(40) < 0.8)  # series come and go, and new ones appear
        rows = rows[rows < 10 + step]
        values = rng.standard_normal((rows.size, 4)) * np.exp(rng.standard_normal((rows.size, 4)))
        values[rng.random(values.shape) < 0.01] = math.nan
        values[rng.random(values.shape) < 0.005] = math.inf
        hits = scanner.scan("actv", rows, ops, values)
        wanted = []
        for i, row in enumerate(rows):
            for j, op in enumerate(ops):
                found = reference.judge((row, op), op, float(values[i, j]))
                if found:
                    wanted.append((i, op, found[0], float(values[i, j]), found[1]))
        assert repr([(h.position, h.op, h.rule, h.value, h.mean) for h in hits]) == repr(wanted)


def test_the_history_begins_with_the_first_value_and_moves_by_a_hundredth():
    scanner = LetterScanner([AlertRule(TURBULENCE, 0.2)])
    row = np.array([0])

    def hits(value):
        return scanner.scan("t", row, ("norm",), np.array([[value]]))

    assert hits(1.0) == []
    assert [hit.mean for hit in hits(2.0)] == [1.0]
    assert [hit.mean for hit in hits(2.0)] == [pytest.approx(1.01)]


def run(out, sinks_config, frames, **options):
    """Frames through an alert sink; (sink, console text, events)."""
    said, events = [], []
    sink = AlertSink(say=said.append, on_event=lambda *event: events.append(event), **options)
    sink.open(sinks_config)
    for one in frames:
        sink.write(one)
    sink.close("finished")
    return sink, "".join(said), events


def rules(*pairs):
    return {"alert_rules": [AlertRule(*pair) for pair in pairs]}


def gradients(step, norm, name="head.weight", kind=Kind.GRAD_REDUCED, **more):
    return frame(step, table(kind, [(desc(name, **more), [norm])]))


def test_what_is_late_of_another_config_is_no_history_of_todays_rows(out):
    late, *now = gradients(0, 1.0, "other.weight"), gradients(1, 100.0), gradients(2, 200.0)
    for one in now:
        one.tables[0].generation = 1
    _, said, _ = run(out, context(**rules((TURBULENCE, 0.5))), [late, *now])
    assert "at step 1" not in said and "at step 2" in said


def test_the_console_line_and_the_entry_are_msprobes(out):
    config = context(ops=["mean", "norm"], alert_dump=True, **rules((TURBULENCE, 0.5), (NAN, 1e10)))
    frames = [gradients(s, x, "a.b", Kind.ACTV, slot="input", micro=1) for s, x in ((4, 1.0), (5, -2.0))]
    sink, text, _ = run(out, config, frames)
    pattern = next(iter((RECORDED / "console.txt").read_text().splitlines()[1:]))
    shape = re.compile(r"^(.{19}) \((\d+)\) (\[INFO\] \x1b\[93m> Rule AnomalyTurbulence reports anomaly signal in )")
    lines = text.splitlines()
    assert len(lines) == 2
    assert shape.match(pattern) and shape.match(lines[0]).group(3) == shape.match(pattern).group(3)
    assert lines[0].endswith(
        "in ('0:a.b.input:1/rank0/actv', 'mean') at step 5, current value -2.0, history mean 1.0.\x1b[0m"
    )
    document = json.loads((out / "anomaly_detected/rank0/anomaly.json").read_text())
    recorded = json.loads((RECORDED / "out/anomaly_detected/rank0/anomaly.json").read_text())
    assert list(document) == ["0:a.b.input:1/rank0/actv_step_5_call_0"]
    entry = document["0:a.b.input:1/rank0/actv_step_5_call_0"]
    assert list(entry) == list(next(iter(recorded.values())))
    assert entry["micro_step"] == 1
    assert entry["message"].startswith(
        "Rule AnomalyTurbulence reports anomaly signal in ('0:a.b.input:1/rank0/actv', 'norm')"
    )
    assert {key: type(value) for key, value in entry.items()} == {
        key: type(value) for key, value in next(iter(recorded.values())).items()
    }
    assert sink.hits == 2


def test_the_file_is_laid_out_as_json_with_an_indent_of_one(out):
    config = context(ops=["norm"], alert_dump=True, **rules((NAN,)))
    run(out, config, [gradients(s, math.nan) for s in range(3)])
    text = (out / "anomaly_detected/rank0/anomaly.json").read_text()
    assert text == json.dumps(json.loads(text), indent=1)
    assert len(json.loads(text)) == 3


def test_what_an_entry_holds_is_written_as_json_writes_it(tmp_path):
    entries = {
        'a "key"\n\u4e2d': {"s": "\u00e9\\", "i": -3, "nan": math.nan, "yes": True, "none": None, "empty": []},
        "b": {"mates": [0, 1], "deep": {"x": [1, {"y": "z"}], "none": {}}},
    }
    file = AnomalyFile(str(tmp_path))
    file.start()
    file.add(entries)
    file.close()
    assert Path(file.path).read_text() == json.dumps(entries, indent=1)


def test_tags_are_msprobes_for_every_kind(out):
    kinds = {
        Kind.GRAD_UNREDUCED: "0:w:2/rank3/acc_grad",
        Kind.GRAD_REDUCED: "0:w/rank3/post_grad",
        Kind.EXP_AVG: "0:w/rank3/exp_avg",
        Kind.PARAM_UPDATED: "0:w/rank3/param_updated",
        Kind.ACTV_GRAD: "0:w.output:2/rank3/actv_grad",
    }
    for kind, name in kinds.items():
        slot = "output" if kind is Kind.ACTV_GRAD else ""
        config = context(rank=3, world_size=8, ops=["norm"], monitor_mbs_grad=True, **rules((NAN,)))
        _, text, events = run(out, config, [gradients(0, math.nan, "w", kind, slot=slot, micro=2)])
        assert f"('{name}', 'norm')" in text and "[rank 3] [INFO]" in text
        document = json.loads(events[0][3])
        assert events[0][:2] == ("anomaly", 0) and events[0][4] == NAN
        assert (document["tag"], document["value"], document["rule"]) == (name, "nan", NAN)


def test_a_step_with_thousands_of_hits_sends_a_bounded_number_of_events(out):
    many = frame(0, table(Kind.GRAD_REDUCED, [(desc(f"w{i}"), [math.nan]) for i in range(1000)]))
    _, text, events = run(out, context(ops=["norm"], **rules((NAN,))), [many])
    assert text.count("\n") == 1000
    assert len(events) == 65 and events[-1][2] == "936 more alerts at step 0"


def test_without_rules_the_sink_takes_nothing_and_writes_no_file(out):
    sink, text, _ = run(out, context(ops=["norm"], alert_dump=True), [gradients(0, math.nan)])
    assert text == "" and sink.losses.taken == 0 and os.listdir(out) == []
    assert sink.write_tables(0, []) is True


def test_a_dump_from_before_is_kept_aside_and_the_new_one_begins_empty(out):
    folder = out / "anomaly_detected/rank0"
    folder.mkdir(parents=True)
    (folder / "anomaly.json").write_text('{"old": 1}')
    run(out, context(ops=["norm"], alert_dump=True, **rules((NAN,))), [gradients(0, 1.0)])
    assert (folder / "anomaly.json").read_text() == "{}"
    assert (folder / "anomaly.previous.json").read_text() == '{"old": 1}'


def test_the_dump_is_whole_json_before_and_after_every_call_to_the_system(tmp_path, monkeypatch):
    """So a job that is killed anywhere leaves a whole file, and a reader that opened it before an addition still reads
    a whole one after it."""
    path = tmp_path / "anomaly.json"
    checks = []

    def watched(function):
        def call(*args, **kwargs):
            before = path.read_text()
            result = function(*args, **kwargs)
            for text in (before, path.read_text()):
                checks.append(len(json.loads(text)))
            return result

        return call

    file = AnomalyFile(str(tmp_path))
    file.start()
    for name in ("link", "replace", "unlink"):
        monkeypatch.setattr(anomalyfile.os, name, watched(getattr(os, name)))
    monkeypatch.setattr(anomalyfile, "_extend", watched(anomalyfile._extend))
    for step in range(40):
        with path.open() as reader:
            file.add({f"{step}:{i}": {"text": "x" * 200} for i in range(5)})
            assert len(json.loads(reader.read())) == 5 * step
        assert len(json.loads(path.read_text())) == 5 * (step + 1)
    file.close()
    assert checks == sorted(checks) and len(checks) >= 8 * 40
    assert os.listdir(tmp_path) == ["anomaly.json"]


def test_an_addition_costs_what_it_adds(tmp_path, monkeypatch):
    file = AnomalyFile(str(tmp_path))
    file.start()
    written = []
    real = anomalyfile._extend
    monkeypatch.setattr(
        anomalyfile, "_extend", lambda path, pieces: (written.append(sum(map(len, pieces))), real(path, pieces))
    )
    monkeypatch.setattr(anomalyfile.shutil, "copyfile", _counted(anomalyfile.shutil.copyfile, copies := []))
    for step in range(50):
        file.add({str(step): {"a": 1}})
    file.close()
    assert max(written) < 100 and len(copies) == 1
    assert list(json.loads((tmp_path / "anomaly.json").read_text())) == [str(step) for step in range(50)]


def _counted(function, calls):
    def counting(*args, **kwargs):
        calls.append(args)
        return function(*args, **kwargs)

    return counting


def test_a_file_system_without_hard_links_still_gets_whole_files(tmp_path, monkeypatch):
    def refuse(*_args):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(anomalyfile.os, "link", refuse)
    file = AnomalyFile(str(tmp_path))
    file.start()
    for step in range(4):
        file.add({str(step): {"a": step}})
    file.close()
    assert len(json.loads((tmp_path / "anomaly.json").read_text())) == 4


def test_entries_that_a_full_disk_refused_are_written_when_there_is_room(tmp_path, monkeypatch):
    file = AnomalyFile(str(tmp_path))
    file.start()
    file.add({"0": {}})
    real = anomalyfile._extend

    def refuse(path, pieces):
        real(path, pieces[:1])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(anomalyfile, "_extend", refuse)
    with pytest.raises(OSError):
        file.add({"1": {}})
    assert list(json.loads((tmp_path / "anomaly.json").read_text())) == ["0"]
    monkeypatch.setattr(anomalyfile, "_extend", real)
    file.add({"2": {}})
    file.close()
    assert list(json.loads((tmp_path / "anomaly.json").read_text())) == ["0", "1", "2"]


def flags(values, op="norm", threshold=0.5, scanner=TwoSidedScanner, rule=TURBULENCE):
    """Indices of the values that are flagged, one series."""
    found = scanner([AlertRule(rule, threshold)])
    row = np.array([0])
    return [i for i, x in enumerate(values) if found.scan("t", row, (op,), np.array([[x]]))]


def noisy(count, seed=0, scatter=0.15):
    return np.exp(np.random.default_rng(seed).standard_normal(count) * scatter)


def test_the_mended_form_sees_a_rise_and_a_fall_where_the_letter_sees_a_rise():
    calm = list(noisy(200))
    assert flags([*calm, 20.0]) == [200] == flags([*calm, 0.05])
    assert flags([*calm, 0.05], scanner=LetterScanner)[-1:] != [200]
    assert flags([*calm, 0.0]) == [200]


def test_the_mended_form_outlives_nan_inf_and_outliers():
    calm = list(noisy(200))
    for blow in ([math.nan], [math.inf], [1e4], [0.0]):
        assert 230 in flags([*calm, *blow, *noisy(29, 1), 20.0]), blow
    blind = flags([*calm, math.nan, *noisy(29, 1), 20.0], scanner=LetterScanner)
    assert 230 not in blind
    assert flags([*calm, math.inf], threshold=None, rule=NAN) == [200]
    assert flags([*calm, math.inf], threshold=None, rule=NAN, scanner=LetterScanner) == []


def test_the_mended_form_is_quiet_on_what_is_normal():
    for seed in range(5):
        assert flags(noisy(3000, seed)) == []
        signed = np.random.default_rng(seed).standard_normal(3000) * 1e-9
        assert flags(signed, op="mean") == []
        assert len(flags(np.abs(signed), op="mean", scanner=LetterScanner)) > 500
    assert flags(np.exp(-np.arange(2000) / 200) * noisy(2000, 3, 0.05)) == []


def test_the_mended_form_waits_for_its_warm_up_and_gives_in_to_a_new_level():
    assert flags([1.0] * (WARM_UP - 1) + [100.0]) == []
    assert flags([1.0] * WARM_UP + [100.0]) == [WARM_UP]
    shifted = flags([*noisy(200), *(noisy(400, 1) * 50)])
    assert shifted == list(range(200, 200 + LEVEL_SHIFT))


def test_a_first_value_far_off_does_not_hide_what_follows():
    values = [1000.0, *noisy(300), 5.0 * 3]
    assert 301 in flags(values)


def test_hits_of_one_tensor_share_an_entry_and_the_mended_form_keeps_both_sentences(out):
    for two_sided in (False, True):
        config = context(ops=["mean", "norm"], alert_dump=True, alert_two_sided=two_sided, **rules((NAN,)))
        run(out, config, [gradients(0, math.nan)])
        document = json.loads((out / "anomaly_detected/rank0/anomaly.json").read_text())
        (entry,) = document.values()
        assert entry["message"].count("Rule AnomalyNan") == (2 if two_sided else 1)
        assert "'norm'" in entry["message"]
