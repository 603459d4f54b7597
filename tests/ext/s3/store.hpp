// SPDX-License-Identifier: Apache-2.0
// For tests of object storage: a store in a child process that lives as long as a test, and runs whose values are all
// known.
#pragma once

#include <spotter/ext/s3.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <tests/catch.hpp>
#include <tests/temporary_folder.hpp>
#include <tests/words.hpp>

#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

namespace spotter_test {

using namespace spotter;
using namespace spotter::literals;

inline constexpr char store_secret[] = "a-secret/of+tests";

// A child that prints its port once it is ready, and ends when its standard input closes. Its start sets address and
// keys in the environment.
class store_process {
public:
    explicit store_process(std::vector<std::string> words) {
        for (char const* const each : {"AWS_ENDPOINT_URL_S3", "AWS_SESSION_TOKEN", "AWS_PROFILE",
                                       "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "http_proxy", "HTTP_PROXY"}) {
            ::unsetenv(each);
        }
        int in[2], out[2];
        if (words.empty() || words[0].empty() || ::pipe(in) != 0 || ::pipe(out) != 0) { return; }
        std::vector<char*> argv;
        for (std::string& each : words) { argv.push_back(each.data()); }
        argv.push_back(nullptr);
        child_ = ::fork();
        if (child_ == 0) {
            ::dup2(in[0], 0), ::dup2(out[1], 1);
            ::close(in[1]), ::close(out[0]);
            ::execvp(argv[0], argv.data());
            ::_exit(127);
        }
        ::close(in[0]), ::close(out[1]);
        ::fcntl(in[1], F_SETFD, FD_CLOEXEC);
        stay_ = in[1];
        char port[16]{};
        std::size_t size = 0;
        while (size + 1 < sizeof port && ::read(out[0], port + size, 1) == 1 && port[size] != '\n') { ++size; }
        ::close(out[0]);
        std::string const address = "http://127.0.0.1:" + std::string{port, size};
        ::setenv("AWS_ENDPOINT_URL", address.c_str(), 1);
        ::setenv("AWS_ACCESS_KEY_ID", "AKIDTESTTESTTESTTEST", 1);
        ::setenv("AWS_SECRET_ACCESS_KEY", store_secret, 1);
        ::setenv("AWS_REGION", "us-east-1", 1);
        works_ = size > 0;
    }
    store_process(store_process const&) = delete;
    store_process& operator=(store_process const&) = delete;
    ~store_process() {
        if (child_ <= 0) { return; }
        ::close(stay_);
        ::waitpid(child_, nullptr, 0);
    }

    [[nodiscard]] bool works() const noexcept { return works_; }
    void tell(std::string const& line) const {
        std::string const text = line + '\n';
        REQUIRE(::write(stay_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    }

private:
    pid_t child_ = -1;
    int stay_ = -1;
    bool works_ = false;
};

inline constexpr std::size_t wide = 5000;
inline std::vector<float> values_at(std::uint64_t step) {
    std::mt19937 random{static_cast<unsigned>(step) + 1U};
    std::vector<float> made(wide);
    for (float& each : made) { each = static_cast<float>(random()) * 1e-9F; }
    return made;
}
inline constexpr plan keep{defaults::losses, collection{"weights", "w", every{1}, payload}};
inline constexpr options small_segments{.segment_bytes = 200'000};

template <class Hook>
void record_steps(Hook& watch, std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = from; i < to; ++i) {
        std::vector<float> const w = values_at(i);
        (void)watch.step(train(i), "loss"_t = static_cast<double>(i), "w"_t = w);
    }
}
inline void record_run(std::string const& path, std::uint64_t steps, std::uint32_t number = 0) {
    options how = small_segments;
    how.worker = number;
    hook watch{path, keep, how};
    record_steps(watch, 0, steps);
}
inline std::string bytes_of(std::string const& path) {
    std::ifstream in{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}
// Checks that the store has exactly the folder's files.
inline void check_same(std::string const& folder, std::string const& place_of) {
    s3::store away{s3::settings_here().value()};
    auto const where = s3::parse_place(place_of).value();
    std::size_t files = 0;
    for (auto const& each : std::filesystem::recursive_directory_iterator{folder}) {
        std::string const name = std::filesystem::relative(each.path(), folder).string();
        if (!each.is_regular_file() || !name.ends_with(".spot") == !name.ends_with(".spotx")) { continue; }
        ++files;
        std::string text;
        INFO(name);
        REQUIRE_FALSE(away.get(where.bucket, where.folder() + name, text));
        CHECK(text == bytes_of(each.path().string()));
    }
    CHECK(files > 0);
}
inline void check_reads(trial const& run, std::uint64_t steps) {
    CHECK(run.steps().size() == steps);
    CHECK(run.damage().empty());
    for (std::uint64_t i = 0; i < steps; ++i) {
        auto const read = run["w"].at(train(i)).to<std::vector<float>>();
        REQUIRE(read);
        CHECK(*read == values_at(i));
    }
}

}  // namespace spotter_test
