// SPDX-License-Identifier: GPL-3.0-or-later
#include "mainwindow.h"

#include <algorithm>

#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QMenuBar>
#include <QMessageBox>

#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/moduletreemodel.h>
#include <telltale/runs/connectionspanel.h>
#include <telltale/runs/joinfield.h>
#include <telltale/runs/modulespanel.h>
#include <telltale/runs/runspanel.h>

#include "commandregistry.h"
#include "dockhost.h"
#include "keyssheet.h"
#include "nonfinitejump.h"
#include "runactions.h"
#include "rundriver.h"
#include "toaster.h"
#include "toolbar.h"
#include "viewexport.h"
#include "viewtabs.h"

namespace telltale::shell {

void MainWindow::makeCommands()
{
    const auto add = [this](const char* id, const QString& group, const QString& text, const char* iconName,
                         const QKeySequence& key, std::function<void()> run, QWidget* scope = nullptr) {
        return m_commands->add(
            QString::fromLatin1(id), group, text, QString::fromLatin1(iconName), key, std::move(run), scope);
    };
    const auto runName = [this] { return m_state->run() ? QString::fromStdString(m_state->run()->name) : QString(); };
    const auto currentId = [this] { return m_state->run() ? QString::fromStdString(m_state->run()->id) : QString(); };

    const QString file = tr("&File");
    add("file.open", file, tr("&Open a run…"), "folder", Qt::CTRL | Qt::Key_O, [this] { m_runActions->open(); });
    add("file.import", file, tr("&Import a run…"), "imp", Qt::CTRL | Qt::Key_I, [this] { m_runActions->askImport(); });
    add("file.picture", file, tr("Export the view as a &picture…"), "exp", Qt::CTRL | Qt::Key_E,
        [this, runName] { m_export->askForPicture(m_views->currentView(), runName()); });
    add("file.csv", file, tr("Export the view as &CSV…"), "", Qt::CTRL | Qt::SHIFT | Qt::Key_E,
        [this, runName] { m_export->askForCsv(m_views->currentView(), runName()); });
    add("file.quit", file, tr("&Quit"), "", Qt::CTRL | Qt::Key_Q, [this] { close(); });

    const QString edit = tr("&Edit");
    add("edit.join", edit, tr("Copy the &join string"), "copy", Qt::CTRL | Qt::SHIFT | Qt::Key_C,
        [this] { m_connectionsPanel->joinField()->copy(); });
    add("edit.filter", edit, tr("&Filter modules"), "filter", Qt::CTRL | Qt::Key_F, [this] {
        m_docks->show(DockHost::Modules);
        m_modulesPanel->focusFilter();
    });
    add("edit.runs", edit, tr("&Search runs"), "search", Qt::CTRL | Qt::SHIFT | Qt::Key_F, [this] {
        m_docks->show(DockHost::Runs);
        m_runsPanel->showSearch();
    });
    add("edit.palette", edit, tr("&Go to module, step or command"), "search", Qt::CTRL | Qt::Key_K,
        [this] { m_palette->popUp(); });

    const QString view = tr("&View");
    int digit = Qt::Key_1;
    for (const QString& id : m_views->ids()) {
        m_commands->add(QStringLiteral("view.") + id, view, m_views->titleOf(id), {}, QKeySequence(Qt::CTRL | digit++),
            [this, id] { m_views->setCurrent(id); });
    }
    QAction* follow = add(
        "view.follow", view, tr("&Follow the newest steps"), "follow", Qt::Key_Space,
        [this] { m_state->setFollowing(!m_state->isFollowing()); }, m_views);
    follow->setCheckable(true);
    follow->setChecked(m_state->isFollowing());
    connect(m_state, &views::ViewState::followingChanged, follow,
        [this, follow] { follow->setChecked(m_state->isFollowing()); });
    add(
        "view.back", view, tr("Zoom &back"), "undo", Qt::Key_Backspace, [this] { m_state->zoomBack(); }, m_views);
    add(
        "view.forward", view, tr("Zoom f&orward"), "", Qt::SHIFT | Qt::Key_Backspace,
        [this] { m_state->zoomForward(); }, m_views);
    add("view.all", view, tr("Show the &whole run"), "zoomout", Qt::CTRL | Qt::Key_0,
        [this] { m_state->zoomOutFully(); });
    add(
        "view.left", view, tr("Cursor one step left"), "", Qt::Key_Left, [this] { moveCursor(-1); }, m_views);
    add(
        "view.right", view, tr("Cursor one step right"), "", Qt::Key_Right, [this] { moveCursor(1); }, m_views);
    add(
        "view.left10", view, tr("Cursor ten steps left"), "", Qt::SHIFT | Qt::Key_Left, [this] { moveCursor(-10); },
        m_views);
    add(
        "view.right10", view, tr("Cursor ten steps right"), "", Qt::SHIFT | Qt::Key_Right, [this] { moveCursor(10); },
        m_views);
    add(
        "view.pin", view, tr("&Pin or release the cursor"), "pin", Qt::Key_Return,
        [this] {
            const auto step = m_state->hover() ? m_state->hover() : std::optional(m_state->fullRange().last);
            m_state->setCursor(m_state->cursor() ? std::nullopt : step);
        },
        m_views);
    add(
        "view.previousBad", view, tr("Pre&vious non-finite value"), "", Qt::Key_BracketLeft,
        [this] { m_jump->previous(); }, m_views);
    add(
        "view.nextBad", view, tr("&Next non-finite value"), "", Qt::Key_BracketRight, [this] { m_jump->next(); },
        m_views);
    add("view.nextError", view, tr("Next &error"), "", Qt::Key_F8, [this] { m_jump->next(); });
    add(
        "view.markA", view, tr("Set mark &A"), "", Qt::Key_A, [this] { setMark(true); }, m_views);
    add(
        "view.markB", view, tr("Set mark &B"), "", Qt::Key_B, [this] { setMark(false); }, m_views);
    add(
        "view.clear", view, tr("&Clear cursor and marks"), "", Qt::Key_Escape,
        [this] {
            m_state->setCursor({});
            m_state->setMarks({}, {});
        },
        m_views);

    const QString run = tr("&Run");
    add("run.demo", run, tr("Run the &demo"), "play", Qt::CTRL | Qt::Key_D, [this] {
        if (m_context.runDemo)
            m_context.runDemo({});
    })->setEnabled(static_cast<bool>(m_context.runDemo));
    add("run.rename", run, tr("&Rename the run…"), "", Qt::Key_F2,
        [this, currentId] { m_runActions->rename(currentId()); });
    add("run.copy", run, tr("&Export a copy of the run…"), "exp", {},
        [this, currentId] { m_runActions->exportCopy(currentId()); });
    add("run.delete", run, tr("De&lete the run…"), "", {}, [this, currentId] { m_runActions->remove(currentId()); });

    add("run.endComparison", run, tr("End the &comparison"), "compare", {}, [this] { m_state->setCompared({}, {}); });

    const QString window = tr("&Window");
    add("window.connections", window, tr("&Connections"), "plug", Qt::CTRL | Qt::SHIFT | Qt::Key_A, [this] {
        QAction* toggle = m_docks->toggleAction(DockHost::Connections);
        toggle->trigger();
        if (toggle->isChecked())
            m_docks->show(DockHost::Connections);
    });
    add("window.log", window, tr("&Log"), "logs", Qt::CTRL | Qt::SHIFT | Qt::Key_L, [this] {
        QAction* toggle = m_docks->toggleAction(DockHost::Log);
        toggle->trigger();
        if (toggle->isChecked())
            m_docks->show(DockHost::Log);
    });
    add("window.next", window, tr("&Next panel"), "", Qt::Key_F6,
        [this] { m_docks->focusNext(m_views->currentView()); });
    add("window.reset", window, tr("&Reset the layout"), "layout", {}, [this] { m_docks->resetLayout(); });

    const QString help = tr("&Help");
    add("help.keys", help, tr("&Keys"), "", Qt::Key_F1, [this] {
        KeysSheet sheet(*m_commands, this);
        sheet.exec();
    });
    add("help.about", help, tr("&About Telltale"), "", {}, [this] {
        QMessageBox::about(this, tr("About Telltale"),
            tr("Telltale %1\nWhat happens inside a neural network while it trains.\nGPL-3.0-or-later")
                .arg(QCoreApplication::applicationVersion()));
    });

    const auto enableForRun = [this] {
        const bool hasRun = m_state->run() != nullptr;
        const bool live = hasRun && m_state->run()->live && !m_state->run()->live->closed.load();
        for (const char* id : { "file.picture", "file.csv" })
            m_commands->action(QString::fromLatin1(id))->setEnabled(hasRun);
        m_commands->action(QStringLiteral("run.endComparison"))->setEnabled(m_state->comparedRun() != nullptr);
        m_commands->action(QStringLiteral("run.copy"))->setEnabled(hasRun);
        for (const char* id : { "run.rename", "run.delete" })
            m_commands->action(QString::fromLatin1(id))->setEnabled(hasRun && !live && !m_state->run()->id.empty());
    };
    connect(m_state, &views::ViewState::runChanged, this, enableForRun);
    connect(m_state, &views::ViewState::comparedChanged, this, enableForRun);
    connect(m_driver, &RunDriver::pulseChanged, this, enableForRun);
    enableForRun();

    m_toolBar->addAction(m_commands->action(QStringLiteral("window.connections")));
    m_toolBar->addAction(m_commands->action(QStringLiteral("window.reset")));
    m_views->addAction(m_commands->action(QStringLiteral("view.back")));
    m_views->addAction(m_commands->action(QStringLiteral("file.picture")));
}

void MainWindow::makeMenus()
{
    QMenu* menu = nullptr;
    for (const CommandRegistry::Command& command : m_commands->all()) {
        if (!menu || menu->title() != command.group)
            menu = m_menuBar->addMenu(command.group);
        menu->addAction(command.action);
        if (command.id == QStringLiteral("file.csv") || command.id == QStringLiteral("view.all")
            || command.id == QStringLiteral("run.demo") || command.id == QStringLiteral("view.clear"))
            menu->addSeparator();
        if (command.id == QStringLiteral("view.clear")) {
            const auto choice = [this](QMenu* parent, const QString& title, const QString& current,
                                    const std::vector<std::pair<QString, QString>>& values, auto choose) {
                QMenu* sub = parent->addMenu(title);
                auto* group = new QActionGroup(sub);
                for (const auto& [value, text] : values) {
                    QAction* action = group->addAction(text);
                    action->setCheckable(true);
                    action->setChecked(value == current);
                    connect(action, &QAction::triggered, this, [this, choose, key = value] { (this->*choose)(key); });
                    sub->addAction(action);
                }
            };
            choice(menu, tr("&Theme"), m_settings.theme,
                { { QStringLiteral("system"), tr("As the system") }, { QStringLiteral("dark"), tr("Dark") },
                    { QStringLiteral("light"), tr("Light") } },
                &MainWindow::setTheme);
            choice(menu, tr("&Language"), m_settings.language,
                { { QStringLiteral("system"), tr("As the system") },
                    { QStringLiteral("en"), QStringLiteral("English") },
                    { QStringLiteral("zh_CN"), QStringLiteral("\u7b80\u4f53\u4e2d\u6587") } },
                &MainWindow::setLanguage);
        }
        if (command.id == QStringLiteral("window.connections")) {
            for (const auto place : { DockHost::Runs, DockHost::Modules, DockHost::Inspector })
                menu->addAction(m_docks->toggleAction(place));
            menu->addSeparator();
        }
    }
}

void MainWindow::moveCursor(std::int64_t steps)
{
    const StepRange full = m_state->fullRange();
    if (full.isEmpty())
        return;
    const Step from = m_state->cursor().value_or(m_state->hover().value_or(full.last));
    m_state->setCursor(Step { std::clamp(from.value + steps, full.first.value, full.last.value) });
}

void MainWindow::setMark(bool first)
{
    const auto step = m_state->hover() ? m_state->hover() : m_state->cursor();
    if (step)
        m_state->setMarks(first ? step : m_state->markA(), first ? m_state->markB() : step);
}

std::vector<CommandPalette::Entry> MainWindow::findEntries(const QString& text, int limit)
{
    std::vector<CommandPalette::Entry> entries;
    // "30", "step 30", and the same word in the window's own language.
    bool isNumber = false;
    QString digits = text;
    for (const QString& word : { QStringLiteral("step"), tr("step") }) {
        if (digits.startsWith(word, Qt::CaseInsensitive))
            digits = digits.mid(word.size());
    }
    const qint64 step = digits.remove(QChar(0x202F)).remove(u' ').toLongLong(&isNumber);
    if (isNumber && m_state->fullRange().contains(Step { step }))
        entries.push_back({ tr("Step %1").arg(views::formatStep(step)), tr("step"),
            [this, step] { m_state->goTo(Step { step }); }, false });
    for (const CommandRegistry::Command& command : m_commands->all()) {
        QString words = command.action->text();
        words.remove(u'&');
        if (command.action->isEnabled() && (text.isEmpty() || words.contains(text, Qt::CaseInsensitive)))
            entries.push_back({ words, command.action->shortcut().toString(QKeySequence::NativeText),
                [action = command.action] { action->trigger(); }, false });
    }
    const items::ModuleTree& tree = m_modulesPanel->model()->tree();
    const items::NamePattern pattern(text);
    for (int i = 1; i < tree.size() && static_cast<int>(entries.size()) < limit && !text.isEmpty(); ++i) {
        const items::ModuleTree::Node& node = tree.node(i);
        if (pattern.matches(node.path, node.folded))
            entries.push_back(
                { node.path, tr("module"), [this, path = node.path] { m_modulesPanel->goTo(path); }, true });
    }
    return entries;
}

}
