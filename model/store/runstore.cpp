// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/store/runstore.h>

#include <telltale/store/capsulereader.h>
#include <telltale/store/capsulewriter.h>

namespace telltale::store {

const RunStore& storeOf(const RunLocator&)
{
    static const CapsuleStore capsules;
    return capsules;
}

Expected<std::unique_ptr<RunReader>> CapsuleStore::reader(const RunHandle& run, SharedReads& shared) const
{
    return CapsuleReader::open(run, shared);
}

Expected<std::unique_ptr<RunRecorder>> CapsuleStore::create(
    const RunLocator& run, const RunMeta& meta, LiveRun& live) const
{
    return CapsuleWriter::create(run.text(), meta, live);
}

Expected<std::unique_ptr<RunRecorder>> CapsuleStore::recorder(const RunLocator& run, LiveRun& live) const
{
    return CapsuleWriter::open(run.text(), live);
}

Expected<std::unique_ptr<RunReader>> openReader(const RunHandle& run)
{
    SharedReads own;
    return openReader(run, own);
}

Expected<std::unique_ptr<RunReader>> openReader(const RunHandle& run, SharedReads& shared)
{
    return storeOf(run.locator).reader(run, shared);
}

RunSummary describeRun(const RunLocator& run)
{
    return storeOf(run).describe(run);
}

std::uint64_t runBytes(const RunLocator& run)
{
    return storeOf(run).bytes(run);
}

Expected<RunFacts> readRunFacts(const RunLocator& run)
{
    return storeOf(run).facts(run);
}

Expected<std::vector<SourceAccount>> readAccounts(const RunLocator& run, bool isLive)
{
    return storeOf(run).accounts(run, isLive);
}

Expected<VerifyReport> verifyRun(const RunLocator& run, const Progress& progress)
{
    return storeOf(run).verify(run, progress);
}

Expected<std::vector<std::string>> lostIn(const RunLocator& run, const RunPart& part)
{
    return storeOf(run).lostIn(run, part);
}

Expected<void> copyRun(const RunLocator& run, const std::string& to, const Progress& progress)
{
    return storeOf(run).copy(run, to, progress);
}

Expected<void> renameRun(const RunLocator& run, const std::string& name)
{
    return storeOf(run).rename(run, name);
}

Expected<void> deleteRun(const RunLocator& run)
{
    return storeOf(run).remove(run);
}

}
