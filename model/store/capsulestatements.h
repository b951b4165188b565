// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <telltale/store/capsulewriter.h>

namespace telltale::store {

/// The statements of a commit, prepared once for the capsule's life. Thread: store.
struct CapsuleWriter::Statements {
    Statement begin, commit, rollback;
    Statement meta, source, sourceState, stream, streamEpoch, streamSeq, sourceSteps, sourceText;
    Statement layout, group, series;
    Statement tail, tailDelete, tailRead, tailTrim;
    Statement event, blob, dropped, droppedMore, callOrder, quarantine;

    static Expected<std::unique_ptr<Statements>> prepare(sqlite3* db);
};

}
