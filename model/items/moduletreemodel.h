// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>

#include <QAbstractItemModel>
#include <QTimer>

#include <telltale/items/moduletree.h>
#include <telltale/items/roles.h>
#include <telltale/store/catalog.h>

namespace telltale::items {

/// The module tree with its filter. A newer catalog of the same run inserts the rows that it has more; a new filter or
/// new worst values keep the selection and the expanded rows that are still there; another run resets. What is added is
/// taken in slices, a frame of them a turn of the event loop. Thread: gui.
class ModuleTreeModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column { ModuleColumn, WorstColumn, ColumnCount };
    static constexpr auto kMimeType = "application/x-telltale-modules"; ///< names, one a line, UTF-8

    explicit ModuleTreeModel(QObject* parent = nullptr);

    static constexpr std::size_t kSlice = 5000; ///< tensors; under 5 ms where each brings three rows

    /// Null empties the tree. The first slice is there at once.
    void setCatalog(const std::shared_ptr<const store::Catalog>& catalog);
    void setFilter(const QString& text);
    QString filterError() const { return QString::fromStdString(m_pattern.error()); }
    void setWorst(std::vector<WorstValue> worst); ///< as ModuleTree::setWorst
    double loudest() const { return m_loudest; } ///< deviation of all modules
    void sortByWorst(bool on); ///< siblings, the worst first; else in model order
    bool isByWorst() const { return m_isByWorst; }

    const ModuleTree& tree() const { return m_tree; }
    QModelIndex indexOf(const QString& path) const; ///< invalid when the filter hides it
    QString pathOf(const QModelIndex& index) const;
    std::vector<QString> namesBelow(const QModelIndex& index) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    QStringList mimeTypes() const override;
    QMimeData* mimeData(const QModelIndexList& indexes) const override;

Q_SIGNALS:
    void grown(); ///< after each slice and each reset

private:
    void takeSlices();
    void takeSlice();
    template <typename Change> void layOut(Change change); ///< keeps what is selected and open
    int nodeOf(const QModelIndex& index) const;
    QModelIndex indexOfNode(int node, int column) const;

    ModuleTree m_tree;
    NamePattern m_pattern;
    std::string m_runKey;
    std::shared_ptr<const series::RowIndex> m_rows;
    QTimer m_nextSlice;
    QString m_filter;
    bool m_isByWorst = false;
    double m_loudest = 0;
};

}
