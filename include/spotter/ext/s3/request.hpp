// SPDX-License-Identifier: Apache-2.0
// Ext (L6): a request to an object store, its answer, and the meaning of the answer. Answers are untrusted: they may be
// long or malformed.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/plain.hpp>
#include <spotter/core/result.hpp>
#include <spotter/file/system.hpp>

#include <openssl/evp.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// The body of a request: bytes in memory, or part of a file, which is read while it is sent. A view: the memory must
// outlive it. A file is never mapped: another process may truncate it meanwhile, and accessing the missing pages would
// end the program. So the file may change while it is sent; comparing `sha256` before and after detects that, and so
// does `is_same`.
class payload {
public:
    payload() = default;
    payload(std::span<std::byte const> bytes) : bytes_{bytes}, size_{bytes.size()} {}
    // The first `bytes` of a file, in its current state.
    [[nodiscard]] static payload of_file(std::string path, file_facts const& facts) {
        payload made;
        made.path_ = std::move(path), made.size_ = facts.bytes, made.identity_ = facts.identity;
        return made;
    }

    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] bool is_file() const noexcept { return !path_.empty(); }
    [[nodiscard]] std::byte const* data() const noexcept { return bytes_.data(); }  // only for bytes in memory
    [[nodiscard]] payload part(std::uint64_t from, std::uint64_t bytes) const {
        payload some = *this;
        some.from_ += from, some.size_ = bytes;
        if (!is_file()) { some.bytes_ = bytes_.subspan(as_size(from), as_size(bytes)); }
        return some;
    }
    // Reads from offset `from` as much as fits; 0 where the file is shorter now.
    [[nodiscard]] std::size_t read(std::uint64_t from, std::span<std::byte> into) const noexcept {
        auto const count =
            static_cast<std::size_t>((std::min)(std::uint64_t{into.size()}, size_ - (std::min)(from, size_)));
        if (is_file()) {
            auto const done = system_files().read(path_, from_ + from, into.first(count));
            return done && *done == count ? count : 0;
        }
        if (count > 0) { std::memcpy(into.data(), bytes_.data() + from, count); }
        return count;
    }
    // Whether the file was neither replaced nor truncated.
    [[nodiscard]] bool is_same() const noexcept {
        if (!is_file()) { return true; }
        auto const now = system_files().facts_of(path_);
        return now && now->identity == identity_ && now->bytes >= from_ + size_;
    }

private:
    std::span<std::byte const> bytes_{};
    std::string path_{};
    std::uint64_t from_ = 0, size_ = 0, identity_ = 0;
};

namespace detail {

[[nodiscard]] inline error changed_meanwhile() noexcept {
    return {errc::replaced,
            "a file was cut, replaced or removed while it was sent to the object store: it is sent anew"};
}

class sha256 {
public:
    sha256() : context_{EVP_MD_CTX_new()} { begin(); }
    sha256(sha256 const&) = delete;
    sha256& operator=(sha256 const&) = delete;
    ~sha256() { EVP_MD_CTX_free(context_); }

    void begin() noexcept { good_ = context_ != nullptr && EVP_DigestInit_ex(context_, EVP_sha256(), nullptr) == 1; }
    void add(std::span<std::byte const> bytes) noexcept {
        good_ = good_ && EVP_DigestUpdate(context_, bytes.data(), bytes.size()) == 1;
    }
    // The digest in hexadecimal; where it is unavailable, the value that means "not signed" to the store. Ends the
    // hash.
    [[nodiscard]] std::string hex() {
        unsigned char digest[EVP_MAX_MD_SIZE]{};
        unsigned size = 0;
        if (!good_ || EVP_DigestFinal_ex(context_, digest, &size) != 1) { return "UNSIGNED-PAYLOAD"; }
        std::string out;
        for (unsigned i = 0; i < size; ++i) {
            out += "0123456789abcdef"[digest[i] >> 4U];
            out += "0123456789abcdef"[digest[i] & 15U];
        }
        return out;
    }

private:
    EVP_MD_CTX* context_;
    bool good_ = false;
};

// Of the whole payload; empty where the file is shorter now.
[[nodiscard]] inline std::string hex_sha256(payload const& of) {
    sha256 sum;
    if (!of.is_file()) { sum.add({of.data(), as_size(of.size())}); }
    std::vector<std::byte> piece(of.is_file() ? std::size_t{256} << 10 : 0);
    for (std::uint64_t at = 0; of.is_file() && at < of.size();) {
        std::size_t const some = of.read(at, piece);
        if (some == 0) { return {}; }
        sum.add(std::span{piece}.first(some));
        at += some;
    }
    return sum.hex();
}

}  // namespace detail

// One request and its answer. The memory of `body` and `into` must outlive the call.
struct request {
    char const* method = "GET";          // an HTTP method
    std::string bucket{}, key{};         // not encoded; without a key: the bucket itself
    std::string query{};                 // encoded, names in ascending order, each with `=`
    std::vector<std::string> headers{};  // `name: value`
    payload body{};                      // the body to send
    std::span<std::byte> into{};         // receives the answer's body if it is 2xx; otherwise, or if empty, `text` does
    std::size_t most = std::size_t{1} << 20;  // limit of `text` in bytes; a longer answer is aborted

    long status = 0;                      // of the answer; 0: no answer
    std::string text{};                   // the answer's body, if it is not in `into`
    std::size_t came = 0;                 // bytes in `into`
    std::string etag{}, region{};         // from the answer; empty if missing
    std::uint64_t length = 0;             // bytes, as announced by the answer
    std::int64_t date = 0, modified = 0;  // by the store's clock: seconds since 1970; 0: missing
    error why{};                          // an error of the connection, after the last try
    bool is_final = false;                // a retry would change nothing

    [[nodiscard]] bool good() const noexcept { return !why && status >= 200 && status < 300; }  // answered with 2xx
};

namespace detail {

// The content of the first element of that name; the answers used here have no attributes in it.
[[nodiscard]] inline std::string_view element_of(std::string_view xml, std::string_view name) noexcept {
    for (std::size_t at = xml.find(name); at != xml.npos; at = xml.find(name, at + 1)) {
        bool const opens =
            at > 0 && xml[at - 1] == '<' && at + name.size() < xml.size() && xml[at + name.size()] == '>';
        if (!opens) { continue; }
        std::size_t const begin = at + name.size() + 1;
        std::size_t const end = xml.find("</", begin);
        return end == xml.npos ? std::string_view{} : xml.substr(begin, end - begin);
    }
    return {};
}

// Calls take(content) for each element of that name, in linear time; false ends it.
template <class Take>
void each_element(std::string_view xml, std::string_view name, Take&& take) {
    std::string const open = '<' + std::string{name} + '>', close = "</" + std::string{name} + '>';
    std::size_t at = xml.find(open);
    while (at != xml.npos) {
        std::size_t const begin = at + open.size(), end = xml.find(close, begin);
        if (end == xml.npos || !take(xml.substr(begin, end - begin))) { return; }
        at = xml.find(open, end + close.size());
    }
}

// A store's word, if it consists of letters, digits, `.` and `-`; otherwise empty.
[[nodiscard]] inline std::string_view word_of(std::string_view text) noexcept {
    constexpr std::size_t longest = 40;
    return text.size() <= longest && is_of(text, ".-") ? text : std::string_view{};
}

// The meaning of a store's error codes or HTTP statuses.
struct store_refusal {
    std::string_view codes[4]{};
    errc kind = errc::io_error;
    std::string_view hint{};
    long first = 1, last = 0;  // HTTP statuses; none by default

    [[nodiscard]] constexpr bool means(std::string_view code, long status) const noexcept {
        for (std::string_view const each : codes) {
            if (!each.empty() && each == code) { return true; }
        }
        return status >= first && status <= last;
    }
};
// The first match counts; the last row is the default.
inline constexpr store_refusal store_refusals[] = {
    {{"NoSuchBucket"}, errc::bad_config, "there is no bucket of that name: make it, or correct the name"},
    {{"ExpiredToken", "TokenRefreshRequired", "RequestExpired"},
     errc::bad_config,
     "the keys have expired: get new ones (AWS_SESSION_TOKEN goes with them)"},
    {{"InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "AuthorizationHeaderMalformed"},
     errc::bad_config,
     "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the region, are not those of this store"},
    {{"RequestTimeTooSkewed"}, errc::bad_config, "this machine's clock is wrong, seen from the store's by seconds:"},
    {{}, errc::not_a_run, "there is nothing of that name", 404, 404},
    {{"PreconditionFailed"}, errc::exists, "another has written it meanwhile", 412, 412},
    {{}, errc::bad_config, "these keys may not do that: look at the bucket's policy", 401, 401},
    {{}, errc::bad_config, "these keys may not do that: look at the bucket's policy", 403, 403},
    {{}, errc::bad_config, "the bucket is in another region: set AWS_REGION", 300, 399},
    {{}, errc::io_error, "the store is in trouble; asked again until the patience was over", 500, 999},
    {{}, errc::io_error, "see the store's log"},
};

}  // namespace detail

// The error that an answer means. Of the store's own words only its code and region are used: others may contain keys.
[[nodiscard]] inline error error_of(request const& asked) {
    if (asked.why || asked.good()) { return asked.why; }
    std::string_view const code = detail::word_of(detail::element_of(asked.text, "Code"));
    detail::store_refusal const& meaning =
        *std::find_if(std::begin(detail::store_refusals), std::end(detail::store_refusals) - 1,
                      [&](auto const& it) { return it.means(code, asked.status); });
    error found{meaning.kind, asked.method};
    auto const put = [&](std::string_view piece) { found.what << piece; };
    found.what << " s3://";
    put_plain(asked.bucket, put);
    found.what << '/';
    put_plain(asked.key, put);
    found.what << ": " << static_cast<std::uint64_t>(asked.status);
    if (!code.empty()) { found.what << ' ' << code; }
    found.what << ": " << meaning.hint;
    if (code == "RequestTimeTooSkewed" && asked.date != 0) {
        std::int64_t const off = cast_to<std::int64_t>(std::time(nullptr)) - asked.date;
        found.what << (off < 0 ? " -" : " +") << static_cast<std::uint64_t>(off < 0 ? -off : off);
    }
    std::string_view const region = detail::word_of(asked.region);
    if (!region.empty() && meaning.kind == errc::bad_config) { found.what << " (the store says " << region << ')'; }
    return found;
}

}  // namespace spotter::inline SPOTTER_ABI::s3
