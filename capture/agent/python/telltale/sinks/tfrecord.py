# SPDX-License-Identifier: GPL-3.0-or-later
"""TensorBoard's event records, written without TensorBoard: TFRecord framing (length, masked crc32c, data, masked
crc32c) around the protobuf message Event {1: wall_time, 2: step, 3: file_version, 5: Summary {1: Value {1: tag,
2: simple_value, 5: HistogramProto}}}."""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

_POLYNOMIAL = 0x82F63B78  # Castagnoli's, reflected
_LANE = 64  # bytes that one lane of crc32c() takes


def _byte_table() -> np.ndarray:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(_POLYNOMIAL), table >> 1)
    return table


_TABLE = _byte_table()
_PAIRS = np.arange(65536)
_PAIRS = _TABLE[(_TABLE[_PAIRS & 0xFF] ^ (_PAIRS >> 8)) & 0xFF] ^ (_TABLE[_PAIRS & 0xFF] >> 8)  # of two bytes at once


@lru_cache(maxsize=64)
def _zeros_table(count: int) -> np.ndarray:
    """[4, 256]: what each byte of a crc becomes after `count` zero bytes; `count` is a power of two."""
    table = np.zeros((4, 256), np.uint32)
    for k in range(4):
        crc = np.arange(256, dtype=np.uint32) << np.uint32(8 * k)
        if count == 1:
            table[k] = _TABLE[crc & 0xFF] ^ (crc >> 8)
        else:
            half = _zeros_table(count // 2)
            table[k] = _after_zeros(_after_zeros(crc, half), half)
    return table


def _after_zeros(crc: np.ndarray, table: np.ndarray) -> np.ndarray:
    out: np.ndarray = (
        table[0][crc & 0xFF] ^ table[1][(crc >> 8) & 0xFF] ^ table[2][(crc >> 16) & 0xFF] ^ table[3][crc >> 24]
    )
    return out


def crc32c(data: bytes | bytearray | np.ndarray) -> int:
    """CRC-32C of bytes. The data is cut into lanes that are summed side by side, then joined in pairs: a crc is linear,
    and zero bytes in front of a crc that starts at 0 change nothing."""
    found = np.frombuffer(data, np.uint8)
    lanes = 1
    while lanes * _LANE < found.size:
        lanes *= 2
    padded = np.zeros(lanes * _LANE, np.uint8)
    if found.size:
        padded[padded.size - found.size :] = found
    columns = np.ascontiguousarray(padded.view("<u2").reshape(lanes, _LANE // 2).T)
    crc = np.zeros(lanes, np.uint32)
    for column in columns:
        crc = np.take(_PAIRS, (crc ^ column) & 0xFFFF) ^ (crc >> np.uint32(16))
    length = _LANE
    while crc.size > 1:
        crc = _after_zeros(crc[0::2], _zeros_table(length)) ^ crc[1::2]
        length *= 2
    start = np.array([0xFFFFFFFF], np.uint32)
    bit = 1
    while bit <= found.size:
        if found.size & bit:
            start = _after_zeros(start, _zeros_table(bit))
        bit *= 2
    return int(crc[0] ^ start[0]) ^ 0xFFFFFFFF


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
