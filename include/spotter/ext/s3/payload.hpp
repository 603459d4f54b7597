// SPDX-License-Identifier: Apache-2.0
// Ext (L6): the body of a request to an object store: bytes in memory, or part of a file, which is read while it is
// sent.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/result.hpp>
#include <spotter/file/system.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <openssl/evp.h>

namespace spotter::inline SPOTTER_ABI::s3 {

// A view: the memory must outlive it. A file is never mapped: another process may truncate it meanwhile, and accessing
// the missing pages would end the program. So the file may change while it is sent; comparing `sha256` before and after
// detects that, and so does `is_same`.
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

}  // namespace spotter::inline SPOTTER_ABI::s3
