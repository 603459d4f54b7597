// SPDX-License-Identifier: Apache-2.0
// Opens the record that a study continues with.
#pragma once

#include <spotter/report/describe.hpp>
#include <spotter/trial.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace studies {

// The record at `path`, as watch.path() returned it. Without one (a folder that cannot be written, SPOTTER=off) the
// program ends with 2.
[[nodiscard]] inline spotter::trial record_at(std::string_view path) {
    auto opened = spotter::open_trial(path);
    if (opened) { return std::move(*opened); }
    std::fprintf(stderr,
                 "the study needs its record, and there is none: can --out be written, and is SPOTTER unset? (%s)\n",
                 spotter::describe(opened.error()).c_str());
    std::exit(2);
}

}  // namespace studies
