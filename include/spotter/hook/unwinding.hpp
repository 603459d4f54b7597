// SPDX-License-Identifier: Apache-2.0
// Hook (L3): whether an exception is on its way through the scope that an object lives in.
#pragma once

#if SPOTTER_EXCEPTIONS
#endif

namespace spotter::inline SPOTTER_ABI {

// Where its owner was made while another exception was on its way (in a destructor at unwinding), that one does not
// count.
class unwinding {
public:
    void start() noexcept;                    // where the owner is made
    [[nodiscard]] bool now() const noexcept;  // an exception that came later is on its way through this thread

private:
    [[maybe_unused]] int before_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/hook/unwinding.ipp>
#endif
