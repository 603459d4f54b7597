// SPDX-License-Identifier: Apache-2.0
// For tests of object storage: a correct store in memory that calls the test when a request arrives.
#pragma once

#include <spotter/ext/s3.hpp>

#include <tests/ext/s3/hostile.hpp>

#include <map>
#include <mutex>

namespace spotter_test {

// Accepts any bucket and does not check signatures. Its constructor makes the environment's settings point to it.
class plain_store {
public:
    explicit plain_store(std::function<void(std::size_t)> meanwhile = {})
        : server_{[this](hostile_store::question const& asked) { answer(asked); }, std::move(meanwhile)} {
        for (char const* const each :
             {"AWS_ENDPOINT_URL_S3", "AWS_SESSION_TOKEN", "AWS_PROFILE", "http_proxy", "HTTP_PROXY"}) {
            ::unsetenv(each);
        }
        ::setenv("AWS_ENDPOINT_URL", ("http://" + server_.address()).c_str(), 1);
        ::setenv("AWS_ACCESS_KEY_ID", "AKIDTESTTESTTESTTEST", 1);
        ::setenv("AWS_SECRET_ACCESS_KEY", "a-secret", 1);
        ::setenv("AWS_REGION", "us-east-1", 1);
    }

    // The object at "/bucket/key"; empty if there is none.
    [[nodiscard]] std::string at(std::string const& path) {
        std::scoped_lock const held{guard_};
        auto const it = objects_.find(path);
        return it == objects_.end() ? std::string{} : it->second;
    }
    void put(std::string const& path, std::string bytes) {
        std::scoped_lock const held{guard_};
        objects_[path] = std::move(bytes);
    }

private:
    [[nodiscard]] static std::string etag_of(std::string const& bytes) {
        char text[32];
        std::snprintf(text, sizeof text, "%016zx", std::hash<std::string>{}(bytes));
        return text;
    }
    void answer(hostile_store::question const& asked) {
        std::scoped_lock const held{guard_};
        std::string const path = spotter::s3::decoded(asked.path);
        if (asked.is_list()) {
            std::size_t const at = asked.query.find("prefix=") + 7;
            std::string const begin =
                path + '/' + spotter::s3::decoded(asked.query.substr(at, asked.query.find('&', at) - at));
            std::string text = "<ListBucketResult><IsTruncated>false</IsTruncated>";
            for (auto const& [name, bytes] : objects_) {
                if (!name.starts_with(begin)) { continue; }
                text += "<Contents><Key>" + name.substr(path.size() + 1) + "</Key><ETag>" + etag_of(bytes) +
                        "</ETag><Size>" + std::to_string(bytes.size()) + "</Size></Contents>";
            }
            return asked.answer(text + "</ListBucketResult>");
        }
        auto const it = objects_.find(path);
        if (asked.method == "PUT") {
            if (it != objects_.end() && !asked.header("If-None-Match").empty()) {
                return asked.answer("<Error><Code>PreconditionFailed</Code></Error>", "412 Precondition Failed");
            }
            objects_[path] = asked.body;
            return asked.answer("", "200 OK", "ETag: \"" + etag_of(asked.body) + "\"\r\n");
        }
        if (it == objects_.end()) { return asked.answer("<Error><Code>NoSuchKey</Code></Error>", "404 Not Found"); }
        std::string const range = asked.header("Range");
        if (range.empty()) { return asked.answer(it->second); }
        std::size_t const from = std::strtoull(range.c_str() + 6, nullptr, 10);
        std::size_t const last = std::strtoull(range.c_str() + range.find('-') + 1, nullptr, 10);
        if (from >= it->second.size()) { return asked.answer("", "416 Range Not Satisfiable"); }
        asked.answer(std::string_view{it->second}.substr(from, last - from + 1), "206 Partial Content");
    }

    std::mutex guard_{};
    std::map<std::string, std::string> objects_{};
    hostile_store server_;
};

}  // namespace spotter_test
