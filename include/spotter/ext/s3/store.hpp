// SPDX-License-Identifier: Apache-2.0
// Ext (L6): what is asked of an object store: list, look, get a range, put, put in parts, remove.
#pragma once

#include <spotter/ext/s3/http.hpp>

namespace spotter::inline SPOTTER_ABI::s3 {

struct object {  // one of a listing
    std::string key{};  // the whole
    std::string etag{};  // hexadecimal digits; changes with the bytes
    std::uint64_t bytes = 0;  // its size
};

inline constexpr std::uint64_t part_bytes = 64ULL << 20;  // an object beyond it goes in parts of so many

// Belongs to one thread at a time. Errors as error_of has them.
class store {
public:
    explicit store(settings how) : http_{std::move(how)} {}

    [[nodiscard]] settings const& how() const noexcept { return http_.how(); }  // as given
    [[nodiscard]] http& connection() noexcept { return http_; }  // to stop it, and to count

    // All whose key begins so, in the order of their keys.
    [[nodiscard]] error list(std::string const& bucket, std::string const& prefix, std::vector<object>& found) {
        found.clear();
        std::string next;
        do {
            request it{.bucket = bucket};
            if (!next.empty()) { it.query = "continuation-token=" + encoded(next, true) + '&'; }
            it.query += "encoding-type=url&list-type=2&max-keys=1000&prefix=" + encoded(prefix, true);
            http_.ask(it);
            if (!it.good()) { return error_of(it); }
            std::string_view const text = it.text;
            bool const is_encoded = detail::element_of(text, "EncodingType") == "url";
            for (std::size_t at = text.find("<Contents>"); at != text.npos; at = text.find("<Contents>", at + 1)) {
                std::string_view const each = text.substr(at, text.find("</Contents>", at) - at);
                std::string_view const key = detail::element_of(each, "Key");
                object one;
                one.key = is_encoded ? decoded(key) : std::string{key};
                one.bytes = std::strtoull(std::string{detail::element_of(each, "Size")}.c_str(), nullptr, 10);
                for (char const letter : detail::element_of(each, "ETag")) {  // quoted, or with entities for the quotes
                    bool const digit = (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f') || letter == '-';
                    if (digit) { one.etag += letter; }
                }
                if (one.key.starts_with(prefix)) { found.push_back(std::move(one)); }
            }
            bool const more = detail::element_of(text, "IsTruncated") == "true";
            next = more ? std::string{detail::element_of(text, "NextContinuationToken")} : std::string{};
        } while (!next.empty());
        return {};
    }

    // Its size, etag and times; errc::not_a_run where there is none.
    [[nodiscard]] error look(std::string const& bucket, std::string const& key, request& it) {
        it = {.method = "HEAD", .bucket = bucket, .key = key};
        http_.ask(it);
        return error_of(it);
    }

    // A small object whole.
    [[nodiscard]] error get(std::string const& bucket, std::string const& key, std::string& text) {
        request it{.bucket = bucket, .key = key};
        http_.ask(it);
        if (it.good()) { text = std::move(it.text); }
        return error_of(it);
    }

    // With `only_new`, errc::exists where there is an object of that name.
    [[nodiscard]] error put(std::string const& bucket, std::string const& key, std::span<std::byte const> bytes,
                            bool only_new = false) {
        if (bytes.size() > part_bytes) { return put_in_parts(bucket, key, bytes); }
        request it{.method = "PUT", .bucket = bucket, .key = key, .body = bytes};
        if (only_new) { it.headers.push_back("If-None-Match: *"); }
        http_.ask(it);
        if (only_new && it.status == 501) {  // not every store knows the condition (Swift): then by what is there now
            request there;
            if (!look(bucket, key, there)) { return {errc::exists, "there is an object of that name"}; }
            return put(bucket, key, bytes);
        }
        return error_of(it);
    }

    // One that is not there is no error.
    [[nodiscard]] error remove(std::string const& bucket, std::string const& key) {
        request it{.method = "DELETE", .bucket = bucket, .key = key};
        http_.ask(it);
        return it.status == 404 ? error{} : error_of(it);
    }

    // Parts of objects that were never completed take space that no listing shows.
    void forget_parts(std::string const& bucket, std::string const& prefix) {
        request it{.bucket = bucket, .query = "encoding-type=url&prefix=" + encoded(prefix, true) + "&uploads="};
        http_.ask(it);
        if (!it.good()) { return; }  // not every store has that question, and nothing is lost
        std::string_view const text = it.text;
        for (std::size_t at = text.find("<Upload>"); at != text.npos; at = text.find("<Upload>", at + 1)) {
            std::string_view const each = text.substr(at, text.find("</Upload>", at) - at);
            std::string const key = decoded(detail::element_of(each, "Key"));
            if (key.starts_with(prefix)) { abort(bucket, key, std::string{detail::element_of(each, "UploadId")}); }
        }
    }

private:
    [[nodiscard]] error put_in_parts(std::string const& bucket, std::string const& key, std::span<std::byte const> bytes) {
        request begun{.method = "POST", .bucket = bucket, .key = key, .query = "uploads="};
        http_.ask(begun);
        std::string const id{detail::element_of(begun.text, "UploadId")};
        if (!begun.good() || id.empty()) { return begun.good() ? unclear(key) : error_of(begun); }

        std::vector<request> parts;
        std::uint64_t const size = (std::max)(part_bytes, (bytes.size() + 9'999) / 10'000);  // ten thousand at most
        for (std::size_t from = 0; from < bytes.size(); from += size) {
            std::string const number = std::to_string(parts.size() + 1);
            parts.push_back({.method = "PUT", .bucket = bucket, .key = key,
                             .query = "partNumber=" + number + "&uploadId=" + encoded(id, true),
                             .body = bytes.subspan(from, (std::min)(size, bytes.size() - from))});
        }
        std::string list = "<CompleteMultipartUpload>";
        for (std::size_t i = 0; i < parts.size(); ++i) {  // one by one: the network is full with one
            http_.ask(parts[i]);
            if (!parts[i].good()) {
                abort(bucket, key, id);
                return error_of(parts[i]);
            }
            list += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>" + parts[i].etag + "</ETag></Part>";
        }
        list += "</CompleteMultipartUpload>";
        request whole{.method = "POST", .bucket = bucket, .key = key, .query = "uploadId=" + encoded(id, true),
                      .body = std::as_bytes(std::span{list})};
        http_.ask(whole);
        if (whole.good() && detail::element_of(whole.text, "Code").empty()) { return {}; }
        abort(bucket, key, id);
        return whole.good() ? unclear(key) : error_of(whole);
    }

    void abort(std::string const& bucket, std::string const& key, std::string const& id) {
        request it{.method = "DELETE", .bucket = bucket, .key = key, .query = "uploadId=" + encoded(id, true)};
        http_.ask(it);
    }

    [[nodiscard]] static error unclear(std::string const& key) noexcept {
        error why{errc::io_error, "the object store did not complete "};
        why.what << key << " of its parts: it is put again";
        return why;
    }

    http http_;
};

}  // namespace spotter::inline SPOTTER_ABI::s3
