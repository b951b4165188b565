// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QTimer>

#include <telltale/common/dataview.h>

class QComboBox;
class QLabel;
class QSplitter;

namespace telltale::judge {
struct Incident;
}

namespace telltale::views {

class IncidentCard;
class IncidentFilter;
class IncidentTable;
class RoleLabel;
class TimelineCanvas;
class ViewBar;

/// The run's incidents, first cause first, and the card of the current one.
class AnomaliesView : public DataView {
    Q_OBJECT
public:
    explicit AnomaliesView(const ViewContext& context, QWidget* parent = nullptr);
    ~AnomaliesView() override;

    bool isSettled() const override;
    /// The incidents that the filter lets through.
    Expected<void> writeCsv(QIODevice* device) const override;
    void paintPicture(QPainter& painter, QSize size) override;
    int pictureHeight(int width) override;

private:
    const judge::Incident* pictured() const; ///< whose words a picture has; null: of none
    int reachWish() const; ///< px of the list that a picture has below them, 0: of none
    void ask() override; ///< the blocks that the picture's lanes are of
    /// How high the parts of a picture are. What has no room is left out: rows, then words, then the list.
    struct PictureParts;
    PictureParts partsOf(QSize size) const;
    void paintTable(QPainter& painter, const QRect& place, int rows); ///< the first ones, and how many more there are
    void fillBar();
    void refresh();
    bool eventFilter(QObject* watched, QEvent* event) override; // the size of what the card shares
    /// The card has the lines that the table leaves, until somebody moves what is between them.
    void fitCard();
    int tableHeight() const; ///< of all its rows

    ViewBar* m_bar;
    QComboBox* m_severity = nullptr;
    QComboBox* m_which = nullptr;
    QLabel* m_caption = nullptr;
    IncidentFilter* m_filter;
    IncidentTable* m_table;
    IncidentCard* m_card;
    std::unique_ptr<TimelineCanvas> m_timeline; ///< of the picture alone: in the window the lanes have a panel
    std::size_t m_blocksOf = 0; ///< series whose blocks it has
    QWidget* m_incidents; ///< the table and the card
    QSplitter* m_split; ///< between them
    bool m_isMoved = false; ///< by hand
    QTimer m_fit; ///< once for all that comes together
    RoleLabel* m_empty;
    QList<int> m_beforeReach; ///< sizes of the two, while the card has more
};

}
