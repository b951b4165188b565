// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>
#include <vector>

#include <QAbstractListModel>
#include <QString>

namespace telltale::views {

/// A line that the training's process printed. Thread: any (a value).
struct ConsoleLine {
    qint64 wallMs = 0;
    bool isError = false; ///< to standard error
    QString text;
};

/// What a process printed, as its agent sends it: `MILLISECONDS o|e TEXT` a line. Thread: any (a value).
class ConsoleLines {
public:
    void append(std::string_view chunk); ///< what is no such line is taken as it is
    const std::vector<ConsoleLine>& lines() const { return m_lines; }
    bool isEmpty() const { return m_lines.empty(); }

private:
    std::vector<ConsoleLine> m_lines;
};

/// The newest lines of a console, those that a text is in. Thread: gui.
class ConsoleModel : public QAbstractListModel {
    Q_OBJECT
public:
    static constexpr std::size_t kMostLines = 200'000;
    using QAbstractListModel::QAbstractListModel;

    void clear();
    void append(const ConsoleLines& more);
    void setFilter(const QString& text); ///< whatever its case
    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    const ConsoleLine& line(int row) const { return m_lines[m_shown[static_cast<std::size_t>(row)]]; }
    std::size_t all() const { return m_lines.size(); }
    QString text(int row) const; ///< as it is copied

private:
    bool isShown(const ConsoleLine& line) const;
    void find();

    std::vector<ConsoleLine> m_lines;
    std::vector<std::size_t> m_shown;
    QString m_filter;
};

}
