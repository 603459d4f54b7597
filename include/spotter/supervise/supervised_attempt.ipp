// SPDX-License-Identifier: Apache-2.0
// The bodies of supervised_attempt.hpp.
#pragma once

#include <spotter/supervise/supervised_attempt.hpp>

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY supervised_attempt supervised_attempt::here() {
    auto const told = [](char const* name) {
        char const* const text = std::getenv(name);
        return text != nullptr ? std::string{text} : std::string{};
    };
    supervised_attempt it;
    std::string const digits = told("SPOTTER_ATTEMPT");
    (void)std::from_chars(digits.data(), digits.data() + digits.size(), it.number);
    if (it.number == 0) { return it; }
    it.run = told("SPOTTER_ATTEMPT_RUN");
    it.cure = told("SPOTTER_ATTEMPT_CURE");
    it.because = told("SPOTTER_ATTEMPT_BECAUSE");
    return it;
}

SPOTTER_BODY std::vector<std::string> supervised_attempt::as_environment() const {
    return {"SPOTTER_ATTEMPT=" + std::to_string(number), "SPOTTER_ATTEMPT_RUN=" + run, "SPOTTER_ATTEMPT_CURE=" + cure,
            "SPOTTER_ATTEMPT_BECAUSE=" + because};
}

}  // namespace spotter::inline SPOTTER_ABI
