// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <telltale/core/kinds.h>

#include "telltale.pb.h"

/// Kind and Stat have the same numbers on the wire and in memory; a test compares their words. For .cpp files of this
/// folder only.
namespace telltale::protocol::wire {

using namespace telltale::capture::v1;

static_assert(Kind_ARRAYSIZE == kKindCount);
static_assert(Stat_ARRAYSIZE == kStoredStatCount);

/// One more element of a repeated field. A field's own add() counts the element before it asks for its memory: where
/// that is refused, the field would free what it never had, and end the training process.
template <typename T> T& append(google::protobuf::RepeatedPtrField<T>& field)
{
    if (field.ClearedCount() > 0)
        return *field.Add(); // reuses one
    auto element = std::make_unique<T>();
    field.Reserve(field.size() + 1);
    field.AddAllocated(element.get());
    return *element.release();
}

}
