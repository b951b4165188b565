// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QString>
#include <QWidget>

namespace telltale::views {

/// Rows of a name and values under named columns, numbers right-aligned; the inspector's "values at the cursor".
class FactTable : public QWidget {
    Q_OBJECT
public:
    struct Value {
        QString text;
        bool critical = false;
        QString hint; ///< small and quiet beneath, as in "last finite 3.66"
        Qt::TextElideMode elide = Qt::ElideRight; ///< where there is no room for all of it
    };
    struct Row {
        QString name;
        std::vector<Value> values;
        QString hint {}; ///< beneath the name: what the hints of the values are of
    };
    enum class Style { Numbers, Code };

    explicit FactTable(Style style, QWidget* parent = nullptr);

    void setTitle(const QString& title); ///< in the row of the column names
    void set(QStringList columns, std::vector<Row> rows);
    /// Tab-separated, for the clipboard.
    QString text() const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return { 120, sizeHint().height() }; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    /// As wide as they are, as long as the numbers have their room.
    int namesWidth(int width, int columns) const;
    std::vector<int> columnWidths(int width, int columns) const;
    int rowHeight(const Row& row) const;
    int headHeight() const;

    Style m_style;
    QString m_title;
    QStringList m_columns;
    std::vector<Row> m_rows;
};

}
