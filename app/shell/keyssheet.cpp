// SPDX-License-Identifier: GPL-3.0-or-later
#include "keyssheet.h"

#include <algorithm>
#include <vector>

#include <QGridLayout>
#include <QHBoxLayout>
#include <QScreen>
#include <QScrollArea>
#include <QVBoxLayout>

#include <telltale/common/theme.h>
#include <telltale/runs/rolelabel.h>
#include <telltale/steering/configview.h>

#include "commandregistry.h"
#include "keychip.h"

namespace telltale::shell {

using views::RoleLabel;
using views::Theme;

KeysSheet::KeysSheet(const CommandRegistry& commands, QWidget* parent)
    : QDialog(parent)
{
    setObjectName(QStringLiteral("keysSheet"));
    setWindowTitle(tr("Keys"));
    std::vector<QWidget*> groups; // one a menu
    QGridLayout* grid = nullptr;
    QString menu;
    int row = 0;
    const auto begin = [&](const QString& title) {
        row = 0;
        groups.push_back(new QWidget);
        grid = new QGridLayout(groups.back());
        grid->setContentsMargins(0, 0, 0, 12);
        grid->setHorizontalSpacing(20);
        grid->setVerticalSpacing(6);
        grid->setColumnStretch(0, 1);
        grid->addWidget(new RoleLabel(title, &Theme::text2, views::wordsFont(11, 600)), 0, 0);
    };
    const auto add = [&](const QString& words, const QKeySequence& key) {
        ++row;
        grid->addWidget(new RoleLabel(words, &Theme::text, views::wordsFont(12)), row, 0);
        grid->addWidget(new KeyChip(KeyChip::textOf(key), {}), row, 1, Qt::AlignRight);
    };
    for (const CommandRegistry::Entry& entry : commands.all()) {
        if (entry.command.shortcut.isEmpty())
            continue;
        if (groups.empty() || entry.command.menu != menu) {
            menu = entry.command.menu;
            begin(CommandRegistry::plain(menu));
        }
        add(entry.words(), entry.command.shortcut);
    }
    begin(tr("In a plot")); // what no menu has
    add(tr("Zoom in"), Qt::Key_Plus);
    add(tr("Zoom out"), Qt::Key_Minus);
    add(tr("First visible step"), Qt::Key_Home);
    add(tr("Last visible step"), Qt::Key_End);
    add(tr("Hide or show the nearest curve"), Qt::Key_H);
    add(tr("Show the nearest curve alone, or all again"), Qt::Key_I);
    begin(tr("In the Config view"));
    for (auto [key, words] : views::ConfigView::keys(true)) {
        words[0] = words[0].toUpper();
        add(words, key);
    }
    constexpr QSize kFrame(40, 80); // of the screen stays free
    constexpr int kInset = 20;
    constexpr int kBetween = 40;
    constexpr int kMostColumns = 4;
    QSize room = screen()->availableGeometry().size() - kFrame;
    if (parent)
        room = room.boundedTo(parent->window()->size());
    int widest = 1;
    int height = 0; // of the highest column
    for (const QWidget* group : groups) {
        widest = std::max(widest, group->sizeHint().width());
        height = std::max(height, group->sizeHint().height());
    }
    const int columns = std::clamp((room.width() - 2 * kInset) / (widest + kBetween), 1, kMostColumns);
    // The first groups of columns that are no higher than `most`.
    const auto startsOf = [&groups](int most) {
        std::vector<std::size_t> starts;
        int filled = most;
        for (std::size_t i = 0; i < groups.size(); ++i) {
            const int own = groups[i]->sizeHint().height();
            if (filled + own > most) {
                starts.push_back(i);
                filled = 0;
            }
            filled += own;
        }
        return starts;
    };
    while (startsOf(height).size() > static_cast<std::size_t>(columns))
        ++height;
    const std::vector<std::size_t> starts = startsOf(height);
    auto* content = new QWidget;
    auto* side = new QHBoxLayout(content);
    side->setContentsMargins(kInset, kInset, kInset, kInset);
    side->setSpacing(kBetween);
    QVBoxLayout* column = nullptr;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (std::find(starts.begin(), starts.end(), i) != starts.end()) {
            if (column)
                column->addStretch();
            column = new QVBoxLayout;
            column->setSpacing(0);
            side->addLayout(column);
        }
        column->addWidget(groups[i]);
    }
    if (column)
        column->addStretch();
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setWidget(content);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSizeConstraint(QLayout::SetNoConstraint); // the offscreen platform warns about size hints of a window
    layout->addWidget(scroll);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    const QSize beside(style()->pixelMetric(QStyle::PM_ScrollBarExtent), 0);
    resize((content->sizeHint() + beside).boundedTo(room));
}

}
