#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes of kindtable.h what others read: the Python package's quantities.py and the list in model/README.md. To be run
after a change of the table; a test compares."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / "capture/agent/python/telltale/quantities.py"
README = ROOT / "model/README.md"
FIRST, LAST = "<!-- made by core/makekinds.py -->\n", "<!-- end -->\n"
HEAD = '''# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinds and statistics, made from model/core/kindtable.h by model/core/makekinds.py."""

from __future__ import annotations

from enum import IntEnum


class Kind(IntEnum):
    """What was measured."""

    word: str  # the field's own word: "grad_unreduced"

    def __new__(cls, number: int, word: str) -> Kind:
        self = int.__new__(cls, number)
        self._value_ = number
        self.word = word
        return self

'''
STAT = '''

class Stat(IntEnum):
    """One column of a series."""

    word: str  # "posinfs"
    member: str  # of tt_stats, "" = not of the one pass
    is_sample: bool
    is_whole: bool  # a whole number of 64 bits
    is_asked: bool  # the config asks for it; else it comes with its kind

    def __new__(cls, number: int, word: str, member: str, is_sample: bool, is_whole: bool, is_asked: bool) -> Stat:
        self = int.__new__(cls, number)
        self._value_ = number
        self.word, self.member = word, member
        self.is_sample, self.is_whole, self.is_asked = is_sample, is_whole, is_asked
        return self

'''


def rows(macro: str) -> list[list[str]]:
    """The arguments of each row, without quotes."""
    text = (ROOT / "model/core/kindtable.h").read_text("utf-8")
    found = []
    for line in re.findall(rf"^{macro}\((.*)\)$", text, re.MULTILINE):
        plain = re.sub(r'QT_TRANSLATE_NOOP\("Kind", ("[^"]*")\)', r"\1", line)
        found.append([cell.strip().strip('"') for cell in re.findall(r'"[^"]*"|[^",]+', plain) if cell.strip()])
    return found


def constant(name: str) -> str:
    """ "GradReduced" -> "GRAD_REDUCED"."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper()


def stats() -> list[list[str]]:
    """The rows of all statistics by number, with the member of tt_stats or "" at the end."""
    plain = [[*row, ""] for row in rows("TELLTALE_STAT")]
    return sorted(plain + rows("TELLTALE_PASS_STAT"), key=lambda row: int(row[1]))


def python() -> str:
    kinds = [f'    {constant(name)} = {number}, "{word}"\n' for name, number, word, *_ in rows("TELLTALE_KIND")]
    found = [
        f'    {constant(name)} = {number}, "{word}", "{member}", {sample == "true"}, {column == "U64"}, {field != ""}\n'
        for name, number, word, column, sample, _, _, _, field, member in stats()
    ]
    return HEAD + "".join(kinds) + STAT + "".join(found)


def listed() -> str:
    """The table as Markdown."""
    out = "| kind | is | config field |\n|---|---|---|\n"
    out += "".join(f"| {word} | {title} | {field} |\n" for _, _, word, title, field in rows("TELLTALE_KIND"))
    out += "\n| statistic | column | sample | over steps | where elements are not finite | shown | config field |\n"
    out += "|---|---|---|---|---|---|---|\n"
    for _, _, word, column, sample, reduction, non_finite, shown, field, _ in stats():
        cells = (word, column, "yes" if sample == "true" else "", reduction, non_finite, shown, field)
        out += f"| {' | '.join(cells)} |\n"
    for _, _, word, column, reduction, non_finite, shown in rows("TELLTALE_DERIVED_STAT"):
        out += f"| {word} | {column} | | {reduction} | {non_finite} | {shown} | derived |\n"
    return out


def readme() -> str:
    before, _, rest = README.read_text("utf-8").partition(FIRST)
    return before + FIRST + listed() + LAST + rest.partition(LAST)[2]


MADE = {PYTHON: python, README: readme}

if __name__ == "__main__":
    for path, text in MADE.items():
        path.write_text(text(), "utf-8")
