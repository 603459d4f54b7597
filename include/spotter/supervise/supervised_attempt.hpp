// SPDX-License-Identifier: Apache-2.0
// Supervise (L6): one attempt, as the supervisor requests it and as the training program receives it.
#pragma once

#include <spotter/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Use in the training program:
//     auto const now = supervised_attempt::here();
//     hook watch{now ? now.run : "runs/a", keep, rules...};
//     now.note(watch);                                       // before the first step
struct supervised_attempt {
    std::uint32_t number = 0;             // from 1; 0: there is no supervisor
    std::string run{};                    // the folder for its record, which has no record yet
    std::string cure{};                   // the name of the cure that it tries; empty in the first attempt
    std::string because{};                // what was wrong with the attempt before, in one sentence; empty in the first
    std::vector<std::string> settings{};  // of all cures so far, in the order in which they were chosen
    std::string before{};                 // the folder of the record of the attempt before; empty in the first

    [[nodiscard]] explicit operator bool() const noexcept { return number > 0; }

    // The attempt of this process, from the environment that `child_process` sets: SPOTTER_ATTEMPT,
    // SPOTTER_ATTEMPT_RUN, SPOTTER_ATTEMPT_CURE, SPOTTER_ATTEMPT_BECAUSE, SPOTTER_ATTEMPT_BEFORE. Its settings are on
    // the command line, and not included.
    [[nodiscard]] static supervised_attempt here();
    // The five variables as "NAME=value".
    [[nodiscard]] std::vector<std::string> as_environment() const;

    // Records it, as `healing/attempt`, `healing/cure` and `healing/because`; does nothing without a supervisor. If
    // called before the first step, these are settings of the run, and columns of the table in a report of all
    // attempts.
    template <class Hook>
    void note(Hook& watch) const {
        if (number == 0) { return; }
        watch.scalar("healing/attempt", number);
        if (!cure.empty()) { watch.scalar("healing/cure", cure); }
        if (!because.empty()) { watch.scalar("healing/because", because); }
    }
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/file/system.hpp>

#include <charconv>
#include <cstdlib>
#include <cstring>

#if defined(_WIN32)
#include <spotter/file/windows_api.hpp>
#endif

namespace spotter::inline SPOTTER_ABI {

#if defined(_WIN32)

namespace detail {

// In UTF-8; std::getenv only has the characters of the code page.
[[nodiscard]] SPOTTER_BODY std::string environment_text_of(char const* name) {
    std::wstring const wide_name(name, name + std::strlen(name));
    std::wstring wide(::GetEnvironmentVariableW(wide_name.c_str(), nullptr, 0), L'\0');
    if (wide.empty()) { return {}; }
    wide.resize(::GetEnvironmentVariableW(wide_name.c_str(), wide.data(), static_cast<unsigned long>(wide.size())));
    std::string text(3 * wide.size(), '\0');
    int const made = ::WideCharToMultiByte(CP_UTF8, 0, wide.data(), static_cast<int>(wide.size()), text.data(),
                                           static_cast<int>(text.size()), nullptr, nullptr);
    text.resize(static_cast<std::size_t>(made));
    return text;
}

}  // namespace detail

#endif

SPOTTER_BODY supervised_attempt supervised_attempt::here() {
    auto const variable = [](char const* name) {
#if defined(_WIN32)
        return detail::environment_text_of(name);
#else
        char const* const text = std::getenv(name);
        return text != nullptr ? std::string{text} : std::string{};
#endif
    };
    supervised_attempt it;
    std::string const digits = variable("SPOTTER_ATTEMPT");
    (void)std::from_chars(digits.data(), digits.data() + digits.size(), it.number);
    if (it.number == 0) { return it; }
    it.run = variable("SPOTTER_ATTEMPT_RUN");
    it.cure = variable("SPOTTER_ATTEMPT_CURE");
    it.because = variable("SPOTTER_ATTEMPT_BECAUSE");
    it.before = variable("SPOTTER_ATTEMPT_BEFORE");
    return it;
}

SPOTTER_BODY std::vector<std::string> supervised_attempt::as_environment() const {
    return {"SPOTTER_ATTEMPT=" + std::to_string(number),
            "SPOTTER_ATTEMPT_RUN=" + std::string{system_files().absolute(run).view()}, "SPOTTER_ATTEMPT_CURE=" + cure,
            "SPOTTER_ATTEMPT_BECAUSE=" + because,
            "SPOTTER_ATTEMPT_BEFORE=" +
                (before.empty() ? before : std::string{system_files().absolute(before).view()})};
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
