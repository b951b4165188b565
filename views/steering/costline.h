// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <telltale/config/costestimate.h>

namespace telltale::views {

/// "about 1,240 series, 3.1 k samples a step, 0.9 MB/s, +0.4 ms a step (0.2 %)"; what is not known is left out.
/// isChange: it is of a draft that changes something. budget: of the running config, in percent.
QString costLine(const config::CostEstimate& estimate, bool isChange, double budget = 0);

}
