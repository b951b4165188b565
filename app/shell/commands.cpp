// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"

#include <algorithm>

#include <QCoreApplication>
#include <QMainWindow>
#include <QMessageBox>
#include <QUndoStack>

#include <telltale/common/steeringstate.h>
#include <telltale/common/viewstate.h>
#include <telltale/notify/alertsfile.h>
#include <telltale/runs/connectionspanel.h>
#include <telltale/runs/joinfield.h>
#include <telltale/runs/modulespanel.h>
#include <telltale/runs/runspanel.h>
#include <telltale/steering/configview.h>

#include "alertsdialog.h"
#include "archiveactions.h"
#include "commandpalette.h"
#include "dockhost.h"
#include "imports.h"
#include "keyssheet.h"
#include "layouts.h"
#include "nonfinitejump.h"
#include "notes.h"
#include "panels.h"
#include "presentation.h"
#include "runactions.h"
#include "rundriver.h"
#include "toaster.h"
#include "viewexport.h"
#include "viewfactory.h"
#include "viewtabs.h"

namespace telltale::shell {

namespace {

using views::ViewState;

void moveCursor(ViewState& state, std::int64_t steps)
{
    const StepRange full = state.fullRange();
    if (full.isEmpty())
        return;
    const Step from = state.cursor().value_or(state.hover().value_or(full.last));
    state.setCursor(Step { std::clamp(from.value + steps, full.first.value, full.last.value) });
}

void pinOrRelease(ViewState& state)
{
    const auto step = state.hover() ? state.hover() : std::optional(state.fullRange().last);
    state.setCursor(state.cursor() ? std::nullopt : step);
}

void setMark(ViewState& state, bool first)
{
    const auto step = state.hover() ? state.hover() : state.cursor();
    if (step)
        state.setMarks(first ? step : state.markA(), first ? state.markB() : step);
}

void goToIncident(const WindowParts& parts, bool forward)
{
    if (parts.views.state->goToIncidentBeside(forward))
        return;
    const bool isAny = parts.views.state->incidents()->rowCount() > 0;
    parts.toaster->postOfRun(Toaster::Severity::Notice,
        !isAny        ? QCoreApplication::translate("telltale::shell::Commands", "This run has no incidents")
            : forward ? QCoreApplication::translate("telltale::shell::Commands", "No incident comes after this one")
                      : QCoreApplication::translate("telltale::shell::Commands", "No incident comes before this one"));
}

/// The run that a command is about: the one highlighted in the list of runs, else the one that is shown.
QString runId(const WindowParts& parts)
{
    const auto* panel = parts.docks->panel<views::RunsPanel>();
    if (QString id = panel ? panel->highlightedId() : QString(); !id.isEmpty())
        return id;
    const store::RunRef run = parts.views.state->run();
    return run ? QString::fromStdString(run->id) : QString();
}

/// All that are selected there.
QStringList runIds(const WindowParts& parts)
{
    const auto* panel = parts.docks->panel<views::RunsPanel>();
    const QStringList ids = panel ? panel->highlightedIds() : QStringList();
    const QString shown = ids.isEmpty() ? runId(parts) : QString();
    return shown.isEmpty() ? ids : QStringList { shown };
}

bool isOurs(const WindowParts& parts)
{
    const QStringList ids = runIds(parts);
    return std::any_of(ids.begin(), ids.end(),
        [runs = parts.driver->runs()](const QString& id) { return runs->isOurs(runs->indexOf(id)); });
}

void present(const WindowParts& parts)
{
    (new Presentation(*findView(parts.tabs->currentId()), *parts.tabs->currentView(), parts.views, parts.window))
        ->show();
}

void reviewConfig(const WindowParts& parts)
{
    parts.tabs->setCurrent(QStringLiteral("config"));
    if (auto* view = qobject_cast<views::ConfigView*>(parts.tabs->currentView()))
        view->goToFirstChange();
}

/// One function a menu, one row a command. The rows keep `w`.
struct Rows {
    Q_DECLARE_TR_FUNCTIONS(telltale::shell::Commands)
public:
    const WindowParts* w;
    ViewState* state = w->views.state;
    When always {};
    When inViews { {}, w->tabs };
    /// F8 goes to the next error there.
    When outsideOfConfig { [p = w] { return p->tabs->currentId() != QLatin1String("config"); } };
    When withRun { [s = state] { return s->run() != nullptr; } };
    When ours { [p = w] { return isOurs(*p); } };
    When oneOfOurs { [p = w] { return runIds(*p).size() < 2 && isOurs(*p); } };
    When canPin { [p = w] { return p->archive->isAny(runIds(*p), false); } };
    When canUnpin { [p = w] { return p->archive->isAny(runIds(*p), true); } };
    When anyRun { [p = w] { return !runId(*p).isEmpty(); } };
    When oneRun { [p = w] { return runIds(*p).size() == 1; } };
    When canApply { [s = w->views.steering] { return s->whyNoApply().isEmpty(); }, nullptr,
        [s = w->views.steering] { return s->whyNoApply(); } };
    When comparing { [s = state] { return s->comparedRun() != nullptr; } };
    When canAlert { [p = w] { return p->context.alerts != nullptr; } };
    When canDemo { [p = w] { return static_cast<bool>(p->context.runDemo); } };

    std::vector<Command> file() const;
    std::vector<Command> edit() const;
    std::vector<Command> view() const;
    std::vector<Command> run() const;
    std::vector<Command> window() const;
    std::vector<Command> help() const;
};

std::vector<Command> Rows::file() const
{
    const QString menu = tr("&File");
    return {
        { "file.open", menu, tr("&Open a run…"), "folder", Qt::CTRL | Qt::Key_O, always,
            [w = w] { w->runActions->open(); } },
        { "file.import", menu, tr("&Import a run…"), "imp", Qt::CTRL | Qt::Key_I, always,
            [w = w] { w->runActions->askImport(); } },
        { "file.cancelImport", menu, tr("Stop the i&mport"), "", {}, { [w = w] { return w->imports->isBusy(); } },
            [w = w] { w->imports->cancel(); } },
        { "file.picture", menu, tr("Export the view as a &picture…"), "exp", Qt::CTRL | Qt::Key_E, withRun,
            [w = w] { w->exporter->askForPicture(w->tabs->currentView(), w->driver->pulse().shownName); } },
        { "file.svg", menu, tr("Export the view as S&VG…"), "", Qt::CTRL | Qt::ALT | Qt::Key_E, withRun,
            [w = w] { w->exporter->askForSvg(w->tabs->currentView(), w->driver->pulse().shownName); } },
        { "file.csv", menu, tr("Export the view as &CSV…"), "", Qt::CTRL | Qt::SHIFT | Qt::Key_E, withRun,
            [w = w] { w->exporter->askForCsv(w->tabs->currentView(), w->driver->pulse().shownName); } },
        {}, // a line
        { "file.quit", menu, tr("&Quit"), "", Qt::CTRL | Qt::Key_Q, always, [w = w] { w->window->close(); } },
    };
}

std::vector<Command> Rows::edit() const
{
    const QString menu = tr("&Edit");
    return {
        { "edit.undo", menu, tr("&Undo"), "undo", Qt::CTRL | Qt::Key_Z, { [w = w] { return w->undo->canUndo(); } },
            [w = w] { w->undo->undo(); } },
        { "edit.redo", menu, tr("R&edo"), "", Qt::CTRL | Qt::SHIFT | Qt::Key_Z,
            { [w = w] { return w->undo->canRedo(); } }, [w = w] { w->undo->redo(); } },
        { "edit.note", menu, tr("Write a &note at the cursor…"), "note", Qt::Key_N, { withRun.isEnabled, w->tabs },
            [w = w] { w->notes->ask(); } },
        {}, // a line
        { "edit.join", menu, tr("Copy the &join string"), "copy", Qt::CTRL | Qt::SHIFT | Qt::Key_C, always,
            [w = w] { w->docks->panel<views::ConnectionsPanel>()->joinField()->copy(); } },
        { "edit.filter", menu, tr("&Filter modules"), "filter", Qt::CTRL | Qt::Key_F, always,
            [w = w] {
                w->docks->show<views::ModulesPanel>();
                w->docks->panel<views::ModulesPanel>()->focusFilter();
            } },
        { "edit.runs", menu, tr("&Search runs"), "search", Qt::CTRL | Qt::SHIFT | Qt::Key_F, always,
            [w = w] {
                w->docks->show<views::RunsPanel>();
                w->docks->panel<views::RunsPanel>()->showSearch();
            } },
        { "edit.palette", menu, tr("&Go to module, step or command"), "search", Qt::CTRL | Qt::Key_K, always,
            [w = w] { w->palette->popUp(); } },
        {}, // a line
        { "edit.alerts", menu, tr("&Alerts…"), "", {}, canAlert,
            [w = w] {
                const auto file = QString::fromStdString(notify::alertsPath(w->context.dataDir));
                AlertsDialog(w->context.alerts, file, w->window).exec();
            } },
    };
}

std::vector<Command> Rows::view() const
{
    const QString menu = tr("&View");
    const QString steps = tr("&Steps");
    std::vector<Command> rows;
    int digit = Qt::Key_1;
    for (const ViewFactory& view : viewFactories()) {
        // There are nine digits; who has none is reached by Ctrl+Page Down and by name.
        const QKeySequence key
            = digit <= Qt::Key_9 ? QKeySequence(Qt::CTRL | static_cast<Qt::Key>(digit)) : QKeySequence();
        ++digit;
        rows.push_back({ QByteArray("view.") + view.id, menu, view.title(), view.icon, key, always,
            [w = w, &view] { w->tabs->setCurrent(QLatin1String(view.id)); } });
    }
    const std::vector<Command> own {
        { "view.nextView", menu, tr("Next vie&w"), "", Qt::CTRL | Qt::Key_PageDown, always,
            [w = w] { w->tabs->goBeside(true); } },
        { "view.previousView", menu, tr("Previous view"), "", Qt::CTRL | Qt::Key_PageUp, always,
            [w = w] { w->tabs->goBeside(false); } },
        { "view.present", menu, tr("P&resent the view in a window of its own"), "", Qt::Key_F11, withRun,
            [w = w] { present(*w); } },
        { "view.follow", steps, tr("&Follow the newest steps"), "follow", Qt::Key_Space, inViews,
            [s = state] { s->setFollowing(!s->isFollowing()); }, [s = state] { return s->isFollowing(); } },
        { "view.back", steps, tr("Zoom &back"), "undo", Qt::Key_Backspace, inViews, [s = state] { s->zoomBack(); } },
        { "view.forward", steps, tr("Zoom f&orward"), "", Qt::SHIFT | Qt::Key_Backspace, inViews,
            [s = state] { s->zoomForward(); } },
        { "view.all", steps, tr("Show the &whole run"), "zoomout", Qt::CTRL | Qt::Key_0, always,
            [s = state] { s->zoomOutFully(); } },
        {}, // a line
        { "view.left", steps, tr("Cursor one step left"), "", Qt::Key_Left, inViews,
            [s = state] { moveCursor(*s, -1); } },
        { "view.right", steps, tr("Cursor one step right"), "", Qt::Key_Right, inViews,
            [s = state] { moveCursor(*s, 1); } },
        { "view.left10", steps, tr("Cursor ten steps left"), "", Qt::SHIFT | Qt::Key_Left, inViews,
            [s = state] { moveCursor(*s, -10); } },
        { "view.right10", steps, tr("Cursor ten steps right"), "", Qt::SHIFT | Qt::Key_Right, inViews,
            [s = state] { moveCursor(*s, 10); } },
        { "view.pin", steps, tr("&Pin or release the cursor"), "pin", Qt::Key_Return, inViews,
            [s = state] { pinOrRelease(*s); } },
        { "view.previousIncident", steps, tr("Pre&vious incident"), "", Qt::Key_BracketLeft, withRun,
            [w = w] { goToIncident(*w, false); } },
        { "view.nextIncident", steps, tr("&Next incident"), "", Qt::Key_BracketRight, withRun,
            [w = w] { goToIncident(*w, true); } },
        { "view.previousBad", steps, tr("Previous non-finite value"), "", Qt::SHIFT | Qt::Key_F8, always,
            [w = w] { w->jump->previous(); } },
        { "view.nextBad", steps, tr("Next non-finit&e value"), "", Qt::Key_F8, outsideOfConfig,
            [w = w] { w->jump->next(); } },
        { "view.markA", steps, tr("Set mark &A"), "", Qt::Key_A, inViews, [s = state] { setMark(*s, true); } },
        { "view.markB", steps, tr("Set mark &B"), "", Qt::Key_B, inViews, [s = state] { setMark(*s, false); } },
        { "view.clear", steps, tr("&Clear cursor and marks"), "", Qt::Key_Escape, inViews,
            [s = state] {
                s->setCursor({});
                s->setMarks({}, {});
            } },
    };
    rows.insert(rows.end(), own.begin(), own.end());
    return rows;
}

std::vector<Command> Rows::run() const
{
    const QString menu = tr("&Run");
    return {
        { "run.demo", menu, tr("Run the &demo"), "play", Qt::CTRL | Qt::Key_D, canDemo,
            [w = w] { w->context.runDemo({}); } },
        { "run.fault", menu, tr("Run a demo that goes &wrong"), "", {}, canDemo,
            [w = w] { w->context.runDemo({ QStringLiteral("nan@120") }); } },
        {}, // a line
        { "run.applyConfig", menu, tr("&Apply config…"), "", Qt::CTRL | Qt::SHIFT | Qt::Key_Return, canApply,
            [w = w] { reviewConfig(*w); } },
        {}, // a line
        { "run.rename", menu, tr("&Rename the run…"), "", Qt::Key_F2, oneOfOurs,
            [w = w] {
                if (!w->docks->panel<views::RunsPanel>()->editName(runId(*w)))
                    w->runActions->rename(runId(*w));
            } },
        { "run.move", menu, tr("&Move to a folder…"), "folder", Qt::CTRL | Qt::SHIFT | Qt::Key_M, anyRun,
            [w = w] { w->archive->askFolder(runIds(*w)); } },
        { "run.pin", menu, tr("&Pin: no rule removes it"), "pin", Qt::CTRL | Qt::SHIFT | Qt::Key_P, canPin,
            [w = w] { w->archive->setPinned(runIds(*w), true); } },
        { "run.unpin", menu, tr("&Unpin"), "", {}, canUnpin, [w = w] { w->archive->setPinned(runIds(*w), false); } },
        { "run.copy", menu, tr("&Export a copy of the run…"), "exp", {}, oneRun,
            [w = w] { w->runActions->exportCopy(runId(*w)); } },
        { "run.delete", menu, tr("De&lete the run…"), "", {}, ours, [w = w] { w->runActions->remove(runIds(*w)); } },
        { "run.trash", menu, tr("Show the &trash…"), "", {}, always, [w = w] { w->archive->showTrash(); } },
        { "run.endComparison", menu, tr("End the &comparison"), "compare", {}, comparing,
            [s = state] { s->setCompared({}, {}); } },
    };
}

std::vector<Command> Rows::window() const
{
    const QString menu = tr("&Window");
    std::vector<Command> rows;
    for (const PanelFactory& panel : panelFactories()) {
        rows.push_back({ QByteArray("window.") + panel.id, menu, panel.title(), panel.icon,
            panel.shortcut.key() == Qt::Key_unknown ? QKeySequence() : QKeySequence(panel.shortcut), always,
            [w = w, &panel] { w->docks->toggle(panel); }, [w = w, &panel] { return w->docks->isOpen(panel); } });
    }
    const std::vector<Command> own {
        {}, // a line
        { "window.next", menu, tr("&Next panel"), "", Qt::Key_F6, always,
            [w = w] { w->docks->focusNext(w->tabs->currentView()); } },
        { "window.previous", menu, tr("&Previous panel"), "", Qt::SHIFT | Qt::Key_F6, always,
            [w = w] { w->docks->focusNext(w->tabs->currentView(), false); } },
        {}, // a line
        { "window.saveLayout", menu, tr("&Save the layout…"), "", Qt::CTRL | Qt::ALT | Qt::Key_S, always,
            [w = w] { w->layouts->askSave(); } },
        { "window.reset", menu, tr("&Reset the layout"), "layout", {}, always, [w = w] { w->docks->resetLayout(); } },
    };
    rows.insert(rows.end(), own.begin(), own.end());
    int digit = Qt::Key_1;
    for (const LayoutPreset& preset : layoutPresets()) {
        rows.push_back({ QByteArray("layout.") + preset.id, menu, preset.title(), "layout",
            Qt::CTRL | Qt::ALT | static_cast<Qt::Key>(digit++), always,
            [w = w, &preset] { w->layouts->apply(preset); } });
    }
    return rows;
}

std::vector<Command> Rows::help() const
{
    const QString menu = tr("&Help");
    return {
        { "help.keys", menu, tr("&Keys"), "", Qt::Key_F1, always,
            [w = w] { KeysSheet(*w->commands, w->window).exec(); } },
        { "help.about", menu, tr("&About Telltale"), "", {}, always,
            [w = w] {
                QMessageBox::about(w->window, tr("About Telltale"),
                    tr("Telltale %1\nWhat happens inside a neural network while it trains.\nGPL-3.0-or-later")
                        .arg(QCoreApplication::applicationVersion()));
            } },
    };
}

}

std::vector<Command> windowCommands(const WindowParts* parts)
{
    const Rows rows { parts };
    std::vector<Command> all;
    for (const auto& menu : { rows.file(), rows.edit(), rows.view(), rows.run(), rows.window(), rows.help() })
        all.insert(all.end(), menu.begin(), menu.end());
    return all;
}

}
