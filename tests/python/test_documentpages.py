# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages that say where everything of the source documents is: they are those that the rows make now, what they name
is there, and what is not there they say is not."""

from __future__ import annotations

import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from serving import TELLTALE

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "capture" / "agent" / "python" / "documents"
sys.path.insert(0, str(FOLDER))
make: Any = importlib.import_module("make")
places: Any = importlib.import_module("places")
sys.path.remove(str(FOLDER))

ROWS = [(page.file, row) for page in make.PAGES for chapter in page.chapters for row in chapter.rows]
PLACES = sorted({one for _, row in ROWS for one in row.place.split(" + ") if not one.startswith("none:")})
# What other parts of the product bring: as long as the folder is not there, a page may say "not here" of it.
AWAITED = {
    "telltale.mindspore.attention": places.PACKAGE / "mindspore" / "attention.py",
}


def test_pages_are_those_that_the_rows_make() -> None:
    """After a change: python capture/agent/python/documents/make.py"""
    found = {path.relative_to(FOLDER) for path in FOLDER.glob("*/*.md")}
    wanted = make.pages()
    assert found == {path.relative_to(FOLDER) for path in wanted}
    for path, text in wanted.items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run {FOLDER}/make.py"


@pytest.mark.parametrize("place", PLACES)
def test_what_a_page_names_is_there(place: str) -> None:
    if places.exists(place):
        return
    awaited = [folder for word, folder in AWAITED.items() if word in place]
    assert awaited and not any(folder.exists() for folder in awaited), f"{place} is not in the code"


def test_a_name_that_is_nowhere_is_not_found() -> None:
    for place in (
        "field:wg_distributions", "field:alert.dumps", "python:telltale.pytorch.TrainerMon.set_monitors",
        "python:telltale.nothing", "argument:telltale.throughput:device", "monitor:model_list", "verb:imports",
        "verb:import --merges", "module:telltale.compat.msprobe.anomaly_processor --top", "word:no such word",
        "metric:throughputs", "argument:telltale.compat.msprobe.CSV2DBConfig:monitor", "module:telltale.none",
    ):  # fmt: skip
        assert not places.exists(place), place


@pytest.mark.parametrize("place", [place for place in PLACES if place.startswith("verb:")])
def test_the_program_knows_its_verbs_and_their_flags(place: str) -> None:
    verb, *flags = place.removeprefix("verb:").split()
    done = subprocess.run([str(TELLTALE), verb, "--help"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and all(f"  {flag} " in done.stdout + done.stderr for flag in flags), place


def test_python_names_can_be_imported_and_have_their_arguments() -> None:
    checked = 0
    for place in PLACES:
        kind, _, what = place.partition(":")
        name, _, argument = what.partition(":")
        if kind not in ("python", "argument") or ".mindformers" in name or ".mindspore" in name:
            continue  # those need MindSpore, whose tests import them
        if not places.exists(place):
            continue
        thing = imported(name)
        checked += 1
        if argument and not name.startswith("telltale.pytorch.TrainerMon"):
            assert argument in inspect.signature(thing).parameters, place
    assert checked > 30


def imported(name: str) -> Any:
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:]:
            thing = getattr(thing, part)
        return thing
    raise AssertionError(name)


def test_links_to_the_reference_lead_to_a_heading() -> None:
    fields = [place.removeprefix("field:") for place in PLACES if place.startswith("field:")]
    for language in make.LANGUAGES:
        wanted = {heading.replace(".", "") for heading in places.headings(language)}
        linked = {places.anchor(field, language) for field in fields}
        assert linked and linked <= wanted, linked - wanted


def test_every_field_that_msprobe_has_is_on_the_pages() -> None:
    fields = set(places.schema()["properties"]) - {"telltale", "$schema"}
    for page in ("monitor-zh.md", "monitor-en.md", "mindstudio-probe-8.1.0.md"):
        named = {row.name.partition(".")[0] for file, row in ROWS if file == page and row.place.startswith("field:")}
        assert fields <= named, page


DEFAULTS = {
    "targets": {}, "dynamic_on": False, "start_step": 0, "collect_times": 100000000, "step_interval": 1,
    "print_struct": False, "module_ranks": [], "ur_distribution": False, "xy_distribution": False, "all_xy": False,
    "forward_only": False, "backward_only": False, "mv_distribution": False, "wg_distribution": False,
    "monitor_mbs_grad": False, "param_distribution": False, "mg_direction": False, "format": "csv", "ops": ["norm"],
    "eps": 1e-8, "ndigits": 6, "step_count_per_record": 1, "append_output": [], "squash_name": True,
    "alert.dump": False, "cc_distribution.enable": False, "cc_distribution.cc_codeline": [],
    "recording_l2_features": False, "sa_order": "s,b,h,d", "stack_info": False,
}  # fmt: skip


@pytest.mark.parametrize("field", DEFAULTS)
def test_defaults_are_the_documents_or_the_page_says_why_not(field: str) -> None:
    ours = places.field(field).get("default")
    notes = [row.english for _, row in ROWS if row.name == field]
    is_said = notes and (ours == DEFAULTS[field] or any(notes))
    assert is_said, f"{field}: {json.dumps(ours)} is not {json.dumps(DEFAULTS[field])}"


def test_both_languages_say_the_same() -> None:
    for name, row in ROWS:
        assert bool(row.english) == bool(row.chinese), (name, row.name)
    for page in make.PAGES:
        english, chinese = (make.render(page, language) for language in make.LANGUAGES)
        assert english.count("\n|") == chinese.count("\n|")
        assert english.count("not here") == chinese.count("这里没有")
