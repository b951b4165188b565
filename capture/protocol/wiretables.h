// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/core/kinds.h>

#include "telltale.pb.h"

/// Kind and Stat have the same numbers on the wire and in memory. For .cpp files of this folder only.
namespace telltale::protocol::wire {

using namespace telltale::capture::v1;

template <typename Ours, typename Theirs> constexpr bool isSame(Ours ours, Theirs theirs)
{
    return static_cast<int>(ours) == static_cast<int>(theirs);
}

using OurKind = telltale::Kind;
static_assert(isSame(OurKind::Unspecified, KIND_UNSPECIFIED) && isSame(OurKind::Scalar, KIND_SCALAR));
static_assert(isSame(OurKind::ParamOrigin, KIND_PARAM_ORIGIN) && isSame(OurKind::ParamUpdated, KIND_PARAM_UPDATED));
static_assert(isSame(OurKind::GradUnreduced, KIND_GRAD_UNREDUCED) && isSame(OurKind::GradReduced, KIND_GRAD_REDUCED));
static_assert(isSame(OurKind::Actv, KIND_ACTV) && isSame(OurKind::ActvGrad, KIND_ACTV_GRAD));
static_assert(isSame(OurKind::ExpAvg, KIND_EXP_AVG) && isSame(OurKind::ExpAvgSq, KIND_EXP_AVG_SQ));
static_assert(isSame(OurKind::MgDirection, KIND_MG_DIRECTION) && isSame(OurKind::Update, KIND_UPDATE));
static_assert(isSame(OurKind::UpdateRatio, KIND_RATIO) && isSame(OurKind::Comm, KIND_COMM));
static_assert(isSame(OurKind::Attention, KIND_ATTENTION) && isSame(OurKind::Linear, KIND_LINEAR));
static_assert(isSame(OurKind::Router, KIND_ROUTER) && isSame(OurKind::GradSign, KIND_GRAD_SIGN));
static_assert(Kind_ARRAYSIZE == kKindCount);

using OurStat = telltale::Stat;
static_assert(isSame(OurStat::Unspecified, STAT_UNSPECIFIED) && isSame(OurStat::Norm, STAT_NORM));
static_assert(isSame(OurStat::Mean, STAT_MEAN) && isSame(OurStat::Min, STAT_MIN) && isSame(OurStat::Max, STAT_MAX));
static_assert(isSame(OurStat::Zeros, STAT_ZEROS) && isSame(OurStat::Nans, STAT_NANS));
static_assert(isSame(OurStat::PosInfs, STAT_POSINFS) && isSame(OurStat::NegInfs, STAT_NEGINFS));
static_assert(isSame(OurStat::Value, STAT_VALUE) && isSame(OurStat::Entropy, STAT_ENTROPY));
static_assert(isSame(OurStat::SoftmaxMax, STAT_SOFTMAX_MAX) && isSame(OurStat::StableRank, STAT_SR));
static_assert(isSame(OurStat::KernelNorm, STAT_KERNEL_NORM) && isSame(OurStat::Checksum, STAT_CHECKSUM));
static_assert(isSame(OurStat::Hist, STAT_HIST) && isSame(OurStat::Agreement, STAT_AGREEMENT));
static_assert(isSame(OurStat::Similarity, STAT_SIMILARITY));
static_assert(Stat_ARRAYSIZE == kStoredStatCount);

}
