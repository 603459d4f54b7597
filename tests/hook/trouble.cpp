// SPDX-License-Identifier: Apache-2.0
// Errors around a hook: views that it refuses, roles and partners that become known late, malformed patterns, and rules
// that throw.
#include <tests/catch.hpp>
#include <tests/hook/collect.hpp>

#include <spotter/rules.hpp>

#include <cstdlib>
#include <stdexcept>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr plan all_tensors{collection{"all", "*"}};
constexpr auto above_ten = any("*", maximum > 10.0);

bool speaks_of(error const& why, std::string_view word) { return why.what.view().find(word) != std::string_view::npos; }

// Sets SPOTTER for the duration of a test.
struct environment {
    explicit environment(char const* value) { ::setenv("SPOTTER", value, 1); }
    ~environment() { ::unsetenv("SPOTTER"); }
};

}  // namespace

TEST_CASE("a view that cannot be taken is refused, counted and never declared; its name may come again in good shape") {
    collecting_sink sink;
    hook watch{sink, all_tensors, above_ten};
    float const values[12]{};
    std::int64_t const gaps[] = {4, 1};
    watch.begin(train(0));
    watch.observe("gaps", view_of(values, {3, 3}, gaps));
    watch.observe("deep", view_of(values, {1, 1, 1, 1, 1, 1, 1, 1, 1}));
    watch.observe("null", view_of(static_cast<float const*>(nullptr), {2}));
    watch.observe("fine", view_of(values, {12}));
    CHECK(!watch.end());
    CHECK(watch.health().refused == 3);
    CHECK(watch.health().first_error.code == errc::not_contiguous);
    CHECK(speaks_of(watch.health().first_error, "\"gaps\""));
    CHECK(sink.infos.size() == 1);
    (void)watch.step(train(1), "gaps"_t = view_of(values, {3, 3}));
    CHECK(sink.infos["gaps"].shape == extents{3, 3});
    (void)watch.step(train(2), "gaps"_t = view_of(values, {3, 3}, gaps));
    CHECK(watch.health().refused == 4);
    CHECK(sink.kept["gaps"].size() == 1);
    watch.finish();
    CHECK(sink.refused == 4);
}

TEST_CASE("a copy function that says that it failed: refused and counted, and good again when it succeeds") {
    collecting_sink sink;
    hook watch{sink, all_tensors};
    bool works = false;
    auto const device = copied<float>({2}, [&](void* into, std::size_t bytes) {
        if (works) { std::memset(into, 0, bytes); }
        return works;
    });
    (void)watch.step(train(0), "x"_t = device);
    CHECK(watch.health().refused == 1);
    CHECK(watch.health().first_error.code == errc::io_error);
    CHECK(speaks_of(watch.health().first_error, "\"x\""));
    works = true;
    (void)watch.step(train(1), "x"_t = device);
    CHECK(watch.health().refused == 1);
    CHECK(sink.kept["x"].size() == 1);
}

TEST_CASE("each refusal has its own name") {
    auto const code_of = [](tensor_ref const& view) {
        hook watch{all_tensors};
        (void)watch.step(train(0), "x"_t = view);
        return watch.health().first_error.code;
    };
    float const value = 1;
    CHECK(code_of(view_of(&value, {1, 1, 1, 1, 1, 1, 1, 1, 1})) == errc::rank_too_deep);
    CHECK(code_of(view_of(static_cast<float const*>(nullptr), {1})) == errc::null_pointer);
    CHECK(code_of(view_of(&value, {-1})) == errc::no_shape);
    CHECK(code_of(view_of(&value, {std::uint64_t{1} << 33, std::uint64_t{1} << 31})) == errc::no_shape);
    CHECK(code_of(view_of(static_cast<float const*>(nullptr), {0})) == errc::none);
    CHECK(code_of(view_of(&value, {1, 1, 1, 1, 1, 1, 1, 1})) == errc::none);
}

TEST_CASE("a role given late binds late, the first given wins, and flags come with it") {
    collecting_sink sink;
    hook watch{sink, plan{collection{"weights", role::weight}}, any(role::weight, maximum > 10.0)};
    CHECK(!watch.step(train(0), "x"_t = 11.0));
    watch.begin(train(1));
    watch.observe("x", 11.0, role::weight, flag::frozen);
    CHECK(watch.end());
    watch.begin(train(2));
    watch.observe("x", 11.0, role::bias);
    CHECK(watch.end());
    CHECK(sink.infos["x"].role == role::weight);
    CHECK(sink.infos["x"].flags == flag::frozen);
    CHECK(sink.count("declare x") == 2);
    CHECK(sink.kept["x"] == std::vector{train(1), train(2)});
}

TEST_CASE("a role that says what the name said already declares nothing anew") {
    collecting_sink sink;
    hook watch{sink, all_tensors};
    watch.begin(train(0));
    watch.observe("fc/w", 1.0);
    watch.observe("fc/w", 1.0, role::weight);
    (void)watch.end();
    CHECK(sink.count("declare fc/w") == 1);
}

TEST_CASE("a gradient and its weight are partners whichever comes first, and each learns of the other") {
    for (bool gradient_first : {true, false}) {
        collecting_sink sink;
        hook watch{sink, all_tensors};
        watch.begin(train(0));
        if (gradient_first) { watch.observe("grad/layer", 1.0); }
        watch.observe("layer", 1.0, role::weight);
        if (!gradient_first) { watch.observe("grad/layer", 1.0); }
        (void)watch.end();
        CHECK(sink.infos["grad/layer"].partner == sink.infos["layer"].id);
        CHECK(sink.infos["grad/layer"].partner_role == role::weight);
        CHECK(sink.infos["layer"].partner == sink.infos["grad/layer"].id);
    }
    for (std::string const gradient :
         {"grads/a rather long name of a layer/w", "gradient/a rather long name of a layer/w",
          "a rather long name of a layer/w.grad"}) {
        collecting_sink sink;
        hook watch{sink, all_tensors};
        (void)watch.step(train(0), tensor_name{gradient} = 1.0, "a rather long name of a layer/w"_t = 1.0);
        CHECK(sink.infos["a rather long name of a layer/w"].partner == sink.infos[gradient].id);
        CHECK(sink.infos[gradient].partner_role == role::weight);
    }
}

TEST_CASE("a loss in evaluation is the partner of the one in training, whichever comes first") {
    collecting_sink sink;
    hook watch{sink, all_tensors};
    watch.begin(train(0));
    for (std::string_view const name : {"val_loss", "test_loss", "train_loss", "eval_loss", "head/loss", "accuracy"}) {
        watch.observe(name, 1.0);
    }
    watch.observe("train-rmse", 1.0), watch.observe("validation-rmse", 1.0), watch.observe("validation-mae", 1.0);
    (void)watch.end();
    for (std::string_view const name : {"val_loss", "test_loss", "eval_loss"}) {
        CHECK(sink.infos[std::string{name}].partner == sink.infos["train_loss"].id);
    }
    for (std::string_view const name : {"train_loss", "head/loss", "accuracy", "train-rmse", "validation-mae"}) {
        CHECK(sink.infos[std::string{name}].partner == no_tensor);
    }
    CHECK(sink.infos["validation-rmse"].partner == sink.infos["train-rmse"].id);
    CHECK(sink.count("declare val_loss") == 2);  // once its partner is known
    CHECK(sink.count("declare eval_loss") == 1);
}

TEST_CASE("a partner that is only named by a handle is no partner until it was observed") {
    collecting_sink sink;
    hook watch{sink, all_tensors};
    auto const w = watch.tensor("fc/w");
    watch.begin(train(0));
    watch.observe("grad/fc/w", 1.0);
    CHECK(sink.infos["grad/fc/w"].partner == no_tensor);
    CHECK(sink.infos["grad/fc/w"].partner_role == role::weight);
    watch.observe(w, 1.0);
    (void)watch.end();
    CHECK(sink.infos["grad/fc/w"].partner == sink.infos["fc/w"].id);
}

TEST_CASE("a rule on weight gradients follows what becomes known of the partner") {
    hook watch{plan{}, vanishing_gradient{.threshold = 100, .patience = 1}};
    std::vector<double> const values(4, 11.0);
    auto const matrix = view_of(values.data(), {2, 2});
    CHECK(watch.step(train(0), "grad/x"_t = matrix));
    watch.begin(train(1));
    watch.observe("x", matrix, role::bias);
    watch.observe("grad/x", matrix);
    CHECK(!watch.end());
}

TEST_CASE("a malformed pattern is bad_pattern when the hook starts: no collection is applied, scalars and rules go on "
          "[S27]") {
    std::string const text = "grad/[";
    collecting_sink sink;
    hook watch{sink, plan{collection{"good", "*"}, collection{"bad", glob{std::string_view{text}}}}, above_ten};
    CHECK(watch.health().first_error.code == errc::bad_pattern);
    CHECK(speaks_of(watch.health().first_error, text));
    watch.begin(train(0));
    watch.observe("x", 11.0);
    watch.scalar("y", 1.0);
    CHECK(watch.end());
    CHECK(sink.kept.empty());
    CHECK(sink.count("scalar") == 1);
}

TEST_CASE("a rule with a malformed pattern is switched off and named; the others judge [S27]") {
    std::string const text = "{a,b";
    collecting_sink sink;
    {
        hook watch{sink, plan{}, options{}, any(glob{std::string_view{text}}, l2 > 1.0) | named{"broken"}, above_ten};
        CHECK(watch.health().first_error.code == errc::bad_pattern);
        CHECK(speaks_of(watch.health().first_error, text));
        CHECK(speaks_of(watch.health().first_error, "\"broken\""));
        CHECK(watch.step(train(0), "a"_t = 11.0).size() == 1);
    }
    REQUIRE(sink.coverages.size() == 2);
    CHECK(sink.coverages[0].reason == "switched off: malformed pattern");
    CHECK(sink.coverages[1].reason.empty());
}

#if SPOTTER_EXCEPTIONS
namespace {

enum class where { needs, observe, close };
// Throws at the third call of one of its functions.
struct thrower {
    using kind = rule_kind;
    static constexpr std::string_view name = "thrower";
    where place = where::observe;
    int* calls = nullptr;
    struct state {};
    void hit(where here) const {
        if (here == place && ++*calls >= 3) { throw std::runtime_error{"a bug in a rule"}; }
    }
    stats_mask needs(tensor_info const&) const {
        hit(where::needs);
        return stats_mask::sum;
    }
    void observe(state&, observation const&) const { hit(where::observe); }
    truth close(state&, step_id, findings&) const {
        hit(where::close);
        return truth::no;
    }
};

struct throwing_policy {
    using kind = policy_kind;
    bool operator()(step_id step) const { return step.index < 3 ? true : throw 1; }
};

struct half_a_net {};
template <class Visit>
void visit_tensors(half_a_net const&, Visit visit) {
    visit("before", 1.0);
    throw std::runtime_error{"the net is not built yet"};
}

}  // namespace

TEST_CASE("a rule that throws anywhere is switched off and named; the others and the loop go on") {
    for (where place : {where::needs, where::observe, where::close}) {
        int calls = 0;
        collecting_sink sink;
        {
            hook watch{sink, all_tensors, thrower{place, &calls}, above_ten};
            for (std::uint64_t i = 0; i < 10; ++i) {
                CHECK(watch.step(train(i), "a"_t = 11.0, "b"_t = 1.0, "c"_t = 1.0, "d"_t = 1.0).size() == 1);
            }
            CHECK(watch.health().first_error.code == errc::user_code_threw);
            CHECK(speaks_of(watch.health().first_error, "\"thrower\""));
        }
        CHECK(calls == 3);  // not called again
        CHECK(sink.kept["d"].size() == 10);
        REQUIRE(sink.coverages.size() == 2);
        CHECK(sink.coverages[0].reason == "switched off: it threw an exception");
        CHECK(sink.coverages[1].judged == 10);
    }
}

TEST_CASE("a rule whose policy throws is switched off; a plan whose policy throws keeps nothing at that step") {
    collecting_sink sink;
    hook watch{sink, plan{collection{"all", "*", throwing_policy{}, payload}}, above_ten | only{throwing_policy{}},
               above_ten | named{"other"}};
    for (std::uint64_t i = 0; i < 6; ++i) { CHECK(watch.step(train(i), "a"_t = 11.0).size() == (i < 3 ? 2 : 1)); }
    CHECK(sink.kept["a"].size() == 3);
    CHECK(watch.health().first_error.code == errc::user_code_threw);
}

TEST_CASE("a pattern of the plan that throws takes its tensor out of the plan, not away from the rules") {
    auto const picky = [](std::string_view name) { return name != "bad" ? true : throw 1; };
    collecting_sink sink;
    hook watch{sink, plan{collection{"picky", picky}}, above_ten};
    CHECK(watch.step(train(0), "good"_t = 1.0, "bad"_t = 11.0, "fine"_t = 1.0).size() == 1);
    CHECK(sink.kept.size() == 2);
    CHECK(watch.health().first_error.code == errc::user_code_threw);
    CHECK(speaks_of(watch.health().first_error, "\"bad\""));
}

TEST_CASE("a pattern of a rule that throws switches that rule off") {
    auto const picky = [](std::string_view name) { return name != "bad" ? true : throw 1; };
    hook watch{plan{}, any(picky, maximum > 10.0) | named{"picky"}, above_ten};
    CHECK(watch.step(train(0), "good"_t = 11.0).size() == 2);
    CHECK(watch.step(train(1), "good"_t = 11.0, "bad"_t = 1.0).size() == 1);
    CHECK(watch.health().first_error.code == errc::user_code_threw);
}

TEST_CASE("a visitor that throws half way leaves what it gave; the step closes, the tensors after it come") {
    collecting_sink sink;
    hook watch{sink, all_tensors};
    (void)watch.step(train(0), half_a_net{}, "after"_t = 1.0);
    CHECK(sink.kept["before"].size() == 1);
    CHECK(sink.kept["after"].size() == 1);
    CHECK(sink.count("close") == 1);
    CHECK(watch.health().first_error.code == errc::user_code_threw);
    CHECK(speaks_of(watch.health().first_error, "visit_tensors"));
}

TEST_CASE("a visitor that throws behind an observer is caught and named as by the hook itself") {
    collecting_sink sink;
    hook watch{sink, all_tensors};
    observer const see{watch};
    (void)see.step(train(0), half_a_net{});
    CHECK(sink.kept["before"].size() == 1);
    CHECK(sink.count("close") == 1);
    CHECK(watch.health().first_error.code == errc::user_code_threw);
    see.begin(train(1));
    see.observe(half_a_net{});
    watch.observe(half_a_net{});
    CHECK(see.end().empty());
    CHECK(sink.kept["before"].size() == 3);
}
#endif

TEST_CASE("SPOTTER=off switches a hook off whole: no event, no verdict, no failure") {
    environment const off{"off"};
    collecting_sink sink;
    {
        hook watch{sink, all_tensors, above_ten};
        CHECK(watch.step(train(0), "x"_t = 11.0).empty());
        watch.begin(train(1));
        watch.observe("x", 11.0, role::weight);
        watch.observe(watch.tensor("y"), 1.0);
        watch.scalar("z", 1.0);
        CHECK(watch.end().empty());
        CHECK(watch.tap("x", 3.0) == 3.0);
        CHECK(watch.health().good());
        CHECK(watch.health().steps == 0);
    }
    CHECK(sink.starts == 0);
    CHECK(sink.events.empty());
    CHECK(sink.ended.empty());
}

TEST_CASE("SPOTTER=dry, and any other value, leaves the rules at work") {
    for (char const* value : {"dry", "", "on"}) {
        environment const set{value};
        hook watch{all_tensors, above_ten};
        CHECK(watch.step(train(0), "x"_t = 11.0).size() == 1);
    }
}

TEST_CASE("two rules that count units along different axes: the second does not get the tensor, and health says so") {
    std::vector<float> const values(8 * 4, 1.0F);
    auto const layer = view_of(values.data(), {8, 4});
    hook watch{all_tensors, dead_relu{.samples = 8}, dead_relu{.samples = 8, .unit_axis = 0}};
    (void)watch.step(train(0), "act/1"_t = layer);
    CHECK(watch.health().first_error.code == errc::bad_config);
    CHECK(speaks_of(watch.health().first_error, "act/1"));
    std::vector<std::uint64_t> judged;
    watch.coverage_of_rules([&](coverage const& each) { judged.push_back(each.judged); });
    CHECK(judged == std::vector<std::uint64_t>{1, 0});
    hook agreed{all_tensors, dead_relu{.samples = 8}, dead_relu{.samples = 8, .unit_axis = 1}};
    (void)agreed.step(train(0), "act/1"_t = layer);
    CHECK(agreed.health().good());
}

TEST_CASE("findings of a step that the next one closed are all reported with the next alarm") {
    hook watch{all_tensors, on(any("x", maximum > 0.0) | severity::info, stop)};
    watch.begin(train(0));
    watch.observe("x", 1.0);
    watch.begin(train(1));  // closes step 0
    CHECK(watch.end().decision() == decision::stop);
}

TEST_CASE("health lists every kind of failure once, with how often; what does not fit is counted") {
    hook watch{all_tensors};
    for (int i = 0; i < 3; ++i) { watch.observe("outside", 1.0); }
    for (int i = 0; i < 2; ++i) {
        (void)watch.step(train(0), "null"_t = view_of(static_cast<float const*>(nullptr), {1}));
    }
    failure_list const two = watch.health().failures;
    REQUIRE(two.size() == 2);
    CHECK(two[0].what.code == errc::no_step_open);
    CHECK(two[0].times == 3);
    CHECK(two[1].what.code == errc::null_pointer);
    CHECK(two[1].times == 2);
    CHECK(speaks_of(two[1].what, "\"null\""));
    CHECK(two.others() == 0);
    for (int i = 0; i < 20; ++i) { watch.observe("outside " + std::to_string(i), 1.0); }
    CHECK(watch.health().failures.size() == failure_list::capacity);
    CHECK(watch.health().failures.others() == 14);
    CHECK(watch.health().refused == 25);
    CHECK(watch.health().first_error.what.view() == two.first().what.view());
}

TEST_CASE(
    "every refused name is listed with its reason and count, also beyond health's capacity, and passed to the sink") {
    collecting_sink sink;
    hook watch{sink, all_tensors};
    float const values[12]{};
    std::int64_t const gaps[] = {4, 1};
    for (std::uint64_t i = 0; i < 2; ++i) {
        watch.begin(train(i));
        for (int k = 0; k < 20; ++k) { watch.observe("gaps/" + std::to_string(k), view_of(values, {3, 3}, gaps)); }
        watch.observe("null", view_of(static_cast<float const*>(nullptr), {2}));
        watch.observe("fine", values);
        CHECK(!watch.end());
    }
    watch.observe("fine", values);
    std::vector<std::string> names;
    watch.each_refused([&](refused_tensor const& each) {
        names.emplace_back(each.name);
        if (each.name == "null") {
            CHECK(each.code == errc::null_pointer);
            CHECK(each.why.starts_with("is a null pointer"));
            CHECK(each.times == 2);
        } else if (each.name == "fine") {
            CHECK(each.code == errc::no_step_open);
            CHECK(each.times == 1);
        } else {
            CHECK(each.why.find("observe packed(pointer, {sizes}, {byte strides})") != std::string_view::npos);
        }
    });
    REQUIRE(names.size() == 22);
    CHECK(names[0] == "gaps/0");
    CHECK(names[20] == "null");
    CHECK(watch.health().refused == 43);
    watch.finish();
    CHECK(sink.count("scalar refused loose") == 22);
    hook fine{sink, all_tensors};
    (void)fine.step(train(0), "x"_t = 1.0);
    fine.finish();
    CHECK(sink.count("scalar refused loose") == 22);
}

TEST_CASE("a view that cannot be taken as it is names the call that takes it, and that call does") {
    std::vector<float> memory(24);
    for (std::size_t i = 0; i < 24; ++i) { memory[i] = static_cast<float>(i); }
    std::int64_t const strides[]{4, 12, 1};  // memory {2, 3, 4} with time first, viewed batch first
    collecting_sink sink;
    hook watch{sink, all_tensors};
    (void)watch.step(train(0), "out"_t = view_of(memory.data(), {3, 2, 4}, std::span{strides}));
    CHECK(watch.health().refused == 1);
    CHECK(watch.health().first_error.code == errc::not_contiguous);
    CHECK(speaks_of(watch.health().first_error, "\"out\" is a permuted view"));
    CHECK(speaks_of(watch.health().first_error, "packed(pointer, {sizes}, {byte strides})"));
    (void)watch.step(train(1), "out"_t = packed(memory.data(), {3, 2, 4}, {16, 48, 4}));
    CHECK(sink.kept["out"] == std::vector{train(1)});
    CHECK(sink.infos["out"].shape == extents{3, 2, 4});
    CHECK(watch.health().refused == 1);
    (void)watch.step(train(2), "few"_t = packed(memory.data(), {3, 4}, {16}));
    CHECK(watch.health().failures.size() == 2);
    CHECK(watch.health().failures[1].what.code == errc::no_shape);
    CHECK(speaks_of(watch.health().failures[1].what, "\"few\""));
    CHECK(sink.infos.count("few") == 0);
}

TEST_CASE("health reports what kept all_tensors from being judged, and steps that were never ended") {
    hook watch{plan{}, any("x", maximum > 10.0)};
    CHECK(watch.health().nothing_judged == "no step was closed");
    watch.begin(train(0));
    watch.begin(train(1));
    CHECK(watch.health().nothing_judged == "no tensor was observed");
    watch.observe("y", 1.0);
    CHECK(watch.end().empty());
    CHECK(watch.health().nothing_judged == "no rule judged any step");
    CHECK(watch.health().left_open == 1);
    (void)watch.step(train(2), "x"_t = 1.0);
    CHECK(watch.health().nothing_judged.empty());
    watch.begin(train(3));
    watch.finish();
    CHECK(watch.health().left_open == 2);
    CHECK(watch.health().good());
    hook without_rules{all_tensors};
    (void)without_rules.step(train(0), "x"_t = 1.0);
    CHECK(without_rules.health().nothing_judged.empty());
    environment const off{"off"};
    hook silent{plan{}, any("x", maximum > 10.0)};
    CHECK(silent.health().nothing_judged.empty());
}
