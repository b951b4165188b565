// SPDX-License-Identifier: GPL-3.0-or-later
#include "verdictline.h"

#include <algorithm>
#include <utility>

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include <telltale/common/glyphs.h>
#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>
#include <telltale/items/tooltiptext.h>

#include "comparewords.h"
#include "conformance.h"

namespace telltale::views {
namespace {

constexpr int kWordsInset = 8; ///< px above and below the words
constexpr int kNoteHeight = 16; ///< px of a line of the facts
constexpr int kMostNoteLines = 3;
constexpr int kWordsLine = 19; ///< px of a line of the sentence
constexpr int kLeastWordsLines = 2; ///< also of a short one: what is below stays where it is
constexpr int kMostWordsLines = 4;
constexpr int kSign = 34; ///< px left of the words
constexpr int kRounded = 3; ///< px that parts of a line may be wider together than one by one

/// The first characters as a link, spaces as many as there are.
QString linked(const QString& words, qsizetype count)
{
    return QStringLiteral("<a href=\"#\" style=\"color:%1\">%2</a>%3")
        .arg(Theme::current().accent.name(), words.left(count).toHtmlEscaped(),
            words.mid(count)
                .toHtmlEscaped()
                .replace(QStringLiteral("  "), QStringLiteral("&nbsp; "))
                .replace(u'\n', QStringLiteral("<br>")));
}

constexpr QStringView kBetween { u"\u00A0 ·  " };

/// One behind another, and with nothing between them where a line ends. None is broken that has room in a line.
QString lined(const QStringList& facts, const QFontMetrics& metrics, int width)
{
    QString text;
    int taken = 0;
    for (QString fact : facts) {
        const int room = metrics.horizontalAdvance(fact);
        const int gap = text.isEmpty() ? 0 : metrics.horizontalAdvance(kBetween.toString());
        const bool fits = taken + gap + room + kRounded <= width;
        if (!text.isEmpty())
            text += fits ? kBetween : QStringView { u"\n" };
        text += room + kRounded <= width ? fact.replace(u' ', QChar(0x00A0)) : fact;
        taken = fits ? taken + gap + room : room; // behind one of several lines none goes on
    }
    return text;
}

/// What stands in the last brackets in one piece: its end is no line of its own.
QString unbroken(QString text)
{
    const qsizetype from = text.lastIndexOf(u'(');
    const qsizetype end = text.indexOf(u')', std::max<qsizetype>(from, 0));
    for (qsizetype i = from; i >= 0 && i < end; ++i) {
        if (text[i] == u' ')
            text[i] = QChar(0x00A0);
    }
    return text;
}

QPushButton* addButton(QHBoxLayout* layout, const QString& text, const QString& name, QWidget* parent)
{
    auto* button = new QPushButton(text, parent);
    button->setObjectName(name);
    button->setAccessibleName(text);
    button->setFixedHeight(24);
    layout->addWidget(button);
    return button;
}

}

VerdictLine::VerdictLine(Conformance* conformance, QWidget* parent)
    : QWidget(parent)
    , m_conformance(conformance)
    , m_sentence(new QLabel(this))
    , m_note(new QLabel(this))
{
    m_sentence->setObjectName(QStringLiteral("compareSentence"));
    m_sentence->setFont(wordsFont(13));
    m_sentence->setTextFormat(Qt::PlainText);
    m_sentence->setWordWrap(true);
    m_note->setObjectName(QStringLiteral("compareNote"));
    m_note->setFont(wordsFont(11));
    m_note->setForegroundRole(QPalette::PlaceholderText);
    m_note->setWordWrap(true);
    for (QLabel* label : { m_sentence, m_note })
        label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(kSign, 4, 12, 4);
    layout->setSpacing(8);
    auto* words = new QVBoxLayout;
    words->setSpacing(0);
    words->addWidget(m_sentence);
    words->addWidget(m_note);
    layout->addLayout(words, 1);
    m_go = addButton(layout, tr("Go to it"), QStringLiteral("compareGo"), this);
    m_copy = addButton(layout, tr("Copy report"), QStringLiteral("compareCopy"), this);
    m_stop = addButton(layout, tr("Stop"), QStringLiteral("compareStop"), this);
    connect(m_note, &QLabel::linkActivated, this, &VerdictLine::mapGoWanted);
    connect(m_go, &QPushButton::clicked, this, &VerdictLine::goWanted);
    connect(m_copy, &QPushButton::clicked, this, &VerdictLine::copyWanted);
    connect(m_stop, &QPushButton::clicked, conformance, &Conformance::stop);
    connect(conformance, &Conformance::changed, this, &VerdictLine::update);
    update();
}

QString VerdictLine::text() const
{
    return m_text;
}

void VerdictLine::setPictureNotes(const QStringList& notes)
{
    if (std::exchange(m_pictureNotes, notes) != notes)
        update();
}

void VerdictLine::setMapNote(const QString& note, bool leads)
{
    const bool led = std::exchange(m_mapNoteLeads, leads);
    if (std::exchange(m_mapNote, note) != note || led != leads)
        update();
}

void VerdictLine::setCompact(bool on)
{
    if (std::exchange(m_isCompact, on) != on)
        fit();
}

void VerdictLine::update()
{
    items::assertGuiThread();
    const auto& found = m_conformance->found();
    const bool isFirstLook = m_conformance->isBusy() && !found;
    m_notes.clear();
    if (found) {
        m_text = comparisonSentence(*found);
        m_notes = comparisonNotes(*found);
    } else if (isFirstLook) {
        m_text = tr("Comparing every value: %1 %").arg(static_cast<int>(m_conformance->share() * 100));
    } else if (m_conformance->isStopped()) {
        m_text = tr("The comparison of every value was stopped.");
    } else {
        m_text = m_conformance->problem();
    }
    m_go->setVisible(found && !found->isEqual());
    m_copy->setVisible(found.has_value());
    m_stop->setVisible(isFirstLook);
    setAccessibleName(m_text);
    setVisible(!m_text.isEmpty());
    layout()->activate();
    fit();
    QWidget::update();
}

void VerdictLine::fit()
{
    const QFontMetrics metrics = m_sentence->fontMetrics();
    const int width = m_sentence->width(); // and of the facts below it, which may be hidden yet
    const QString sentence = unbroken(m_text);
    const int wish
        = (metrics.boundingRect(0, 0, width, kWordsLine, Qt::TextWordWrap, sentence).height() + kWordsLine - 1)
        / kWordsLine;
    const int lines = std::clamp(wish, kLeastWordsLines, kMostWordsLines);
    // Lines of words break where they must: a little is lost at the end of each but the last.
    m_sentence->setText(
        wish <= lines ? sentence : metrics.elidedText(sentence, Qt::ElideRight, width * (10 * lines - 2) / 10));
    m_sentence->setFixedHeight(std::clamp(wish, 1, lines) * kWordsLine);
    // Of the facts below it as many as are whole; the first, if it is a link, in any case.
    QStringList facts = m_pictureNotes + m_notes;
    const bool hasMapNote = m_conformance->found() && !m_mapNote.isEmpty();
    if (hasMapNote)
        facts.prepend(m_mapNote);
    const QStringList all = facts;
    const bool leads = hasMapNote && m_mapNoteLeads;
    const int most = !m_isCompact ? kMostNoteLines : leads || !m_pictureNotes.isEmpty() ? 1 : 0;
    const QFontMetrics noteMetrics = m_note->fontMetrics();
    const auto shown
        = [&] { return lined(facts == all ? facts : facts + QStringList { QStringLiteral("…") }, noteMetrics, width); };
    m_note->setTextFormat(leads ? Qt::RichText : Qt::PlainText);
    const auto noteLines = [&](const QString& text) {
        m_note->setText(leads ? linked(text, m_mapNote.size()) : text);
        return std::max(1, (m_note->heightForWidth(width) + kNoteHeight - 1) / kNoteHeight);
    };
    if (m_isCompact)
        facts = (leads ? QStringList { m_mapNote } : QStringList()) + m_pictureNotes;
    while (facts.size() > 1 && noteLines(shown()) > most)
        facts.removeLast();
    QString note = m_isCompact ? facts.join(kBetween) : shown();
    if (noteLines(note) > most) // lines of words break where they must
        note = noteMetrics.elidedText(note, Qt::ElideRight, width * (most > 1 ? 10 * most - 2 : 10) / 10);
    const int noteHeight = std::min(noteLines(note), most) * kNoteHeight;
    m_note->setVisible(most > 0);
    m_note->setFixedHeight(noteHeight);
    setFixedHeight(kWordsInset + lines * kWordsLine + noteHeight);
    m_note->setTextInteractionFlags(
        leads ? Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard : Qt::NoTextInteraction);
    m_note->setAccessibleName(note);
    m_note->setText(leads ? linked(note, m_mapNote.size()) : note);
    const QString whole = all.join(kBetween);
    m_note->setToolTip(note == lined(all, noteMetrics, width) ? QString() : items::toolTipText(whole));
    const QString hidden = m_isCompact ? m_text + u'\n' + whole : wish <= lines ? QString() : m_text;
    m_sentence->setToolTip(items::toolTipText(hidden));
}

void VerdictLine::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    layout()->activate();
    fit();
}

void VerdictLine::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        fit(); // a link's color stands in its text
}

void VerdictLine::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Window));
    painter.fillRect(QRect(0, height() - 1, width(), 1), palette().color(QPalette::Mid));
    const Theme& theme = Theme::current();
    const auto& found = m_conformance->found();
    if (m_conformance->isBusy() && !found) {
        const int done = static_cast<int>(m_conformance->share() * width());
        painter.fillRect(QRect(0, height() - 2, done, 2), theme.accent);
    }
    if (!found)
        return;
    glyphs::paintSeverity(painter, QPointF(kSign / 2.0 + 2, m_sentence->geometry().center().y()), 12,
        found->isEqual() ? glyphs::Severity::Good : severityOf(found->first.front()), theme);
}

}
