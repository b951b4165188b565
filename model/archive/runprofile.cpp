// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/archive/runprofile.h>

#include <telltale/analysis/rundocument.h>
#include <telltale/judge/incident.h>
#include <telltale/store/stepnote.h>

namespace telltale::archive {
namespace {

Expected<void> readStepNotes(store::RunReader& reader, RunProfile& profile)
{
    store::LogCursor cursor;
    for (;;) {
        const auto page = reader.log(cursor, { std::string(store::kNoteRecord), {}, {} });
        if (!page)
            return tl::unexpected(page.error());
        for (const store::LogRecord& record : page->records) {
            if (const auto note = store::StepNote::of(record); note && !note->isRemoved)
                profile.notes.push_back(note->text);
        }
        if (page->isLast)
            return {};
        cursor = page->next;
    }
}

Expected<void> countIncidents(store::RunReader& reader, RunProfile& profile)
{
    judge::IncidentBook book;
    if (const auto ok = book.update(reader); !ok)
        return tl::unexpected(ok.error());
    for (const judge::Incident* incident : book.inOrder()) {
        if (incident->label != judge::Incident::Label::False)
            ++profile.incidents[static_cast<std::size_t>(incident->first.severity)];
    }
    return {};
}

}

std::size_t RunProfile::incidentsFrom(store::Severity least) const
{
    std::size_t count = 0;
    for (auto severity = static_cast<std::size_t>(least); severity < incidents.size(); ++severity)
        count += incidents[severity];
    return count;
}

Expected<RunProfile> readProfile(const store::RunLocator& run)
{
    const auto reader = store::openReader({ run, {}, {}, nullptr });
    if (!reader)
        return tl::unexpected(reader.error());
    auto document = analysis::readRunDocument(**reader);
    if (!document)
        return tl::unexpected(document.error());
    RunProfile profile;
    profile.tags = std::move(document->tags);
    if (!document->notes.empty())
        profile.notes.push_back(std::move(document->notes));
    for (const analysis::Json* object : { &document->hyperparameters, &document->config }) {
        for (analysis::Fact& fact : analysis::factsOf(*object))
            profile.settings.emplace_back(std::move(fact.name), std::move(fact.value));
    }
    auto ok = readStepNotes(**reader, profile);
    if (ok)
        ok = countIncidents(**reader, profile);
    if (!ok)
        return tl::unexpected(ok.error());
    return profile;
}

}
