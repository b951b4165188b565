// SPDX-License-Identifier: GPL-3.0-or-later
#include "loggedpane.h"

#include <algorithm>

#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>
#include <telltale/runs/panelhead.h>
#include <telltale/runs/rolelabel.h>

namespace telltale::views {
namespace {

constexpr std::size_t kMostKept = 200; ///< contents
constexpr int kSmallImage = 256; ///< shown at least so wide, in whole multiples
constexpr int kLargeImage = 640;

QPixmap shownAs(const QImage& image)
{
    if (const int largest = std::max(image.width(), image.height()); largest < kSmallImage) {
        const int factor = std::max(1, kSmallImage / std::max(1, largest));
        return QPixmap::fromImage(image.scaled(image.size() * factor, Qt::KeepAspectRatio, Qt::FastTransformation));
    }
    return QPixmap::fromImage(
        image.width() <= kLargeImage ? image : image.scaledToWidth(kLargeImage, Qt::SmoothTransformation));
}

}

LoggedPane::LoggedPane(QWidget* parent)
    : QWidget(parent)
    , m_back(makeToolButton(QStringLiteral("left"), tr("To the step before with a text or an image"), this))
    , m_forward(makeToolButton(QStringLiteral("right"), tr("To the next step with a text or an image"), this))
    , m_where((new RoleLabel(&Theme::text3, wordsFont(11), this))->asData())
    , m_scroll(new QScrollArea(this))
    , m_list(new QVBoxLayout)
    , m_empty(new RoleLabel(
          tr("No texts or images: telltale.log_text() and telltale.log_image() in the training's program log them."),
          &Theme::text3, wordsFont(12), this))
{
    m_back->setObjectName(QStringLiteral("loggedBack"));
    m_forward->setObjectName(QStringLiteral("loggedForward"));
    auto* top = new QHBoxLayout;
    top->setContentsMargins(8, 6, 12, 6);
    top->setSpacing(2);
    top->addWidget(m_back);
    top->addWidget(m_forward);
    top->addSpacing(6);
    top->addWidget(m_where, 1);
    auto* page = new QWidget;
    m_list->setContentsMargins(12, 4, 12, 12);
    m_list->setSpacing(12);
    page->setLayout(m_list);
    m_list->addStretch();
    m_scroll->setObjectName(QStringLiteral("loggedScroll"));
    m_scroll->setAccessibleName(tr("Texts and images"));
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidgetResizable(true);
    m_scroll->setWidget(page);
    page->setBackgroundRole(QPalette::Base);
    page->setAutoFillBackground(true);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->setMargin(24);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(top);
    layout->addWidget(m_scroll, 1);
    layout->addWidget(m_empty, 1);
    connect(m_back, &QToolButton::clicked, this, [this] { goBeside(false); });
    connect(m_forward, &QToolButton::clicked, this, [this] { goBeside(true); });
    refresh();
}

void LoggedPane::clear()
{
    m_entries.clear();
    m_order.clear();
    m_steps.clear();
    m_contents.clear();
    for (auto& [key, card] : m_cards)
        delete card.box;
    m_cards.clear();
    refresh();
}

void LoggedPane::append(const std::vector<LoggedEntry>& entries)
{
    items::assertGuiThread();
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

void LoggedPane::setStep(std::optional<Step> step)
{
    if (step == m_step)
        return;
    m_step = step;
    refresh();
}

void LoggedPane::take(const std::map<std::int64_t, LoggedContent>& contents)
{
    if (contents.empty())
        return;
    if (m_contents.size() > kMostKept) // what is shown is asked for again where it is among them
        m_contents.clear();
    m_contents.insert(contents.begin(), contents.end());
    for (auto& [key, card] : m_cards)
        fill(card);
}

std::vector<std::int64_t> LoggedPane::missing() const
{
    std::vector<std::int64_t> ids;
    for (const auto& [key, card] : m_cards) {
        if (!card.isFilled && card.id != 0 && !m_contents.contains(card.id))
            ids.push_back(card.id);
    }
    return ids;
}

void LoggedPane::refresh()
{
    const bool isEmpty = m_entries.empty();
    m_scroll->setVisible(!isEmpty);
    m_empty->setVisible(isEmpty);
    for (QWidget* part : { static_cast<QWidget*>(m_back), static_cast<QWidget*>(m_forward) })
        part->setVisible(!isEmpty);
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
    m_where->setText(isEmpty ? QString()
            : m_order.size() > kMostNames
            ? tr("the first %1 of %n names", nullptr, static_cast<int>(m_order.size())).arg(kMostNames)
            : m_step ? tr("newest up to step %1").arg(formatStep(m_step->value))
                     : tr("newest"));
    const Step at = m_step.value_or(m_steps.empty() ? Step { 0 } : *m_steps.rbegin());
    m_back->setEnabled(!m_steps.empty() && *m_steps.begin() < at);
    m_forward->setEnabled(!m_steps.empty() && at < *m_steps.rbegin());
}

LoggedPane::Card& LoggedPane::cardOf(const Key& key)
{
    Card& card = m_cards[key];
    if (card.box != nullptr)
        return card;
    card.box = new QWidget(m_scroll->widget());
    auto* layout = new QVBoxLayout(card.box);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    card.head = (new RoleLabel(&Theme::text2, wordsFont(11, 600), card.box))->asData();
    card.content = (new RoleLabel(&Theme::text, codeFont(12), card.box))->asData();
    for (RoleLabel* label : { card.head, card.content })
        label->setTextFormat(Qt::PlainText); // it comes from the training's process
    card.content->setObjectName(QStringLiteral("loggedContent"));
    card.content->setWordWrap(true);
    card.content->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    card.content->setAccessibleName(key.second);
    layout->addWidget(card.head);
    layout->addWidget(card.content);
    m_list->insertWidget(m_list->count() - 1, card.box);
    return card;
}

void LoggedPane::fill(Card& card)
{
    const auto found = m_contents.find(card.id);
    if (card.isFilled || found == m_contents.end())
        return;
    card.isFilled = true;
    const LoggedContent& content = found->second;
    if (content.image.isNull())
        card.content->setText(content.text);
    else
        card.content->setPixmap(shownAs(content.image));
}

void LoggedPane::goBeside(bool forward)
{
    if (m_steps.empty())
        return;
    const Step at = m_step.value_or(*m_steps.rbegin());
    auto found = forward ? m_steps.upper_bound(at) : m_steps.lower_bound(at);
    if (forward ? found == m_steps.end() : found == m_steps.begin())
        return;
    Q_EMIT stepWanted(forward ? *found : *std::prev(found));
}

}
