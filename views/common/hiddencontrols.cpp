// SPDX-License-Identifier: GPL-3.0-or-later
#include "hiddencontrols.h"

#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>

#include <telltale/items/guithread.h>

namespace telltale::views {

HiddenControls::HiddenControls(const QWidget* whole)
    : m_focus(QApplication::focusWidget())
{
    items::assertGuiThread();
    const auto hide = [this](QWidget* one) {
        if (!one->isVisible())
            return;
        QSizePolicy policy = one->sizePolicy();
        m_hidden.emplace_back(one, policy);
        policy.setRetainSizeWhenHidden(true);
        one->setSizePolicy(policy);
        one->hide();
    };
    for (QPushButton* button : whole->findChildren<QPushButton*>()) {
        if (!button->isChecked() && !button->property("isData").toBool())
            hide(button);
    }
    for (QLineEdit* field : whole->findChildren<QLineEdit*>()) {
        const QWidget* of = field->parentWidget();
        const bool isPart = qobject_cast<const QComboBox*>(of) || qobject_cast<const QAbstractSpinBox*>(of);
        if (field->text().isEmpty() && !isPart)
            hide(field);
    }
}

HiddenControls::~HiddenControls()
{
    for (const auto& [one, policy] : m_hidden) {
        if (!one)
            continue;
        one->show();
        one->setSizePolicy(policy);
    }
    if (m_focus)
        m_focus->setFocus();
}

}
