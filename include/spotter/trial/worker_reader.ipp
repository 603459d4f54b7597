// SPDX-License-Identifier: Apache-2.0
// The bodies of worker_reader.hpp.
#pragma once

#include <spotter/trial/worker_reader.hpp>

#include <chrono>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY error worker_reader::refresh() {
    result<bool> const live = index_.is_locked();  // asked first: a run that ends now is still seen as ended next time
    trouble_ = index_.refresh();
    if (index_.ended()) {
        status_ = index_.ended_how() == 1 ? run_status::finished : run_status::failed;
    } else if (live) {  // where the system cannot tell, it stays what it was
        status_ = *live ? run_status::running : run_status::died;
    }
    auto const now = std::chrono::system_clock::now().time_since_epoch();
    looked_at_ = std::chrono::duration<double>(now).count();
    return trouble_;
}

SPOTTER_BODY step_state worker_reader::state(step_id step) const {
    if (closed(step)) { return step_state::present; }
    return past(step) || !running() ? step_state::absent : step_state::pending;
}

SPOTTER_BODY double worker_reader::age() const {
    double last = index_.begun_at();
    if (!index_.steps().empty()) { last = (std::max)(last, index_.steps().back().time); }
    last = (std::max)(last, index_.ended_at());
    return (std::max)(0.0, looked_at_ - last);
}

SPOTTER_BODY step_ranges const& worker_reader::ranges() const {
    auto const& steps = index_.steps();
    return detail::listed([&]() -> step_ranges const& {
        for (auto it = steps.from(ranged_); it != steps.end(); ++it, ++ranged_) { closed_.add((*it).step); }
        return closed_;
    });
}

}  // namespace spotter::inline SPOTTER_ABI
