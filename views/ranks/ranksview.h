// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <optional>

#include <telltale/common/dataview.h>

#include "ranksquery.h"

class QComboBox;
class QLabel;
class QSplitter;
class QStackedWidget;
class QToolButton;

namespace telltale::views {

class FaceHead;
class HeatCanvas;
class RankMap;
class ReplicaCanvas;
class ReplicaRanks;
class ViewBar;

/// The cube of layers, ranks and steps as three linked faces, each a plane through what is selected in the others, and
/// a small map of the ranks. In the place of one face the replicas of the selected tensor, on ranks that hold the same
/// part of the model.
class RanksView : public DataView {
    Q_OBJECT
public:
    explicit RanksView(const ViewContext& context, QWidget* parent = nullptr);

    void paintPicture(QPainter& painter, QSize size) override;
    QStringList shownWords() const override;
    Expected<void> writeCsv(QIODevice* device) const override;

    void setScale(HeatScale scale);
    void setGrouping(std::optional<analysis::Parallel> way);
    void setReplicasShown(bool on); ///< in the place of ranks over steps
    HeatCanvas* face(Face face) const { return m_faces[face]; }
    FaceHead* head(Face face) const { return m_heads[face]; }
    RankMap* map() const { return m_map; }
    ReplicaCanvas* replicas() const { return m_replicas; }
    ReplicaRanks* replicaRanks() const { return m_replicaRanks; }

protected:
    void ask() override;
    void troubleChanged() override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void buildBar();
    void buildFaces();
    void connectState();
    void connectFaces();
    void fillChoices();
    void fillHeads();
    void shareGutter();
    void moveTo(Face face, int place);
    void show(const RanksAnswer& answer);
    void placeReplicaRanks(); ///< beside the map of ranks, where both have room
    void placeLegend(); ///< on a face, else in a line above the map of ranks
    RanksRequest request() const;
    QString emptyText() const;
    void writeReplicas(class CsvWriter& csv) const;

    HeatScale m_scale = HeatScale::Log;
    std::optional<analysis::Parallel> m_grouping;
    bool m_areReplicasShown = false;
    ViewBar* m_bar;
    QSplitter* m_split;
    std::array<QSplitter*, 2> m_columns {};
    std::array<HeatCanvas*, kFaces> m_faces {};
    std::array<FaceHead*, kFaces> m_heads {};
    QStackedWidget* m_below = nullptr;
    ReplicaCanvas* m_replicas = nullptr;
    RankMap* m_map = nullptr;
    QWidget* m_mapPane = nullptr; ///< it, and what the replicas are
    ReplicaRanks* m_replicaRanks = nullptr;
    QLabel* m_mapCaption = nullptr;
    std::shared_ptr<const HeatPicture> m_colors; ///< a face, whose scale is that of all
    QComboBox* m_kindBox = nullptr;
    QComboBox* m_statBox = nullptr;
    QComboBox* m_scaleBox = nullptr;
    QComboBox* m_groupBox = nullptr;
    QComboBox* m_belowBox = nullptr;
    QToolButton* m_follow = nullptr;
};

}
