// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <strings.h>

namespace telltale::agent {

/// What TELLTALE_REMOTE_CONFIG says; null = not set. A word that is not known forbids: whoever set it wanted something
/// else than what is so without it. Thread: any.
inline bool takesRemoteConfig(const char* word)
{
    if (!word || !*word)
        return true;
    for (const char* yes : { "on", "1", "true", "yes" })
        if (::strcasecmp(word, yes) == 0)
            return true;
    return false;
}

}
