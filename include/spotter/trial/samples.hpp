// SPDX-License-Identifier: Apache-2.0
// Trial (L4): opens the machine's samples beside a run, which are a record of their own (ext/system.hpp).
#pragma once

#include <spotter/format/layout.hpp>
#include <spotter/trial/trial.hpp>

namespace spotter::inline SPOTTER_ABI {

// The samples of one worker, from the local file system; errc::not_a_run if there are none. A sample is a step of
// mode::predict.
[[nodiscard]] inline result<trial> open_samples(trial const& run, worker of) noexcept {
    text<24> own{"worker-"};
    own << of.number;
    // The run may have been opened by that worker's folder.
    bool const is_there = of.number == 0 || run.folder().ends_with(own.view());
    path_text const folder = is_there ? path_text{run.folder(), layout::system_name}
                                      : path_text{path_text{run.folder(), own.view()}, layout::system_name};
    return open_trial(folder);
}

}  // namespace spotter::inline SPOTTER_ABI
