// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

#include <telltale/core/expected.h>
#include <telltale/core/samplebatch.h>
#include <telltale/protocol/messages.h>

namespace telltale::protocol {

/// What a Hello, layouts, events and blobs may say. An agent asks where they are made, so that one bad name costs that
/// name; the server asks again where they arrive. Each error is one sentence. Thread: any (pure).
Expected<void> checkHello(const Hello& hello);
Expected<void> checkLayout(const SeriesLayout& layout);
Expected<void> checkEvent(const Event& event);
Expected<void> checkBlob(const Blob& blob);
/// Both say nothing of the config itself: whoever runs it judges that.
Expected<void> checkConfigOffer(const ConfigOffer& offer);
Expected<void> checkConfigStatus(const ConfigStatus& status);
/// Whether a stream that has `known` series may have `added` more.
Expected<void> checkSeriesCount(std::size_t known, std::size_t added);

/// Makes every name of the series a valid one. False when nothing had to change.
bool mendNames(SeriesDesc& series);
/// Makes every name of the event a valid one.
void mendNames(Event& event);
/// The same for all that a Hello says but for the names that a stream is known by: those are its agent's to mend.
void mendNames(Hello& hello);
/// Shortens what the status gives as its reason to what may be sent.
void mendReason(ConfigStatus& status);

}
