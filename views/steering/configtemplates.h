// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>

#include <QString>

#include <telltale/config/monitorconfig.h>

namespace telltale::views {

/// A config for a usual question: changes a few fields of what runs. Thread: any (a value); name() and brief() gui.
struct ConfigTemplate {
    const char* title; ///< English; a user reads name()
    const char* subject; ///< what is collected, likewise; a user reads brief()
    const char* fields; ///< JSON of what it sets

    QString name() const;
    QString brief() const; ///< where who reads it knows why
    /// Fields of a config, as its document has them, for who goes on collecting what is collected.
    std::string addition() const;
    /// `running` with the fields of the template, and a collection that is on.
    config::MonitorConfig on(const config::MonitorConfig& running) const;
};

std::span<const ConfigTemplate> configTemplates();

}
