// SPDX-License-Identifier: Apache-2.0
// Ext (L6): a place in an object store: `s3://bucket/key`.
#pragma once

#include <spotter/core/plain.hpp>
#include <spotter/core/result.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace spotter::inline SPOTTER_ABI::s3 {

// The prefix of a place.
inline constexpr std::string_view scheme = "s3://";

struct place {             // `s3://bucket/key`
    std::string bucket{};  // 3 to 63 characters
    std::string key{};     // without slashes at either end; empty: the bucket

    // The prefix of the keys below it.
    [[nodiscard]] std::string folder() const { return key.empty() ? std::string{} : key + '/'; }
    [[nodiscard]] std::string url() const { return std::string{scheme} + bucket + '/' + key; }  // in its written form
};

// Checks the prefix only; parse_place checks the rest.
[[nodiscard]] inline bool is_place(std::string_view path) noexcept { return path.starts_with(scheme); }

namespace detail {

// Whether a text has only ASCII letters, ASCII digits and `others`.
[[nodiscard]] constexpr bool is_of(std::string_view text, std::string_view others) noexcept {
    for (char const each : text) {
        bool const plain = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9');
        if (!plain && others.find(each) == others.npos) { return false; }
    }
    return true;
}

// `http://user:password@host` without the part before the @; also for a bucket.
inline void without_user(std::string& address) {
    std::size_t const scheme_end = address.find("://");
    std::size_t const begin = scheme_end == address.npos ? 0 : scheme_end + 3;
    std::size_t const end = (std::min)(address.find_first_of("/?#", begin), address.size());
    std::size_t const at = end > begin ? address.rfind('@', end - 1) : address.npos;
    if (at != address.npos && at >= begin) { address.erase(begin, at + 1 - begin); }
}

}  // namespace detail

// errc::bad_config where it is not `s3://bucket/key`.
[[nodiscard]] inline result<place> parse_place(std::string_view path) {
    error why{errc::bad_config, "\""};
    std::string shown{path};
    detail::without_user(shown);
    put_plain(shown, [&](std::string_view piece) { why.what << piece; });
    why.what << "\" is no place in an object store: s3://bucket/folder"
             << (shown.size() < path.size() ? " (keys are read from the environment)" : "");
    if (!is_place(path)) { return why; }
    std::string_view rest = path.substr(scheme.size());
    std::size_t const slash = rest.find('/');
    place found;
    found.bucket = rest.substr(0, slash);
    std::string_view key = slash == rest.npos ? std::string_view{} : rest.substr(slash + 1);
    while (key.ends_with('/')) { key.remove_suffix(1); }
    while (key.starts_with('/')) { key.remove_prefix(1); }
    found.key = key;
    bool const fits = found.bucket.size() >= 3 && found.bucket.size() <= 63 && found.key.size() <= 900;
    if (!fits || !detail::is_of(found.bucket, "-._")) { return why; }
    return found;
}

// A key encoded for a URL (RFC 3986): everything except letters, digits and -._~ as %XX, as AWS's Signature Version 4
// requires.
[[nodiscard]] inline std::string encoded(std::string_view text, bool slashes_too) {
    constexpr char digits[] = "0123456789ABCDEF";
    std::string out;
    for (char const letter : text) {
        bool const plain = detail::is_of({&letter, 1}, slashes_too ? "-._~" : "-._~/");
        auto const byte = static_cast<unsigned char>(letter);
        if (plain) {
            out += letter;
        } else {
            out += '%', out += digits[byte >> 4U], out += digits[byte & 15U];
        }
    }
    return out;
}

// The inverse.
[[nodiscard]] inline std::string decoded(std::string_view text) {
    auto const value = [](char digit) {
        return digit >= '0' && digit <= '9'   ? digit - '0'
               : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
               : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                                              : -1;
    };
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        int const high = text[i] == '%' && i + 2 < text.size() ? value(text[i + 1]) : -1;
        int const low = high >= 0 ? value(text[i + 2]) : -1;
        if (low >= 0) {
            out += static_cast<char>(high * 16 + low);
            i += 2;
        } else {
            out += text[i] == '+' ? ' ' : text[i];
        }
    }
    return out;
}

}  // namespace spotter::inline SPOTTER_ABI::s3
