// SPDX-License-Identifier: GPL-3.0-or-later
#include "translations.h"

#include <memory>

#include <QCoreApplication>
#include <QLibraryInfo>
#include <QLocale>
#include <QTranslator>

namespace telltale::translations {

bool install(QCoreApplication& app, const QString& language)
{
    static constexpr auto kName = "telltale_translator";
    for (QTranslator* old : app.findChildren<QTranslator*>(QString::fromLatin1(kName), Qt::FindDirectChildrenOnly)) {
        app.removeTranslator(old);
        delete old;
    }
    QLocale locale = language == QStringLiteral("system") ? QLocale::system() : QLocale(language);
    const auto add = [&](const QString& file, const QString& folder) {
        auto translator = std::make_unique<QTranslator>(&app);
        translator->setObjectName(QString::fromLatin1(kName));
        if (!translator->load(locale, file, QStringLiteral("_"), folder))
            return false;
        app.installTranslator(translator.release());
        return true;
    };
    const bool english = locale.language() == QLocale::English || locale.language() == QLocale::C;
    if (english) {
        locale = QLocale(QLocale::English); // the plural forms
        return add(QStringLiteral("telltale"), QStringLiteral(":/i18n"));
    }
    add(QStringLiteral("qtbase"), QLibraryInfo::path(QLibraryInfo::TranslationsPath));
    return add(QStringLiteral("telltale"), QStringLiteral(":/i18n"));
}

}
