// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QCoreApplication;

namespace telltale::translations {

/// Installs the program's and Qt's own translation for `language` ("zh_CN", "en", "system" = the user's locale).
/// The translators belong to `app`; calling again replaces them, and widgets made before keep their texts.
/// Returns false when there is no translation for it, which leaves English. Thread: gui.
bool install(QCoreApplication& app, const QString& language);

}
