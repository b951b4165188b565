// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <optional>

#include <telltale/common/dataview.h>
#include <telltale/lab/suggestion.h>

#include "replayqueue.h"

class QLabel;
class QPushButton;

namespace telltale::views {

class ChangesTree;
class LabRuns;
class LabScan;
class PanelHead;
class RoleLabel;
class RulesDraft;
class RulesForm;
class RulesText;
class ScoreTree;
class ViewBar;

/// The rule lab: move a threshold, and see on chosen runs what it would find, against what people said of them. What is
/// tried becomes the rules of the shown run, or those of the data directory, when somebody says so.
class RuleLabView : public DataView {
    Q_OBJECT
public:
    explicit RuleLabView(const ViewContext& context, QWidget* parent = nullptr);
    ~RuleLabView() override;

    bool isSettled() const override;
    /// The scores as they are shown.
    Expected<void> writeCsv(QIODevice* device) const override;
    void paintPicture(QPainter& painter, QSize size) override;

private:
    void fillBar();
    QWidget* makeBody();
    QWidget* makeLine();
    void connectParts();
    void ask() override;
    void takeDraft();
    void takeLog(const store::LogPage& page);
    void readRuns();
    void show(const QString& run, const ReplayQueue::Result& result);
    void showResults();
    void showState();
    /// As judge::changesBetween(), in the language of the window.
    static QString changesText(const judge::Rules& from, const judge::Rules& to);
    void suggest(judge::Rule rule, std::size_t parameter);
    void showSuggestion(judge::Rule rule, std::size_t parameter, const std::optional<lab::Suggestion>& found);
    void setClean(const store::RunRef& run, bool isClean);
    void saveForRun();
    void saveAsDefault();
    void tell(const QString& sentence, bool isTrouble = false);
    bool isShownRun(const QString& id) const;

    RulesDraft* m_draft;
    ReplayQueue* m_replays;
    LabScan* m_scan;
    ViewBar* m_bar;
    QLabel* m_caption = nullptr;
    LabRuns* m_runs = nullptr;
    RulesForm* m_form = nullptr;
    RulesText* m_text = nullptr;
    ScoreTree* m_scores = nullptr;
    ChangesTree* m_changes = nullptr;
    PanelHead* m_scoresHead = nullptr;
    PanelHead* m_changesHead = nullptr;
    QWidget* m_line = nullptr; ///< below the bar, while there is something to say
    RoleLabel* m_said = nullptr;
    QPushButton* m_use = nullptr;
    QPushButton* m_saveRun = nullptr;
    QPushButton* m_saveDefault = nullptr;
    QPushButton* m_reset = nullptr;

    std::map<QString, ReplayQueue::Result> m_results;
    std::map<QString, QString> m_troubles;
    std::map<QString, std::pair<bool, int>>
        m_cleanAsked; ///< what is on its way into the log, and how often it was looked for
    judge::RulesInForce::From m_from = judge::RulesInForce::From::Standard; ///< of the shown run
    QString m_ruleProblem; ///< of its rules
    QString m_news; ///< what the foot says until something changes
    bool m_isTrouble = false;
    bool m_isScanned = false; ///< the labels of all runs were asked for
    judge::Rules m_asked; ///< by which runs were replayed last
    std::optional<std::pair<std::pair<judge::Rule, std::size_t>, double>> m_suggestion; ///< what "Use" uses
};

}
