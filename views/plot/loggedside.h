// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

namespace telltale::views {

class LoggedCards;

/// The texts and images that a run logged, small, below its ranks.
class LoggedSide : public QWidget {
    Q_OBJECT
public:
    explicit LoggedSide(QWidget* parent = nullptr);

    LoggedCards* cards() const { return m_cards; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    LoggedCards* m_cards;
};

}
