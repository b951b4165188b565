// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/common/dataview.h>

#include "comparedcurves.h"
#include "curvepicture.h"

class QComboBox;
class QLabel;
class QToolButton;

namespace telltale::views {

class CurveCanvas;
class ExactValues;
class ViewBar;

/// Curves of the selected modules: kind, statistic and rank of the state, one color a module in order of selection.
class CurvesView : public DataView {
    Q_OBJECT
public:
    explicit CurvesView(const ViewContext& context, QWidget* parent = nullptr);

    void paintPicture(QPainter& painter, QSize size) override;
    QStringList shownWords() const override;
    Expected<void> writeCsv(QIODevice* device) const override;

    /// By samples or time where the run records telltale.samples_seen, telltale.tokens_seen or telltale.wall_ns; by
    /// step otherwise.
    void setXAxis(XAxis axis);
    void setYMode(YMode mode);
    void setSmoothing(double weight);
    /// For curves under a view that offers rank and following itself.
    void hideSharedChoices();
    void setGutter(int wish); ///< px left of the plot, so that it stands under that of the view above
    CurveCanvas* canvas() const { return m_canvas; }

protected:
    void ask() override;
    void troubleChanged() override;

private:
    void buildBar();
    void connectState();
    QString statWords() const;
    void updateCaption();
    void fillRanks();
    QString emptyText() const;

    void showMerged();

    ComparedCurves m_compared;
    std::shared_ptr<const CurvePicture> m_own; ///< the last answer of the run that is shown
    XAxis m_xAxis = XAxis::Step;
    ViewBar* m_bar;
    CurveCanvas* m_canvas;
    QComboBox* m_rankBox = nullptr;
    QComboBox* m_xBox = nullptr;
    QComboBox* m_yBox = nullptr;
    QComboBox* m_smoothBox = nullptr;
    QToolButton* m_allRanks = nullptr;
    QToolButton* m_follow = nullptr;
    ExactValues* m_values;
};

}
