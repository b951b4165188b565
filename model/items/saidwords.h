// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QString>

#include <telltale/core/expected.h>

namespace telltale::items {

/// What agents, the store, the server and filters say in English, in the language of the window. A sentence is known by
/// its form; one of a form that is not known here stays as it was said. Thread: any (constant).
namespace saidwords {

const std::vector<const char*>& forms(); ///< that are known, in English, with %1 where something else stands
QString inLanguage(const QString& english);
QString of(const Error& error);

}

}
