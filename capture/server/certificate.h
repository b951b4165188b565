// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <telltale/core/expected.h>

namespace telltale::server {

/// A private key and the self-signed certificate over it, as PEM. Agents pin the fingerprint; no authority is asked.
/// Thread: any (a value).
struct Certificate {
    std::string keyPem;
    std::string certificatePem;
    std::string fingerprint; ///< sha256 of the DER, 64 lower-case hex digits

    /// A new P-256 key, a certificate without practical end of validity.
    static Expected<Certificate> make();
    /// Damaged when the two do not parse or do not belong together.
    static Expected<Certificate> fromPem(std::string keyPem, std::string certificatePem);
};

}
