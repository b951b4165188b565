// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <telltale/config/field.h>

namespace telltale::views {

class ConfigDraft;

/// What a field's value means, in two or three words: its unit, or what it makes of the run; empty where its name says
/// it, or where nobody knows.
QString fieldHint(const config::Field& field, const config::Json& value, const ConfigDraft& draft);

}
