// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <telltale/spool/spoolrecord.h>

using namespace telltale::agent;

namespace {

void require(bool holds)
{
    if (!holds)
        std::abort();
}

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view segment(reinterpret_cast<const char*>(data), size);
    const spoolrecord::Scan scan = spoolrecord::scan(segment);
    require(!scan.isNewer || scan.records.empty());
    require(!scan.isDamaged || scan.firstDamage <= size);
    std::size_t end = 0;
    for (const spoolrecord::View& view : scan.records) {
        // In the order of the file, inside it, and none twice.
        require(view.payloadOffset >= end && view.payloadOffset <= size);
        require(view.payload == segment.substr(view.payloadOffset, view.payload.size()));
        require(view.payload.size() <= spoolrecord::kMaxPayload);
        require(view.facts.samples <= spoolrecord::kMaxSamples || view.kind != spoolrecord::Kind::Batch);
        end = view.payloadOffset + view.payload.size();
    }
    return 0;
}
