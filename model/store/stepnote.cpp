// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/stepnote.h>

namespace telltale::store {

namespace {

// A change that says nothing leaves what was: a note that comes back has to say so.
constexpr std::string_view kWritten = "written";
constexpr std::string_view kRemoved = "removed";

}

std::optional<StepNote> StepNote::of(const LogRecord& record)
{
    if (record.kind != kNoteRecord || record.rank.value >= 0 || record.ref != 0 || record.steps.isEmpty())
        return {};
    return StepNote { record.id, record.steps, record.text, record.author, record.wallNs, record.phase == kRemoved };
}

Expected<void> StepNote::check() const
{
    if (steps.isEmpty())
        return failure(ErrorCode::BadInput, "the note stands at no step");
    if (!isRemoved && text.find_first_not_of(" \t\r\n") == std::string::npos)
        return failure(ErrorCode::BadInput, "the note has no text", "write it behind the run, in quotes");
    if (text.size() > kMostBytes)
        return failure(ErrorCode::BadInput,
            "a note has " + std::to_string(kMostBytes) + " bytes at most, this one " + std::to_string(text.size()));
    return {};
}

Event StepNote::event() const
{
    Event event;
    event.kind = kNoteRecord;
    event.step = steps.first;
    event.wallNs = wallNs;
    event.text = text;
    event.ref = static_cast<std::uint64_t>(id);
    event.phase = isRemoved ? kRemoved : kWritten;
    if (steps.count() > 1)
        event.lastStep = steps.last;
    event.author = author;
    return event;
}

}
