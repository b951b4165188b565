// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <utility>
#include <vector>

#include <QStatusBar>

class QHBoxLayout;

namespace telltale::views {
class RoleLabel;
}

namespace telltale::shell {

struct Pulse;

/// The bar at the bottom: whether data is being kept, how much it takes, who sends, and the keys worth knowing here.
class StatusLine : public QStatusBar {
    Q_OBJECT
public:
    explicit StatusLine(QWidget* parent = nullptr);

    /// `address` as "127.0.0.1:47800", empty when nothing listens; then `problem` says why.
    void setListening(const QString& address, const QString& problem);
    void setHints(const std::vector<std::pair<QString, QString>>& keysAndMeanings);
    void show(const Pulse& pulse);
    /// What the program does meanwhile, as a sentence; empty: nothing.
    void setWork(const QString& sentence);
    QSize sizeHint() const override { return { 800, 24 }; }
    QSize minimumSizeHint() const override { return { 400, 24 }; }

Q_SIGNALS:
    void connectionsClicked();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void fit();

    QString m_address;
    QString m_problem;
    QString m_stateText; ///< whole
    QHBoxLayout* m_layout;
    QWidget* m_hints;
    views::RoleLabel* m_state;
    views::RoleLabel* m_work;
    views::RoleLabel* m_store;
    views::RoleLabel* m_perSample;
    views::RoleLabel* m_agents;
    views::RoleLabel* m_spool;
    views::RoleLabel* m_frames;
    bool m_good = true;
};

}
