// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/core/expected.h>

#include "curvepicture.h"

class QIODevice;

namespace telltale::views {

class CsvWriter;

/// CSV of what a curve picture shows: one record for every line or band and bucket that was measured or lost. A band
/// names all its ranks, "1..7", and has no value of its own; the median of several runs has nothing else. Thread: gui.
Expected<void> writeCurveCsv(QIODevice* device, const CurvePicture* picture);
/// A record of it without its run, `between` empty cells before its state.
void writeBucket(CsvWriter& csv, const CurveSeries& one, int bucket, int between = 0);

}
