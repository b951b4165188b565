// SPDX-License-Identifier: GPL-3.0-or-later
#include "welcomepage.h"

#include <array>

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>
#include <QResizeEvent>
#include <QScrollArea>
#include <QStackedWidget>
#include <QTabBar>
#include <QToolButton>
#include <QVBoxLayout>

#include <telltale/common/theme.h>
#include <telltale/runs/joinfield.h>
#include <telltale/runs/panelhead.h>
#include <telltale/runs/rolelabel.h>

#include "banner.h"
#include "keychip.h"
#include "welcomecard.h"

namespace telltale::shell {

using views::RoleLabel;
using views::Theme;

namespace {

constexpr QSize kButtonIcon { 20, 16 }; ///< with the gap before the text

constexpr auto kPython = "import telltale\n"
                         "telltale.watch(model, optimizer)\n"
                         "telltale.log({\"loss\": loss})";
constexpr auto kCpp = "#include <telltale/torch/watch.h>\n"
                      "auto watch = telltale::watch(*model, optimizer);\n"
                      "watch->log(\"loss\", loss.item<double>());\n"
                      "watch->step(); // in place of optimizer.step()";

constexpr auto kMsprobe = "from telltale.pytorch import TrainerMon\n"
                          "monitor = TrainerMon(\"config.json\")\n"
                          "monitor.set_monitor(model, optimizer, grad_acc_steps=1)";

/// Ring with a dot: listening; open ring: not.
class ListeningMark : public QWidget {
public:
    explicit ListeningMark(QWidget* parent)
        : QWidget(parent)
    {
        setFixedSize(14, 14);
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        const Theme& theme = Theme::current();
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        const QColor color = isEnabled() ? theme.ok : theme.warnMark;
        painter.setPen(QPen(color, 1.5));
        painter.drawEllipse(QPointF(7, 7), 5, 5);
        if (!isEnabled())
            return;
        painter.setPen(Qt::NoPen);
        painter.setBrush(color);
        painter.drawEllipse(QPointF(7, 7), 2.25, 2.25);
    }
};

}

WelcomePage::WelcomePage(QWidget* parent)
    : QWidget(parent)
    , m_banner(new Banner(this))
{
    setObjectName(QStringLiteral("welcomePage"));
    auto* content = new QWidget;
    content->setMaximumWidth(1180);
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(20, 20, 20, 20);
    column->setSpacing(0);
    column->addStretch(2);
    column->addWidget(m_banner);
    column->addSpacing(40);
    m_heading = new RoleLabel(&Theme::text, views::wordsFont(26, 600), content);
    m_heading->setObjectName(QStringLiteral("welcomeHeading"));
    m_heading->setWordWrap(true);
    column->addWidget(m_heading);
    column->addSpacing(8);
    m_lead = new RoleLabel(&Theme::text2, views::wordsFont(14), content);
    column->addWidget(m_lead);
    setStarting(false);
    column->addSpacing(40);
    m_cards = new QBoxLayout(QBoxLayout::LeftToRight);
    m_cards->setSpacing(20);
    m_cards->addWidget(makeDemoCard(), 64);
    m_cards->addWidget(makeConnectCard(), 92);
    m_cards->addWidget(makeOpenCard(), 64);
    column->addLayout(m_cards);
    column->addSpacing(20);
    column->addWidget(new RoleLabel(
        tr("You can also drop a run anywhere in this window."), &Theme::text3, views::wordsFont(12), content));
    column->addStretch(3);

    auto* middle = new QWidget;
    auto* row = new QHBoxLayout(middle);
    row->setContentsMargins(0, 0, 0, 0);
    row->addStretch(1);
    row->addWidget(content, 100);
    row->addStretch(1);
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setWidget(middle);
    scroll->viewport()->setAutoFillBackground(false);
    middle->setAutoFillBackground(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(scroll);
}

void WelcomePage::resizeEvent(QResizeEvent* event)
{
    constexpr int kCardsAbreast = 1044, kKeyRoom = 1180, kBannerHeight = 760;
    const bool isNarrow = event->size().width() < kCardsAbreast;
    for (QWidget* key : m_keys)
        key->setVisible(isNarrow || event->size().width() >= kKeyRoom);
    m_cards->setDirection(isNarrow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    // What can be done here comes before what it looks like.
    m_banner->setVisible(!isNarrow || event->size().height() >= kBannerHeight);
    QWidget::resizeEvent(event);
}

QWidget* WelcomePage::makeDemoCard()
{
    auto* card = new WelcomeCard(QStringLiteral("play"), tr("Run the demo"),
        tr("A small GPT trains on this machine; every module is recorded."), this);
    card->addFact(QStringLiteral("stack"), tr("4 layers, 4 heads, every module monitored"));
    card->addFact(QStringLiteral("flag"), tr("every gradient and activation, live"));
    card->addFact(QStringLiteral("disk"), tr("kept as a run of its own"));
    m_demo = new QPushButton(tintedIcon(QStringLiteral("play"), &Theme::text), tr("Run the demo"), card);
    m_demo->setIconSize(kButtonIcon);
    m_demo->setObjectName(QStringLiteral("runDemo"));
    m_demo->setToolTip(tr("Run the demo (Ctrl+D)"));
    m_fault = new QPushButton(tr("With a fault"), card);
    m_fault->setObjectName(QStringLiteral("runFault"));
    m_fault->setToolTip(tr("The same training, in which one value becomes NaN: find where"));
    card->foot()->addWidget(m_demo);
    card->foot()->addWidget(m_fault);
    connect(m_fault, &QPushButton::clicked, this, &WelcomePage::faultWanted);
    card->foot()->addStretch();
    card->foot()->addWidget(m_keys[0] = new KeyChip(QStringLiteral("Ctrl+D"), {}, card));
    connect(m_demo, &QPushButton::clicked, this, &WelcomePage::demoWanted);
    return card;
}

QWidget* WelcomePage::makeConnectCard()
{
    auto* card = new WelcomeCard(QStringLiteral("plug"), tr("Connect a training job"),
        tr("Put the join string into the environment of every rank, then add a few lines to the training program."),
        this);
    card->body()->addWidget(new RoleLabel(tr("Join string"), &Theme::text2, views::wordsFont(11, 600), card));
    m_join = new views::JoinField(card);
    m_join->button()->setDefault(true);
    m_join->button()->setAutoDefault(true);
    m_join->button()->setIcon(tintedIcon(QStringLiteral("copy"), &Theme::onAccent));
    m_join->button()->setIconSize(kButtonIcon);
    card->body()->addWidget(m_join);
    auto* hint = new RoleLabel(&Theme::text3, views::wordsFont(11), card);
    setProse(hint, tr("Set it as TELLTALE_JOIN. Copying takes the whole token."), QStringLiteral("TELLTALE_JOIN"));
    card->body()->addWidget(hint);
    card->body()->addSpacing(8);
    addWays(card);
    m_listeningMark = new ListeningMark(card);
    m_listening = new RoleLabel(&Theme::text2, views::wordsFont(12), card);
    m_listening->setWordWrap(true);
    card->foot()->addWidget(m_listeningMark);
    card->foot()->addWidget(m_listening, 1);
    return card;
}

/// Each way of connecting on a tab of its own, the one of most first.
void WelcomePage::addWays(WelcomeCard* card)
{
    const std::array<std::pair<QString, const char*>, 3> ways { {
        { tr("Python"), kPython },
        { tr("C++"), kCpp },
        { tr("msprobe config"), kMsprobe },
    } };
    auto* tabs = new QTabBar(card);
    tabs->setObjectName(QStringLiteral("welcomeWays"));
    tabs->setAccessibleName(tr("Ways to connect"));
    tabs->setDrawBase(false);
    tabs->setExpanding(false);
    tabs->setFont(views::wordsFont(12));
    auto* pages = new QStackedWidget(card);
    QToolButton* copy = views::makeToolButton(QStringLiteral("copy"), tr("Copy these lines"), card);
    QStringList texts;
    for (const auto& [title, lines] : ways) {
        tabs->addTab(title);
        texts.append(QString::fromLatin1(lines));
        auto* page = new QWidget(pages);
        auto* column = new QVBoxLayout(page);
        column->setContentsMargins(0, 0, 0, 0);
        column->addWidget(new CodeBlock(texts.constLast(), page));
        column->addStretch();
        pages->addWidget(page);
    }
    auto* head = new QHBoxLayout;
    head->addWidget(tabs);
    head->addStretch();
    head->addWidget(copy);
    card->body()->addLayout(head);
    card->body()->addWidget(pages);
    connect(tabs, &QTabBar::currentChanged, pages, &QStackedWidget::setCurrentIndex);
    connect(copy, &QToolButton::clicked, this,
        [texts, tabs] { QGuiApplication::clipboard()->setText(texts[tabs->currentIndex()]); });
}

QWidget* WelcomePage::makeOpenCard()
{
    auto* card = new WelcomeCard(QStringLiteral("folder"), tr("Open or import a run"),
        tr("Archived runs open at once, whatever their size, also from a folder that cannot be written."), this);
    card->addFact(QStringLiteral("disk"), tr("one file a run, .telltale"));
    card->addFact(QStringLiteral("grid"), tr("msprobe CSV or SQLite"));
    card->addFact(QStringLiteral("curve"), tr("TensorBoard event files"));
    auto* open = new QPushButton(tr("Open…"), card);
    open->setObjectName(QStringLiteral("openRun"));
    open->setToolTip(tr("Open a run (Ctrl+O)"));
    auto* importButton = new QPushButton(tr("Import…"), card);
    importButton->setObjectName(QStringLiteral("importRun"));
    importButton->setToolTip(tr("Keep a copy of a run here (Ctrl+I)"));
    card->foot()->addWidget(open);
    card->foot()->addWidget(importButton);
    connect(importButton, &QPushButton::clicked, this, &WelcomePage::importWanted);
    card->foot()->addStretch();
    card->foot()->addWidget(m_keys[1] = new KeyChip(QStringLiteral("Ctrl+O"), {}, card));
    connect(open, &QPushButton::clicked, this, &WelcomePage::openWanted);
    return card;
}

void WelcomePage::setListening(const QString& joinString, const QString& problem)
{
    m_join->setJoinString(joinString);
    m_listeningMark->setEnabled(problem.isEmpty());
    m_listeningMark->update();
    m_listening->setProperty("telltaleData", !problem.isEmpty());
    m_listening->setText(
        problem.isEmpty() ? tr("Listening. The run opens by itself when the first rank connects.") : problem);
}

void WelcomePage::setStarting(bool on)
{
    m_heading->setText(on ? tr("The demo is starting") : tr("Nothing is recorded yet"));
    setProse(m_lead,
        on ? tr("Its run opens here by itself with the first step, in a few seconds.")
           : tr("Telltale shows every module, rank and step of a training run while it runs, and names "
                "the first wrong one."));
}

void WelcomePage::setDemoAvailable(bool on)
{
    m_demo->setEnabled(on);
    m_fault->setEnabled(on);
}

void WelcomePage::paintEvent(QPaintEvent*)
{
    QPainter(this).fillRect(rect(), Theme::current().base);
}

}
