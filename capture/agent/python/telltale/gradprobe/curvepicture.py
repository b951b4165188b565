# SPDX-License-Identifier: GPL-3.0-or-later
"""A curve over steps as a PNG of 640 x 480, without a library that draws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..images import as_png

_WIDTH, _HEIGHT = 640, 480
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 616, 40, 420  # of the axes
_INK, _GRID, _CURVE, _MARK = (38, 38, 38), (225, 225, 225), (31, 119, 180), (214, 39, 40)
# Rows of a glyph of 3 x 5 as octal digits, the left pixel highest. Small letters look as capitals do.
_GLYPHS = {
    "0": "75557", "1": "26227", "2": "71747", "3": "71717", "4": "55711", "5": "74717", "6": "74757", "7": "71122",
    "8": "75757", "9": "75717", "A": "25755", "B": "65656", "C": "34443", "D": "65556", "E": "74647", "F": "74644",
    "G": "34553", "H": "55755", "I": "72227", "J": "11152", "K": "55655", "L": "44447", "M": "57755", "N": "65555",
    "O": "25552", "P": "65644", "Q": "25561", "R": "65655", "S": "34216", "T": "72222", "U": "55557", "V": "55552",
    "W": "55775", "X": "55255", "Y": "55222", "Z": "71247", ".": "00002", "_": "00007", "-": "00700", "/": "11244",
    ":": "02020", "@": "25743", "(": "12221", ")": "42224", "[": "64446", "]": "31113", "+": "02720", ",": "00024",
    "=": "07070", " ": "00000",
}  # fmt: skip
_UNKNOWN = "71202"
_DOT = 2  # pixels a side, of a glyph
_ADVANCE = 4 * _DOT


def draw_similarities(title: str, steps: Sequence[int], values: Sequence[float], marked: int | None) -> bytes:
    """A PNG. Values that are no number are gaps; the marked step has a red square."""
    image = np.full((_HEIGHT, _WIDTH, 3), 255, np.uint8)
    known = np.array([value for value in values if np.isfinite(value)] or [1.0])
    low, high = float(known.min()), float(known.max())
    pad = max((high - low) * 0.05, 0.005)
    low, high = low - pad, high + pad
    first, last = steps[0], max(steps[-1], steps[0] + 1)

    def x_of(step: float) -> int:
        return round(_LEFT + 12 + (_RIGHT - _LEFT - 24) * (step - first) / (last - first))

    def y_of(value: float) -> int:
        return round(_BOTTOM - (_BOTTOM - _TOP) * (value - low) / (high - low))

    for value in np.linspace(low + pad, high - pad, 5) if high - low > 2.5 * pad else [float(known.max())]:
        y = y_of(value)
        image[y, _LEFT:_RIGHT] = _GRID
        _write(image, f"{value:.4f}", _LEFT - 8, y - 5, -1)
    for step in sorted({steps[i] for i in np.linspace(0, len(steps) - 1, 6).astype(int)}):
        x = x_of(step)
        image[_BOTTOM : _BOTTOM + 5, x] = _INK
        _write(image, str(step), x, _BOTTOM + 10, 0)
    for y in (_TOP, _BOTTOM):
        image[y, _LEFT : _RIGHT + 1] = _INK
    for x in (_LEFT, _RIGHT):
        image[_TOP : _BOTTOM + 1, x] = _INK
    points = [(x_of(step), y_of(value)) if np.isfinite(value) else None for step, value in zip(steps, values)]
    for before, after in _segments(points):
        _line(image, before, after)
    if marked is not None and (point := points[list(steps).index(marked)]) is not None:
        _box(image, point, 4, _MARK)
    _write(image, "steps", (_LEFT + _RIGHT) // 2, _BOTTOM + 32, 0)
    _write(image, "similarities", _LEFT, _TOP - 16, 1)
    most = (_WIDTH - 8) // _ADVANCE
    _write(image, title if len(title) <= most else "..." + title[3 - most :], _WIDTH // 2, 8, 0)
    return as_png(image)


def _segments(
    points: Sequence[tuple[int, int] | None],
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Neighbors; a point without any stands for itself. Of equal ones, which many steps give, each comes once."""
    seen = set()
    for i, here in enumerate(points):
        if here is None:
            continue
        after = points[i + 1] if i + 1 < len(points) else None
        pair = here, here if after is None else after
        if pair not in seen:
            seen.add(pair)
            yield pair


def _line(image: np.ndarray, a: tuple[int, int], b: tuple[int, int]) -> None:
    count = max(abs(a[0] - b[0]), abs(a[1] - b[1])) + 1
    x, y = (np.rint(np.linspace(a[i], b[i], count)).astype(int) for i in (0, 1))
    image[y, x] = image[y + 1, x] = image[y, x + 1] = _CURVE
    if a == b:
        _box(image, a, 2, _CURVE)


def _box(image: np.ndarray, at: tuple[int, int], half: int, color: tuple[int, int, int]) -> None:
    x, y = at
    image[max(0, y - half) : y + half + 1, max(0, x - half) : x + half + 1] = color


def _write(image: np.ndarray, text: str, x: int, y: int, side: int) -> None:
    """side: 1 = from x on, 0 = around it, -1 = up to it."""
    width = len(text) * _ADVANCE - _DOT
    x -= {1: 0, 0: width // 2, -1: width}[side]
    for i, letter in enumerate(text.upper()):
        rows = [int(digit) for digit in _GLYPHS.get(letter, _UNKNOWN)]
        for row, bits in enumerate(rows):
            for column in range(3):
                if bits >> (2 - column) & 1:
                    left, top = x + i * _ADVANCE + column * _DOT, y + row * _DOT
                    if 0 <= left < _WIDTH - _DOT:
                        image[top : top + _DOT, left : left + _DOT] = _INK
