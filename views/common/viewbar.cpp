// SPDX-License-Identifier: GPL-3.0-or-later
#include "viewbar.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include <QEvent>
#include <QHBoxLayout>
#include <QHash>
#include <QPainter>
#include <QTextDocumentFragment>
#include <QToolButton>

#include "theme.h"

namespace telltale::views {

namespace {
constexpr int kBarHeight = 38;
constexpr int kLeastCombo = 44;
constexpr int kAir = 3; ///< px behind what is chosen in a combo that go before any choice is cut
constexpr int kAfterCombo = 6; ///< after a combo, beside the layout's spacing; nothing where one would be cut
constexpr int kOverStretch = 1000; ///< a caption has the room before an empty stretch beside it, but for a pixel

/// Where nothing is chosen, that says what there is.
QString shownIn(const QComboBox& combo)
{
    return combo.currentIndex() < 0 ? combo.placeholderText() : combo.currentText();
}

/// Its own hint measures the ink of its entries, where half of a full-width bracket is none.
class WholeCombo : public QComboBox {
public:
    using QComboBox::QComboBox;
    QSize sizeHint() const override
    {
        const Width longest = longestEntry();
        return QComboBox::sizeHint() + QSize(std::max(longest.advance - longest.ink, 0), 0);
    }
    /// Its own is kept from when it was empty, and wider than a few digits.
    QSize minimumSizeHint() const override { return { kLeastCombo, sizeHint().height() }; }
    /// px by which it may be narrower with what is chosen in it.
    int spare() const
    {
        const int wished = longestEntry().advance - widthOf(shownIn(*this)).advance;
        return std::clamp(wished, 0, std::max(sizeHint().width() - kLeastCombo, 0));
    }

private:
    struct Width {
        int ink = 0;
        int advance = 0;
    };

    Width longestEntry() const
    {
        Width longest;
        for (int item = 0; item < count(); ++item) {
            const Width width = widthOf(itemText(item));
            longest = { std::max(longest.ink, width.ink), std::max(longest.advance, width.advance) };
        }
        return longest;
    }
    /// A bar asks for each of them again and again, and shaping text is most of what that costs.
    Width widthOf(const QString& text) const
    {
        const QFontMetrics metrics = fontMetrics();
        if (!m_metrics || *m_metrics != metrics) {
            m_metrics.emplace(metrics);
            m_widths.clear();
        }
        auto known = m_widths.constFind(text);
        if (known == m_widths.constEnd())
            known = m_widths.insert(text, { metrics.boundingRect(text).width(), metrics.horizontalAdvance(text) });
        return *known;
    }

    mutable std::optional<QFontMetrics> m_metrics; ///< of the widths
    mutable QHash<QString, Width> m_widths;
};

int spareOf(const QComboBox& combo)
{
    return static_cast<const WholeCombo&>(combo).spare(); // a bar's combos are all of that kind
}

bool isBareNumber(const QString& text)
{
    return !text.isEmpty() && std::none_of(text.begin(), text.end(), [](QChar c) { return c.isLetter(); });
}

}

ViewBar::ViewBar(QWidget* parent)
    : QWidget(parent)
    , m_layout(new QHBoxLayout(this))
    , m_gap(kAfterCombo)
{
    m_layout->setContentsMargins(12, 0, 12, 1);
    m_layout->setSpacing(8);
    m_layout->setSizeConstraint(QLayout::SetNoConstraint);
    setFixedHeight(kBarHeight);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

void ViewBar::keepHidden()
{
    m_isKeptHidden = true;
    hide();
}

void ViewBar::setVisible(bool isVisible)
{
    QWidget::setVisible(isVisible && !m_isKeptHidden);
}

QLabel* ViewBar::addTitle(const QString& title)
{
    auto* heading = new QLabel(title, this);
    heading->setFont(wordsFont(13, 600));
    heading->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Preferred);
    m_layout->addWidget(heading);
    QLabel* caption = addCaption();
    m_tails.pop_back();
    m_layout->setStretchFactor(caption, kOverStretch);
    addStretch(); // where the caption is hidden; else the combos would grow
    caption->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_titleCaption = caption;
    return caption;
}

void ViewBar::setTitleCaption(const QStringList& texts, bool isKept)
{
    m_titleTexts = texts;
    m_isTitleKept = isKept;
    fitCaptions();
}

void ViewBar::addPart(QWidget* part)
{
    const bool isHidden = part->isHidden();
    m_layout->addWidget(part);
    part->setVisible(!isHidden);
}

QLabel* ViewBar::addCaption(bool isKept)
{
    auto* caption = new QLabel(this);
    caption->setFont(wordsFont(12));
    caption->setForegroundRole(QPalette::PlaceholderText);
    caption->setTextFormat(Qt::PlainText);
    caption->setMinimumWidth(0);
    m_layout->addWidget(caption);
    (isKept ? m_keptTails : m_tails).push_back(caption);
    return caption;
}

QComboBox* ViewBar::addCombo(const QString& label, const QString& objectName, bool isLabeled)
{
    auto* caption = new QLabel(isLabeled ? label : QString(), this);
    caption->setFont(wordsFont(12));
    caption->setForegroundRole(QPalette::PlaceholderText);
    auto* combo = new WholeCombo(this);
    combo->setObjectName(objectName);
    combo->setAccessibleName(label);
    combo->setToolTip(label);
    combo->setFont(wordsFont(12));
    combo->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    combo->setMinimumWidth(kLeastCombo);
    combo->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    caption->setBuddy(combo);
    caption->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Preferred);
    combo->installEventFilter(this);
    m_layout->addWidget(caption);
    m_layout->addWidget(combo);
    m_gaps[combo] = new QSpacerItem(m_gap, 0);
    m_layout->addSpacerItem(m_gaps[combo]);
    m_captions.push_back(caption);
    connect(combo, &QComboBox::currentTextChanged, this, &ViewBar::fitCombos);
    return combo;
}

void ViewBar::setComboVisible(QComboBox* combo, bool isVisible)
{
    m_gaps[combo]->changeSize(isVisible ? m_gap : 0, 0); // else what follows would stand with another inset
    combo->setVisible(isVisible);
    fitCaptions();
}

void ViewBar::removeCombo(QComboBox* combo)
{
    for (auto caption = m_captions.begin(); caption != m_captions.end(); ++caption) {
        if ((*caption)->buddy() != combo)
            continue;
        delete *caption;
        m_captions.erase(caption);
        break;
    }
    m_fitted.remove(combo);
    m_gaps.take(combo)->changeSize(0, 0);
    combo->hide();
    m_layout->removeWidget(combo);
}

void ViewBar::setGap(int px)
{
    if (std::exchange(m_gap, px) == px)
        return;
    for (const auto& [combo, gap] : m_gaps.asKeyValueRange()) {
        const bool isLeftOut = combo->isHidden() && combo->testAttribute(Qt::WA_WState_ExplicitShowHide);
        gap->changeSize(isLeftOut ? 0 : px, 0);
    }
    m_layout->invalidate();
}

void ViewBar::addStretch()
{
    m_layout->addStretch(1);
}

QToolButton* ViewBar::addButton(
    const QString& iconName, const QString& tip, const QString& shortcut, const QString& objectName)
{
    auto* button = new QToolButton(this);
    button->setIcon(icon(iconName));
    button->setObjectName(objectName);
    button->setAccessibleName(tip);
    button->setToolTip(shortcut.isEmpty() ? tip : QStringLiteral("%1 (%2)").arg(tip, shortcut));
    button->setAutoRaise(true);
    m_layout->addWidget(button);
    return button;
}

QSize ViewBar::sizeHint() const
{
    return { m_layout->sizeHint().width(), kBarHeight };
}

QSize ViewBar::minimumSizeHint() const
{
    return { 80, kBarHeight };
}

/// What is chosen may change without a signal; it is painted in any case.
bool ViewBar::eventFilter(QObject* watched, QEvent* event)
{
    const auto* combo = qobject_cast<const QComboBox*>(watched);
    if (event->type() == QEvent::Paint && combo && m_fitted.value(combo) != combo->currentText())
        QMetaObject::invokeMethod(this, &ViewBar::fitCaptions, Qt::QueuedConnection);
    return QWidget::eventFilter(watched, event);
}

bool ViewBar::event(QEvent* event)
{
    const bool handled = QWidget::event(event);
    // While hidden, a layout asks but once, whatever changes after that.
    if (event->type() == QEvent::LayoutRequest || event->type() == QEvent::Show)
        fitCaptions();
    return handled;
}

void ViewBar::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fitCaptions();
}

int ViewBar::wholeWidth() const
{
    int width = m_layout->sizeHint().width();
    for (const QLabel* caption : m_captions) {
        const QWidget* combo = caption->buddy();
        if (combo && !combo->isHidden())
            width += std::max(combo->sizeHint().width() - combo->maximumWidth(), 0);
    }
    return width;
}

int ViewBar::keptTitle() const
{
    return m_isTitleKept && !m_titleTexts.back().isEmpty()
        ? m_titleCaption->fontMetrics().horizontalAdvance(m_titleTexts.back()) + 2 * m_layout->spacing()
        : 0;
}

void ViewBar::fitCombos()
{
    // What each of them needs for what is chosen in it, and for the longest of what can be.
    struct Need {
        QComboBox* combo;
        int chosen = 0;
        int whole = 0;
    };
    std::vector<Need> needs;
    const int missing = wholeWidth() + keptTitle() - width();
    for (const QLabel* caption : m_captions) {
        auto* combo = qobject_cast<QComboBox*>(caption->buddy());
        if (combo == nullptr || combo->isHidden())
            continue;
        const int whole = combo->sizeHint().width();
        needs.push_back({ combo, whole - spareOf(*combo), whole });
        m_fitted[combo] = combo->currentText();
    }
    std::ranges::sort(needs, {}, &Need::chosen);
    // Room for what is chosen; where that is not there, the widest are cut to one width.
    int room = -missing;
    for (const Need& need : needs)
        room += need.whole;
    for (const QComboBox* whole : m_whole) {
        const auto first = std::ranges::find(needs, whole, &Need::combo);
        if (first == needs.end() || missing <= 0)
            continue;
        const int others = kLeastCombo * static_cast<int>(needs.size() - 1);
        first->combo->setMaximumWidth(std::clamp(room - others, kLeastCombo, std::max(first->chosen, kLeastCombo)));
        first->combo->setMinimumWidth(first->combo->maximumWidth()); // or the layout would cut the widest
        room -= first->combo->maximumWidth();
        needs.erase(first);
    }
    const int wished
        = std::accumulate(needs.begin(), needs.end(), 0, [](int sum, const Need& need) { return sum + need.chosen; });
    for (Need& need : needs)
        need.chosen -= wished > room ? kAir : 0;
    for (std::size_t i = 0; i < needs.size(); ++i) {
        const Need& need = needs[i];
        if (missing <= 0) {
            if (std::ranges::find(m_whole, need.combo) != m_whole.end())
                need.combo->setMinimumWidth(kLeastCombo);
            need.combo->setMaximumWidth(QWIDGETSIZE_MAX);
            continue;
        }
        const int given = std::max(kLeastCombo, std::min(need.chosen, room / static_cast<int>(needs.size() - i)));
        need.combo->setMaximumWidth(given);
        room -= given;
    }
}

void ViewBar::fitCaptions()
{
    // Combos are narrowed to what is chosen in them before a caption goes, a caption before a label, and both before
    // one is cut; then the gaps behind combos.
    int combos = wholeWidth();
    int labels = 0;
    int tails = 0;
    const auto isWanted = [](const QLabel* caption) {
        return !caption->text().isEmpty() && (!caption->buddy() || !caption->buddy()->isHidden());
    };
    const auto widthOf = [this](const QLabel* caption) { return caption->sizeHint().width() + m_layout->spacing(); };
    const auto take = [&](const QLabel* caption, int& sum) {
        combos -= caption->isHidden() ? 0 : widthOf(caption);
        sum += isWanted(caption) ? widthOf(caption) : 0;
    };
    for (const QLabel* caption : m_captions) {
        const auto* combo = qobject_cast<const QComboBox*>(caption->buddy());
        combos += combo && !combo->isHidden() ? kAfterCombo - m_gap - spareOf(*combo) : 0;
        take(caption, labels);
    }
    for (const QLabel* tail : m_tails) {
        take(tail, tails);
        tails += isWanted(tail) ? 0 : widthOf(tail); // also without a word it takes the layout's spacing
    }
    int kept = 0;
    for (const QLabel* tail : m_keptTails)
        take(tail, kept);
    for (QLabel* tail : m_tails)
        tail->setVisible(combos + tails + kept + labels <= width());
    for (QLabel* tail : m_keptTails)
        tail->setVisible(isWanted(tail) && combos + kept <= width());
    kept = combos + kept <= width() ? kept : 0;
    // The first say best by themselves what they are; a number never does.
    int missing = combos + kept + labels + keptTitle() - width();
    for (QLabel* caption : m_captions) {
        const auto* combo = qobject_cast<const QComboBox*>(caption->buddy());
        const bool goes = missing > 0 && isWanted(caption) && !(combo && isBareNumber(combo->currentText()));
        missing -= goes ? widthOf(caption) : 0;
        caption->setVisible(isWanted(caption) && !goes);
    }
    setGap(missing > 0 ? 0 : kAfterCombo);
    fitCombos();
    if (!m_titleCaption)
        return;
    // Cut in the middle of a word it says nothing. Hidden, its spacing is missing from the hint.
    const int taken = m_layout->sizeHint().width() + (m_titleCaption->isHidden() ? m_layout->spacing() : 0);
    const int room = width() - taken;
    const auto fits = [&](const QString& text) {
        const QString plain = QTextDocumentFragment::fromHtml(text).toPlainText();
        return m_titleCaption->fontMetrics().horizontalAdvance(plain) < room;
    };
    if (!m_titleTexts.isEmpty()) {
        const auto text = std::ranges::find_if(m_titleTexts, fits);
        m_titleCaption->setText(text == m_titleTexts.end() ? m_titleTexts.back() : *text);
    }
    m_titleCaption->setVisible(room > m_titleCaption->sizeHint().width());
}

void ViewBar::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Window));
    painter.fillRect(QRect(0, height() - 1, width(), 1), palette().color(QPalette::Mid));
}

}
