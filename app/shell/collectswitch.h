// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>
#include <vector>

#include <QWidget>

#include <telltale/core/steering.h>

namespace telltale::views {
class RoleLabel;
class SteeringState;
class SwitchButton;
class ViewState;
}

namespace telltale::shell {

/// `dynamic_on` of the run that is shown, or of all selected runs where they are several: what their ranks say that
/// they do, and one click to have all of them collect or stop. While ranks have not done it, it says which.
class CollectSwitch : public QWidget {
    Q_OBJECT
public:
    explicit CollectSwitch(QWidget* parent = nullptr);

    /// Both outlive it.
    void follow(views::ViewState* state, views::SteeringState* steering);
    /// Ranks say what they do, and none of them collects.
    bool isOff() const { return m_isOff; }
    /// Nobody is left to steer in a run that is over.
    void setLive(bool on);

private:
    void refresh();
    void ask(bool on);
    std::vector<const RunSteering*> runs() const;
    bool collects(const RankSteering& rank);

    views::ViewState* m_state = nullptr;
    views::SteeringState* m_steering = nullptr;
    views::SwitchButton* m_switch;
    views::RoleLabel* m_name;
    views::RoleLabel* m_waiting;
    bool m_isLive = false;
    bool m_isOff = false;
    std::map<std::string, bool> m_collects; ///< of the configs that ranks run: most run the same
};

}
