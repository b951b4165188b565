// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTableView>

namespace telltale::views {

class AnswersModel;

/// The answers of the ranks: the state's shape before its word, and on a tinted ground those that refused.
class AnswersTable : public QTableView {
    Q_OBJECT
public:
    explicit AnswersTable(AnswersModel* answers, QWidget* parent = nullptr);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitColumns();
};

}
