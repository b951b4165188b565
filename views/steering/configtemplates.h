// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>

#include <QString>

#include <telltale/config/monitorconfig.h>

namespace telltale::views {

/// A config for a usual question: changes a few fields of what runs. Thread: any (a value); name() gui.
struct ConfigTemplate {
    const char* title; ///< English; a user reads name()
    const char* fields; ///< JSON of what it sets

    QString name() const;
    /// Fields of a config, as its document has them, for who goes on collecting what is collected.
    std::string addition() const;
    /// `running` with the fields of the template, and a collection that is on.
    config::MonitorConfig on(const config::MonitorConfig& running) const;
};

std::span<const ConfigTemplate> configTemplates();

}
