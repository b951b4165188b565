// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <telltale/core/samplebatch.h>
#include <telltale/core/threadhome.h>

namespace telltale::protocol {

/// Builds one batch payload: layouts it uses, step blocks (columns byte-shuffled, xor against the previous step of the
/// same layout inside this payload, zstd), blobs, events, drops. Every payload decodes alone given the layouts of its
/// stream. Thread: owned by one. Reusable: finish() leaves it empty with its buffers kept.
class PayloadBuilder {
public:
    PayloadBuilder();
    ~PayloadBuilder();
    PayloadBuilder(PayloadBuilder&&) noexcept;
    PayloadBuilder& operator=(PayloadBuilder&&) noexcept;

    void addLayout(const SeriesLayout& layout);
    void addBlock(const StepBlock& block);
    void addBlob(const Blob& blob);
    void addEvent(const Event& event);
    void addDrop(const Drop& drop);
    /// False: later batches continue the last step.
    void setStepComplete(bool complete);

    bool isEmpty() const;
    /// Upper estimate of the encoded size so far (before compression) and of the decoded size, for the caller's
    /// splitting.
    std::size_t decodedBytes() const;
    /// Number of samples and scalars in the blocks so far.
    std::uint64_t samples() const;
    std::uint64_t scalars() const;

    std::string finish();

private:
    struct State;
    std::unique_ptr<State> m_state;
    ThreadHome m_home;
};

}
