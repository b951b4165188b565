// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/core/expected.h>

#include "curvepicture.h"

class QIODevice;

namespace telltale::views {

/// CSV of what a curve picture shows: one record for every line or band and bucket that was measured or lost. A band
/// names all its ranks, "1..7". Thread: gui.
Expected<void> writeCurveCsv(QIODevice* device, const CurvePicture* picture);

}
