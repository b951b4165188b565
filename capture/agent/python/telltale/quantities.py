# SPDX-License-Identifier: GPL-3.0-or-later
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

    SCALAR = 1, "scalar"
    PARAM_ORIGIN = 2, "param_origin"
    PARAM_UPDATED = 3, "param_updated"
    GRAD_UNREDUCED = 4, "grad_unreduced"
    GRAD_REDUCED = 5, "grad_reduced"
    ACTV = 6, "actv"
    ACTV_GRAD = 7, "actv_grad"
    EXP_AVG = 8, "exp_avg"
    EXP_AVG_SQ = 9, "exp_avg_sq"
    MG_DIRECTION = 10, "mg_direction"
    UPDATE = 11, "update"
    UPDATE_RATIO = 12, "ratio"
    COMM = 13, "comm"
    ATTENTION = 14, "attention"
    LINEAR = 15, "linear"
    ROUTER = 16, "router"
    GRAD_SIGN = 17, "grad_sign"


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

    NORM = 1, "norm", "norm", True, False, False
    MEAN = 2, "mean", "mean", True, False, False
    MIN = 3, "min", "min", True, False, False
    MAX = 4, "max", "max", True, False, False
    ZEROS = 5, "zeros", "zeros", True, False, False
    NANS = 6, "nans", "nans", True, True, False
    POS_INFS = 7, "posinfs", "pos_infs", False, True, False
    NEG_INFS = 8, "neginfs", "neg_infs", False, True, False
    VALUE = 9, "value", "", False, False, False
    ENTROPY = 10, "entropy", "", True, False, False
    SOFTMAX_MAX = 11, "softmax_max", "", True, False, False
    STABLE_RANK = 12, "sr", "", True, False, False
    KERNEL_NORM = 13, "kernel_norm", "", True, False, False
    CHECKSUM = 14, "checksum", "checksum", False, True, True
    HIST = 15, "hist", "", True, True, False
    AGREEMENT = 16, "agreement", "", True, False, False
    SIMILARITY = 17, "similarity", "", True, False, False
    MAX_LOGIT = 18, "max_logit", "", True, False, False
