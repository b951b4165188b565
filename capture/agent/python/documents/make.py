# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the pages en/*.md and zh_CN/*.md: one a source document, with everything it names and where that is here.

python capture/agent/python/documents/make.py, after what the rows name has come or gone; a test compares.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from places import exists, shown  # noqa: E402
from rows import Page, Row, read_pages  # noqa: E402

PAGES = read_pages()
LANGUAGES = ("en", "zh_CN")
_HEADS = {
    "en": ("In the document", "In Telltale", "Where it differs, and why"),
    "zh_CN": ("文档中", "Telltale 中", "差异与原因"),
}
_ABSENT = {"en": "not here", "zh_CN": "这里没有"}
_SAME = {"en": "the same", "zh_CN": "相同"}
_MADE = {
    "en": "Made by make.py from rows/*.txt; a test compares each name with the code.",
    "zh_CN": "由 make.py 根据 rows/*.txt 生成；测试会把每个名字与代码核对。",
}


def render(page: Page, language: str) -> str:
    """A page as Markdown."""
    is_english = language == "en"
    lines = ["# " + (page.english if is_english else page.chinese), ""]
    lines += [page.english_intro if is_english else page.chinese_intro, "", _MADE[language], ""]
    for chapter in page.chapters:
        lines += ["## " + (chapter.english if is_english else chapter.chinese), ""]
        lines += ["| " + " | ".join(_HEADS[language]) + " |", "|---|---|---|"]
        lines += [_line(row, language) for row in chapter.rows] + [""]
    return "\n".join(lines)


def _line(row: Row, language: str) -> str:
    note = row.english if language == "en" else row.chinese
    is_here = exists(row.place)
    where = shown(row.place, language) if is_here else _ABSENT[language]
    if not is_here and not row.place.startswith("none:"):
        note = ""  # it is about what is not there
    name = f"`{row.name}`" if row.is_name else row.name
    cells = name, where, note or (_SAME[language] if is_here else "")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def pages() -> dict[Path, str]:
    """Every page's path and text."""
    return {HERE / language / page.file: render(page, language) for page in PAGES for language in LANGUAGES}


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
