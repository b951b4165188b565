# SPDX-License-Identifier: GPL-3.0-or-later
"""TensorBoard's event records, written without TensorBoard: TFRecord framing (length, masked crc32c, data, masked
crc32c) around the protobuf message Event {1: wall_time, 2: step, 3: file_version, 5: Summary {1: Value {1: tag,
2: simple_value, 5: HistogramProto, 8: TensorProto, 9: metadata}}}."""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass
from functools import cache

import numpy as np

from .. import native


@cache
def _table() -> list[int]:
    """What each byte makes of a crc: Castagnoli's polynomial, reflected."""
    table = list(range(256))
    for _ in range(8):
        table = [crc >> 1 ^ (crc & 1) * 0x82F63B78 for crc in table]
    return table


def crc32c(data: bytes | bytearray) -> int:
    """CRC-32C of bytes: the native core's; where the library is missing, byte by byte."""
    if native.available():
        return native.crc32c(bytes(data))
    table, crc = _table(), 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def masked(crc: int) -> int:
    """TFRecord's rotation of a crc."""
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(value: int) -> bytes:
    """A protobuf integer; negative ones as 64-bit two's complement."""
    value &= 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def record(data: bytes | bytearray) -> bytes:
    """One framed record."""
    length = struct.pack("<Q", len(data))
    return b"".join((length, struct.pack("<I", masked(crc32c(length))), data, struct.pack("<I", masked(crc32c(data)))))


def first_record() -> bytes:
    """What every event file begins with."""
    return record(b"\x09" + struct.pack("<d", time.time()) + b"\x1a\x0dbrain.Event:2")


class ScalarRecord:
    """Events with the same tags step after step: the message is made once, and each step puts its numbers in."""

    def __init__(self, tags: list[str]) -> None:
        message = bytearray()
        offsets = []
        for tag in tags:
            text = tag.encode("utf-8", "replace")
            value = b"\x0a" + varint(len(text)) + text + b"\x15"
            message += b"\x0a" + varint(len(value) + 4) + value
            offsets.append(len(message))
            message += b"\0\0\0\0"
        self._message = np.frombuffer(bytes(message), np.uint8).copy()
        self._holes = np.array(offsets, np.int64)[:, None] + np.arange(4)

    def fill(self, step: int, values: np.ndarray, wall_time: float) -> bytes:
        """The record of one step. values: float, one per tag; float32 on disk, NaN and Inf as they are."""
        with np.errstate(over="ignore"):
            numbers = np.ascontiguousarray(values, "<f4")
        self._message[self._holes] = numbers.view(np.uint8).reshape(-1, 4)
        head = b"\x09" + struct.pack("<d", wall_time) + b"\x10" + varint(step) + b"\x2a" + varint(self._message.size)
        return record(head + self._message.tobytes())


@dataclass
class Histogram:
    """Counts of elements, the bins' upper ends, and what is known of the elements that are finite."""

    tag: str
    low: float
    high: float
    total: float
    squares: float
    limits: np.ndarray
    counts: np.ndarray

    def encoded(self) -> bytes:
        """As Summary.Value."""
        numbers = (self.low, self.high, float(self.counts.sum()), self.total, self.squares)
        proto = b"".join(bytes([field << 3 | 1]) + struct.pack("<d", x) for field, x in enumerate(numbers, 1))
        for field, values in ((6, self.limits), (7, self.counts)):
            proto += _sized(field, np.ascontiguousarray(values, "<f8").tobytes())
        return _sized(1, _sized(1, self.tag.encode("utf-8", "replace")) + _sized(5, proto))


def _sized(field: int, data: bytes) -> bytes:
    return bytes([field << 3 | 2]) + varint(len(data)) + data


def histogram_record(step: int, histograms: list[Histogram], wall_time: float) -> bytes:
    """One step's histograms."""
    summary = b"".join(one.encoded() for one in histograms)
    return record(b"\x09" + struct.pack("<d", wall_time) + b"\x10" + varint(step) + _sized(5, summary))


def text_record(step: int, tag: str, text: str, wall_time: float) -> bytes:
    """One text, as TensorBoard's TEXT page shows it: the tag ends in /text_summary."""
    shape = _sized(2, _sized(2, b"\x08\x01"))
    tensor = b"\x08\x07" + shape + _sized(8, text.encode("utf-8", "replace"))  # DT_STRING, [1]
    value = _sized(1, f"{tag}/text_summary".encode("utf-8", "replace"))
    value += _sized(8, tensor) + _sized(9, _sized(1, _sized(1, b"text")))
    head = b"\x09" + struct.pack("<d", wall_time) + b"\x10" + varint(step)
    return record(head + _sized(5, _sized(1, value)))
