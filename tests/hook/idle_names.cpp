// SPDX-License-Identifier: Apache-2.0
// Tensors that are named at steps at which they are not due: the hook never takes one for the tensor that it expects.
#include <tests/catch.hpp>
#include <tests/hook/collect.hpp>

#include <spotter/hook.hpp>

#include <algorithm>

using namespace spotter;
using spotter_test::collecting_sink;

namespace {

constexpr plan every_tenth{collection{"all", "*", every{10}, payload}};

std::size_t declared(collecting_sink const& sink) {
    return static_cast<std::size_t>(std::count_if(
        sink.events.begin(), sink.events.end(), [](std::string const& each) { return each.starts_with("declare "); }));
}

}  // namespace

TEST_CASE("a name that differs in one letter from the expected one is another tensor, whatever their length") {
    float const value = 1;
    for (std::size_t length = 1; length <= 70; ++length) {
        collecting_sink sink;
        hook watch{sink, every_tenth};
        std::string name(length, 'a');
        watch.begin(train(0));
        watch.observe(name, value);
        (void)watch.end();
        for (std::size_t i = 0; i < length; ++i) {  // the same buffer with other letters
            watch.begin(train(i + 1));
            watch.observe(std::string{name}, value);  // so that the hook expects it again
            name[i] = 'b';
            watch.observe(name, value);
            name[i] = 'a';
            (void)watch.end();
        }
        INFO(length);
        CHECK(declared(sink) == 1 + length);
    }
}

TEST_CASE("a name with one letter more or less than the expected one is another tensor") {
    for (std::size_t const length : {1U, 3U, 4U, 7U, 8U, 15U, 16U, 17U, 23U, 24U, 25U, 40U}) {
        collecting_sink sink;
        hook watch{sink, every_tenth};
        float const value = 1;
        watch.begin(train(0));
        watch.observe(std::string(length, 'a'), value);
        (void)watch.end();
        watch.begin(train(1));
        watch.observe(std::string(length + 1, 'a'), value);
        (void)watch.end();
        watch.begin(train(2));
        watch.observe(std::string(length, 'a') + "b", value);
        (void)watch.end();
        INFO(length);
        CHECK(declared(sink) == 3);
    }
}

TEST_CASE("names in any order, left out or repeated, are separate tensors") {
    collecting_sink sink;
    hook watch{sink, every_tenth};
    std::vector<std::string> names;
    for (int i = 0; i < 40; ++i) {
        names.push_back("layer" + std::to_string(i) + std::string(static_cast<std::size_t>(i), 'w'));
    }
    std::map<std::string, std::vector<step_id>> reported;
    std::uint64_t state = 1;
    for (std::uint64_t index = 0; index < 200; ++index) {
        watch.begin(train(index));
        for (std::size_t i = 0; i < 30; ++i) {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            std::string const& name = names[index % 3 == 0 ? (state >> 33) % names.size() : i];
            float const value = 1;
            watch.observe(name, value);
            if (index % 10 == 0) { reported[name].push_back(train(index)); }
        }
        (void)watch.end();
    }
    CHECK(sink.kept == reported);
    CHECK(declared(sink) == names.size());
}

TEST_CASE("a role that is given at a step at which nothing is due is taken before the next one") {
    collecting_sink sink;
    constexpr plan keep{collection{"weights", role::weight, always{}, payload}};
    hook watch{sink, keep};
    float const value = 1;
    auto const step = [&](std::uint64_t index) {
        watch.begin(train(index));
        watch.observe("x", value);
        (void)watch.end();
    };
    step(0), step(1);
    CHECK(sink.kept["x"].empty());
    (void)watch.tensor("x", role::weight);
    step(2), step(3);
    CHECK(sink.kept["x"] == std::vector<step_id>{train(2), train(3)});
    CHECK(sink.infos["x"].role == role::weight);
}

TEST_CASE("a tensor that is expected and was not declared is declared at its first observation, due or not") {
    collecting_sink sink;
    hook watch{sink, every_tenth};
    float const value = 1;
    (void)watch.tensor("a");
    (void)watch.tensor("b");
    watch.begin(train(1));
    watch.observe("a", value);
    watch.observe("b", value);
    (void)watch.end();
    CHECK(declared(sink) == 2);
}
