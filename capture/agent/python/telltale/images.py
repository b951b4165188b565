# SPDX-License-Identifier: GPL-3.0-or-later
"""Small images as PNG, by zlib alone."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

MOST_BYTES = 480 << 10  # one part of a document on the wire
LARGEST_SIDE = 1024
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLORS = {1: 0, 2: 4, 3: 2, 4: 6}  # PNG's color types by channels
_NOT_FINITE = (0xFD, 0x2D, 0x65)


class ImageError(ValueError):
    """It cannot be shown; the message says why."""


def as_png(image: Any) -> bytes:
    """An array or tensor (H x W, H x W x C, or torch's C x H x W, with 1, 3 or 4 channels; whole numbers, floats or
    bools), a PIL image, or PNG bytes. Floats count from 0 to 1, or to 255 where one is larger, else from their smallest
    to their largest; what is not finite is rose. Larger ones are made smaller. Raises ImageError."""
    if isinstance(image, (bytes, bytearray, memoryview)):
        data = bytes(image)
        if not data.startswith(_SIGNATURE):
            raise ImageError("its bytes are no PNG")
        if len(data) > MOST_BYTES:
            raise ImageError(f"its PNG has {len(data)} bytes, and {MOST_BYTES} are the most")
        return data
    pixels = _bytes_of(_pixels(image))
    step = max(1, -(-max(pixels.shape[:2]) // LARGEST_SIDE))
    while True:
        data = _encode(np.ascontiguousarray(pixels[::step, ::step]))
        if len(data) <= MOST_BYTES:
            return data
        step *= 2


def _pixels(image: Any) -> np.ndarray:
    if hasattr(image, "mode") and hasattr(image, "convert"):
        image = image if image.mode in ("L", "RGB", "RGBA") else image.convert("RGBA" if "A" in image.mode else "RGB")
        return np.asarray(image)
    is_tensor = hasattr(image, "detach") and hasattr(image, "cpu")
    try:
        # A tensor on a device is waited for: the user asks for it here and now.
        array = image.detach().cpu().float().numpy() if is_tensor and image.is_floating_point() else None
        array = (image.detach().cpu().numpy() if is_tensor else np.asarray(image)) if array is None else array
    except Exception as error:  # noqa: BLE001
        raise ImageError(f"it is no array: {error}") from None
    if array.ndim == 3 and array.shape[0] in (1, 3, 4) and array.shape[2] not in (1, 3, 4):
        array = np.moveaxis(array, 0, 2)
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or array.shape[2] not in _COLORS or 0 in array.shape:
        raise ImageError(f"its shape {list(np.shape(image))} is none of an image: H x W, H x W x C or C x H x W")
    if array.dtype.kind not in "biuf":
        raise ImageError(f"its elements are {array.dtype}, not numbers")
    return array


def _bytes_of(array: np.ndarray) -> np.ndarray:
    if array.ndim == 2:
        array = array[:, :, None]
    if array.dtype == np.uint8:
        return array
    if array.dtype.kind == "b":
        return array.astype(np.uint8) * np.uint8(255)
    values = array.astype(np.float64)
    is_finite = np.isfinite(values)
    low, high = (values[is_finite].min(), values[is_finite].max()) if is_finite.any() else (0.0, 1.0)
    if low >= 0 and high <= 255:
        low, high = 0.0, 1.0 if high <= 1 and array.dtype.kind == "f" else 255.0
    span = high - low or 1.0
    shown = np.clip(np.rint((np.where(is_finite, values, low) - low) / span * 255), 0, 255).astype(np.uint8)
    if is_finite.all():
        return shown
    colored = np.repeat(shown, 3, axis=2) if shown.shape[2] <= 2 else shown[:, :, :3].copy()
    colored[~is_finite.all(axis=2)] = _NOT_FINITE
    return colored[:, :, :3]


def _encode(pixels: np.ndarray) -> bytes:
    height, width, channels = pixels.shape
    rows = np.zeros((height, 1 + width * channels), np.uint8)  # a filter byte before each
    rows[:, 1:] = pixels.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, _COLORS[channels], 0, 0, 0)
    return _SIGNATURE + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
