# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers that travel on the wire; DType and Form are equal to model/core/samplebatch.h."""

from enum import IntEnum, IntFlag

from .quantities import Kind, Stat

__all__ = ["DType", "Form", "Kind", "Stat"]


class DType(IntEnum):
    """Element types the statistics kernel reads."""

    UNKNOWN = 0
    F32 = 1
    F64 = 2
    F16 = 3
    BF16 = 4
    I8 = 5
    U8 = 6
    I16 = 7
    I32 = 8
    I64 = 9
    BOOL = 10


class Form(IntFlag):
    """How a series was measured."""

    NONE = 0
    ACCUMULATED = 1 << 0  # sum over the micro steps so far
    SCALED = 1 << 1  # before a loss scaler's unscaling
    CLIPPED = 1 << 2  # after gradient clipping
    TOTAL = 1 << 3  # total over all consumers of a tensor
    SAMPLED = 1 << 4  # of a sample of the elements or queries
    MICRO = 1 << 5  # of one micro step alone
    INPUT_SIDE = 1 << 6
