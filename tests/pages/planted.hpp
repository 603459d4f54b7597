// SPDX-License-Identifier: Apache-2.0
// The net of the numbered examples with a NaN planted on request, and the captured output of a program.
#pragma once

#include <tests/temporary_folder.hpp>

#include "common/regression.hpp"

#include <bit>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <unistd.h>

namespace pages {

enum class place : std::uint8_t { nowhere, gradient, gradient_from_then_on, evaluation };

struct planted_net : example::regression {
    place where = place::nowhere;
    std::uint64_t at = 0;
    std::uint64_t steps = 0, updates = 0, validations = 0;

    float forward_backward() {
        float const loss = example::regression::forward_backward();
        bool const once = where == place::gradient && steps == at;
        bool const on = where == place::gradient_from_then_on && steps >= at;
        if (once || on) { grad_w1.values[17] = nan; }
        ++steps;
        return loss;
    }
    float validate() {
        ++validations;
        example::regression copy = *this;
        float const loss = copy.forward_backward();
        return where == place::evaluation && steps > at ? nan : loss;
    }
    void update() {
        ++updates;
        example::regression::update();
    }

    static constexpr float nan = std::bit_cast<float>(0x7FC00000U);  // also a NaN under -ffast-math
};

template <class Visit>
void visit_tensors(planted_net const& net, Visit visit) {
    visit_tensors(static_cast<example::regression const&>(net), visit);
}

// Makes a fresh folder the working directory during its lifetime.
class somewhere_else {
public:
    somewhere_else() : before_{std::filesystem::current_path()} { std::filesystem::current_path(folder_ / "."); }
    somewhere_else(somewhere_else const&) = delete;
    somewhere_else& operator=(somewhere_else const&) = delete;
    ~somewhere_else() { std::filesystem::current_path(before_); }

private:
    spotter_test::temporary_folder folder_;
    std::filesystem::path before_;
};

[[nodiscard]] inline std::string text_of(std::string const& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
}

// What `function` writes to standard output.
template <class Function>
[[nodiscard]] std::string printed_by(Function function) {
    char const* const path = "printed";
    std::fflush(stdout);
    int const before = ::dup(1);
    std::FILE* const into = std::fopen(path, "w");
    ::dup2(::fileno(into), 1);
    function();
    std::fflush(stdout);
    ::dup2(before, 1);
    ::close(before);
    std::fclose(into);
    return text_of(path);
}

[[nodiscard]] inline std::size_t count(std::string_view text, std::string_view words) {
    std::size_t found = 0;
    for (std::size_t i = text.find(words); i != text.npos; i = text.find(words, i + words.size())) { ++found; }
    return found;
}

}  // namespace pages
