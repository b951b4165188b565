// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QtTest>

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

}
