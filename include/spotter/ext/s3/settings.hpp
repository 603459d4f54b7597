// SPDX-License-Identifier: Apache-2.0
// Ext (L6): endpoint and keys of an object store, from the environment and the usual files, as other tools read them.
#pragma once

#include <spotter/core/result.hpp>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

namespace spotter::inline SPOTTER_ABI::s3 {

// The keys are never printed, recorded or part of an error.
struct settings {
    std::string endpoint{};                // `http://127.0.0.1:9000`; empty: Amazon's, by region
    std::string region = "us-east-1";      // of Amazon's endpoint, and of the signature
    std::string key_id{}, key{}, token{};  // token: of temporary keys
    std::chrono::milliseconds patience{
        30'000};  // how long a request is retried while the store does not answer, or answers 5xx
    std::chrono::milliseconds connect{5'000};  // limit for a connection
    std::chrono::seconds stalled{10};          // a transfer without data for so long is restarted
    std::string cache{};                       // folder for the cache of read data; empty: TMPDIR, or /tmp
};

namespace detail {

[[nodiscard]] inline std::string of_environment(char const* name, std::string otherwise = {}) {
    char const* const value = std::getenv(name);
    return value == nullptr || *value == '\0' ? std::move(otherwise) : std::string{value};
}

[[nodiscard]] inline std::string_view trimmed(std::string_view text) noexcept {
    while (!text.empty() && (text.back() == ' ' || text.back() == '\r' || text.back() == '\t')) {
        text.remove_suffix(1);
    }
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) { text.remove_prefix(1); }
    return text;
}

// Calls take(name, value) for each line of one section of a file in the format of AWS's tools; nothing where it is
// missing.
template <class Take>
void each_setting(std::string const& file, std::string_view section, Take&& take) {
    std::ifstream in{file};
    bool inside = false;
    for (std::string line; std::getline(in, line);) {
        std::string_view const text = trimmed(line);
        if (text.empty() || text.front() == '#' || text.front() == ';') { continue; }
        if (text.front() == '[') {
            std::string_view name = trimmed(text.substr(1, text.find(']') - 1));
            if (name.starts_with("profile ")) { name = trimmed(name.substr(8)); }
            inside = name == section;
            continue;
        }
        std::size_t const equal = text.find('=');
        if (inside && equal != text.npos) { take(trimmed(text.substr(0, equal)), trimmed(text.substr(equal + 1))); }
    }
}

inline void take_key(std::string_view name, std::string_view value, settings& into) {
    if (name == "aws_access_key_id") { into.key_id = value; }
    if (name == "aws_secret_access_key") { into.key = value; }
    if (name == "aws_session_token") { into.token = value; }
}

}  // namespace detail

// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION or AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3 or
// AWS_ENDPOINT_URL. What these do not set comes from the section AWS_PROFILE (`default`) of ~/.aws/credentials and
// ~/.aws/config (AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE). errc::bad_config without keys.
[[nodiscard]] inline result<settings> settings_here() {
    using detail::of_environment;
    settings found;
    std::string region = of_environment("AWS_REGION", of_environment("AWS_DEFAULT_REGION"));
    found.key_id = of_environment("AWS_ACCESS_KEY_ID");
    found.key = of_environment("AWS_SECRET_ACCESS_KEY");
    found.token = of_environment("AWS_SESSION_TOKEN");
    found.endpoint = of_environment("AWS_ENDPOINT_URL_S3", of_environment("AWS_ENDPOINT_URL"));
    // Both keys must come from one source, or those of two accounts could be mixed.
    bool const keys = !found.key_id.empty() && !found.key.empty();
    if (!keys) { found.key_id = found.key = found.token = {}; }
    auto const take = [&](std::string_view name, std::string_view value) {
        if (!keys) { detail::take_key(name, value, found); }
        if (region.empty() && name == "region") { region = value; }
        if (found.endpoint.empty() && name == "endpoint_url") { found.endpoint = value; }
    };
    std::string const home = of_environment("HOME") + "/.aws/";
    std::string const profile = of_environment("AWS_PROFILE", "default");
    detail::each_setting(of_environment("AWS_SHARED_CREDENTIALS_FILE", home + "credentials"), profile, take);
    detail::each_setting(of_environment("AWS_CONFIG_FILE", home + "config"), profile, take);
    if (!region.empty()) { found.region = region; }
    while (found.endpoint.ends_with('/')) { found.endpoint.pop_back(); }
    if (found.key_id.empty() || found.key.empty()) {
        return {errc::bad_config, "no keys for the object store: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
                                  "write ~/.aws/credentials"};
    }
    return found;
}

}  // namespace spotter::inline SPOTTER_ABI::s3
