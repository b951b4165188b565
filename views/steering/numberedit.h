// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLineEdit>

namespace telltale::views {

/// A whole number in groups of three, which the arrow keys and the two arrows at its right change by one. What is
/// typed stands as it was typed. It may be empty, and hold what is no number: who reads it says so.
class NumberEdit : public QLineEdit {
    Q_OBJECT
public:
    NumberEdit(qint64 least, qint64 most, QWidget* parent = nullptr);

    /// Where the arrows end. Those of an empty field begin at the least.
    void setRange(qint64 least, qint64 most);
    /// The text without the gaps between groups.
    static QString ungrouped(QString text);

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void stepBy(qint64 steps);
    bool isOnArrows(QPoint place) const;

    qint64 m_least;
    qint64 m_most;
};

}
