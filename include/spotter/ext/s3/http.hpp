// SPDX-License-Identifier: Apache-2.0
// Ext (L6): requests to an object store, signed by libcurl (AWS Signature Version 4), several at once, with retries
// where these can help.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/guard.hpp>
#include <spotter/core/result.hpp>
#include <spotter/ext/s3/request.hpp>
#include <spotter/file/deadline.hpp>
#include <spotter/file/descriptor.hpp>

#include <curl/curl.h>
#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace spotter::inline SPOTTER_ABI::s3 {

// Endpoint and keys of an object store, from the environment and the usual files, as other tools read them. The keys
// are never printed, recorded or part of an error.
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

namespace detail {

// libcurl's global initialisation, once in a process.
inline void begin_curl() noexcept {
    static bool const begun = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    (void)begun;
}

}  // namespace detail

// Belongs to one thread at a time.
class http {
public:
    explicit http(settings how) : how_{std::move(how)} {
        spotter::detail::standard_streams_kept const kept;
        detail::without_user(how_.endpoint);
        detail::begin_curl(), many_ = curl_multi_init();
    }
    http(http const&) = delete;
    http& operator=(http const&) = delete;
    ~http() {
        for (CURL* each : idle_) { curl_easy_cleanup(each); }
        curl_multi_cleanup(many_);
    }

    [[nodiscard]] settings const& how() const noexcept { return how_; }  // as given
    // Requests so far, retries included, as the store counts them.
    [[nodiscard]] std::uint64_t requests() const noexcept { return requests_; }
    // The result of the function given to `stop_if`.
    [[nodiscard]] bool is_stopped() const noexcept { return stop_ != nullptr && stop_(context_); }
    // `stop(context)` is called often; true ends the waiting between two tries.
    void stop_if(bool (*stop)(void const*), void const* context) noexcept { stop_ = stop, context_ = context; }

    // Runs each request until it has a final answer, or until `patience` is over. A try of a large transfer may exceed
    // that, as long as it is faster than `slowest`.
    void ask(std::span<request> all) {
        auto const end = spotter::detail::deadline_in(how_.patience);
        std::vector<request*> open;
        for (request& each : all) { open.push_back(&each); }
        for (unsigned tries = 0; !open.empty(); ++tries) {
            ask_once(open, end);
            std::erase_if(open, [](request const* each) { return stands(*each); });
            if (open.empty() || !wait(tries, end)) { break; }
        }
    }
    void ask(request& one) { ask({&one, 1}); }

private:
    using time_point = std::chrono::steady_clock::time_point;
    static constexpr std::size_t at_once = 16;
    static constexpr std::size_t most_header = 256U << 10;  // bytes of an answer's headers
    static constexpr std::uint64_t slowest = 16U << 10;     // bytes a second

    struct transfer {
        request* of = nullptr;
        CURL* easy = nullptr;
        curl_slist* headers = nullptr;
        std::string announced{};  // the checksum of the body
        std::uint64_t sent = 0;
        std::size_t header = 0;                  // bytes of the answer's headers so far
        std::unique_ptr<detail::sha256> sum{};   // of the sent part of a file
        bool changed = false, too_long = false;  // the file changed; the answer is too long
    };

    [[nodiscard]] static bool stands(request const& it) noexcept {
        if (it.is_final) { return true; }
        if (it.why) { return false; }
        std::string_view const code = detail::element_of(it.text, "Code");
        return (it.status < 500 || it.status == 501) && it.status != 429 && it.status != 408 &&
               code != "RequestTimeout" && code != "SlowDown";
    }

    // 0.1 s, doubled each time up to 10 s, plus a random part of the same size, so that many workers do not retry at
    // once.
    [[nodiscard]] bool wait(unsigned tries, time_point end) {
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

    void ask_once(std::vector<request*> const& open, time_point until) {
        std::vector<transfer> running(open.size());
        std::size_t next = 0, done = 0, active = 0;
        while (done < open.size()) {
            for (; next < open.size() && active < at_once; ++next) {
                running[next].of = open[next];
                if (begin(running[next], next, until)) {
                    ++active;
                } else {
                    ++done;
                }
            }
            int still = 0;
            CURLMcode what = curl_multi_perform(many_, &still);
            if (what == CURLM_OK && still > 0) { what = curl_multi_poll(many_, nullptr, 0, 200, nullptr); }
            std::size_t const ended = end_what_is_done(running);
            done += ended, active -= ended;
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

    // Ends the finished transfers; returns their number.
    [[nodiscard]] std::size_t end_what_is_done(std::vector<transfer>& running) {
        std::size_t count = 0;
        int left = 0;
        while (CURLMsg const* const message = curl_multi_info_read(many_, &left)) {
            if (message->msg != CURLMSG_DONE) { continue; }
            char* place = nullptr;
            CURLcode const how = message->data.result;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &place);
            end(running[reinterpret_cast<std::uintptr_t>(place)], how);
            ++count;
        }
        return count;
    }

    // False where there is nothing left to send.
    [[nodiscard]] bool begin(transfer& it, std::size_t number, time_point until) {
        using std::chrono::milliseconds;
        request& of = *it.of;
        of.status = 0, of.text.clear(), of.came = 0, of.why = {}, of.length = 0, of.date = 0, of.modified = 0;
        of.etag.clear(), of.region.clear();
        it.announced = detail::hex_sha256(of.body);
        if (it.announced.empty()) {
            of.why = detail::changed_meanwhile(), of.is_final = true;
            return false;
        }
        ++requests_;
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
        add("x-amz-content-sha256: " + it.announced);  // the store compares it with the received body
        if (!how_.token.empty()) { add("x-amz-security-token: " + how_.token); }
        if (!of.body.empty()) { add("Content-Type: application/octet-stream"); }

        curl_easy_setopt(easy, CURLOPT_URL, url_of(of).c_str());
        curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, it.headers);
        curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, ("aws:amz:" + how_.region + ":s3").c_str());
        curl_easy_setopt(easy, CURLOPT_USERNAME, how_.key_id.c_str());
        curl_easy_setopt(easy, CURLOPT_PASSWORD, how_.key.c_str());
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &http::open_socket);
        curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, cast_to<long>(how_.connect.count()));
        curl_easy_setopt(easy, CURLOPT_EXPECT_100_TIMEOUT_MS, 200L);  // a header `Expect:` would be signed
        auto const left = std::chrono::duration_cast<milliseconds>(until - std::chrono::steady_clock::now()).count();
        auto const most = (std::max)(left, milliseconds::rep{1}) +
                          static_cast<milliseconds::rep>((of.body.size() + of.into.size()) * 1000 / slowest);
        curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(most));
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
            curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 512L << 10);
            if (of.body.is_file()) { it.sum = std::make_unique<detail::sha256>(); }
            curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(of.body.size()));
            curl_easy_setopt(easy, CURLOPT_READFUNCTION, &http::give);
            curl_easy_setopt(easy, CURLOPT_READDATA, &it);
            curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, &http::seek);
            curl_easy_setopt(easy, CURLOPT_SEEKDATA, &it);
        } else if (std::string_view{of.method} == "POST") {
            curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(of.body.size()));
            curl_easy_setopt(easy, CURLOPT_POSTFIELDS,
                             of.body.empty() ? "" : reinterpret_cast<char const*>(of.body.data()));
        } else if (std::string_view{of.method} != "GET") {
            curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, of.method);
        }
        curl_multi_add_handle(many_, easy);
        return true;
    }

    void end(transfer& it, CURLcode how) {
        request& of = *it.of;
        curl_easy_getinfo(it.easy, CURLINFO_RESPONSE_CODE, &of.status);
        if (it.changed) {
            of.why = detail::changed_meanwhile(), of.is_final = true;
        } else if (it.too_long) {
            of.why = {errc::io_error, "the object store answers with more than it was asked for"}, of.is_final = true;
        } else if (how != CURLE_OK && !(how == CURLE_SEND_ERROR && of.status >= 400)) {
            of.why = {how == CURLE_OUT_OF_MEMORY ? errc::out_of_memory : errc::io_error, "the object store at "};
            put_plain(how_.endpoint.empty() ? std::string_view{"amazonaws.com"} : std::string_view{how_.endpoint},
                      [&](std::string_view piece) { of.why.what << piece; });
            of.why.what << " does not answer: " << curl_easy_strerror(how)
                        << ". Asked again until the patience was over";
        }
        curl_multi_remove_handle(many_, it.easy);
        curl_slist_free_all(it.headers);
        idle_.push_back(it.easy);
        it = {};
    }

    [[nodiscard]] std::string url_of(request const& it) const {
        bool const path_style = !how_.endpoint.empty() || it.bucket.find('.') != it.bucket.npos;
        std::string const host = "s3." + how_.region + ".amazonaws.com";
        std::string url =
            !how_.endpoint.empty() ? how_.endpoint : "https://" + (path_style ? host : it.bucket + '.' + host);
        if (path_style) { url += '/' + it.bucket; }
        if (!it.key.empty() || !path_style) { url += '/' + encoded(it.key, false); }
        return it.query.empty() ? url : url + '?' + it.query;
    }

    // Keeps closed standard streams reserved, so that the program's output cannot end up in a request.
    static curl_socket_t open_socket(void*, curlsocktype, curl_sockaddr* to) noexcept {
        spotter::detail::standard_streams_kept const kept;
        int const made = kept.above(::socket(to->family, to->socktype, to->protocol));
        if (made >= 0) { (void)::fcntl(made, F_SETFD, FD_CLOEXEC); }
        return made;
    }

    static std::size_t take(char* data, std::size_t, std::size_t size, void* context) noexcept {
        auto& it = *static_cast<transfer*>(context);
        request& of = *it.of;
        long status = 0;
        curl_easy_getinfo(it.easy, CURLINFO_RESPONSE_CODE, &status);
        if (status >= 200 && status < 300 && !of.into.empty()) {
            it.too_long = size > of.into.size() - of.came;
            if (it.too_long) { return 0; }
            std::memcpy(of.into.data() + of.came, data, size);
            of.came += size;
            return size;
        }
        it.too_long = size > of.most - (std::min)(of.text.size(), of.most);
        return !it.too_long && guarded([&] { of.text.append(data, size); }) ? size : 0;
    }

    static std::size_t take_header(char* data, std::size_t, std::size_t size, void* context) noexcept {
        auto& it = *static_cast<transfer*>(context);
        request& of = *it.of;
        it.header += size;
        it.too_long = it.header > most_header;
        if (it.too_long) { return 0; }
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

    // The last bytes of a file are only sent if all of it matched the announced checksum; else the store would hold a
    // mixture.
    static std::size_t give(char* into, std::size_t, std::size_t most, void* context) noexcept {
        auto& it = *static_cast<transfer*>(context);
        payload const& body = it.of->body;
        std::span<std::byte> const room{reinterpret_cast<std::byte*>(into), most};
        std::size_t const size = it.sent < body.size() ? body.read(it.sent, room) : 0;
        it.changed = size == 0 && it.sent < body.size();  // the file was truncated
        it.sent += size;
        if (it.sum && size > 0) {
            it.sum->add(room.first(size));
            bool same = it.sent < body.size();
            if (!same) {
                (void)guarded([&] { same = it.sum->hex() == it.announced; });
            }
            it.changed = !same;
        }
        return it.changed ? CURL_READFUNC_ABORT : size;
    }

    static int seek(void* context, curl_off_t to, int from) noexcept {
        auto& it = *static_cast<transfer*>(context);
        if (from != SEEK_SET || to != 0) { return CURL_SEEKFUNC_CANTSEEK; }
        if (it.sum) { it.sum->begin(); }
        it.sent = 0;
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
