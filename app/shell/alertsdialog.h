// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QDialog>

#include <telltale/alerts/alertsettings.h>
#include <telltale/notify/testround.h>

class QCheckBox;
class QComboBox;
class QLineEdit;
class QPushButton;

namespace telltale::notify {
class AlertService;
}
namespace telltale::views {
class RoleLabel;
}

namespace telltale::shell {

/// Who is told of incidents: the desktop, the training's console, and the first webhook of alerts.json. What else
/// stands there is kept, and said. Reading, writing and testing are the service's. Thread: gui.
class AlertsDialog : public QDialog {
    Q_OBJECT
public:
    AlertsDialog(notify::AlertService* service, const QString& file, QWidget* parent);

private:
    void makeWidgets(const QString& file);
    void take(const alerts::AlertSettings& settings, const QString& problem);
    void takeAnswers(const std::vector<notify::TestAnswer>& answers);
    alerts::AlertSettings edited() const;
    void refresh();
    void fit();
    void say(const QString& sentence, bool isBad);

    notify::AlertService* m_service;
    alerts::AlertSettings m_settings; ///< as the file has them
    bool m_isLoaded = false;
    bool m_isBusy = false; ///< a test or a save is under way
    QComboBox* m_least;
    QCheckBox* m_desktop;
    QCheckBox* m_hook;
    QCheckBox* m_console;
    QComboBox* m_shape;
    QLineEdit* m_url;
    QLineEdit* m_secret;
    views::RoleLabel* m_more;
    views::RoleLabel* m_said;
    QPushButton* m_test;
    QPushButton* m_save;
};

}
