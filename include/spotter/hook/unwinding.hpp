// SPDX-License-Identifier: Apache-2.0
// Hook (L3): detects whether an exception is leaving the scope of an object.
#pragma once

#if SPOTTER_EXCEPTIONS
#endif

namespace spotter::inline SPOTTER_ABI {

// An exception that was already in flight when the owner was created (in a destructor during unwinding) does not count.
class unwinding {
public:
    void start() noexcept;                    // call it where the owner is created
    [[nodiscard]] bool now() const noexcept;  // a later exception is in flight in this thread

private:
    [[maybe_unused]] int before_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/config.hpp>

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

#endif
