// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/runs/rolelabel.h>

namespace telltale::views {

/// A sentence on what is wrong with a config, behind the mark of how bad that is. Thread: gui.
class ProblemLabel : public RoleLabel {
    Q_OBJECT
public:
    explicit ProblemLabel(int px, QWidget* parent = nullptr);

    void setProblem(const QString& sentence, bool isError);
    void setNote(const QString& sentence); ///< nothing is wrong: no mark

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    bool m_isError = true;
};

}
