// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <QWidget>

#include <telltale/core/ids.h>

class QLineEdit;
class QPushButton;

namespace telltale::views {

class NumberEdit;
class ProblemLabel;
class RoleLabel;

/// To which ranks a draft is applied and from which step on, the button that applies it, and why it cannot be. Thread:
/// gui.
class ApplyBox : public QWidget {
    Q_OBJECT
public:
    explicit ApplyBox(QWidget* parent = nullptr);

    std::optional<std::vector<Rank>> ranks() const; ///< empty: all; null: no numbers
    std::optional<qint64> step() const; ///< 0: as soon as all can; null: no number
    /// The newest step that is known; empty where nothing is measured.
    void setNewest(std::optional<qint64> newest);
    /// The revision that would be applied; empty where nobody would answer.
    void setRevision(std::optional<std::uint64_t> revision);
    void setEnabledApply(bool on);
    ProblemLabel* why() const { return m_why; }

Q_SIGNALS:
    void edited(); ///< its ranks or its step
    void applied();

private:
    QLineEdit* m_ranks;
    NumberEdit* m_step;
    RoleLabel* m_stepHint;
    QPushButton* m_apply;
    ProblemLabel* m_why;
};

}
