// SPDX-License-Identifier: Apache-2.0
// Trial (L4): while a program reads very much of a run, one value after the other.
#pragma once

#include <spotter/trial/trial.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Whether a segment has become shorter is looked up once a millisecond then, and not at each value: the look costs more
// than a number.
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
