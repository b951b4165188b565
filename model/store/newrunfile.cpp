// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/newrunfile.h>

#include <filesystem>
#include <utility>

#include <telltale/core/privatefiles.h>
#include <telltale/store/capsulewriter.h>
#include <telltale/store/clock.h>
#include <telltale/store/runfiles.h>
#include <telltale/store/sqlite.h>

namespace telltale::store {

RunState endedState(RunState state)
{
    const bool isEnd = state == RunState::Finished || state == RunState::Failed || state == RunState::Lost;
    return isEnd ? state : RunState::Interrupted;
}

NewRunFile::NewRunFile(std::string path)
    : m_path(std::move(path))
    , m_draft(m_path + std::string(kDraftSuffix))
{
}

NewRunFile::NewRunFile(NewRunFile&& other) noexcept
    : m_path(std::move(other.m_path))
    , m_draft(std::exchange(other.m_draft, {}))
{
}

NewRunFile::~NewRunFile()
{
    std::error_code error;
    for (const char* side : { "", "-wal", "-shm", "-journal" }) {
        if (!m_draft.empty())
            std::filesystem::remove(m_draft + side, error);
    }
}

Expected<NewRunFile> NewRunFile::begin(const std::string& path)
{
    std::error_code error;
    if (std::filesystem::exists(path, error))
        return failure(ErrorCode::BadInput, "there is something of that name already: " + path, "choose another name");
    NewRunFile file(path);
    std::filesystem::remove(file.m_draft, error); // of a process that died
    if (auto ok = makePrivateFile(file.m_draft); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    return file;
}

Expected<void> NewRunFile::record(const Event* event, RunState state, std::int64_t modifiedNs) const
{
    LiveRun live;
    auto writer = CapsuleWriter::open(m_draft, live);
    if (!writer)
        return tl::unexpected<Error>(std::move(writer.error()));
    if (event != nullptr) {
        OwnRecord own;
        own.event = *event;
        (*writer)->stageRecord(std::move(own));
    }
    auto ok = (*writer)->commit();
    if (ok)
        ok = (*writer)->finish(state);
    if (!ok)
        return ok;
    (*writer)->tidyUp();
    writer->reset();
    // The run ended when it did, not now.
    auto db = openDatabase(m_draft, OpenMode::Write);
    if (!db)
        return tl::unexpected<Error>(std::move(db.error()));
    return execute(
        db->get(), ("UPDATE meta SET value = '" + std::to_string(modifiedNs) + "' WHERE key = 'modified_ns'").c_str());
}

Expected<void> NewRunFile::seal(RunState state, std::int64_t modifiedNs) const
{
    return record(nullptr, state, modifiedNs);
}

Expected<void> NewRunFile::finish(Event event, RunState state, std::int64_t modifiedNs)
{
    event.wallNs = wallClockNs();
    auto ok = record(&event, state, modifiedNs);
    if (ok)
        ok = makeDurable(m_draft);
    if (!ok)
        return ok;
    if (::rename(m_draft.c_str(), m_path.c_str()) != 0)
        return fileError("name", m_path);
    m_draft.clear();
    static_cast<void>(makeDurable(std::filesystem::absolute(m_path).parent_path().string()));
    return {};
}

}
