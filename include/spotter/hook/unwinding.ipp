// SPDX-License-Identifier: Apache-2.0
// The bodies of unwinding.hpp.
#pragma once

#include <spotter/config.hpp>
#include <spotter/hook/unwinding.hpp>

#include <exception>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void unwinding::start() noexcept {
#if SPOTTER_EXCEPTIONS
    before_ = std::uncaught_exceptions();
#endif
}

SPOTTER_BODY bool unwinding::now() const noexcept {
#if SPOTTER_EXCEPTIONS
    return std::uncaught_exceptions() > before_;
#else
    return false;
#endif
}

}  // namespace spotter::inline SPOTTER_ABI
