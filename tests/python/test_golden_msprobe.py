# SPDX-License-Identifier: GPL-3.0-or-later
"""The recorded trainings give the files that msprobe 26.2 gave.

What was recorded proves what no processor changes: directories, names, columns, rows, steps, where something is not
finite, and how a cell is written. Values are proved against the original itself, run here and now with the same seed;
where mindstudio-probe is not installed, that part is skipped.

Where the original is wrong, or ours goes further, the files differ on purpose, and only there:

* A target selects what lies below it too: there are rows (and, under xy_distribution, files) of children that msprobe
  needs named one by one.
* Run metrics have files of their own (scalar_*), and so have the attention heads beside msprobe's head 0
  (attention_heads_*).
* No row without a measurement: msprobe writes mg_direction 1.0 at step 0, where there is no momentum to compare with.
* linear_hook draws from the training's own random generator and stops after two effective rounds of power iteration,
  so its kernel_norm is too small and its sr too large; ours has its own generator and goes on from step to step.
* print_struct ends the training there; here it goes on.
* anomaly.json there counts every micro step as 0.
* Sums are taken in blocks of 8192 elements, in lanes of the tensor's own width first, not in float64 throughout: a mean
  that cancels to less than a millionth of the values differs in its digits, and so do alerts on such means.
* Which line of which file called a module differs with the files: of stack_info.csv the modules count.
"""

import csv
import json
import math
import re
from pathlib import Path

import pytest
from goldentraining import (
    HAS_ORIGINAL,
    ORIGINAL,
    OURS,
    RECORDED,
    SHARES,
    spawn,
    train_dynamic,
    train_features,
    train_rank,
    train_shares,
    train_single,
    train_structure,
)

# Both trainings are the same to the last bit, and both write six decimals; what is left are the orders of float64 sums.
ABSOLUTE, RELATIVE = 1.1e-6, 1e-6
NOT_MEASURED = ("vpp_stage", "name", "step", "micro_step", "shape", "dtype", "nans")
OURS_ALONE = {"scalar", "attention_heads"}


def read(path):
    with path.open(newline="") as file:
        return list(csv.reader(file))


class Output:
    """One output directory: rank -> file name -> grid of cells."""

    def __init__(self, base):
        self.base = Path(base)
        self.ranks = {}
        for folder in sorted(self.base.glob("*-rank*")):
            found = re.fullmatch(r"[A-Z][a-z]{2}\d{2}_\d{2}-\d{2}-\d{2}-rank(\d+)-[0-9a-f]{8}", folder.name)
            assert found, folder.name
            assert found.group(1) not in self.ranks, "two directories of one rank"
            self.ranks[found.group(1)] = {path.name: read(path) for path in sorted(folder.glob("*.csv"))}


def prefix(name):
    return name.rsplit("_", 1)[0]


def keyed(grid):
    """Rows by what names them: stage, name, step and micro step."""
    width = 4 if "micro_step" in grid[0] else 3
    rows = {tuple(row[:width]): row for row in grid[1:]}
    assert len(rows) == len(grid) - 1, "two rows of one name"
    return rows


def written_as(cell):
    """How a number stands in a file."""
    if re.fullmatch(r"-?\d+", cell):
        return "integer"
    return "decimals" if re.fullmatch(r"-?\d+(\.\d{1,9})?(e-\d\d)?", cell) else cell.lstrip("-")


def assert_written_alike(where, column, wanted, got):
    if column in NOT_MEASURED:
        assert got == wanted, (where, column)
    else:
        assert written_as(got) == written_as(wanted), f"{where} {column}: recorded {wanted}, ours {got}"


def assert_close(where, column, wanted, got):
    assert_written_alike(where, column, wanted, got)
    if column not in NOT_MEASURED:
        a, b = float(wanted), float(got)
        same = (math.isnan(a) and math.isnan(b)) or a == b or abs(a - b) <= ABSOLUTE + RELATIVE * abs(a)
        assert same, f"{where} {column}: the original {wanted}, ours {got}"


def assert_same_files(theirs, ours, compare=assert_written_alike, missing=(), free=()):
    """Every one of their files is there with its columns, rows, order and cells. missing: files that are not, on
    purpose; free: prefixes whose cells are looked at elsewhere."""
    assert set(ours.ranks) == set(theirs.ranks)
    for rank, files in theirs.ranks.items():
        have = ours.ranks[rank]
        assert set(files) - set(have) == set(missing)
        assert {prefix(name) for name in set(have) - set(files)} <= OURS_ALONE
        for name in sorted(set(files) & set(have) - {"stack_info.csv"}):
            wanted, got = files[name], have[name]
            assert got[0] == wanted[0], name
            a, b = keyed(wanted), keyed(got)
            assert set(a) <= set(b), f"{name}: no row {sorted(set(a) - set(b))[:3]}"
            assert [key for key in b if key in a] == list(a), name
            for key, row in a.items():
                if prefix(name) not in free:
                    for column, x, y in zip(wanted[0], row, b[key]):
                        compare((rank, name, key), column, x, y)


def extra_rows(recorded, ours):
    """Names of rows that only ours has, in files that both have."""
    return {
        key[1]
        for rank, files in recorded.ranks.items()
        for name in files
        if name in ours.ranks[rank] and name != "stack_info.csv"
        for key in set(keyed(ours.ranks[rank][name])) - set(keyed(files[name]))
    }


def trained(tmp_path_factory, function, ranks=1):
    """(ours, the original's or None) of a training."""
    folder = tmp_path_factory.mktemp("trained")
    spawn(function, str(folder), ranks=ranks)
    return Output(folder / OURS), Output(folder / ORIGINAL) if HAS_ORIGINAL else None


@pytest.fixture(scope="module")
def both_single(tmp_path_factory):
    return trained(tmp_path_factory, train_single)


@pytest.fixture(scope="module")
def both_ranks(tmp_path_factory):
    return trained(tmp_path_factory, train_rank, ranks=2)


@pytest.fixture(scope="module")
def both_features(tmp_path_factory):
    return trained(tmp_path_factory, train_features)


@pytest.fixture
def single(both_single):
    return both_single[0]


def originals(both):
    if both[1] is None:
        pytest.skip("mindstudio-probe is not installed: nothing to compare the values with")
    return both[1]


def test_every_kind_of_a_single_rank_is_written_as_recorded(single):
    recorded = Output(RECORDED / "single" / "out")
    assert_same_files(recorded, single, missing={"other_0-0.csv"})
    below = extra_rows(recorded, single)
    assert below and all(name.startswith(("blocks.0.", "blocks.1.mlp.", "head.")) for name in below)


def test_every_kind_of_a_single_rank_has_the_originals_values(both_single):
    assert_same_files(originals(both_single), both_single[0], assert_close, missing={"other_0-0.csv"})


def test_a_nan_between_backward_and_step_shows_in_the_same_cells(single):
    """It was written into a parameter that the targets leave out, so every recorded row stays finite until the next
    forward carries it everywhere."""
    files = single.ranks["0"]
    assert not any("nan" in row for row in files["actv_8-8.csv"])
    head = keyed(files["grad_reduced_9-9.csv"])["0", "head.weight", "9"]
    assert head[3:7] == ["nan"] * 4 and int(head[8]) > 0
    recorded = Output(RECORDED / "single" / "out").ranks["0"]["grad_reduced_9-9.csv"]
    assert head == keyed(recorded)["0", "head.weight", "9"]


def test_the_call_stacks_name_the_same_modules(single):
    recorded = Output(RECORDED / "single" / "out").ranks["0"]["stack_info.csv"]
    ours = single.ranks["0"]["stack_info.csv"]
    assert ours[0] == recorded[0]
    assert [row[0] for row in ours[1:]] == [row[0] for row in recorded[1:]]
    for row in ours[1:]:
        assert re.match(r"File .*, line \d+, in \w+, \n .* \n", row[1]), row


ALERT = re.compile(r"Rule (\w+) reports .* in (\(.*\)) at step (\d+), current value (.*), history mean (.*)\.$", re.S)


def alerts(base):
    """(tag, step) -> (rule, value, history mean, entry) of the alerts that do not hang on the last bits of sums: not of
    means that cancel to less than 1e-6, and not at the very edge of the rule."""
    found = {}
    for entry in json.loads((base / "anomaly_detected" / "rank0" / "anomaly.json").read_text()).values():
        rule, tag, step, value, mean = ALERT.match(entry["message"]).groups()
        value, mean = float(value), float(mean)
        is_edge = abs(abs(value) - 1.5 * mean) <= 1e-3 * mean
        is_cancelled = "'mean'" in tag and (abs(value) < 1e-6 or mean < 1e-6)
        if not is_cancelled and not is_edge:
            found[tag, int(step)] = (rule, value, mean, entry)
    return found


def assert_same_entry(key, theirs, ours):
    assert ours[0] == theirs[0], key
    assert list(ours[3]) == list(theirs[3])
    for field in ("rank", "step", "micro_step", "pp_stage", "vpp_stage", "tag_name", "group_mates"):
        assert ours[3][field] == theirs[3][field], (key, field)


def test_alerts_of_what_is_not_finite_are_the_recorded_ones(single):
    """Where NaN goes is the same on every machine; which norms grow by half is not."""
    recorded, ours = alerts(RECORDED / "single" / "out"), alerts(single.base)
    wanted = {key: alert for key, alert in recorded.items() if math.isnan(alert[1])}
    assert len(wanted) > 100
    tags = {tag for tag, _ in recorded}
    assert {key for key, alert in ours.items() if math.isnan(alert[1]) and key[0] in tags} == set(wanted)
    for key, alert in wanted.items():
        assert_same_entry(key, alert, ours[key])


def test_the_alerts_are_the_originals(both_single):
    theirs, ours = alerts(originals(both_single).base), alerts(both_single[0].base)
    tags = {tag for tag, _ in theirs}
    assert len(theirs) > 200
    assert {key for key in ours if key[0] in tags} == set(theirs)
    for key, alert in theirs.items():
        assert_same_entry(key, alert, ours[key])
        for i in (1, 2):
            assert ours[key][i] == pytest.approx(alert[i], rel=1e-4, abs=1e-8, nan_ok=True), key


def test_two_ranks_with_micro_steps_are_written_as_recorded(both_ranks):
    recorded, ours = Output(RECORDED / "ddp" / "out"), both_ranks[0]
    assert_same_files(recorded, ours)
    below = extra_rows(recorded, ours)
    assert below and all(name.startswith(("module.blocks.0.attn.", "module.blocks.1.")) for name in below)


def test_two_ranks_with_micro_steps_have_the_originals_values(both_ranks):
    assert_same_files(originals(both_ranks), both_ranks[0], assert_close)


def test_attention_and_linear_features_are_written_as_recorded(both_features):
    recorded, ours = Output(RECORDED / "l2" / "out"), both_features[0]
    assert_same_files(recorded, ours)
    assert extra_rows(recorded, ours) == set()


def test_attention_and_linear_features_have_the_originals_values(both_features):
    original, ours = originals(both_features), both_features[0]
    assert_same_files(original, ours, assert_close, free={"linear_hook"})
    for name, grid in original.ranks["0"].items():
        if prefix(name) == "linear_hook":
            mine = keyed(ours.ranks["0"][name])
            for key, row in keyed(grid).items():
                sr, sigma = (float(text) for text in mine[key][3:])
                assert sigma * 1.001 >= float(row[4]), "ours must not lie below the original's lower bound"
                assert sr * sigma == pytest.approx(float(row[3]) * float(row[4]), rel=1e-3), "F is the same"
                assert sigma < 1.5 * float(row[4])


def test_the_gradient_of_a_modules_input_is_the_originals_share(tmp_path):
    if not HAS_ORIGINAL:
        pytest.skip("mindstudio-probe is not installed: nothing to compare the values with")
    spawn(train_shares, str(tmp_path))
    for name in SHARES:
        original, ours = Output(tmp_path / name / ORIGINAL), Output(tmp_path / name / OURS)
        for grid in original.ranks["0"].values():  # of integers, which have no gradient, the original writes nan
            grid[:] = [row for row in grid if set(row[4:8]) != {"nan"}]
        assert sum(row[1].endswith("input") for row in original.ranks["0"]["actv_grad_2-2.csv"]) > 2
        assert_same_files(original, ours, assert_close)


def test_the_structure_is_as_recorded_and_training_goes_on(tmp_path):
    spawn(train_structure, str(tmp_path))
    place = Path("module_struct") / "rank0" / "module_struct.json"
    recorded = json.loads((RECORDED / "struct" / "out" / place).read_text())
    ours = json.loads((tmp_path / OURS / place).read_text())
    assert list(ours) == list(recorded)
    assert ours == recorded
    (files,) = Output(tmp_path / OURS).ranks.values()
    assert {f"actv_{step}-{step}.csv" for step in range(6)} <= set(files)


def test_a_config_edited_while_training_starts_and_stops_at_the_recorded_steps(tmp_path):
    spawn(train_dynamic, str(tmp_path))
    recorded, ours = Output(RECORDED / "dyn" / "out"), Output(tmp_path / OURS)
    assert_same_files(recorded, ours)
    assert all(name.startswith(("blocks.0.", "blocks.1.mlp.", "head.")) for name in extra_rows(recorded, ours))
    left = json.loads((tmp_path / "config.json").read_text())
    assert list(left.items()) == list(json.loads((RECORDED / "dyn" / "config-after-run.json").read_text()).items())
