// SPDX-License-Identifier: Apache-2.0
// Every way to hand tensors to a hook: sources, tables, numbered lists, layers, mode scopes, an optimizer, and the null
// hook.
#include <tests/catch.hpp>
#include <tests/hook/collect.hpp>

#include <spotter/hook.hpp>
#include <spotter/rules.hpp>

using namespace spotter;
using spotter_test::collecting_sink;

namespace {

constexpr plan keep_all{collection{"all", "*", every{2}, payload}};

struct plain_sgd {
    int steps = 0;
    void step() { ++steps; }
};
struct tiny_model {
    float w[2] = {1, 2};
};
template <class Visit>
void visit_tensors(tiny_model const& net, Visit visit) {
    visit("fc/w", net.w, role::weight);
}

}  // namespace

TEST_CASE("a source is copied only at steps where something is due") {
    collecting_sink sink;
    hook watch{sink, keep_all};
    int copies = 0;
    for (std::uint64_t i = 0; i < 10; ++i) {
        watch.begin(train(i));
        watch.observe("far", copied<float>({2}, [&](void* into, std::size_t bytes) {
                          ++copies;
                          std::memset(into, 0, bytes);
                      }));
        (void)watch.end();
    }
    CHECK(copies == 5);
    CHECK(sink.kept["far"].size() == 5);
}

TEST_CASE("rules judge what a source holds, and a source may be a named argument of step") {
    hook watch{plan{}, any("gaps", maximum > 5.0), non_finite{}};
    float const memory[] = {1, 99, 2, 99, 6, 99};
    std::int64_t const strides[] = {2 * sizeof(float)};
    auto const found = watch.step(train(0), "gaps"_t = packed(memory, {3}, std::span<std::int64_t const>{strides}));
    REQUIRE(found.size() == 1);
    CHECK(found.front().measured == 6);
}

TEST_CASE("a source too deep, or one that throws, is refused and named; the loop goes on") {
    hook watch{keep_all};
    watch.begin(train(0));
    watch.observe("deep", values_from({1, 1, 1, 1, 1, 1, 1, 1, 1}, [](std::size_t) { return 1.0; }));
    (void)watch.end();
    CHECK(watch.health().refused == 1);
    CHECK(watch.health().first_error.code == errc::rank_too_deep);
#if SPOTTER_EXCEPTIONS
    hook other{keep_all};
    other.begin(train(0));
    other.observe("bad", values_from({3}, [](std::size_t i) -> double {
                      if (i == 1) { throw 1; }
                      return 0;
                  }));
    other.observe("good", 1.0F);
    (void)other.end();
    CHECK(other.health().first_error.code == errc::user_code_threw);
    CHECK(other.health().observed == 1);
#endif
}

TEST_CASE("what a step takes is observed between begin and end, by the hook and by an observer of it") {
    collecting_sink sink;
    hook watch{sink, plan{collection{"all", "*", always{}, payload}}};
    watch.begin(train(0));
    watch.observe(tiny_model{});
    watch.observe("out"_t = 3.0F);
    (void)watch.end();
    observer const see{watch};
    see.begin(train(1));
    see.observe(tiny_model{});
    see.observe("out"_t = 4.0F);
    (void)see.end();
    CHECK(sink.kept["fc/w"].size() == 2);
    CHECK(sink.kept["out"].size() == 2);
    observer{}.observe(tiny_model{});  // one without a hook accepts it
    null_hook{}.observe(tiny_model{});
}

TEST_CASE("a table reads its pointers at each use and leaves out those that are still null") {
    collecting_sink sink;
    hook watch{sink, plan{collection{"all", "*", always{}, payload}}};
    float* w = nullptr;
    double values[] = {1, 2};
    double* b = values;
    tensor_table table;
    table.add("fc/w", &w, {2, 2}, role::weight, flag::frozen).add("fc/b", &b, {2});
    (void)watch.step(train(0), table);
    CHECK(sink.kept.count("fc/w") == 0);
    float later[] = {1, 2, 3, 4};
    w = later;
    (void)watch.step(train(1), table);
    CHECK(sink.kept["fc/w"].size() == 1);
    CHECK(sink.kept["fc/b"].size() == 2);
    CHECK(sink.infos["fc/w"].role == role::weight);
    CHECK(has(sink.infos["fc/w"].flags, flag::frozen));
    CHECK(table.resize("fc/w", {4}));
    CHECK_FALSE(table.resize("nope", {4}));
}

TEST_CASE("nameless lists are numbered, and a leading axis can mean layer") {
    collecting_sink sink;
    hook watch{sink, plan{collection{"all", "*", always{}, payload}}, any("block/2/w", minimum > 7.0)};
    std::vector<std::vector<float>> const parameters = {{1, 2}, {3}, {4, 5, 6}};
    float const stacked[3][2][2] = {{{0, 1}, {2, 3}}, {{4, 5}, {6, 7}}, {{8, 9}, {10, 11}}};
    name_list const numbers{"p", 3};
    name_list const blocks{"block/{}/w", 3};
    watch.begin(train(0));
    observe_each(watch, numbers, parameters, role::weight);
    observe_layers(watch, blocks, stacked);
    auto const found = watch.end();
    REQUIRE(found.size() == 1);
    CHECK(found.front().measured == 8);
    CHECK(sink.infos["p2"].shape == extents{3});
    CHECK(sink.infos["block/1/w"].shape == extents{2, 2});
    CHECK(sink.infos["block/1/w"].role == role::weight);
}

TEST_CASE("a mode scope gives steps without a mode theirs, nests, and ends") {
    collecting_sink sink;
    hook watch{sink, keep_all};
    (void)watch.step(0, "x"_t = 1.0F);
    {
        auto scope = watch.during(mode::eval);
        (void)watch.step(0, "x"_t = 1.0F);
        {
            auto inner = watch.during(mode::predict);
            watch.begin(4);
            (void)watch.end();
        }
        CHECK(watch.current_mode() == mode::eval);
    }
    (void)watch.step(2, "x"_t = 1.0F);
    std::vector<std::string> closes;
    for (auto const& each : sink.events) {
        if (each.starts_with("close")) { closes.push_back(each); }
    }
    CHECK(closes == std::vector<std::string>{"close train(0)", "close eval(0)", "close predict(4)", "close train(2)"});
}

TEST_CASE("a watched optimizer updates unless a rule objects") {
    hook watch{plan{}, on(any("fc/w", maximum > 10.0), skip_update), on(any("fc/w", maximum > 100.0), stop)};
    tiny_model net;
    plain_sgd sgd;
    watched_optimizer optimizer{watch, sgd, net};
    CHECK(optimizer.step("loss"_t = 1.0F) == decision::proceed);
    net.w[0] = 11;
    CHECK(optimizer.step("loss"_t = 1.0F) == decision::skip_update);
    net.w[0] = 101;
    CHECK(optimizer.step("loss"_t = 1.0F) == decision::stop);
    CHECK(optimizer.found().front().step == train(2));
    CHECK(sgd.steps == 1);
}

TEST_CASE("batch axis and activation kind are set by flags, and decide what a unit is") {
    collecting_sink sink;
    hook watch{sink, plan{}, dead_relu{.select = "act", .samples = 4}};
    float const one_sample_a_column[3][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {1, 1, 1, 1}};  // 3 units x 4 samples
    watch.begin(train(0));
    watch.observe("act", one_sample_a_column, role::activation, batch_axis(1) | activated_by(activation_kind::relu));
    auto const found = watch.end();
    REQUIRE(found.size() == 1);
    CHECK(found.front().measured == Approx(2.0 / 3));
    CHECK(sink.infos["act"].activation == activation_kind::relu);
    CHECK(batch_axis_of(sink.infos["act"].flags) == 1);
}

TEST_CASE("the null hook takes the same calls and finds nothing [A14]") {
    null_hook watch{"runs/a", keep_all, non_finite{}};
    tiny_model net;
    auto scope = watch.during(mode::eval);
    float const bad = std::bit_cast<float>(0x7FC00000U);
    CHECK_FALSE(watch.step(train(0), "x"_t = bad, net));
    watch.begin(train(1));
    watch.observe("x", bad);
    CHECK(watch.tap("y", 3) == 3);
    watch.scalar("lr", 0.1);
    CHECK(watch.end().decision() == decision::proceed);
    CHECK(watch.health().good());
    CHECK(watch.path().empty());
}

TEST_CASE("flags alone leave the role to the name; role::other is a role; the hook tells what it understood") {
    collecting_sink sink;
    hook watch{sink, keep_all};
    float const values[4]{};
    float const* where = values;
    tensor_table table;
    table.add("grad/a/w", &where, {2, 2}, role::other)
        .add("b/w", &where, {2, 2}, flag::frozen)
        .add("c/w", &where, {2, 2});
    watch.begin(train(0));
    watch.observe("d/w", values, flag::frozen);
    (void)watch.end(table);
    CHECK(sink.infos["grad/a/w"].role == role::other);
    CHECK((sink.infos["b/w"].role == role::weight && has(sink.infos["b/w"].flags, flag::frozen)));
    CHECK((sink.infos["c/w"].role == role::weight && !has(sink.infos["c/w"].flags, flag::frozen)));
    CHECK((sink.infos["d/w"].role == role::weight && has(sink.infos["d/w"].flags, flag::frozen)));
    std::vector<std::string_view> names;
    watch.each_tensor([&](tensor_info const& each) { names.push_back(each.name); });
    CHECK(names == std::vector<std::string_view>{"d/w", "grad/a/w", "b/w", "c/w"});
}

TEST_CASE("a null hook takes every call that a hook takes") {
    auto const loop = [](auto& watch) {
        observer const see{watch};
        auto const x = watch.tensor("x");
        watch.begin(train(0));
        see.observe("seen", 1.0, role::weight, flag::frozen);
        see.scalar("seen/lr", 0.1);
        watch.observe(x, 1.0);
        watch.observe("y", 1.0, flag::frozen);
        watch.scalar("lr", 0.1);
        watch.scalar(x, 0.1);
        auto scope = watch.during(watch.current_mode());
        spotter::step_alarm const found = watch.end("z"_t = 1.0);
        watch.each_tensor([](tensor_info const&) {});
        watch.coverage_of_rules([](coverage const&) {});
        watch.flush(), watch.poll(), watch.finish();
        return found.size() + found.left_out();
    };
    hook real{keep_all};
    null_hook none{keep_all};
    CHECK(loop(real) + loop(none) == 0);
    CHECK(none.health().good());
}
