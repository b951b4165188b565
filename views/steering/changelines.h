// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QWidget>

#include <telltale/config/revision.h>

namespace telltale::views {

/// What a draft changes against what runs: a line that goes and a line that comes, of each field.
class ChangeLines : public QWidget {
    Q_OBJECT
public:
    explicit ChangeLines(QWidget* parent = nullptr);

    /// `unchanged`: what it says where there are none.
    void set(const std::vector<config::FieldChange>& changes, const QString& unchanged);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::vector<config::FieldChange> m_changes;
    QString m_unchanged;
};

}
