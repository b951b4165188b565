# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers that travel on the wire, equal to model/core/kinds.h and model/core/samplebatch.h."""

from enum import IntEnum, IntFlag


class Kind(IntEnum):
    """What was measured."""

    SCALAR = 1
    PARAM_ORIGIN = 2
    PARAM_UPDATED = 3
    GRAD_UNREDUCED = 4
    GRAD_REDUCED = 5
    ACTV = 6
    ACTV_GRAD = 7
    EXP_AVG = 8
    EXP_AVG_SQ = 9
    MG_DIRECTION = 10
    UPDATE = 11
    UPDATE_RATIO = 12
    COMM = 13
    ATTENTION = 14
    LINEAR = 15
    ROUTER = 16

    word: str  # the field's own word: "grad_unreduced"

    def __init__(self, _number: int) -> None:
        self.word = self._name_.lower()


class Stat(IntEnum):
    """One column of a series."""

    NORM = 1
    MEAN = 2
    MIN = 3
    MAX = 4
    ZEROS = 5
    NANS = 6
    POS_INFS = 7
    NEG_INFS = 8
    VALUE = 9
    ENTROPY = 10
    SOFTMAX_MAX = 11
    STABLE_RANK = 12
    KERNEL_NORM = 13
    HIST = 15
    AGREEMENT = 16
    SIMILARITY = 17


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
