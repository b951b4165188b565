// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractButton>

namespace telltale::views {

/// A switch, 32 x 18: on, off, or waiting for an answer.
class SwitchButton : public QAbstractButton {
    Q_OBJECT
public:
    static constexpr int kInset = 3; ///< px before its track, for the focus

    explicit SwitchButton(QWidget* parent = nullptr);

    /// The knob stands in the middle: what was asked for is not true of all yet.
    void setWaiting(bool on);
    bool isWaiting() const { return m_isWaiting; }
    QSize sizeHint() const override { return { 38, 24 }; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    bool m_isWaiting = false;
};

}
