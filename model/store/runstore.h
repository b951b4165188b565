// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <telltale/core/expected.h>
#include <telltale/store/account.h>
#include <telltale/store/archive.h>
#include <telltale/store/runfacts.h>
#include <telltale/store/runhandle.h>
#include <telltale/store/runreader.h>

namespace telltale::store {

class RunRecorder;
struct RunMeta;
struct SharedReads;

/// A kind of place where runs are kept, and everything that can be done to a run there. The functions of archive.h,
/// account.h, runreader.h and runfacts.h ask the store that has the run; what they say of themselves holds here.
/// Thread: any (without state).
class RunStore {
public:
    virtual ~RunStore() = default;

    virtual Expected<std::unique_ptr<RunReader>> reader(const RunHandle& run, SharedReads& shared) const = 0;
    virtual Expected<std::unique_ptr<RunRecorder>> create(
        const RunLocator& run, const RunMeta& meta, LiveRun& live) const = 0;
    virtual Expected<std::unique_ptr<RunRecorder>> recorder(const RunLocator& run, LiveRun& live) const = 0;
    virtual RunSummary describe(const RunLocator& run) const = 0;
    virtual std::uint64_t bytes(const RunLocator& run) const = 0;
    virtual Expected<RunFacts> facts(const RunLocator& run) const = 0;
    virtual Expected<std::vector<SourceAccount>> accounts(const RunLocator& run, bool isLive) const = 0;
    virtual Expected<VerifyReport> verify(const RunLocator& run, const Progress& progress) const = 0;
    virtual Expected<std::vector<std::string>> lostIn(const RunLocator& run, const RunPart& part) const = 0;
    virtual Expected<void> copy(const RunLocator& run, const std::string& to, const Progress& progress) const = 0;
    virtual Expected<void> rename(const RunLocator& run, const std::string& name) const = 0;
    virtual Expected<void> remove(const RunLocator& run) const = 0;
};

/// The one that has the run.
const RunStore& storeOf(const RunLocator& run);

/// Runs that are files of their own. Its functions stand where their work is done (runmoves.cpp, verify.cpp, ...).
class CapsuleStore final : public RunStore {
public:
    Expected<std::unique_ptr<RunReader>> reader(const RunHandle& run, SharedReads& shared) const override;
    Expected<std::unique_ptr<RunRecorder>> create(
        const RunLocator& run, const RunMeta& meta, LiveRun& live) const override;
    Expected<std::unique_ptr<RunRecorder>> recorder(const RunLocator& run, LiveRun& live) const override;
    RunSummary describe(const RunLocator& run) const override;
    std::uint64_t bytes(const RunLocator& run) const override;
    Expected<RunFacts> facts(const RunLocator& run) const override;
    Expected<std::vector<SourceAccount>> accounts(const RunLocator& run, bool isLive) const override;
    Expected<VerifyReport> verify(const RunLocator& run, const Progress& progress) const override;
    Expected<std::vector<std::string>> lostIn(const RunLocator& run, const RunPart& part) const override;
    Expected<void> copy(const RunLocator& run, const std::string& to, const Progress& progress) const override;
    Expected<void> rename(const RunLocator& run, const std::string& name) const override;
    Expected<void> remove(const RunLocator& run) const override;
};

}
