// SPDX-License-Identifier: Apache-2.0
// Hook (L3): whether an exception is on its way through the scope that an object lives in.
#pragma once

#include <spotter/config.hpp>

#if SPOTTER_EXCEPTIONS
#include <exception>
#endif

namespace spotter::inline SPOTTER_ABI {

// Where its owner was made while another exception was on its way (in a destructor at unwinding), that one does not count.
class unwinding {
public:
    void start() noexcept {
#if SPOTTER_EXCEPTIONS
        before_ = std::uncaught_exceptions();
#endif
    }
    [[nodiscard]] bool now() const noexcept {
#if SPOTTER_EXCEPTIONS
        return std::uncaught_exceptions() > before_;
#else
        return false;
#endif
    }

private:
    [[maybe_unused]] int before_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI
