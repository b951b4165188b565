// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QApplication>
#include <QtTest>

#include <telltale/common/theme.h>
#include <telltale/translations/translations.h>

namespace telltale::test {

/// Rows of a test that looks at every theme in every language: "theme" and "language".
inline void addLooks()
{
    QTest::addColumn<QString>("theme");
    QTest::addColumn<QString>("language");
    for (const char* theme : { "dark", "light" }) {
        for (const char* language : { "en", "zh_CN" })
            QTest::addRow("%s %s", theme, language) << QString::fromLatin1(theme) << QString::fromLatin1(language);
    }
}

struct Look {
    QString theme, language;
};
/// Puts on the look of the row under way. What is open already keeps its own.
inline Look putOnLook()
{
    QFETCH(QString, theme);
    QFETCH(QString, language);
    views::Theme::apply(*qApp, theme == QLatin1String("dark") ? views::Theme::Mode::Dark : views::Theme::Mode::Light);
    translations::install(*qApp, language);
    return { theme, language };
}

}
