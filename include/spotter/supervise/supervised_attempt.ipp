// SPDX-License-Identifier: Apache-2.0
// The bodies of supervised_attempt.hpp.
#pragma once

#include <spotter/file/system.hpp>
#include <spotter/supervise/supervised_attempt.hpp>

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
    return it;
}

SPOTTER_BODY std::vector<std::string> supervised_attempt::as_environment() const {
    return {"SPOTTER_ATTEMPT=" + std::to_string(number),
            "SPOTTER_ATTEMPT_RUN=" + std::string{system_files().absolute(run).view()}, "SPOTTER_ATTEMPT_CURE=" + cure,
            "SPOTTER_ATTEMPT_BECAUSE=" + because};
}

}  // namespace spotter::inline SPOTTER_ABI
