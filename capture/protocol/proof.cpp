// SPDX-License-Identifier: GPL-3.0-or-later
#include <telltale/protocol/proof.h>

#include <cerrno>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <telltale/protocol/limits.h>

namespace telltale::protocol {
namespace {

/// The nonces have one length, so no two contexts are the same text.
std::string proofOf(std::string_view who, std::string_view token, const ProofContext& context)
{
    std::string text(who);
    for (const std::string* part : { &context.knockNonce, &context.challengeNonce, &context.fingerprint }) {
        text.push_back('\0');
        text += *part;
    }
    std::string out(EVP_MAX_MD_SIZE, '\0');
    unsigned size = 0;
    const auto* done = HMAC(EVP_sha256(), token.data(), static_cast<int>(token.size()),
        reinterpret_cast<const unsigned char*>(text.data()), text.size(), reinterpret_cast<unsigned char*>(out.data()),
        &size);
    // Without a digest nothing is proved: an empty proof is no proof, see isSameProof().
    out.resize(done == nullptr ? 0 : size);
    return out;
}

}

Expected<std::string> makeNonce()
{
    std::string out(limits::kNonceBytes, '\0');
    for (std::size_t have = 0; have < out.size();) {
        const ssize_t n = ::getrandom(out.data() + have, out.size() - have, 0);
        if (n > 0)
            have += static_cast<std::size_t>(n);
        else if (errno != EINTR)
            return failure(ErrorCode::Io, "the system gives no random bytes");
    }
    return out;
}

std::string serverProof(std::string_view token, const ProofContext& context)
{
    return proofOf("telltale server", token, context);
}

std::string agentProof(std::string_view token, const ProofContext& context)
{
    return proofOf("telltale agent", token, context);
}

bool isSameProof(std::string_view a, std::string_view b)
{
    return !a.empty() && a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}
