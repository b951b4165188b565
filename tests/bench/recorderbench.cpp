// SPDX-License-Identifier: GPL-3.0-or-later
// What telltale.flight_recorder takes of a step in the C++ agent; pythonbench.py has the same of the Python agent.
#include <QTemporaryDir>

#include "report.h"
#ifdef TELLTALE_HAVE_TORCH
#include "torchrecorder.h"
#endif

namespace telltale::bench {

void benchRecorder([[maybe_unused]] Report& report)
{
#ifdef TELLTALE_HAVE_TORCH
    const QTemporaryDir dir;
    const RecorderCost cost = recorderCost(dir.path().toStdString());
    report.add({ "flight_recorder_step", cost.kept, "ms (cpu)", "without it", cost.sent, 0.6, false });
    report.add({ "flight_recorder_added", cost.kept - cost.sent, "ms (cpu)", "sending what it keeps",
        cost.all - cost.sent, 0.4, false });
#endif
}

}
