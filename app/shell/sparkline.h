// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QWidget>

namespace telltale::shell {

/// The last minute of step rates as one quiet line with the newest value marked. Moves only when a step arrives.
class SparkLine : public QWidget {
    Q_OBJECT
public:
    explicit SparkLine(QWidget* parent = nullptr);

    void set(std::vector<double> values);
    QSize sizeHint() const override { return { 96, 20 }; }
    QSize minimumSizeHint() const override { return { 40, 20 }; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::vector<double> m_values;
};

}
