// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractButton>
#include <QAction>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpression>
#include <QTabBar>
#include <QToolButton>
#include <QtTest>

#include <telltale/shell/keychip.h>

#include "pseudolocale.h"

namespace telltale::test {

/// Words of ours that are shown went through a translator.
inline void check(const QWidget* widget, const QString& text)
{
    static const QRegularExpression kLetters(QStringLiteral("[A-Za-z]{2}"));
    for (const QWidget* w = widget; w; w = w->parentWidget()) {
        if (w->property("telltaleData").toBool())
            return;
    }
    if (text.contains(kLetters))
        QVERIFY2(PseudoLocale::isPseudo(text), qPrintable(QStringLiteral("untranslated: ") + text));
}

/// That is so of all words in a window, and none of them is cut.
inline void checkTexts(QWidget* window)
{
    for (const QWidget* widget : window->findChildren<QWidget*>()) {
        if (!widget->isVisible())
            continue;
        if (const auto* label = qobject_cast<const QLabel*>(widget); label && !label->text().isEmpty()) {
            check(label, label->text());
            const QSize wanted
                = label->wordWrap() ? QSize(0, label->heightForWidth(label->width())) : label->sizeHint();
            QVERIFY2(label->width() >= wanted.width() && label->height() >= wanted.height(),
                qPrintable(QStringLiteral("cut: %1 (%2x%3 of %4x%5)")
                               .arg(label->text())
                               .arg(label->width())
                               .arg(label->height())
                               .arg(wanted.width())
                               .arg(wanted.height())));
        } else if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) {
            check(button, button->text());
            check(button, button->toolTip());
            const auto* tool = qobject_cast<const QToolButton*>(button);
            const bool isArrow = tool && tool->arrowType() != Qt::NoArrow; // scrolls tabs that have no room
            QVERIFY2(isArrow || button->width() >= button->minimumSizeHint().width() || !button->icon().isNull(),
                qPrintable(QStringLiteral("cut: ") + button->text()));
        } else if (const auto* header = qobject_cast<const QHeaderView*>(widget);
                   header && header->orientation() == Qt::Horizontal) {
            for (int i = 0; i < header->count(); ++i) {
                check(header, header->model()->headerData(i, Qt::Horizontal).toString());
                QVERIFY2(header->isSectionHidden(i) || header->sectionSize(i) >= header->sectionSizeHint(i),
                    qPrintable(QStringLiteral("cut: ") + header->model()->headerData(i, Qt::Horizontal).toString()));
            }
        } else if (const auto* tabs = qobject_cast<const QTabBar*>(widget)) {
            for (int i = 0; i < tabs->count(); ++i)
                check(tabs, tabs->tabText(i));
        } else if (const auto* field = qobject_cast<const QLineEdit*>(widget)) {
            check(field, field->placeholderText());
        } else if (const auto* chip = qobject_cast<const shell::KeyChip*>(widget)) {
            check(chip, chip->meaning());
            QVERIFY2(chip->width() >= chip->sizeHint().width(), qPrintable(QStringLiteral("cut: ") + chip->meaning()));
        }
    }
    for (const QAction* action : window->findChildren<QAction*>())
        check(window, action->objectName().contains(u'.') ? action->text() : QString());
}

}
