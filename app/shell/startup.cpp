// SPDX-License-Identifier: GPL-3.0-or-later
#include "startup.h"

#include <QApplication>
#include <QDir>

#include <telltale/items/saidwords.h>
#include <telltale/translations/translations.h>

namespace telltale::shell {

namespace {

constexpr auto kSystemIsDark = "telltaleSystemIsDark";

}

QString settingsPath(const std::string& dataDir)
{
    return QDir(QString::fromStdString(dataDir)).filePath(QStringLiteral("desktop.json"));
}

void applyTheme(QApplication& app, const QString& theme)
{
    const bool dark
        = theme == QStringLiteral("dark") || (theme != QStringLiteral("light") && app.property(kSystemIsDark).toBool());
    views::Theme::apply(app, dark ? views::Theme::Mode::Dark : views::Theme::Mode::Light);
}

settings::LoadedSettings prepareApplication(QApplication& app, const std::string& dataDir)
{
    // Qt 6.4 cannot ask for the system's scheme, and our own palette hides it later.
    if (!app.property(kSystemIsDark).isValid())
        app.setProperty(kSystemIsDark, app.palette().color(QPalette::Window).lightness() < 128);
    Expected<settings::LoadedSettings> loaded = settings::load(settingsPath(dataDir));
    settings::LoadedSettings result;
    if (loaded)
        result = std::move(*loaded);
    else
        result.note = items::saidwords::of(loaded.error());
    translations::install(app, result.settings.language);
    applyTheme(app, result.settings.theme);
    return result;
}

}
