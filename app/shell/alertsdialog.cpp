// SPDX-License-Identifier: GPL-3.0-or-later
#include "alertsdialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include <telltale/common/theme.h>
#include <telltale/items/guithread.h>
#include <telltale/items/tooltiptext.h>
#include <telltale/notify/alertservice.h>
#include <telltale/notify/alertwords.h>
#include <telltale/runs/rolelabel.h>

namespace telltale::shell {

using alerts::AlertSettings;
using alerts::Shape;
using alerts::Webhook;
using views::RoleLabel;
using views::Theme;

namespace {

constexpr int kAlertsWidth = 560;
constexpr int kControlHeight = 28;

}

AlertsDialog::AlertsDialog(notify::AlertService* service, const QString& file, QWidget* parent)
    : QDialog(parent)
    , m_service(service)
{
    items::assertGuiThread();
    setObjectName(QStringLiteral("alertsDialog"));
    setWindowTitle(tr("Alerts"));
    makeWidgets(file);
    connect(service, &notify::AlertService::loaded, this, &AlertsDialog::take);
    connect(service, &notify::AlertService::tested, this, &AlertsDialog::takeAnswers);
    connect(service, &notify::AlertService::saved, this, [this](const QString& problem) {
        m_isBusy = false;
        if (problem.isEmpty())
            return accept();
        say(notify::alertwords::problem(problem), true);
        refresh();
    });
    for (QCheckBox* box : { m_desktop, m_hook })
        connect(box, &QCheckBox::toggled, this, &AlertsDialog::refresh);
    connect(m_shape, &QComboBox::currentIndexChanged, this, &AlertsDialog::refresh);
    connect(m_url, &QLineEdit::textChanged, this, &AlertsDialog::refresh);
    connect(m_test, &QPushButton::clicked, this, [this] {
        m_isBusy = true;
        say(tr("Sending…"), false);
        m_service->test(edited());
        refresh();
    });
    connect(m_save, &QPushButton::clicked, this, [this] {
        m_isBusy = true;
        m_service->save(edited());
        refresh();
    });
    refresh();
    service->load();
}

void AlertsDialog::makeWidgets(const QString& file)
{
    const auto label = [this](const QString& text) {
        auto* made = new RoleLabel(text, &Theme::text2, views::wordsFont(12), this);
        made->setWordWrap(true);
        return made;
    };
    m_least = new QComboBox(this);
    m_least->addItems({ tr("Warnings and critical incidents"), tr("Critical incidents only") });
    m_desktop = new QCheckBox(tr("Show a notification where this window does not show the run"), this);
    m_hook = new QCheckBox(tr("Post to a webhook"), this);
    m_console = new QCheckBox(tr("Write a line into the training's own output"), this);
    m_shape = new QComboBox(this);
    m_shape->addItems({ tr("JSON with the whole incident"), QStringLiteral("Slack"), tr("Feishu"), tr("DingTalk") });
    m_url = new QLineEdit(this);
    m_secret = new QLineEdit(this);
    for (QLineEdit* field : { m_url, m_secret }) {
        field->setEchoMode(QLineEdit::PasswordEchoOnEdit); // who has read it can write there
        field->setTextMargins(5, 0, 5, 0);
    }
    for (QWidget* control : std::initializer_list<QWidget*> { m_least, m_shape, m_url, m_secret })
        control->setMinimumHeight(kControlHeight);
    m_more = label({});
    m_said = label({});
    m_test = new QPushButton(tr("Send a test"), this);
    m_save = new QPushButton(tr("Save"), this);
    m_save->setDefault(true);
    auto* cancel = new QPushButton(tr("Cancel"), this);
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    for (QPushButton* button : { m_test, m_save, cancel }) {
        button->setMinimumHeight(kControlHeight);
        button->setAutoDefault(button == m_save); // a button that is off for a moment hands its focus on
    }

    auto* rows = new QVBoxLayout(this);
    rows->setContentsMargins(20, 20, 20, 20);
    rows->setSpacing(12);
    rows->setSizeConstraint(QLayout::SetNoConstraint); // the offscreen platform warns about size hints of a window
    const auto form = [this, rows](std::initializer_list<std::pair<QString, QWidget*>> fields, int indent) {
        auto* grid = new QFormLayout;
        grid->setContentsMargins(indent, 0, 0, 0);
        grid->setHorizontalSpacing(16);
        grid->setVerticalSpacing(8);
        grid->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
        for (const auto& [title, field] : fields) {
            auto* name = new RoleLabel(title, &Theme::text2, views::wordsFont(12), this);
            name->setMinimumHeight(kControlHeight);
            name->setBuddy(field);
            field->setAccessibleName(title);
            grid->addRow(name, field);
        }
        rows->addLayout(grid);
    };
    form({ { tr("Tell of"), m_least } }, 0);
    rows->addWidget(m_desktop);
    rows->addWidget(m_console);
    rows->addWidget(m_hook);
    form({ { tr("Service"), m_shape }, { tr("Address"), m_url }, { tr("Signing secret"), m_secret } }, 24);
    rows->addWidget(m_more);
    rows->addWidget(m_said);
    rows->addStretch();
    auto* path = label(file);
    path->asData()->setTextInteractionFlags(Qt::TextSelectableByMouse);
    rows->addWidget(path);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(m_test);
    buttons->addStretch();
    buttons->addWidget(cancel);
    buttons->addWidget(m_save);
    rows->addLayout(buttons);
    resize(kAlertsWidth, 0);
    fit();
}

void AlertsDialog::take(const AlertSettings& settings, const QString& problem)
{
    m_settings = settings;
    // Saving would lose what somebody has written there.
    m_isLoaded = problem.isEmpty();
    if (!problem.isEmpty())
        say(notify::alertwords::problem(problem), true);
    m_least->setCurrentIndex(settings.least == store::Severity::Critical ? 1 : 0);
    m_desktop->setChecked(settings.isDesktopOn);
    m_console->setChecked(settings.isConsoleOn);
    const Webhook hook = settings.webhooks.empty() ? Webhook { {}, false } : settings.webhooks.front();
    m_hook->setChecked(hook.isOn);
    m_shape->setCurrentIndex(static_cast<int>(hook.shape));
    m_url->setText(QString::fromStdString(hook.url));
    m_secret->setText(QString::fromStdString(hook.secret));
    const std::size_t others
        = (settings.webhooks.empty() ? 0 : settings.webhooks.size() - 1) + settings.commands.size();
    m_more->setText(others == 0
            ? QString()
            : tr("The file names %n more receiver(s), which stay.", nullptr, static_cast<int>(others)));
    fit();
    refresh();
}

AlertSettings AlertsDialog::edited() const
{
    AlertSettings settings = m_settings;
    settings.least = m_least->currentIndex() == 1 ? store::Severity::Critical : store::Severity::Warning;
    settings.isDesktopOn = m_desktop->isChecked();
    settings.isConsoleOn = m_console->isChecked();
    if (settings.webhooks.empty() && !m_hook->isChecked() && m_url->text().isEmpty())
        return settings;
    if (settings.webhooks.empty())
        settings.webhooks.emplace_back();
    Webhook& hook = settings.webhooks.front();
    hook.isOn = m_hook->isChecked();
    hook.shape = static_cast<Shape>(m_shape->currentIndex());
    hook.url = m_url->text().trimmed().toStdString();
    const bool isSigned = hook.shape == Shape::Feishu || hook.shape == Shape::DingTalk;
    hook.secret = isSigned ? m_secret->text().trimmed().toStdString() : std::string();
    if (hook.name.empty())
        hook.name = alerts::shapeWord(hook.shape);
    return settings;
}

void AlertsDialog::refresh()
{
    const bool isHook = m_hook->isChecked();
    const auto shape = static_cast<Shape>(m_shape->currentIndex());
    for (QWidget* control : std::initializer_list<QWidget*> { m_shape, m_url })
        control->setEnabled(isHook);
    m_secret->setEnabled(isHook && (shape == Shape::Feishu || shape == Shape::DingTalk));
    const bool isGood = !isHook || alerts::problemOfUrl(m_url->text().trimmed().toStdString()).empty();
    m_url->setPlaceholderText(QStringLiteral("https://"));
    m_test->setEnabled(m_isLoaded && !m_isBusy && isGood);
    m_save->setEnabled(m_isLoaded && !m_isBusy && isGood);
    m_save->setToolTip(isGood ? QString() : tr("The address must begin with https:// or http://"));
}

void AlertsDialog::takeAnswers(const std::vector<notify::TestAnswer>& answers)
{
    m_isBusy = false;
    QStringList lines;
    bool isBad = false;
    for (const notify::TestAnswer& answer : answers) {
        isBad = isBad || !answer.isDelivered;
        lines << (answer.isDelivered ? tr("Told: %1: %2") : tr("Not told: %1: %2"))
                     .arg(items::lineText(notify::alertwords::receiver(answer.receiver)),
                         items::lineText(notify::alertwords::answer(answer.sentence)));
    }
    say(lines.isEmpty() ? tr("Nobody would be told.") : lines.join(u'\n'), isBad);
    refresh();
}

void AlertsDialog::say(const QString& sentence, bool isBad)
{
    m_said->setColor(isBad ? &Theme::criticalText : &Theme::text);
    m_said->setText(sentence);
    fit();
}

/// Grows to what is said now.
void AlertsDialog::fit()
{
    m_more->setVisible(!m_more->text().isEmpty());
    m_said->setVisible(!m_said->text().isEmpty());
    layout()->activate();
    if (const int wanted = layout()->heightForWidth(width()); wanted > height())
        resize(width(), wanted);
}

}
