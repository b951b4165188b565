# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of the pages, as people write them: rows/*.txt.

    # title | 标题                           a page; the next line is its first paragraph, in both languages
    @monitor                                 what stands in rows/monitor.txt, which several pages share
    ## chapter | 章                          a table
    name | place | how it differs, and why | 差异与原因      a row; the last two may be left out: it is the same
    ~words | place                           a row whose name is no name of the document's

place: "field:wg_distribution" of the config; "python:telltale.log"; "argument:telltale.throughput:devices";
"monitor:grad_acc_steps" of set_monitor(); "verb:import --merge"; "module:telltale.compat.msprobe.anomaly_processor
--topk"; "word:vpp_stage", in a text that the package writes or reads; "metric:loss"; "none:" for what is nowhere.
Several are separated by " + ". What is not in the code now is "not here" in the page.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parent / "rows"


class Row(NamedTuple):
    """One thing that a document names, and where it is here."""

    name: str
    is_name: bool
    place: str
    english: str
    chinese: str


class Chapter(NamedTuple):
    """A table of a page."""

    english: str
    chinese: str
    rows: list[Row]


class Page(NamedTuple):
    """One source document."""

    file: str
    english: str  # title
    chinese: str
    english_intro: str
    chinese_intro: str
    chapters: list[Chapter]


def read_pages() -> list[Page]:
    """Every file that begins with a title."""
    files = sorted(FOLDER.glob("*.txt"))
    return [_page(path) for path in files if path.read_text(encoding="utf-8").startswith("# ")]


def _page(path: Path) -> Page:
    lines = path.read_text(encoding="utf-8").splitlines()
    english, chinese = lines[0][2:].split(" | ")
    english_intro, chinese_intro = lines[1].split(" | ")
    return Page(path.stem + ".md", english, chinese, english_intro, chinese_intro, _chapters(lines[2:]))


def _chapters(lines: list[str]) -> list[Chapter]:
    chapters: list[Chapter] = []
    for line in filter(None, lines):
        if line.startswith("@"):
            chapters += _chapters((FOLDER / f"{line[1:]}.txt").read_text(encoding="utf-8").splitlines())
        elif line.startswith("## "):
            english, chinese = line[3:].split(" | ")
            chapters.append(Chapter(english, chinese, []))
        else:
            name, place, *notes = line.split(" | ")
            english, chinese = notes or ("", "")
            chapters[-1].rows.append(Row(name.lstrip("~"), not name.startswith("~"), place, english, chinese))
    return chapters
