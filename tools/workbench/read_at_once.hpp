// SPDX-License-Identifier: Apache-2.0
// Workbench: a scope in which a program reads many values of a run.
#pragma once

#include <spotter/trial/trial.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// In the scope, the size of a segment is checked once a millisecond, not at each value: a check costs more than reading
// a number.
class read_at_once {
public:
    explicit read_at_once(trial const& run) : run_{run} { tell(true); }
    read_at_once(read_at_once const&) = delete;
    read_at_once& operator=(read_at_once const&) = delete;
    ~read_at_once() { tell(false); }

private:
    void tell(bool wanted) const {
        for (auto const& each : run_.readers()) { each->index().look_rarely(wanted); }
    }

    trial const& run_;
};

}  // namespace spotter::inline SPOTTER_ABI::detail
