// SPDX-License-Identifier: GPL-3.0-or-later
#include "loggedcards.h"

#include <algorithm>

#include <QVBoxLayout>

#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>
#include <telltale/runs/rolelabel.h>

namespace telltale::views {
namespace {

constexpr std::size_t kMostKeptContents = 200;
constexpr int kLettersALine = 60; ///< of a text that has no lines

}

LoggedCards::LoggedCards(Room room, QWidget* parent)
    : QWidget(parent)
    , m_room(room)
    , m_list(new QVBoxLayout(this))
{
    m_list->setContentsMargins(12, 4, 12, 12);
    m_list->setSpacing(12);
    m_list->addStretch();
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
}

void LoggedCards::clear()
{
    m_entries.clear();
    m_order.clear();
    m_steps.clear();
    m_contents.clear();
    m_lastText = m_lastImage = 0;
    for (auto& [key, card] : m_cards)
        delete card.box;
    m_cards.clear();
    refresh();
}

LoggedRequest LoggedCards::request(Rank rank) const
{
    return { rank, m_lastText, m_lastImage, missing() };
}

void LoggedCards::take(const LoggedNews& news)
{
    items::assertGuiThread();
    m_lastText = news.lastText;
    m_lastImage = news.lastImage;
    append(news.entries);
    if (news.contents.empty())
        return;
    if (m_contents.size() > kMostKeptContents) // what is shown is asked for again where it is among them
        m_contents.clear();
    m_contents.insert(news.contents.begin(), news.contents.end());
    for (auto& [key, card] : m_cards)
        fill(card);
}

void LoggedCards::append(const std::vector<LoggedEntry>& entries)
{
    if (entries.empty())
        return;
    for (const LoggedEntry& entry : entries) {
        const Key key { entry.sort, entry.name };
        if (!m_entries.contains(key))
            m_order.push_back(key);
        m_entries[key].insert_or_assign(entry.step, entry.id); // what was logged later counts
        m_steps.insert(entry.step);
    }
    refresh();
}

void LoggedCards::setStep(std::optional<Step> step)
{
    if (step == m_step)
        return;
    m_step = step;
    refresh();
}

std::vector<std::int64_t> LoggedCards::missing() const
{
    std::vector<std::int64_t> ids;
    for (const auto& [key, card] : m_cards) {
        if (!card.isFilled && card.id != 0 && !m_contents.contains(card.id))
            ids.push_back(card.id);
    }
    return ids;
}

void LoggedCards::refresh()
{
    const std::size_t names = std::min(m_order.size(), kMostNames);
    for (std::size_t i = 0; i < names; ++i) {
        const Key& key = m_order[i];
        const std::map<Step, std::int64_t>& byStep = m_entries.at(key);
        Card& card = cardOf(key);
        auto at = m_step ? byStep.upper_bound(*m_step) : byStep.end();
        card.box->setVisible(at != byStep.begin());
        if (at == byStep.begin()) {
            card.id = 0;
            continue;
        }
        --at;
        card.head->setText(tr("%1, step %2").arg(key.second, formatStep(at->first.value)));
        card.isFilled = card.isFilled && card.id == at->second;
        card.id = at->second;
        fill(card);
    }
    Q_EMIT changed();
}

QString LoggedCards::where() const
{
    if (isEmpty())
        return {};
    if (m_order.size() > kMostNames)
        return tr("the first %1 of %n names", nullptr, static_cast<int>(m_order.size())).arg(kMostNames);
    return m_step ? tr("newest up to step %1").arg(formatStep(m_step->value)) : tr("newest");
}

std::optional<Step> LoggedCards::stepBeside(bool forward) const
{
    if (m_steps.empty())
        return {};
    const Step at = m_step.value_or(*m_steps.rbegin());
    const auto found = forward ? m_steps.upper_bound(at) : m_steps.lower_bound(at);
    if (found == (forward ? m_steps.end() : m_steps.begin()))
        return {};
    return forward ? *found : *std::prev(found);
}

LoggedCards::Card& LoggedCards::cardOf(const Key& key)
{
    Card& card = m_cards[key];
    if (card.box != nullptr)
        return card;
    card.box = new QWidget(this);
    auto* layout = new QVBoxLayout(card.box);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    card.head = (new RoleLabel(&Theme::text2, wordsFont(11, 600), card.box))->asData();
    card.content = (new RoleLabel(&Theme::text, codeFont(12), card.box))->asData();
    for (RoleLabel* label : { card.head, card.content }) {
        label->setTextFormat(Qt::PlainText); // it comes from the training's process
        label->setWordWrap(true);
    }
    card.content->setObjectName(QStringLiteral("loggedContent"));
    card.content->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    card.content->setAccessibleName(key.second);
    layout->addWidget(card.head);
    layout->addWidget(card.content);
    m_list->insertWidget(m_list->count() - 1, card.box);
    return card;
}

void LoggedCards::fill(Card& card)
{
    const auto found = m_contents.find(card.id);
    if (card.isFilled || found == m_contents.end())
        return;
    card.isFilled = true;
    const LoggedContent& content = found->second;
    if (content.image.isNull())
        card.content->setText(shownAs(content.text));
    else
        card.content->setPixmap(shownAs(content.image));
}

QPixmap LoggedCards::shownAs(const QImage& image) const
{
    if (const int largest = std::max(image.width(), image.height()); largest < m_room.smallImage) {
        const int factor = std::max(1, m_room.smallImage / std::max(1, largest));
        return QPixmap::fromImage(image.scaled(image.size() * factor, Qt::KeepAspectRatio, Qt::FastTransformation));
    }
    return QPixmap::fromImage(
        image.width() <= m_room.largeImage ? image : image.scaledToWidth(m_room.largeImage, Qt::SmoothTransformation));
}

QString LoggedCards::shownAs(const QString& text) const
{
    if (m_room.lines == 0)
        return text;
    const QString first = text.section(u'\n', 0, m_room.lines - 1).left(m_room.lines * kLettersALine);
    return first.size() < text.trimmed().size() ? first + QChar(0x2026) : first;
}

}
