# SPDX-License-Identifier: GPL-3.0-or-later
"""Every text of the window has a Chinese one. lupdate leaves out a call that it cannot read, and with -no-obsolete its
translation too: QCoreApplication::translate() with a template argument in its count is one.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
_CALL = re.compile(r'(?:\btr\(|\btranslate\(\s*"[^"]*",|QT_TRANSLATE_NOOP\("[^"]*",)\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')
_ESCAPES = {"n": "\n", "t": "\t"}


def _text(literals: str) -> str:
    whole = "".join(_LITERAL.findall(literals))
    whole = re.sub(r"\\u([0-9A-Fa-f]{4})", lambda found: chr(int(found[1], 16)), whole)
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), whole)


def test_every_text_in_the_sources_is_translated() -> None:
    tree = ElementTree.parse(_ROOT / "translations" / "telltale_zh_CN.ts")
    known = {source.text for source in tree.iter("source")}
    texts = {
        _text(found)
        for folder in ("app", "model", "views")
        for path in (_ROOT / folder).rglob("*.cpp")
        for found in _CALL.findall(path.read_text())
    }
    assert len(texts) > 1000
    assert sorted(texts - known) == []
