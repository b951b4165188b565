// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/ingest/followedbefore.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include <telltale/exchange/foreignreader.h>
#include <telltale/ingest/foreignparts.h>
#include <telltale/protocol/utf8.h>
#include <telltale/store/account.h>
#include <telltale/store/runreader.h>

namespace telltale::ingest {

Expected<FollowedBefore> FollowedBefore::read(const std::string& capsule)
{
    const std::array<std::filesystem::path, 1> paths { capsule };
    auto run = exchange::readForeign(paths);
    if (!run)
        return tl::unexpected<Error>(std::move(run.error()));
    FollowedBefore before;
    before.m_run = std::move(*run);
    store::RunHandle handle;
    handle.locator = store::RunLocator::ofFile(capsule);
    const auto reader = store::openReader(handle);
    const auto catalog = reader ? (*reader)->catalog() : tl::unexpected<Error>(reader.error());
    const auto accounts = store::readAccounts(handle.locator, true);
    if (!catalog || !accounts)
        return tl::unexpected<Error>(catalog ? accounts.error() : catalog.error());
    for (const store::SourceInfo& source : (*catalog)->sources) {
        Stored& stored = before.m_stored[source.agentId];
        stored.rank = source.rank;
        stored.attempt = source.attempt;
        const auto& groups = (*catalog)->groups;
        stored.layouts = static_cast<std::size_t>(std::count_if(
            groups.begin(), groups.end(), [&](const store::GroupInfo& group) { return group.source == source.id; }));
        for (const store::SourceAccount& account : *accounts) {
            if (account.source == source.id)
                stored.produced = { account.samples.stored + account.samples.dropped,
                    account.scalars.stored + account.scalars.dropped, false };
        }
    }
    return before;
}

const FollowedBefore::Stored* FollowedBefore::find(Rank rank, int attempt) const
{
    const auto found = m_stored.find(importAgent(rank, attempt));
    return found == m_stored.end() ? nullptr : &found->second;
}

const exchange::ForeignProcess* FollowedBefore::processOf(const Stored* stored) const
{
    if (stored == nullptr)
        return nullptr;
    const auto found = m_run.processes().find({ stored->attempt, stored->rank });
    return found == m_run.processes().end() ? nullptr : &found->second;
}

Produced FollowedBefore::producedBy(Rank rank, int attempt) const
{
    const Stored* stored = find(rank, attempt);
    return stored == nullptr ? Produced() : stored->produced;
}

void FollowedBefore::prepare(exchange::FollowBlocks& blocks, Rank rank, int attempt) const
{
    const Stored* stored = find(rank, attempt);
    if (const exchange::ForeignProcess* process = processOf(stored))
        blocks.goOnAfter(*process, stored->layouts);
}

void FollowedBefore::leaveStored(exchange::ForeignProcess& process, int attempt) const
{
    const exchange::ForeignProcess* stored = processOf(find(process.rank(), attempt));
    if (stored == nullptr)
        return;
    std::erase_if(process.documents, [&](const exchange::ForeignDocument& document) {
        return std::any_of(
            stored->documents.begin(), stored->documents.end(), [&](const exchange::ForeignDocument& one) {
                return one.kind == document.kind && one.name == protocol::toName(document.name)
                    && one.step == document.step && one.bytes == document.bytes;
            });
    });
}

}
