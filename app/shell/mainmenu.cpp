// SPDX-License-Identifier: GPL-3.0-or-later
#include "mainmenu.h"

#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QMenu>

#include <telltale/items/guithread.h>

#include "commandregistry.h"
#include "layouts.h"
#include "session.h"
#include "startup.h"
#include "toaster.h"

namespace telltale::shell {

MainMenu::MainMenu(WindowParts* parts, QWidget* parent)
    : QMenuBar(parent)
    , m_parts(parts)
{
    setMinimumHeight(28); // Chinese needs a pixel more, and a bar too low hides its menus
}

void MainMenu::fill()
{
    items::assertGuiThread();
    QMenu* menu = nullptr;
    for (const auto& [command, action] : m_parts->commands->all()) {
        if (!action)
            menu->addSeparator();
        else if (!menu || menu->title() != command.menu)
            menu = addMenu(command.menu);
        if (action)
            menu->addAction(action);
        if (command.id == "view.present")
            addChoices(menu);
        if (command.id == "window.reset")
            addSavedLayouts(menu);
    }
}

void MainMenu::addSavedLayouts(QMenu* menu)
{
    QMenu* saved = menu->addMenu(tr("Saved &layouts"));
    connect(menu, &QMenu::aboutToShow, saved, [this, saved] {
        saved->clear();
        QMenu* removal = nullptr;
        for (const settings::SavedLayout& layout : m_parts->layouts->saved()) {
            const QString name = layout.name;
            const QString shown = QString(name).replace(u'&', QStringLiteral("&&"));
            QAction* action = saved->addAction(shown, this, [this, name] { m_parts->layouts->apply(name); });
            if (!removal)
                removal = new QMenu(tr("&Remove"), saved);
            removal->addAction(shown, this, [this, name] { m_parts->layouts->remove(name); });
            action->setStatusTip(name);
        }
        if (removal) {
            saved->addSeparator();
            saved->addMenu(removal);
        }
        saved->setEnabled(removal != nullptr);
    });
}

void MainMenu::addChoices(QMenu* menu)
{
    const settings::Settings& settings = m_parts->session->settings();
    const auto choice = [this, menu](const QString& title, const QString& current,
                            const std::vector<std::pair<QString, QString>>& values, auto choose) {
        QMenu* sub = menu->addMenu(title);
        auto* group = new QActionGroup(sub);
        for (const auto& [value, text] : values) {
            QAction* action = group->addAction(text);
            action->setCheckable(true);
            action->setChecked(value == current);
            connect(action, &QAction::triggered, this, [this, choose, key = value] { (this->*choose)(key); });
            m_parts->choices.emplace_back(
                QStringLiteral("%1: %2").arg(QString(title).remove(u'&'), text), [action] { action->trigger(); });
            sub->addAction(action);
        }
    };
    menu->addSeparator();
    choice(tr("&Theme"), settings.theme,
        { { QStringLiteral("system"), tr("Follow system") }, { QStringLiteral("dark"), tr("Dark") },
            { QStringLiteral("light"), tr("Light") } },
        &MainMenu::setTheme);
    choice(tr("&Language"), settings.language,
        { { QStringLiteral("system"), tr("Follow system") }, { QStringLiteral("en"), QStringLiteral("English") },
            { QStringLiteral("zh_CN"), QStringLiteral("\u7b80\u4f53\u4e2d\u6587") } },
        &MainMenu::setLanguage);
}

void MainMenu::setTheme(const QString& theme)
{
    m_parts->session->settings().theme = theme;
    applyTheme(*qApp, theme);
}

void MainMenu::setLanguage(const QString& language)
{
    m_parts->session->settings().language = language;
    m_parts->toaster->post(Toaster::Severity::Notice, tr("The language changes at the next start"));
}

}
