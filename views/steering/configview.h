// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <QKeySequence>

#include <telltale/analysis/runfacts.h>
#include <telltale/common/dataview.h>
#include <telltale/core/steering.h>

class QComboBox;
class QLabel;
class QPushButton;
class QScrollArea;
class QSplitter;

namespace telltale::views {

class AnswersModel;
class ApplyBox;
class ChangeLines;
class ConfigDraft;
class ConfigForm;
class CostTable;
class JsonEditor;
class PanelHead;
class ProblemLabel;
class RevisionList;
class RoleLabel;
class ViewBar;

/// The config of a run: what is collected, changed live. A form and the text edit one draft; Apply offers it to the
/// ranks, whose answers stand below. Without a run a config.json from disk is edited.
class ConfigView : public DataView {
    Q_OBJECT
public:
    explicit ConfigView(const ViewContext& context, QWidget* parent = nullptr);

    ConfigDraft* draft() const { return m_draft; }
    /// A config.json becomes the draft, once it is read; the view says why when it cannot be.
    void openFile(const QString& path);
    void saveFile(const QString& path);
    void apply();
    /// What the keyboard does here, and nowhere else: first what applies the draft, where it may be.
    static std::vector<std::pair<QKeySequence, QString>> keys(bool mayApply);
    /// Puts the keyboard where the draft is the first time other than what runs.
    void goToFirstChange();
    /// As SteeringState::draftWanted.
    void addToDraft(const QString& pointer, const QString& value);

    /// The answers of the ranks.
    Expected<void> writeCsv(QIODevice* device) const override;

private:
    void ask() override;
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    QWidget* makeBody();
    QWidget* makeHistory();
    void fillBar();
    void take(const analysis::ConfigFacts& found);
    void takeSteering();
    void takeDraft();
    void showCaption();
    void showChanges();
    void showProblem(const QString& sentence, bool isError);
    void showAnswers();
    void showRates(); ///< what comes of what was measured lately
    void chooseTemplate(int number);
    /// Does `work` on another thread, then what it returns here, or shows the trouble that it had.
    void inBackground(std::function<std::function<void(ConfigView&)>(QString&)> work);
    void askForFile();
    void askWhereToSave();
    const RunSteering* steering() const;
    bool isLive() const; ///< the run is being recorded here
    bool isOver() const; ///< it has ended
    bool isDeserted() const; ///< it is live, and none of its ranks is connected
    /// Why nothing can be applied now; empty when it can.
    QString whyNot() const;

    ConfigDraft* m_draft;
    AnswersModel* m_answers;
    ViewBar* m_bar;
    QLabel* m_caption = nullptr;
    QComboBox* m_templates = nullptr;
    ConfigForm* m_form = nullptr;
    JsonEditor* m_editor = nullptr;
    RoleLabel* m_help = nullptr;
    QWidget* m_helpBox = nullptr; ///< with the line above it
    ProblemLabel* m_problem = nullptr;
    ChangeLines* m_changes = nullptr;
    QScrollArea* m_changesArea = nullptr;
    PanelHead* m_fieldsHead = nullptr;
    PanelHead* m_changesHead = nullptr;
    CostTable* m_cost = nullptr;
    QWidget* m_costBox = nullptr; ///< with its head
    ApplyBox* m_applyBox = nullptr;
    QPushButton* m_revert = nullptr;
    ProblemLabel* m_stale = nullptr; ///< the form shows what the text held before it broke
    PanelHead* m_answersHead = nullptr;
    PanelHead* m_historyHead = nullptr;
    QLabel* m_noAnswers = nullptr; ///< in place of its rows
    QLabel* m_noHistory = nullptr;
    RevisionList* m_history = nullptr;
    QWidget* m_lastColumn = nullptr; ///< of those above
    QSplitter* m_below = nullptr;
    std::string m_startText; ///< the config that the training was started with
    std::string m_runs; ///< what the draft takes to run, canonical
    bool m_isRunningKnown = false; ///< somebody has said what runs
    bool m_isIdle = false; ///< ranks have said that nothing is collected
};

}
