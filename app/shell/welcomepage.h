// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

#include <QWidget>

class QBoxLayout;
class QPushButton;

namespace telltale::views {
class JoinField;
class RoleLabel;
}

namespace telltale::shell {

class WelcomeCard;

/// What an empty window shows: run the demo, connect a training job, open a run.
class WelcomePage : public QWidget {
    Q_OBJECT
public:
    explicit WelcomePage(QWidget* parent = nullptr);

    /// `problem` is a sentence when nothing listens, else empty.
    void setListening(const QString& joinString, const QString& problem);
    void setDemoAvailable(bool on);
    /// The demo has been started and its first step is awaited.
    void setStarting(bool on);

Q_SIGNALS:
    void demoWanted();
    void faultWanted(); ///< the demo with a fault
    void openWanted();
    void importWanted();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* makeDemoCard();
    QWidget* makeConnectCard();
    void addWays(WelcomeCard* card);
    QWidget* makeOpenCard();

    views::JoinField* m_join;
    views::RoleLabel* m_listening;
    QWidget* m_listeningMark;
    QPushButton* m_demo;
    QPushButton* m_fault;
    std::array<QWidget*, 2> m_keys {}; ///< of the demo and of opening
    QWidget* m_banner;
    QBoxLayout* m_cards;
    views::RoleLabel* m_heading;
    views::RoleLabel* m_lead;
};

}
