// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include <QAbstractButton>
#include <QTimer>

#include <telltale/common/dataview.h>
#include <telltale/common/onsetfinder.h>

namespace telltale::views {

/// "First non-finite: step 150, rank 0, layers.2.mlp.fc1", over all kinds and ranks; a click goes there. Not there
/// while everything is finite. Asks while it may be seen; a live run again every few seconds until something is found.
/// Thread: gui.
class FirstBad : public QAbstractButton {
    Q_OBJECT
public:
    explicit FirstBad(const ViewContext& context, QWidget* parent = nullptr);

    void setAsking(bool on); ///< what it belongs to is in view
    const std::optional<FoundOnset>& onset() const { return m_onset; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void ask();
    void forget();
    void take(const std::optional<FoundOnset>& onset);
    void showFound(); ///< as the incident that began there says it, if one did

    ViewState* m_state;
    OnsetFinder m_finder;
    QTimer m_timer;
    std::optional<FoundOnset> m_onset;
    bool m_isAsking = false;
    bool m_isAnswered = false; ///< of a run that is over
};

}
