// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QAbstractItemModel>
#include <QSortFilterProxyModel>

#include <telltale/analysis/modelstructure.h>
#include <telltale/core/namepattern.h>

namespace telltale::views {

/// "2.1 M" of a number of parameters, and all of its digits up to 99 999.
QString elementsText(std::uint64_t elements);
/// "[32, 128]"
QString shapeText(const std::vector<std::int64_t>& shape);
/// "gradient, reduced; weight, before the step" of what is collected, "" of nothing.
QString kindsText(const std::vector<Kind>& kinds);

/// The outline of a model: modules with their parameters below them. Thread: gui.
class StructureModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column {
        NameColumn,
        TypeColumn,
        ShapeColumn,
        ElementsColumn,
        DtypeColumn,
        DeviceColumn,
        CollectedColumn,
        ColumnCount
    };
    using QAbstractItemModel::QAbstractItemModel;

    void set(std::shared_ptr<const analysis::StructureFacts> facts);
    const analysis::StructureItem* item(const QModelIndex& index) const; ///< null for none
    QModelIndex indexOf(const QString& name) const;
    /// What is collected of a module or a parameter, and of the parameters that are its own.
    std::vector<Kind> kindsOf(const analysis::StructureItem& item) const;
    /// What the series at or below a row may be called; those of the whole model are below no other.
    std::vector<QString> namesBelow(const QModelIndex& index) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    QString text(const analysis::StructureItem& item, int column) const;

private:
    std::shared_ptr<const analysis::StructureFacts> m_facts;
    std::vector<int> m_rows; ///< of each item among its siblings
};

/// Rows whose names a pattern chooses, and what leads to them. Thread: gui.
class StructureFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit StructureFilter(QObject* parent = nullptr);
    void setPattern(const QString& pattern);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    NamePattern m_pattern;
};

}
