// SPDX-License-Identifier: Apache-2.0
// Ext (L6): the operations on an object store: list, look, get a range, put, put in parts, remove.
#pragma once

#include <spotter/ext/s3/http.hpp>

#include <set>

namespace spotter::inline SPOTTER_ABI::s3 {

struct object {               // an object in a listing
    std::string key{};        // the complete key
    std::string etag{};       // hexadecimal digits; changes with the bytes
    std::uint64_t bytes = 0;  // its size
};

inline constexpr std::uint64_t part_bytes = 64ULL << 20;  // larger objects are sent in parts of this size

// Use it in one thread at a time. Errors are those of error_of.
class store {
public:
    explicit store(settings how) : http_{std::move(how)} {}

    [[nodiscard]] settings const& how() const noexcept { return http_.how(); }  // as given
    [[nodiscard]] http& connection() noexcept { return http_; }                 // to stop it, and to count requests

    // All objects whose key has the prefix, in order of their keys. Gives up a listing that does not end: one that
    // repeats itself, comes in very small pages, takes longer than `patience` plus a second for each thousand names, or
    // has more than a million.
    [[nodiscard]] error list(std::string const& bucket, std::string const& prefix, std::vector<object>& found) {
        constexpr std::size_t most_pages = 1000, objects_a_page = 100;  // after that many pages, each must have this
                                                                        // many objects on average
        auto const end = spotter::detail::deadline_in(how().patience);
        found.clear();
        std::set<std::string> tokens;
        std::string next;
        std::size_t pages = 0;
        do {
            request it{.bucket = bucket, .most = std::size_t{16} << 20};
            if (!next.empty()) { it.query = "continuation-token=" + encoded(next, true) + '&'; }
            it.query += "encoding-type=url&list-type=2&max-keys=1000&prefix=" + encoded(prefix, true);
            http_.ask(it);
            if (!it.good()) { return error_of(it); }
            std::string_view const text = it.text;
            bool const is_encoded = detail::element_of(text, "EncodingType") == "url";
            detail::each_element(text, "Contents", [&](std::string_view each) {
                object one = object_of(each, is_encoded);
                if (one.key.starts_with(prefix) && one.bytes <= most_bytes) { found.push_back(std::move(one)); }
                return found.size() <= most_objects;
            });
            if (found.size() > most_objects) {
                return endless("holds more than a million objects: give the run a place of its own");
            }
            bool const more = detail::element_of(text, "IsTruncated") == "true";
            next = more ? std::string{detail::element_of(text, "NextContinuationToken")} : std::string{};
            bool const repeats = !next.empty() && !tokens.insert(next).second;
            std::chrono::milliseconds const more_time{static_cast<std::int64_t>(found.size())};
            bool const late = std::chrono::steady_clock::now() > end + more_time;
            if (!next.empty() && (repeats || late || ++pages > most_pages + found.size() / objects_a_page)) {
                return endless("does not come to an end");
            }
        } while (!next.empty());
        return {};
    }

    // Size, etag and times; errc::not_a_run where there is no object.
    [[nodiscard]] error look(std::string const& bucket, std::string const& key, request& it) {
        it = {.method = "HEAD", .bucket = bucket, .key = key};
        http_.ask(it);
        return error_of(it);
    }

    // Fetches a small object completely.
    [[nodiscard]] error get(std::string const& bucket, std::string const& key, std::string& text) {
        request it{.bucket = bucket, .key = key};
        http_.ask(it);
        if (it.good()) { text = std::move(it.text); }
        return error_of(it);
    }

    // With `only_new`, errc::exists where the object exists.
    [[nodiscard]] error put(std::string const& bucket, std::string const& key, payload const& bytes,
                            bool only_new = false) {
        if (bytes.size() > part_bytes) { return put_in_parts(bucket, key, bytes); }
        request it{.method = "PUT", .bucket = bucket, .key = key, .body = bytes};
        if (only_new) { it.headers.push_back("If-None-Match: *"); }
        http_.ask(it);
        if (only_new && it.status == 501) {  // some stores lack the condition (Swift): checks for an existing object
                                             // instead
            request there;
            if (!look(bucket, key, there)) { return {errc::exists, "there is an object of that name"}; }
            return put(bucket, key, bytes);
        }
        return error_of(it);
    }

    // A missing object is no error.
    [[nodiscard]] error remove(std::string const& bucket, std::string const& key) {
        request it{.method = "DELETE", .bucket = bucket, .key = key};
        http_.ask(it);
        return it.status == 404 ? error{} : error_of(it);
    }

    // Removes uncompleted uploads, whose parts take space that no listing shows: those with a key that is `ours`, a
    // hundred at a time.
    template <class Ours>
    void forget_parts(std::string const& bucket, std::string const& prefix, Ours&& ours) {
        request it{.bucket = bucket, .query = "encoding-type=url&prefix=" + encoded(prefix, true) + "&uploads="};
        http_.ask(it);
        if (!it.good()) { return; }  // some stores lack this operation, which is harmless
        unsigned left = 100;
        auto const until = spotter::detail::deadline_in(how().patience);
        detail::each_element(it.text, "Upload", [&](std::string_view each) {
            std::string const key = decoded(detail::element_of(each, "Key"));
            if (key.starts_with(prefix) && ours(std::string_view{key}.substr(prefix.size()))) {
                abort(bucket, key, std::string{detail::element_of(each, "UploadId")});
                --left;
            }
            return left > 0 && std::chrono::steady_clock::now() < until;
        });
    }

private:
    static constexpr std::size_t most_objects = 1'000'000;
    static constexpr std::uint64_t most_bytes = std::uint64_t{64} << 40;  // limit of an object's size, above that of
                                                                          // any store

    [[nodiscard]] static object object_of(std::string_view each, bool is_encoded) {
        std::string_view const key = detail::element_of(each, "Key");
        object one;
        one.key = is_encoded ? decoded(key) : std::string{key};
        one.bytes = std::strtoull(std::string{detail::element_of(each, "Size").substr(0, 20)}.c_str(), nullptr, 10);
        for (char const letter :
             detail::element_of(each, "ETag").substr(0, 100)) {  // quoted, or with entities for the quotes
            bool const digit = (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f') || letter == '-';
            if (digit) { one.etag += letter; }
        }
        return one;
    }
    [[nodiscard]] static error endless(std::string_view how) noexcept {
        error why{errc::io_error, "the object store's listing "};
        why.what << how;
        return why;
    }

    [[nodiscard]] error put_in_parts(std::string const& bucket, std::string const& key, payload const& bytes) {
        request begun{.method = "POST", .bucket = bucket, .key = key, .query = "uploads="};
        http_.ask(begun);
        std::string const id{detail::element_of(begun.text, "UploadId")};
        if (!begun.good() || id.empty()) { return begun.good() ? unclear(key) : error_of(begun); }

        std::vector<request> parts;
        std::uint64_t const size = (std::max)(part_bytes, (bytes.size() + 9'999) / 10'000);  // at most ten thousand
                                                                                             // parts
        for (std::uint64_t from = 0; from < bytes.size(); from += size) {
            std::string const number = std::to_string(parts.size() + 1);
            parts.push_back({.method = "PUT",
                             .bucket = bucket,
                             .key = key,
                             .query = "partNumber=" + number + "&uploadId=" + encoded(id, true),
                             .body = bytes.part(from, (std::min)(size, bytes.size() - from))});
        }
        std::string list = "<CompleteMultipartUpload>";
        for (std::size_t i = 0; i < parts.size(); ++i) {  // one by one: a single one uses the whole bandwidth
            http_.ask(parts[i]);
            if (!parts[i].good()) {
                abort(bucket, key, id);
                return error_of(parts[i]);
            }
            list +=
                "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>" + parts[i].etag + "</ETag></Part>";
        }
        if (!bytes.is_same()) {  // otherwise its parts would be of two files
            abort(bucket, key, id);
            return detail::changed_meanwhile();
        }
        list += "</CompleteMultipartUpload>";
        request whole{.method = "POST",
                      .bucket = bucket,
                      .key = key,
                      .query = "uploadId=" + encoded(id, true),
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
        put_plain(key, [&](std::string_view piece) { why.what << piece; });
        why.what << " of its parts: it is put again";
        return why;
    }

    http http_;
};

}  // namespace spotter::inline SPOTTER_ABI::s3
