// SPDX-License-Identifier: Apache-2.0
// Ext (L6): requests to an object store, signed by libcurl (AWS Signature Version 4), several at once, asked again where that may help.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/guard.hpp>
#include <spotter/ext/s3/place.hpp>
#include <spotter/ext/s3/settings.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include <curl/curl.h>
#include <openssl/evp.h>

namespace spotter::inline SPOTTER_ABI::s3 {

// One question and its answer. What `body` and `into` view must outlive the call.
struct request {
    char const* method = "GET";  // as HTTP has it
    std::string bucket{}, key{};  // not encoded; no key: the bucket itself
    std::string query{};                  // encoded, its names in order, each with `=`
    std::vector<std::string> headers{};   // `name: value`
    std::span<std::byte const> body{};  // what is sent
    std::span<std::byte> into{};          // where what comes goes, if the answer is 2xx; else, and where it is empty, to `text`

    long status = 0;  // of the answer; 0: there was none
    std::string text{};  // of the answer, where it did not go into `into`
    std::size_t came = 0;  // bytes in `into`
    std::string etag{}, region{};  // as the store says; empty where it does not
    std::uint64_t length = 0;  // bytes, as the answer announces them
    std::int64_t date = 0, modified = 0;  // of the store's clock: seconds since 1970, 0 where it does not say
    error why{};                          // of the connection, after the last try

    [[nodiscard]] bool good() const noexcept { return !why && status >= 200 && status < 300; }  // answered with 2xx
};

namespace detail {

// Of the first element of that name in an answer; the answers that are read here have no attributes in it.
[[nodiscard]] inline std::string_view element_of(std::string_view xml, std::string_view name, std::size_t from = 0) noexcept {
    for (std::size_t at = xml.find(name, from); at != xml.npos; at = xml.find(name, at + 1)) {
        bool const opens = at > 0 && xml[at - 1] == '<' && at + name.size() < xml.size() && xml[at + name.size()] == '>';
        if (!opens) { continue; }
        std::size_t const begin = at + name.size() + 1;
        std::size_t const end = xml.find("</", begin);
        return end == xml.npos ? std::string_view{} : xml.substr(begin, end - begin);
    }
    return {};
}

[[nodiscard]] inline std::string hex_sha256(std::span<std::byte const> bytes) {
    unsigned char digest[EVP_MAX_MD_SIZE]{};
    unsigned size = 0;
    if (EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr) != 1) { return "UNSIGNED-PAYLOAD"; }
    std::string out;
    for (unsigned i = 0; i < size; ++i) {
        char two[3];
        std::snprintf(two, sizeof two, "%02x", digest[i]);
        out += two;
    }
    return out;
}

// libcurl's own beginning, once in a process.
inline void begin_curl() noexcept {
    static bool const begun = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    (void)begun;
}

}  // namespace detail

// What an answer that is not good means. The store's own words but for its code stay unsaid: they may name keys.
[[nodiscard]] inline error error_of(request const& asked) {
    if (asked.why || asked.good()) { return asked.why; }
    std::string_view const code = detail::element_of(asked.text, "Code");
    std::string_view hint = "see the store's log";
    errc kind = errc::io_error;
    auto const is = [&](auto... names) { return ((code == names) || ...); };
    if (is("NoSuchBucket")) {
        kind = errc::bad_config, hint = "there is no bucket of that name: make it, or correct the name";
    } else if (is("ExpiredToken", "TokenRefreshRequired", "RequestExpired")) {
        kind = errc::bad_config, hint = "the keys have expired: get new ones (AWS_SESSION_TOKEN goes with them)";
    } else if (is("InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "AuthorizationHeaderMalformed")) {
        kind = errc::bad_config, hint = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the region, are not those of this store";
    } else if (is("RequestTimeTooSkewed")) {
        kind = errc::bad_config, hint = "this machine's clock is wrong, seen from the store's by seconds:";
    } else if (asked.status == 404) {
        kind = errc::not_a_run, hint = "there is nothing of that name";
    } else if (asked.status == 412 || is("PreconditionFailed")) {
        kind = errc::exists, hint = "another has written it meanwhile";
    } else if (asked.status == 401 || asked.status == 403) {
        kind = errc::bad_config, hint = "these keys may not do that: look at the bucket's policy";
    } else if (asked.status >= 300 && asked.status < 400) {
        kind = errc::bad_config, hint = "the bucket is in another region: set AWS_REGION";
    } else if (asked.status >= 500) {
        hint = "the store is in trouble; asked again until the patience was over";
    }
    error found{kind, asked.method};
    found.what << " s3://" << asked.bucket << '/' << asked.key << ": " << static_cast<std::uint64_t>(asked.status);
    if (!code.empty()) { found.what << ' ' << code.substr(0, 40); }
    found.what << ": " << hint;
    if (is("RequestTimeTooSkewed") && asked.date != 0) {
        std::int64_t const off = cast_to<std::int64_t>(std::time(nullptr)) - asked.date;
        found.what << (off < 0 ? " -" : " +") << static_cast<std::uint64_t>(off < 0 ? -off : off);
    }
    if (!asked.region.empty() && kind == errc::bad_config) { found.what << " (the store says " << asked.region << ')'; }
    return found;
}

// Belongs to one thread at a time.
class http {
public:
    explicit http(settings how) : how_{std::move(how)} { detail::begin_curl(), many_ = curl_multi_init(); }
    http(http const&) = delete;
    http& operator=(http const&) = delete;
    ~http() {
        for (CURL* each : idle_) { curl_easy_cleanup(each); }
        curl_multi_cleanup(many_);
    }

    [[nodiscard]] settings const& how() const noexcept { return how_; }  // as given
    // Made so far, tries again included: what a store counts, too.
    [[nodiscard]] std::uint64_t requests() const noexcept { return requests_; }
    [[nodiscard]] bool is_stopped() const noexcept { return stop_ != nullptr && stop_(context_); }  // as `stop_if` was told
    // `stop(context)`, asked often: true ends the waiting between two tries.
    void stop_if(bool (*stop)(void const*), void const* context) noexcept { stop_ = stop, context_ = context; }

    // Each until it has an answer that stands, or the patience is over.
    void ask(std::span<request> all) {
        auto const end = std::chrono::steady_clock::now() + how_.patience;
        std::vector<request*> open;
        for (request& each : all) { open.push_back(&each); }
        for (unsigned tries = 0; !open.empty(); ++tries) {
            ask_once(open);
            std::erase_if(open, [](request const* each) { return stands(*each); });
            if (open.empty() || !wait(tries, end)) { break; }
        }
    }
    void ask(request& one) { ask({&one, 1}); }

private:
    static constexpr std::size_t at_once = 16;

    struct transfer {
        request* of = nullptr;
        CURL* easy = nullptr;
        curl_slist* headers = nullptr;
        std::size_t sent = 0;
    };

    [[nodiscard]] static bool stands(request const& it) noexcept {
        if (it.why) { return false; }
        std::string_view const code = detail::element_of(it.text, "Code");
        return (it.status < 500 || it.status == 501) && it.status != 429 && it.status != 408 && code != "RequestTimeout" && code != "SlowDown";
    }

    // 0.1 s, twice as long each time, 10 s at most, and up to as much again at random: not all of many workers at the same moment.
    [[nodiscard]] bool wait(unsigned tries, std::chrono::steady_clock::time_point end) {
        using namespace std::chrono_literals;
        auto pause = (std::min)(std::chrono::milliseconds{10'000}, 100ms * (1U << (std::min)(tries, 7U)));
        pause += std::chrono::milliseconds{std::uniform_int_distribution<long>{0, pause.count()}(random_)};
        auto const until = std::chrono::steady_clock::now() + pause;
        if (until >= end) { return false; }
        while (std::chrono::steady_clock::now() < until) {
            if (is_stopped()) { return false; }
            std::this_thread::sleep_for((std::min)(20ms, pause));
        }
        return true;
    }

    void ask_once(std::vector<request*> const& open) {
        std::vector<transfer> running(open.size());
        std::size_t next = 0, done = 0, active = 0;
        while (done < open.size()) {
            for (; next < open.size() && active < at_once; ++next, ++active) { begin(running[next] = {open[next]}, next); }
            int still = 0;
            CURLMcode what = curl_multi_perform(many_, &still);
            if (what == CURLM_OK && still > 0) { what = curl_multi_poll(many_, nullptr, 0, 200, nullptr); }
            int left = 0;
            while (CURLMsg const* const told = curl_multi_info_read(many_, &left)) {
                if (told->msg != CURLMSG_DONE) { continue; }
                char* place = nullptr;
                CURLcode const how = told->data.result;
                curl_easy_getinfo(told->easy_handle, CURLINFO_PRIVATE, &place);
                end(running[reinterpret_cast<std::uintptr_t>(place)], how);
                ++done, --active;
            }
            bool const stopped = is_stopped();
            if (what == CURLM_OK && !stopped) { continue; }
            for (transfer& each : running) {
                if (each.easy == nullptr) { continue; }
                end(each, stopped ? CURLE_OPERATION_TIMEDOUT : CURLE_OUT_OF_MEMORY), ++done, --active;
            }
            for (; next < open.size(); ++next, ++done) {
                open[next]->why = {stopped ? errc::io_error : errc::out_of_memory,
                                   stopped ? "no time was left for a request to the object store"
                                           : "no memory for a request to the object store"};
            }
        }
    }

    void begin(transfer& it, std::size_t number) {
        request& of = *it.of;
        ++requests_;
        of.status = 0, of.text.clear(), of.came = 0, of.why = {}, of.length = 0, of.date = 0, of.modified = 0;
        of.etag.clear();
        if (idle_.empty()) {
            it.easy = curl_easy_init();
        } else {
            it.easy = idle_.back();
            idle_.pop_back();
            curl_easy_reset(it.easy);
        }
        CURL* const easy = it.easy;
        auto const add = [&](std::string const& line) { it.headers = curl_slist_append(it.headers, line.c_str()); };
        for (std::string const& each : of.headers) { add(each); }
        add("x-amz-content-sha256: " + detail::hex_sha256(of.body));  // which the store compares with what came
        if (!how_.token.empty()) { add("x-amz-security-token: " + how_.token); }
        if (!of.body.empty()) { add("Content-Type: application/octet-stream"); }

        curl_easy_setopt(easy, CURLOPT_URL, url_of(of).c_str());
        curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, it.headers);
        curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, ("aws:amz:" + how_.region + ":s3").c_str());
        curl_easy_setopt(easy, CURLOPT_USERNAME, how_.key_id.c_str());
        curl_easy_setopt(easy, CURLOPT_PASSWORD, how_.key.c_str());
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, cast_to<long>(how_.connect.count()));
        curl_easy_setopt(easy, CURLOPT_EXPECT_100_TIMEOUT_MS, 200L);  // a header `Expect:` would be signed
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, cast_to<long>(how_.stalled.count()));
        curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &http::take);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, &it);
        curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &http::take_header);
        curl_easy_setopt(easy, CURLOPT_HEADERDATA, &it);
        curl_easy_setopt(easy, CURLOPT_PRIVATE, reinterpret_cast<char*>(number));
        if (std::string_view{of.method} == "HEAD") {
            curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
        } else if (std::string_view{of.method} == "PUT") {
            curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
            curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(of.body.size()));
            curl_easy_setopt(easy, CURLOPT_READFUNCTION, &http::give);
            curl_easy_setopt(easy, CURLOPT_READDATA, &it);
            curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, &http::seek);
            curl_easy_setopt(easy, CURLOPT_SEEKDATA, &it);
        } else if (std::string_view{of.method} == "POST") {
            curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(of.body.size()));
            curl_easy_setopt(easy, CURLOPT_POSTFIELDS, of.body.empty() ? "" : reinterpret_cast<char const*>(of.body.data()));
        } else if (std::string_view{of.method} != "GET") {
            curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, of.method);
        }
        curl_multi_add_handle(many_, easy);
    }

    void end(transfer& it, CURLcode how) {
        request& of = *it.of;
        curl_easy_getinfo(it.easy, CURLINFO_RESPONSE_CODE, &of.status);
        if (how != CURLE_OK && !(how == CURLE_SEND_ERROR && of.status >= 400)) {
            of.why = {how == CURLE_OUT_OF_MEMORY ? errc::out_of_memory : errc::io_error, "the object store at "};
            of.why.what << (how_.endpoint.empty() ? std::string_view{"amazonaws.com"} : std::string_view{how_.endpoint})
                        << " does not answer: " << curl_easy_strerror(how) << ". Asked again until the patience was over";
        }
        curl_multi_remove_handle(many_, it.easy);
        curl_slist_free_all(it.headers);
        idle_.push_back(it.easy);
        it = {};
    }

    [[nodiscard]] std::string url_of(request const& it) const {
        bool const path_style = !how_.endpoint.empty() || it.bucket.find('.') != it.bucket.npos;
        std::string const host = "s3." + how_.region + ".amazonaws.com";
        std::string url = !how_.endpoint.empty() ? how_.endpoint : "https://" + (path_style ? host : it.bucket + '.' + host);
        if (path_style) { url += '/' + it.bucket; }
        if (!it.key.empty() || !path_style) { url += '/' + encoded(it.key, false); }
        return it.query.empty() ? url : url + '?' + it.query;
    }

    static std::size_t take(char* data, std::size_t, std::size_t size, void* context) noexcept {
        auto& it = *static_cast<transfer*>(context);
        request& of = *it.of;
        long status = 0;
        curl_easy_getinfo(it.easy, CURLINFO_RESPONSE_CODE, &status);
        if (status >= 200 && status < 300 && !of.into.empty()) {
            if (size > of.into.size() - of.came) { return 0; }  // more than was asked for
            std::memcpy(of.into.data() + of.came, data, size);
            of.came += size;
            return size;
        }
        return guarded([&] { of.text.append(data, size); }) ? size : 0;
    }

    static std::size_t take_header(char* data, std::size_t, std::size_t size, void* context) noexcept {
        request& of = *static_cast<transfer*>(context)->of;
        std::string_view const line{data, size};
        std::size_t const colon = line.find(':');
        if (colon == line.npos) { return size; }
        auto const is = [&](std::string_view name) {
            return name.size() == colon && std::equal(name.begin(), name.end(), line.begin(), [](char a, char b) {
                       return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b + 32) : b);
                   });
        };
        std::string_view value = line.substr(colon + 1);
        while (!value.empty() && (value.back() == '\n' || value.back() == '\r')) { value.remove_suffix(1); }
        value = detail::trimmed(value);
        return guarded([&] {
                   if (is("etag")) { of.etag = value; }
                   if (is("x-amz-bucket-region")) { of.region = value; }
                   if (is("content-length")) { of.length = std::strtoull(std::string{value}.c_str(), nullptr, 10); }
                   if (is("date")) { of.date = curl_getdate(std::string{value}.c_str(), nullptr); }
                   if (is("last-modified")) { of.modified = curl_getdate(std::string{value}.c_str(), nullptr); }
               })
                   ? size
                   : 0;
    }

    static std::size_t give(char* into, std::size_t, std::size_t most, void* context) noexcept {
        auto& it = *static_cast<transfer*>(context);
        std::size_t const size = (std::min)(most, it.of->body.size() - it.sent);
        if (size > 0) { std::memcpy(into, it.of->body.data() + it.sent, size); }
        it.sent += size;
        return size;
    }

    static int seek(void* context, curl_off_t to, int from) noexcept {
        if (from != SEEK_SET || to < 0) { return CURL_SEEKFUNC_CANTSEEK; }
        static_cast<transfer*>(context)->sent = static_cast<std::size_t>(to);
        return CURL_SEEKFUNC_OK;
    }

    settings how_;
    CURLM* many_ = nullptr;
    std::vector<CURL*> idle_{};
    std::uint64_t requests_ = 0;
    std::minstd_rand random_{std::random_device{}()};
    bool (*stop_)(void const*) = nullptr;
    void const* context_ = nullptr;
};

}  // namespace spotter::inline SPOTTER_ABI::s3
