// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractButton>

#include <telltale/store/archive.h>

namespace telltale::shell {

/// The run that is shown, with its state shape; opens the list of runs.
class RunButton : public QAbstractButton {
    Q_OBJECT
public:
    explicit RunButton(QWidget* parent = nullptr);

    void setRun(const QString& name, store::RunState state);
    void clearRun();
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    store::RunState m_state = store::RunState::Finished;
    bool m_hasRun = false;
};

/// The field in the tool bar that opens the command palette.
class PaletteButton : public QAbstractButton {
    Q_OBJECT
public:
    explicit PaletteButton(QWidget* parent = nullptr);

    QSize sizeHint() const override { return { 276, 28 }; }
    QSize minimumSizeHint() const override { return { 120, 28 }; }

protected:
    void paintEvent(QPaintEvent* event) override;
};

}
