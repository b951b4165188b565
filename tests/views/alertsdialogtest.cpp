// SPDX-License-Identifier: GPL-3.0-or-later
// The window's place for alerts: against a real file, the service's own thread and a web server on loopback.
#include "testmain.h"

#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QFile>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTemporaryDir>

#include <telltale/common/theme.h>
#include <telltale/notify/alertservice.h>
#include <telltale/notify/alertsfile.h>
#include <telltale/shell/alertsdialog.h>
#include <telltale/translations/translations.h>

#include "../alerts/localhook.h"

namespace alertsdialogtest {

using namespace telltale;
using namespace telltale::notify;
using alerts::AlertSettings;
using alerts::Shape;
using shell::AlertsDialog;
using telltale::test::LocalHook;
using views::Theme;

namespace {

/// A dialog on a data directory, and its parts by what they say.
struct Opened {
    AlertService service;
    AlertsDialog dialog;

    explicit Opened(const QString& dir)
        : service({ dir.toStdString() })
        , dialog(&service, dir + QStringLiteral("/alerts.json"), nullptr)
    {
        bool isLoaded = false;
        QObject::connect(&service, &AlertService::loaded, &dialog, [&] { isLoaded = true; });
        dialog.show();
        if (!QTest::qWaitFor([&] { return isLoaded; }, 20'000))
            qFatal("the settings never came");
    }
    QCheckBox* box(int at) const { return dialog.findChildren<QCheckBox*>().at(at); }
    QComboBox* combo(int at) const { return dialog.findChildren<QComboBox*>().at(at); }
    QLineEdit* field(int at) const { return dialog.findChildren<QLineEdit*>().at(at); }
    QPushButton* button(const char* text) const { return button(QString::fromLatin1(text)); }
    QPushButton* button(const QString& text) const
    {
        for (auto* one : dialog.findChildren<QPushButton*>()) {
            if (one->text() == text)
                return one;
        }
        return nullptr;
    }
    bool says(const QString& text) const
    {
        for (const auto* label : dialog.findChildren<QLabel*>()) {
            if (label->text().contains(text))
                return true;
        }
        return false;
    }
};

}

class AlertsDialogTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() { m_dir = std::make_unique<QTemporaryDir>(); }

    void aWebhookIsTestedAndSaved()
    {
        LocalHook hook;
        Opened opened(m_dir->path());
        QVERIFY(opened.box(0)->isChecked() && !opened.box(1)->isChecked()); // the desktop's alone
        QVERIFY(!opened.field(0)->isEnabled() && opened.button("Save")->isEnabled());
        opened.box(0)->setChecked(false);
        opened.box(1)->setChecked(true);
        QVERIFY(!opened.button("Save")->isEnabled() && !opened.button("Send a test")->isEnabled());
        opened.combo(0)->setCurrentIndex(1);
        opened.combo(1)->setCurrentIndex(1);
        QVERIFY(opened.field(0)->isEnabled() && !opened.field(1)->isEnabled());
        opened.field(0)->setText(QString::fromStdString(hook.url()));
        QVERIFY(!opened.field(0)->displayText().contains(QLatin1String("SECRET")));
        opened.button("Send a test")->click();
        QVERIFY(!opened.button("Send a test")->isEnabled());
        QTRY_VERIFY(opened.says(QStringLiteral("it answered 200")));
        QVERIFY(opened.button("Save")->isDefault());
        QVERIFY(!opened.box(2)->isChecked());
        opened.box(2)->setChecked(true);
        QCOMPARE(hook.posts.size(), std::size_t { 1 });
        QVERIFY(hook.posts[0].body.startsWith("{\"text\":\"Telltale: a test"));
        QVERIFY(!opened.says(QStringLiteral("SECRET")));
        QVERIFY2(!QFile::exists(m_dir->filePath(QStringLiteral("alerts.json"))), "a test saves nothing");
        hook.answer = [](int) { return LocalHook::reply("404 No"); };
        opened.button("Send a test")->click();
        QTRY_VERIFY(opened.says(QStringLiteral("Not told: webhook slack")));
        opened.button("Save")->click();
        QTRY_VERIFY(!opened.dialog.isVisible());
        const auto saved = loadAlerts(m_dir->path().toStdString());
        QVERIFY(saved && !saved->isDesktopOn && saved->isConsoleOn && saved->least == store::Severity::Critical);
        QCOMPARE(saved->webhooks.size(), std::size_t { 1 });
        QCOMPARE(saved->webhooks[0].url, hook.url());
        QVERIFY(saved->webhooks[0].shape == Shape::Slack);
        const auto rights = QFile::permissions(m_dir->filePath(QStringLiteral("alerts.json")));
        QVERIFY(!(rights & (QFileDevice::ReadGroup | QFileDevice::ReadOther)));
    }

    void whatTheDialogDoesNotKnowStays()
    {
        AlertSettings settings;
        settings.webhooks
            = { { "a", true, "https://h/a", Shape::DingTalk, "SEC", 3, 4 }, { "b", true, "https://h/b" } };
        settings.commands = { { "c", true, { "/bin/true" } } };
        QVERIFY(saveAlerts(m_dir->path().toStdString(), settings));
        Opened opened(m_dir->path());
        QVERIFY(opened.says(QStringLiteral("2 more receiver")));
        QCOMPARE(opened.field(1)->text(), QStringLiteral("SEC"));
        opened.box(1)->setChecked(false);
        opened.button("Save")->click();
        QTRY_VERIFY(!opened.dialog.isVisible());
        settings.webhooks[0].isOn = false;
        settings.webhooks[0].secret = loadAlerts(m_dir->path().toStdString())->webhooks[0].secret;
        QVERIFY(*loadAlerts(m_dir->path().toStdString()) == settings);
        QCOMPARE(settings.webhooks[0].secret, std::string("SEC"));
    }

    void aFileThatIsWrongIsSaidAndKept()
    {
        QFile file(m_dir->filePath(QStringLiteral("alerts.json")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("{\"severity\": \"loud\"}");
        file.close();
        Opened opened(m_dir->path());
        QVERIFY(opened.says(QStringLiteral("\"severity\" must be warning or critical")));
        QVERIFY(!opened.button("Save")->isEnabled());
    }

    void answersAndProblemsAreInTheLanguageOfTheWindow()
    {
        QVERIFY(translations::install(*qApp, QStringLiteral("zh_CN")));
        LocalHook hook;
        hook.answer = [](int) { return LocalHook::reply("403 No", {}, "no_service"); };
        AlertSettings settings;
        settings.isDesktopOn = false;
        settings.webhooks = { { "team", true, hook.url(), Shape::Slack } };
        QVERIFY(saveAlerts(m_dir->path().toStdString(), settings));
        {
            Opened opened(m_dir->path());
            opened.button(AlertsDialog::tr("Send a test"))->click();
            QTRY_VERIFY(opened.says(QStringLiteral("对方回应 403：no_service")));
            QVERIFY(!opened.says(QStringLiteral("webhook team")));
        }
        QFile file(m_dir->filePath(QStringLiteral("alerts.json")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("{\"severity\": \"loud\"}");
        file.close();
        {
            Opened opened(m_dir->path());
            QVERIFY(opened.says(QStringLiteral("“severity”必须是 warning 或 critical")));
        }
        QVERIFY(translations::install(*qApp, QStringLiteral("en")));
    }

    void nothingIsCutInAnyLanguageOrTheme_data()
    {
        QTest::addColumn<QString>("language");
        QTest::addColumn<bool>("isDark");
        for (const char* language : { "en", "zh_CN" }) {
            for (const bool isDark : { true, false })
                QTest::addRow("%s %s", language, isDark ? "dark" : "light") << QString::fromLatin1(language) << isDark;
        }
    }
    void nothingIsCutInAnyLanguageOrTheme()
    {
        QFETCH(QString, language);
        QFETCH(bool, isDark);
        QVERIFY(translations::install(*qApp, language));
        Theme::apply(*qApp, isDark ? Theme::Mode::Dark : Theme::Mode::Light);
        AlertSettings settings;
        settings.webhooks = { { "a", true, "https://h/a", Shape::DingTalk }, { "b", true, "https://h/b" } };
        QVERIFY(saveAlerts(m_dir->path().toStdString(), settings));
        {
            Opened opened(m_dir->path());
            for (auto* widget : opened.dialog.findChildren<QWidget*>()) {
                const auto* label = qobject_cast<QLabel*>(widget);
                const auto* button = qobject_cast<QAbstractButton*>(widget);
                if (!widget->isVisible() || (!label && !button))
                    continue;
                const QString text = label ? label->text() : button->text();
                QVERIFY2(widget->width() >= widget->minimumSizeHint().width(), qPrintable(text));
                const int wanted = label && label->wordWrap() ? label->heightForWidth(label->width())
                                                              : widget->minimumSizeHint().height();
                QVERIFY2(widget->height() >= wanted, qPrintable(text));
                const bool isChinese
                    = std::any_of(text.begin(), text.end(), [](QChar c) { return c.unicode() > 0x2E80; });
                const bool isOurs = !text.isEmpty() && !text.startsWith(m_dir->path());
                QVERIFY2(!isOurs || isChinese == (language == QLatin1String("zh_CN")), qPrintable(text));
            }
        }
        QVERIFY(translations::install(*qApp, QStringLiteral("en")));
    }

private:
    std::unique_ptr<QTemporaryDir> m_dir;
};

TELLTALE_TEST(QTEST_MAIN, AlertsDialogTest)

}

#include "alertsdialogtest.moc"
