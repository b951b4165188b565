// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <telltale/core/samplebatch.h>

namespace telltale::exchange {

/// What a tag of an event file names. Thread: any (a value).
struct EventPlace {
    Kind kind = Kind::Scalar;
    SeriesDesc desc;
    Stat stat = Stat::Value;
};

/// The series and statistic of a tag: as `telltale export` names them ("grad_reduced.norm/head.weight"), as msprobe's
/// csv2tensorboard ("vp0:head.weight/max" in the folder of its kind) and its TensorBoard format
/// ("0:head.weight/rank0/post_grad_norm") do; everybody else's tags are metrics of that name. `folder`: between the
/// rank's folder and the file; it is a part of a metric's name.
EventPlace eventPlace(std::string_view tag, std::string_view folder, bool isHistogram);

/// The metric that a tag repeats over samples: "loss" of "loss-vs-samples" (MindSpore Transformers' documents),
/// "loss_vs_samples" (its files) and "loss vs samples" (Megatron-LM); empty: it repeats none.
std::string_view metricOverSamples(std::string_view tag);

}
