// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QProcessEnvironment>
#include <QString>
#include <QStringList>

#include <telltale/core/expected.h>

namespace telltale::app {

/// What the demo starts, once a rank. Thread: any (a value).
struct TrainingProgram {
    QString program;
    QStringList arguments; ///< before the demo's own
    QString pythonPath; ///< goes before PYTHONPATH, empty = nothing

    /// telltale-demo-trainer, beside this program or on the PATH.
    static Expected<TrainingProgram> native();
    /// `python3 -m telltale train-demo` with the first Python that has torch: TELLTALE_PYTHON, .venv of the checkout
    /// that this program was built in, python3 on the PATH.
    static Expected<TrainingProgram> python();

    void prepare(QProcessEnvironment& environment) const;
};

}
