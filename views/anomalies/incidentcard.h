// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>

#include <telltale/common/dataview.h>
#include <telltale/judge/incident.h>

#include "incidentpicture.h"
#include "incidenttimes.h"

class QHBoxLayout;
class QLineEdit;
class QPushButton;
class QStackedWidget;
class QVBoxLayout;

namespace telltale::views {

class GlyphLine;
class IncidentLines;
class IncidentReach;
class RoleLabel;

/// The current incident in one sentence, what speaks for it, where it reached, and what people say of it.
class IncidentCard : public QWidget {
    Q_OBJECT
public:
    explicit IncidentCard(const ViewContext& context, QWidget* parent = nullptr);
    ~IncidentCard() override;

    /// Of the list of where it reached, as far as its rows want; 0 while that is not shown.
    int reachHeight() const;
    int wholeHeight() const { return m_wholeHeight; } ///< with which nothing of what it says is cut

    IncidentPicture picture(int width, int most) const; ///< of what it says, in no more than `most` px
    bool isReachShown() const; ///< in place of the words
    const IncidentReach& reach() const { return *m_reach; }
    static QString foldedWords(const judge::Incident& incident); ///< "214 later findings folded"

Q_SIGNALS:
    void reachToggled(); ///< the list is shown, or no more
    void wholeHeightChanged();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* makeButtons();
    void showPage(int page);
    void takeIncident();
    void fitRows();
    void fitHeight();
    void fitLines();
    void fitTitle();
    int hintWidth() const; ///< of all of it
    bool hasFolded() const; ///< a widget that has just come to another row is hidden for a moment
    void show(const judge::Incident& incident);
    QString severityHint() const; ///< "critical, last seen at step 210"
    void askTimes(const judge::Incident& incident);
    void showTimes();
    void say(judge::Annotation::Action action, const QString& note = {});
    const judge::Incident* current() const;

    ViewContext m_context;
    judge::Incident m_shown;
    bool m_isShown = false;
    QHBoxLayout* m_head = nullptr;
    QHBoxLayout* m_firstRow = nullptr; ///< of the buttons
    QHBoxLayout* m_secondRow = nullptr;
    bool m_isOneRow = false;
    GlyphLine* m_title;
    RoleLabel* m_hint;
    QString m_hintText; ///< whole
    RoleLabel* m_when;
    store::QueryPool::ViewId m_queryId;
    IncidentTimes m_times; ///< of the incident that is shown
    QTimer m_clock; ///< "3 min ago" grows older
    QStackedWidget* m_pages;
    IncidentLines* m_lines; ///< the first of them
    IncidentReach* m_reach;
    int m_wholeHeight = 0;
    RoleLabel* m_why = nullptr;
    QWidget* m_buttons = nullptr;
    QWidget* m_verdict = nullptr; ///< a note, and whether it was a true alarm
    QPushButton* m_source = nullptr;
    QPushButton* m_acknowledge = nullptr;
    QPushButton* m_true = nullptr;
    QPushButton* m_false = nullptr;
    QPushButton* m_folded = nullptr;
    QLineEdit* m_note = nullptr;
    GlyphLine* m_calm; ///< while there is no incident
    RoleLabel* m_calmText;
};

}
