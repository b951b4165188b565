// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <utility>
#include <vector>

#include <QPointer>
#include <QSizePolicy>
#include <QWidget>

namespace telltale::views {

/// Hides, as long as it lives, what is only there to be pressed or written into: a picture has nobody to do so. The
/// buttons of a widget but those that show data or what is chosen, and fields that are empty. All else keeps its place.
/// Thread: gui.
class HiddenControls {
public:
    explicit HiddenControls(const QWidget* whole);
    ~HiddenControls();
    HiddenControls(const HiddenControls&) = delete;
    HiddenControls& operator=(const HiddenControls&) = delete;

private:
    std::vector<std::pair<QPointer<QWidget>, QSizePolicy>> m_hidden; ///< and how they share room otherwise
    QPointer<QWidget> m_focus;
};

}
