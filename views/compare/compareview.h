// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include <QTimer>

#include <telltale/common/comparisonloader.h>
#include <telltale/common/dataview.h>

#include "comparequeries.h"
#include "conformance.h"

class QSplitter;
class QStackedWidget;

namespace telltale::views {

class CompareBar;
class CurveCanvas;
class ExactValues;
class FactsTree;
class FindingsTree;
class HeatCanvas;
class RunChooser;
class VerdictLine;

/// The run that is shown (A) beside others: until which step B is the same, where it differs over modules and steps,
/// and below, the curves of all runs, what differs first, or what differs in their configs.
class CompareView : public DataView {
    Q_OBJECT
public:
    explicit CompareView(const ViewContext& context, QWidget* parent = nullptr);
    ~CompareView() override;

    bool isSettled() const override;
    void paintPicture(QPainter& painter, QSize size) override;
    QStringList shownWords() const override;
    /// What is shown below where that is a table, else the cells of the map and the curves.
    Expected<void> writeCsv(QIODevice* device) const override;

    HeatCanvas* map() const { return m_map; }
    CurveCanvas* curves() const { return m_curves; }
    const Conformance& conformance() const { return m_conformance; }
    CompareBar* bar() const { return m_bar; }
    QString emptyText() const; ///< said in place of the map

protected:
    void ask() override;
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void connectState();
    void connectNames();
    void chooseShared();
    void fitAxis();
    void askPicture();
    void askConformance();
    void take(const Expected<CompareAnswer>& answer);
    void show(const CompareAnswer& answer);
    void showConformance();
    void tellFirstOfMap();
    const judge::Deviation* firstOfShown(const HeatPicture& map);
    void showBelow();
    void goTo(const judge::Deviation& deviation);
    void copyReport() const;
    std::vector<store::RunRef> runs() const;
    bool hasOthers() const;
    CompareRequest request() const;
    void tellEmpty();

    ComparisonLoader m_loader;
    CompareQueries m_queries;
    Conformance m_conformance;
    Conformance m_ofShown; ///< of the map's rows alone, where the module filter hides what differs first
    std::optional<judge::Deviation> m_firstOfMap; ///< that is marked
    QStringList m_names; ///< of the runs, as they are called now
    bool m_isAligned = true; ///< run B records what it is to be laid beside A by
    QString m_problem; ///< why the last question had no answer
    bool m_isOutdated = false; ///< data came while a question ran
    bool m_isConformanceOutdated = true;
    bool m_isKindUnchecked = true; ///< whether the compared runs have what is shown
    bool m_showsAll = false; ///< curves of all that is selected
    CompareBar* m_bar;
    VerdictLine* m_verdict;
    QSplitter* m_split;
    HeatCanvas* m_map;
    QStackedWidget* m_below;
    CurveCanvas* m_curves;
    ExactValues* m_values;
    FindingsTree* m_findings;
    FactsTree* m_facts;
    RunChooser* m_chooser = nullptr;
    QTimer m_liveTimer;
};

}
