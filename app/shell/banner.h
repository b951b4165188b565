// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>
#include <QWidget>

namespace telltale::shell {

/// The ornament of the first start: a small heat map in the real colors, in which one row grows loud and fades out. The
/// same every time.
class Banner : public QWidget {
    Q_OBJECT
public:
    explicit Banner(QWidget* parent = nullptr);

    QSize sizeHint() const override { return { 1140, 114 }; }
    QSize minimumSizeHint() const override { return { 300, 114 }; }

protected:
    void paintEvent(QPaintEvent* event) override;
};

}
