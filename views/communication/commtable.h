// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QAbstractTableModel>
#include <QTreeView>

#include "commpicture.h"

class QSortFilterProxyModel;

namespace telltale::views {

/// The call sites of one step as a table. Thread: gui.
class CommModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        OpColumn,
        SiteColumn,
        GroupColumn,
        TypeColumn,
        CallsColumn,
        BytesColumn,
        TimeColumn,
        BeforeColumn,
        AfterColumn,
        ColumnCount
    };
    static constexpr int kSortRole = Qt::UserRole + 1;
    static constexpr int kStateRole = Qt::UserRole + 2; ///< series::CellState of a statistic

    using QAbstractTableModel::QAbstractTableModel;

    void set(std::shared_ptr<const CommPicture> picture);
    const CommPicture* picture() const { return m_picture.get(); }
    void setBrief(bool on) { m_isBrief = on; } ///< call sites without their functions; does not ask to be painted

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    static QString hintOf(Column column); ///< of its head
    QString text(const CommRow& row, Column column) const;
    QVariant sortKey(const CommRow& row, Column column) const;

    std::shared_ptr<const CommPicture> m_picture;
    bool m_isBrief = false;
};

/// Shows a CommModel: numbers at the right, what is not finite in its own color and by its word, any column sorts.
class CommTable : public QTreeView {
    Q_OBJECT
public:
    explicit CommTable(QWidget* parent = nullptr);

    void setPicture(std::shared_ptr<const CommPicture> picture); ///< keeps what is chosen, by its name
    QString current() const; ///< name of the chosen site; empty: none
    void choose(const QString& site);
    int wantedHeight() const; ///< of all rows
    std::vector<int> order() const; ///< rows of the picture as they are sorted

Q_SIGNALS:
    void siteChosen(const QString& site); ///< by the user

protected:
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitColumns(bool mayShrink);

    CommModel* m_model;
    QSortFilterProxyModel* m_sorted;
    bool m_isSetting = false;
};

}
