// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include <QWidget>

#include "toaster.h"

namespace telltale::shell {

/// One sentence with a severity shape, at most one action, and a way to close it. Deletes itself.
class Toast : public QWidget {
    Q_OBJECT
public:
    Toast(Toaster::Severity severity, const QString& sentence, const QString& action, std::function<void()> run,
        QWidget* parent);

    QString sentence() const { return m_sentence; }
    void close();

Q_SIGNALS:
    void closed();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Toaster::Severity m_severity;
    QString m_sentence;
};

}
