// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <exception>
#include <type_traits>

namespace telltale {

/// Gives what body() gives; when an exception comes out of it, what onFailure(sentence) gives. What C calls (every
/// function of the C ABI, every thread) goes through here: an exception that passed would end the training.
/// Thread: any.
template <typename Body, typename OnFailure>
std::invoke_result_t<Body> withoutThrowing(Body&& body, OnFailure&& onFailure) noexcept
{
    static_assert(std::is_nothrow_invocable_r_v<std::invoke_result_t<Body>, OnFailure, const char*>);
    try {
        return body();
    } catch (const std::exception& error) {
        return onFailure(error.what());
    } catch (...) {
        return onFailure("an unknown exception");
    }
}

/// The same with 0, a null pointer or nothing on failure.
template <typename Body> std::invoke_result_t<Body> withoutThrowing(Body&& body) noexcept
{
    using Result = std::invoke_result_t<Body>;
    return withoutThrowing(body, [](const char*) noexcept { return Result(); });
}

}
