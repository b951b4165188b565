// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <telltale/core/expected.h>
#include <telltale/settings/settings.h>

namespace telltale::settings {

struct LoadedSettings {
    Settings settings;
    QString note; ///< one sentence for the user when the document was set aside, else empty
};

/// The document at `path`, defaults when there is none. A damaged document is set aside as PATH.damaged, a newer one is
/// kept as PATH.v<N> before this version writes its own; what can be read of either is used. Thread: any, does I/O.
Expected<LoadedSettings> load(const QString& path);

/// After a power cut there is the old document or the new one; nobody but the owner can read either.
Expected<void> save(const QString& path, const Settings& settings);

}
