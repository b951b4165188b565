// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <telltale/common/dataview.h>

namespace telltale::views {
class RoleLabel;
}

namespace telltale::shell {

/// One line above every view of a damaged run: what of it is lost, so that nobody takes what is left for all that was
/// recorded. Not there for a run that can be read. Thread: gui.
class DamageStrip : public QWidget {
    Q_OBJECT
public:
    explicit DamageStrip(const views::ViewContext& context, QWidget* parent = nullptr);

    QString sentence() const { return m_sentence; } ///< empty where nothing is known to be lost

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void look();

    views::ViewContext m_context;
    views::RoleLabel* m_label;
    QString m_sentence;
};

}
