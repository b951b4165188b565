// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <utility>

#include <QString>

#include <telltale/core/slot.h>

/// Names of tensors as people read them. Filters, copies, CSV and the command line keep the run's own. Thread: any.
namespace telltale::items {

/// "all_reduce train.py:55 main" of the call site of a collective, "all_reduce (train.py[55] main)", and the whole
/// model in the window's language; others as they are.
QString shownName(const QString& name);
/// "before" and "after" of the first argument of a collective, "pre_0" and "post_0", "head 3" of "head_3";
/// others as they are.
QString shownSlot(const Slot& slot);
/// Both, the slot where there is one.
QString shownTensor(const QString& name, const Slot& slot, QChar between = u' ');
/// "/a/train.py[55]   main" as "/a/train.py:55" and "main".
std::pair<QString, QString> codePlace(const QString& line);

}
