// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <telltale/store/logrecord.h>

namespace telltale::shell {

/// A count in a tab, in the color of the worst that it counts.
class TabBadge : public QWidget {
    Q_OBJECT
public:
    explicit TabBadge(QWidget* parent);

    void set(int count, store::Severity worst);
    int count() const { return m_count; }
    QSize sizeHint() const override;
    QRect pill() const; ///< what is seen of it

protected:
    void paintEvent(QPaintEvent* event) override;
    void moveEvent(QMoveEvent* event) override;

private:
    QString text() const;

    int m_count = 0;
    store::Severity m_worst = store::Severity::Notice;
};

}
