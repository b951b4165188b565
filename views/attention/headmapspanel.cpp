// SPDX-License-Identifier: GPL-3.0-or-later
#include "headmapspanel.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

#include <telltale/common/csv.h>
#include <telltale/common/exportpicture.h>
#include <telltale/common/labels.h>
#include <telltale/common/rowlist.h>
#include <telltale/common/theme.h>
#include <telltale/common/viewstate.h>
#include <telltale/items/guithread.h>
#include <telltale/items/saidwords.h>

#include "caption.h"
#include "headmapscanvas.h"

namespace telltale::views {

namespace {

constexpr int kMapsInset = 12;
constexpr QSize kLeastMaps(120, 60);

}

HeadMapsPanel::HeadMapsPanel(ViewState* state, QWidget* parent)
    : QWidget(parent)
    , m_state(state)
    , m_caption(makeCaption(this))
    , m_canvas(new HeadMapsCanvas(state, this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_caption->setObjectName(QStringLiteral("headMapsCaption"));
    m_caption->setIndent(kMapsInset);
    m_canvas->setAccessibleName(tr("Attention maps of queries and keys"));
    m_canvas->setObjectName(QStringLiteral("headMapsCanvas"));
    m_canvas->setMinimumSize(kLeastMaps);
    column->addWidget(m_caption);
    column->addWidget(m_canvas, 1);
}

bool HeadMapsPanel::isEmpty() const
{
    return !m_canvas->picture() || m_canvas->picture()->tiles.empty();
}

int HeadMapsPanel::usedHeight(QSize room) const
{
    return m_canvas->usedHeight({ room.width(), room.height() - kCaptionHeight }) + kCaptionHeight;
}

void HeadMapsPanel::setPicture(std::shared_ptr<const HeadMapPicture> picture, const QString& example)
{
    items::assertGuiThread();
    m_canvas->setPicture(std::move(picture));
    m_canvas->setEmptyText(emptyText(example));
    m_caption->setText(captionText());
    // All of it, where it was cut.
    m_caption->setToolTip(isEmpty() ? QString()
                                    : m_caption->text() + u'\n'
                + items::saidwords::inLanguage(
                    QString::fromStdString(m_canvas->picture()->tiles.front().maps->definition)));
}

QString HeadMapsPanel::captionText() const
{
    const HeadMapPicture* picture = m_canvas->picture();
    QString text;
    if (!isEmpty()) {
        const Step recorded = std::find_if(picture->tiles.begin(), picture->tiles.end(), [](const HeadMapTile& tile) {
            return tile.isAtCursor;
        })->step;
        const auto count = static_cast<int>(picture->tiles.size());
        text = recorded == picture->atStep
            ? tr("queries down, keys across, recorded at step %1").arg(formatStep(recorded.value))
            : (recorded < picture->atStep
                    ? tr("queries down, keys across, recorded at step %1, the last before step %2")
                    : tr("queries down, keys across, recorded at step %1, the first after step %2"))
                  .arg(formatStep(recorded.value), formatStep(picture->atStep.value));
        if (picture->hasSteps())
            text
                = tr("queries down, keys across, recorded from step %1 to step %2")
                      .arg(formatStep(picture->tiles.front().step.value), formatStep(picture->tiles.back().step.value));
        if (picture->hasSteps() && recorded != picture->atStep)
            text += (recorded < picture->atStep ? tr("  ·  step %1 is the last before step %2")
                                                : tr("  ·  step %1 is the first after step %2"))
                        .arg(formatStep(recorded.value), formatStep(picture->atStep.value));
        if (const auto catalog = m_state->catalog(); catalog && ranksOf(*catalog, Kind::Attention).size() > 1)
            text += tr("  ·  rank %1").arg(picture->rank.value);
        if (picture->omitted > 0)
            text += tr("  ·  %n more are not drawn: select some", nullptr, static_cast<int>(picture->omitted));
        else if (!picture->areChosen && picture->missing > 0)
            text += tr("  ·  none of the selected heads, these %n are recorded", nullptr, count);
        else if (picture->missing > 0)
            text += tr("  ·  %n selected heads have no map", nullptr, picture->missing);
        if (picture->thinned > 0)
            text += tr("  ·  some of %n recorded steps in sight: zoom in to see more", nullptr,
                static_cast<int>(picture->thinned));
    }
    if (picture && !picture->trouble.isEmpty())
        text += (text.isEmpty() ? QString() : QStringLiteral("  ·  ")) + picture->trouble;
    return text;
}

QString HeadMapsPanel::emptyText(const QString& example) const
{
    if (m_canvas->picture() && m_canvas->picture()->hasAny)
        return tr("No module with an attention map matches the filter “%1”.").arg(m_state->moduleFilter());
    return tr("Rank %1 has recorded no attention maps. Ask for some in the config: \"telltale\": {\"attention_maps\": "
              "{\"%2\": [0, 1]}}")
        .arg(m_state->rank().value)
        .arg(example.isEmpty() ? QStringLiteral("layers.0.attn") : example);
}

void HeadMapsPanel::paintTo(QPainter& painter, const QRect& rect)
{
    painter.setFont(wordsFont(11));
    painter.setPen(Theme::current().text2);
    painter.drawText(QRect(rect.left() + kMapsInset, rect.top(), rect.width() - 2 * kMapsInset, kCaptionHeight),
        Qt::AlignLeft | Qt::AlignVCenter, m_caption->text());
    m_canvas->paintTo(painter, rect.adjusted(0, std::min(kCaptionHeight, rect.height() - 1), 0, 0));
}

Expected<void> HeadMapsPanel::writeCsv(QIODevice* device) const
{
    CsvWriter csv(device);
    for (const char* title :
        { "name", "head", "rank", "step", "first_query", "last_query", "first_key", "last_key", "state", "share" })
        csv.text(QString::fromLatin1(title));
    csv.endRow();
    const HeadMapPicture& picture = *m_canvas->picture();
    for (const HeadMapTile& tile : picture.tiles) {
        for (int row = 0; row < tile.maps->rows; ++row) {
            for (int column = 0; column < tile.maps->columns; ++column) {
                const float cell = tile.cell(row, column);
                if (cell == analysis::HeadMaps::kUnseen)
                    continue;
                const auto [firstQuery, lastQuery] = tile.maps->queriesOf(row);
                const auto [firstKey, lastKey] = tile.maps->keysOf(column);
                csv.text(tile.key.name).integer(tile.key.slot.head).integer(picture.rank.value);
                csv.integer(tile.step.value).integer(firstQuery).integer(lastQuery).integer(firstKey).integer(lastKey);
                writeCell(csv, std::isfinite(cell) ? series::CellState::Value : series::CellState::NaN,
                    static_cast<double>(cell), true);
                csv.endRow();
            }
        }
    }
    return csv.finish();
}

}
