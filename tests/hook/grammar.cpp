// SPDX-License-Identifier: Apache-2.0
// The calls of a hook: which events each of them gives a sink, and in which order.
#include <spotter/stat/lanes.hpp>

#include <tests/catch.hpp>
#include <tests/hook/collect.hpp>

#include <array>

using namespace spotter;
using namespace spotter_test;

namespace nets {

struct two_layers {
    std::vector<float> weight = std::vector<float>(6, 1.0F);
    std::array<float, 2> bias{0, 1};
    double rate = 0.5;
};
template <class Visit>
void visit_tensors(two_layers const& net, Visit visit) {
    visit("fc/w", view_of(net.weight.data(), {2, 3}));
    visit(std::string{"fc/"} + "b", net.bias, role::bias);
    visit("momentum", net.rate, role::optimizer, flag::frozen);
}

}  // namespace nets

namespace {
constexpr plan everything{collection{"all", "*"}};
using lines = std::vector<std::string>;
}  // namespace

TEST_CASE("one call opens a step, observes what it is given in order, and closes it") {
    collecting_sink sink;
    hook watch{sink, everything};
    nets::two_layers const net;
    float const loss = 2;
    (void)watch.step(train(7), "loss"_t = loss, net, "note"_t = 1.5);
    CHECK(sink.events == lines{"declare loss", "observe loss train(7)", "declare fc/w", "observe fc/w train(7)",
                               "declare fc/b", "observe fc/b train(7)", "declare momentum", "observe momentum train(7)",
                               "declare note", "observe note train(7)", "close train(7)"});
    CHECK(sink.collections == lines{"all: \"*\", always: payload"});
}

TEST_CASE("a model's visitor may say a role, or a role and flags, or leave both to the name") {
    collecting_sink sink;
    hook watch{sink, everything};
    (void)watch.step(train(0), nets::two_layers{});
    CHECK(sink.infos["fc/w"].role == role::weight);
    CHECK(sink.infos["fc/w"].shape == extents{2, 3});
    CHECK(sink.infos["fc/w"].type == dtype::f32);
    CHECK(sink.infos["fc/b"].role == role::bias);
    CHECK(sink.infos["momentum"].role == role::optimizer);
    CHECK(sink.infos["momentum"].flags == flag::frozen);
    CHECK(sink.infos["momentum"].shape.rank == 0);
}

TEST_CASE("begin, observe and end are the same as one call, whatever happens between them") {
    collecting_sink one, many;
    hook first{one, everything};
    hook second{many, everything};
    for (std::uint64_t i = 0; i < 3; ++i) {
        (void)first.step(eval(i), "a"_t = 1.0, "b"_t = 2.0F);
        second.begin(eval(i));
        second.observe("a", 1.0);
        second.observe("b", 2.0F);
        (void)second.end();
    }
    CHECK(one.events == many.events);
}

TEST_CASE("a handle stands for its name, also before its first observation; an empty one is nothing") {
    collecting_sink sink;
    hook watch{sink, everything};
    tensor_handle const w = watch.tensor("x", role::weight, flag::frozen);
    watch.begin(train(0));
    watch.observe(w, 1.0);
    watch.observe("x", 2.0);
    watch.observe(tensor_handle{}, 3.0);
    (void)watch.end();
    CHECK(sink.events == lines{"declare x", "observe x train(0)", "observe x train(0)", "close train(0)"});
    CHECK(sink.infos["x"].role == role::weight);
    CHECK(sink.infos["x"].flags == flag::frozen);
}

TEST_CASE("tap hands its argument on unchanged: an lvalue by reference, a temporary as a temporary") {
    collecting_sink sink;
    hook watch{sink, everything};
    observer const see{watch};
    watch.begin(train(0));
    std::vector<float> values{1, 2};
    static_assert(std::is_same_v<decltype(watch.tap("x", values)), std::vector<float>&>);
    static_assert(std::is_same_v<decltype(watch.tap("x", std::as_const(values))), std::vector<float> const&>);
    static_assert(std::is_same_v<decltype(see.tap("x", values)), std::vector<float>&>);
    CHECK(&watch.tap("x", values) == &values);
    float const* const memory = values.data();
    std::vector<float> const moved = see.tap("x", std::move(values));
    CHECK(moved.data() == memory);
    CHECK(watch.tap("y", 2.5) == 2.5);
    (void)watch.end();
    CHECK(sink.count("observe x") == 2);
    CHECK(sink.count("observe y") == 1);
}

TEST_CASE("an observer is two words that feed the hook they were made from") {
    collecting_sink sink;
    hook watch{sink, everything};
    static_assert(sizeof(observer) == 2 * sizeof(void*) && std::is_trivially_copyable_v<observer>);
    auto const layer = [](observer see) {
        see.observe("act/1", 1.0F);
        see.observe("plain", 1.0F, role::label);
    };
    watch.begin(train(0));
    layer(watch);
    (void)watch.end();
    CHECK(sink.kept["act/1"].size() == 1);
    CHECK(sink.infos["plain"].role == role::label);
}

namespace {

// A trainer that does not know the hook's type: its member is any hook, or none.
struct blind_trainer {
    observer watch{};
    nets::two_layers net{};

    decision run(std::uint64_t step, double loss) {
        watch.begin(train(step));
        watch.scalar("lr", 0.5);
        watch.scalar("note", "warm");
        return watch.end("loss"_t = loss, net).decision();
    }
};

}  // namespace

TEST_CASE("a class with an observer runs a whole loop without the hook's type: steps, scalars, models, decisions") {
    collecting_sink sink;
    hook watch{sink, everything, on(any("loss", maximum > 10.0), stop)};
    blind_trainer trainer;
    CHECK(!trainer.watch);
    CHECK(trainer.run(0, 11) == decision::proceed);  // without a hook
    CHECK(sink.events.empty());
    trainer.watch = watch;
    CHECK(static_cast<bool>(trainer.watch));
    CHECK(trainer.run(1, 1) == decision::proceed);
    CHECK(trainer.run(2, 11) == decision::stop);
    CHECK(sink.count("close") == 2);
    CHECK(sink.count("scalar lr train") == 2);
    CHECK(sink.count("scalar note train") == 2);
    CHECK(sink.kept["fc/w"].size() == 2);
    {
        auto const scope = watch.during(mode::eval);
        CHECK(trainer.watch.step(7, "loss"_t = 11.0).size() == 1);
        CHECK(sink.count("close eval(7)") == 1);
    }
    trainer.watch.scalar("lr", 0.25F);
    CHECK(sink.count("scalar lr loose") == 1);
    trainer.watch.fail("enough");
    watch.finish();
    CHECK(sink.ended == "failed: enough");
}

TEST_CASE("a scalar is kept at the open step, or loose between steps, with its own time or none, whatever the plan "
          "[S39][D11]") {
    collecting_sink sink;
    hook watch{sink, plan{collection{"some", "*", every{10}, payload}}};
    watch.scalar("lr", 0.25);
    for (std::uint64_t i = 0; i < 25; ++i) {
        watch.begin(train(i));
        watch.scalar("lr", static_cast<double>(i), 1000.5 + static_cast<double>(i));
        (void)watch.end();
    }
    watch.scalar("lr", -1.0, 5.0);
    CHECK(sink.count("scalar lr train") == 25);
    CHECK(sink.count("scalar lr loose") == 2);
    CHECK(sink.count("observe") == 0);
    REQUIRE(sink.numbers.size() == 27);
    CHECK(sink.numbers.front() == 0.25);
    CHECK(sink.numbers[14] == 13);
    CHECK(sink.times.size() == 26);
    CHECK(sink.times[3] == 1003.5);
    CHECK(sink.times.back() == 5.0);
}

TEST_CASE("rules see the scalars of a step, not loose ones and not texts") {
    collecting_sink sink;
    hook watch{sink, plan{}, any("*", maximum > 10.0)};
    watch.scalar("x", 99.0);
    watch.begin(train(0));
    watch.scalar("x", 5.0);
    watch.scalar("note", "a text");
    CHECK(!watch.end());
    watch.begin(train(1));
    watch.scalar("x", 11.0);
    spotter::step_alarm const found = watch.end();
    REQUIRE(found);
    CHECK(found.front().tensor == "x");
    CHECK(found.front().measured == 11);
    CHECK(sink.infos["note"].type == dtype::text);
}

namespace {

struct first_value {
    using kind = rule_kind;
    static constexpr std::string_view name = "first_value";
    double above = 0;
    struct state {
        violation found{};
    };
    static constexpr stats_mask needs(tensor_info const&) { return stats_mask::feature | stats_mask::hash; }
    static constexpr std::uint64_t feature_key() { return key_of(name); }
    static constexpr void extract(state&, observation const&, tensor_ref const& values, feature& out) {
        visit_values(values, [&](auto all) { out.push(detail::see(all[0]).value); });
    }
    constexpr void observe(state& now, observation const& it, std::span<double const> made) const {
        if (made.size() == 1 && made[0] > above) { now.found.blame(it, made[0]); }
    }
    constexpr truth close(state& now, step_id, findings& out) const {
        violation const found = std::exchange(now.found, {});
        if (found.count > 0) { out.push(found.as_finding("first", relation::greater, above, severity::warning)); }
        return truth_of(found.count > 0);
    }
};

}  // namespace

TEST_CASE("a feature comes before its observation, once for all rules of one key") {
    collecting_sink sink;
    hook watch{sink, plan{}, first_value{1}, first_value{2}, first_value{4} | only{every{2}}};
    watch.begin(train(1));
    watch.observe("w", std::vector<float>{2.0F, 9.0F});
    watch.observe("loss", 3.0);
    watch.scalar("lr", 1.5);
    spotter::step_alarm const found = watch.end();
    REQUIRE(found.size() == 2);
    CHECK((found.front().tensor == "w" && found.front().measured == 2 && found.front().others == 2));
    CHECK(found.begin()[1].tensor == "loss");
    CHECK(sink.events == std::vector<std::string>{"declare w", "feature w train(1) of 1", "observe w train(1)",
                                                  "declare loss", "feature loss train(1) of 1", "observe loss train(1)",
                                                  "declare lr", "feature lr train(1) of 1", "scalar lr train(1)",
                                                  "close train(1)"});
    CHECK(sink.asked["w"] == (stats_mask::shape | stats_mask::hash));
}

TEST_CASE("a name that comes twice in a step is two observations, for the sink and for every rule [S26]") {
    collecting_sink sink;
    hook watch{sink, everything, fraction("x", maximum > 1.5) > 0.4};
    spotter::step_alarm const found = watch.step(train(0), "x"_t = 1.0, "y"_t = 0.0, "x"_t = 2.0);
    CHECK(sink.count("observe x") == 2);
    REQUIRE(found.size() == 1);
    CHECK(found.front().measured == 0.5);
}

TEST_CASE("a hook without anything to do takes the same calls") {
    hook watch{plan{}};
    static_assert(std::is_same_v<decltype(watch), hook<null_sink, plan<>>>);
    for (std::uint64_t i = 0; i < 3; ++i) { CHECK(watch.step(train(i), "x"_t = 1.0, nets::two_layers{}).empty()); }
    watch.scalar("lr", 0.1F);
    watch.flush();
    watch.poll();
    watch.finish();
    CHECK(watch.path().empty());
    CHECK(watch.health().good());
    CHECK(watch.health().steps == 3);
    CHECK(watch.health().observed == 0);
}

TEST_CASE("flush and poll reach a sink of the user's; its path and health are the hook's") {
    collecting_sink sink;
    {
        hook watch{sink, plan{}};
        watch.flush();
        watch.poll();
        CHECK(watch.path() == "nowhere");
    }
    CHECK(sink.starts == 1);
    CHECK(sink.flushes == 1);
    CHECK(sink.polls == 1);
    CHECK(sink.ended == "finished");
}
