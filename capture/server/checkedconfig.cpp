// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/server/checkedconfig.h>

#include <telltale/config/revision.h>
#include <telltale/config/soundconfig.h>
#include <telltale/protocol/datarules.h>

namespace telltale::server {

Expected<CheckedConfig> checkedConfig(std::string_view text)
{
    auto sound = config::soundConfig(text);
    if (!sound)
        return tl::unexpected<Error>(std::move(sound.error()));
    CheckedConfig checked { std::move(*sound), {}, {} };
    checked.json = config::canonicalConfigText(checked.config);
    checked.hash = config::configHash(checked.config);
    if (auto ok = protocol::checkConfigOffer({ 1, checked.json, checked.hash, 0 }); !ok)
        return tl::unexpected<Error>(std::move(ok.error()));
    return checked;
}

}
