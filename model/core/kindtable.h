// SPDX-License-Identifier: GPL-3.0-or-later
// The one table of kinds and statistics; no include guard, since each reader defines the macros of what it makes of the
// rows. kinds.h makes enums and facts of them, agents their columns, makekinds.py the Python package's kinds and the
// list in README.md; tests hold the proto and the config fields against it. Numbers and words travel on the wire and
// stand in capsules: rows are only ever added, with the next number.

// clang-format off
// TELLTALE_KIND(name, number, word, title, config field that brings it)
#ifdef TELLTALE_KIND
TELLTALE_KIND(Scalar, 1, "scalar", QT_TRANSLATE_NOOP("Kind", "scalar"), "")
TELLTALE_KIND(ParamOrigin, 2, "param_origin", QT_TRANSLATE_NOOP("Kind", "weight, before the step"), "param_distribution")
TELLTALE_KIND(ParamUpdated, 3, "param_updated", QT_TRANSLATE_NOOP("Kind", "weight, after the step"), "param_distribution")
TELLTALE_KIND(GradUnreduced, 4, "grad_unreduced", QT_TRANSLATE_NOOP("Kind", "gradient, unreduced"), "wg_distribution")
TELLTALE_KIND(GradReduced, 5, "grad_reduced", QT_TRANSLATE_NOOP("Kind", "gradient, reduced"), "wg_distribution")
TELLTALE_KIND(Actv, 6, "actv", QT_TRANSLATE_NOOP("Kind", "activation, forward"), "xy_distribution")
TELLTALE_KIND(ActvGrad, 7, "actv_grad", QT_TRANSLATE_NOOP("Kind", "activation, backward"), "xy_distribution")
TELLTALE_KIND(ExpAvg, 8, "exp_avg", QT_TRANSLATE_NOOP("Kind", "first moment"), "mv_distribution")
TELLTALE_KIND(ExpAvgSq, 9, "exp_avg_sq", QT_TRANSLATE_NOOP("Kind", "second moment"), "mv_distribution")
TELLTALE_KIND(MgDirection, 10, "mg_direction", QT_TRANSLATE_NOOP("Kind", "momentum-gradient direction"), "mg_direction")
TELLTALE_KIND(Update, 11, "update", QT_TRANSLATE_NOOP("Kind", "update"), "ur_distribution")
TELLTALE_KIND(UpdateRatio, 12, "ratio", QT_TRANSLATE_NOOP("Kind", "update ratio"), "ur_distribution")
TELLTALE_KIND(Comm, 13, "comm", QT_TRANSLATE_NOOP("Kind", "communication"), "cc_distribution.enable")
TELLTALE_KIND(Attention, 14, "attention", QT_TRANSLATE_NOOP("Kind", "attention"), "telltale.attention_hook")
TELLTALE_KIND(Linear, 15, "linear", QT_TRANSLATE_NOOP("Kind", "linear layer"), "l2_targets")
TELLTALE_KIND(Router, 16, "router", QT_TRANSLATE_NOOP("Kind", "router"), "l2_targets")
TELLTALE_KIND(GradSign, 17, "grad_sign", QT_TRANSLATE_NOOP("Kind", "gradient sign"), "")
#endif

// TELLTALE_KIND_ALIAS(name, word): what agents once called a kind in what they wrote; read, never written.
#ifdef TELLTALE_KIND_ALIAS
TELLTALE_KIND_ALIAS(UpdateRatio, "update_ratio")
#endif

// TELLTALE_STAT(name, number, word, column on the wire and in tiles, counts as a sample, reduction over steps, what it
//     says where elements are not finite, how it is shown, config field that brings it: "" = it comes with its kind)
// TELLTALE_PASS_STAT(..., member of tt_stats): of the one pass over a tensor (../stats)
#ifdef TELLTALE_STAT
#ifndef TELLTALE_PASS_STAT
#define TELLTALE_PASS_STAT(name, number, word, column, isSample, reduction, nonFinite, shown, field, member)           \
    TELLTALE_STAT(name, number, word, column, isSample, reduction, nonFinite, shown, field)
#endif
TELLTALE_PASS_STAT(Norm, 1, "norm", F32, true, LargestMagnitude, OverFinite, Number, "", norm)
TELLTALE_PASS_STAT(Mean, 2, "mean", F32, true, Mean, OverFinite, Number, "", mean)
TELLTALE_PASS_STAT(Min, 3, "min", F32, true, Smallest, Least, Number, "", min)
TELLTALE_PASS_STAT(Max, 4, "max", F32, true, LargestMagnitude, Greatest, Number, "", max)
TELLTALE_PASS_STAT(Zeros, 5, "zeros", F32, true, Mean, OverAll, Share, "", zeros)
TELLTALE_PASS_STAT(Nans, 6, "nans", U64, true, Mean, Counts, Count, "", nans)
TELLTALE_PASS_STAT(PosInfs, 7, "posinfs", U64, false, Mean, Counts, Count, "", pos_infs)
TELLTALE_PASS_STAT(NegInfs, 8, "neginfs", U64, false, Mean, Counts, Count, "", neg_infs)
TELLTALE_STAT(Value, 9, "value", F64, false, Mean, Itself, Number, "")
TELLTALE_STAT(Entropy, 10, "entropy", F32, true, Mean, Itself, Number, "")
TELLTALE_STAT(SoftmaxMax, 11, "softmax_max", F32, true, Mean, Itself, Number, "")
TELLTALE_STAT(StableRank, 12, "sr", F32, true, Mean, Itself, Number, "")
TELLTALE_STAT(KernelNorm, 13, "kernel_norm", F32, true, Mean, Itself, Number, "")
TELLTALE_PASS_STAT(Checksum, 14, "checksum", U64, false, None, Bits, Identity, "telltale.checksum", checksum)
TELLTALE_STAT(Hist, 15, "hist", U64, true, Sum, Itself, Bin, "")
TELLTALE_STAT(Agreement, 16, "agreement", F32, true, Mean, Itself, Number, "")
TELLTALE_STAT(Similarity, 17, "similarity", F32, true, Mean, Itself, Number, "")
TELLTALE_STAT(MaxLogit, 18, "max_logit", F32, true, LargestMagnitude, Itself, Number, "")
#undef TELLTALE_PASS_STAT
#endif

// TELLTALE_DERIVED_STAT(name, number, word, column, reduction, non-finite, shown): what readers make of others. Never
// sent, stored or imported. Of fp16, bf16 and both fp8 the shares that numberformats.h says of an octave histogram.
#ifdef TELLTALE_DERIVED_STAT
TELLTALE_DERIVED_STAT(AbsMax, 64, "absmax", F32, LargestMagnitude, Magnitude, Number)
TELLTALE_DERIVED_STAT(Fp16Underflow, 65, "fp16_underflow", F64, Mean, OverFinite, Share)
TELLTALE_DERIVED_STAT(Fp16Overflow, 66, "fp16_overflow", F64, Mean, OverFinite, Share)
TELLTALE_DERIVED_STAT(Bf16Underflow, 67, "bf16_underflow", F64, Mean, OverFinite, Share)
TELLTALE_DERIVED_STAT(Bf16Overflow, 68, "bf16_overflow", F64, Mean, OverFinite, Share)
TELLTALE_DERIVED_STAT(E4M3Underflow, 69, "e4m3_underflow", F64, Mean, OverFinite, Share)
TELLTALE_DERIVED_STAT(E4M3Overflow, 70, "e4m3_overflow", F64, Mean, OverFinite, Share)
TELLTALE_DERIVED_STAT(E5M2Underflow, 71, "e5m2_underflow", F64, Mean, OverFinite, Share)
TELLTALE_DERIVED_STAT(E5M2Overflow, 72, "e5m2_overflow", F64, Mean, OverFinite, Share)
#endif
