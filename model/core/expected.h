// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace telltale {

enum class ErrorCode {
    BadInput, ///< the caller's data breaks a rule; retrying does not help
    NotFound,
    Denied, ///< permissions, authentication
    Busy, ///< somebody else holds it (lock, port)
    Damaged, ///< checksum or structure broken
    Newer, ///< written by a newer version
    NoSpace,
    Io,
    TooLarge,
    Canceled,
    Unsupported,
};

/// An error outside our control, handled exactly once. `what` is one sentence without a final period that names the
/// object and the reason; `todo` says what the user can do about it (may be empty).
struct Error {
    ErrorCode code = ErrorCode::BadInput;
    std::string what;
    std::string todo;

    /// "what; todo", the form that command line errors and toasts use.
    std::string sentence() const { return todo.empty() ? what : what + "; " + todo; }
};

template <typename T> using Expected = tl::expected<T, Error>;

inline tl::unexpected<Error> failure(ErrorCode code, std::string what, std::string todo = {})
{
    return tl::unexpected<Error>(Error { code, std::move(what), std::move(todo) });
}

}
