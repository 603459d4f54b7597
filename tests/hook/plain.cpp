// SPDX-License-Identifier: Apache-2.0
// Events in the short form: only scalars and values that no rule looks at and no statistic is computed from.
#include <tests/catch.hpp>
#include <tests/hook/collect.hpp>

#include <spotter/hook/observer.hpp>

#include <cstring>

using namespace spotter;
using namespace spotter_test;

namespace {

// Records which form each event had.
struct short_sink : collecting_sink {
    using offers = sink_offers<sink_call::number, sink_call::leave, sink_call::poll>;

    void number(tensor_info const& tensor, step_id step, plain_number const& value) noexcept {
        float it = 0;
        std::memcpy(&it, &value.bits, sizeof it);
        bool const right = value.type == dtype::f32 && value.size == 4 && it == 0.5F;
        events.push_back((right ? "number " : "another ") + std::string{tensor.name} + " " + text_of(step));
    }
    void values(tensor_info const& tensor, step_id step, tensor_ref const& view, stats_mask keep) noexcept {
        events.push_back("values " + std::string{tensor.name} + " " + text_of(step) + " " + std::to_string(view.count));
        asked[std::string{tensor.name}] = keep;
    }
    [[nodiscard]] bool last_is(std::string_view wanted) const { return !events.empty() && events.back() == wanted; }
};
static_assert(detail::offers_call<sink_call::number, short_sink> &&
              !detail::offers_call<sink_call::number, collecting_sink>);

}  // namespace

TEST_CASE("scalars, losses and values go in short from the second time on, where nothing more is asked of them") {
    short_sink sink;
    std::vector<float> const weight(3, 0.5F);
    hook watch{sink,
               plan{collection{"all", "loss", always{}, payload | stats(mean)}, collection{"w", "w", every{2}, payload},
                    collection{"s", "s", always{}, payload | stats(l2)}}};
    auto const loss = watch.tensor("loss");
    watch.begin(train(0));
    watch.observe("loss", 0.5F), watch.observe("w", weight), watch.observe("s", weight), watch.scalar("lr", 0.5F);
    (void)watch.end();
    watch.begin(train(2));
    watch.observe(loss, 0.5F);
    CHECK(sink.last_is("number loss train(2)"));
    watch.observe("loss", 0.5F);
    CHECK(sink.last_is("number loss train(2)"));
    watch.scalar("lr", 0.5F);
    CHECK(sink.last_is("number lr train(2)"));
    watch.scalar(loss, 0.5F);
    CHECK(sink.last_is("number loss train(2)"));
    watch.scalar("lr", 0.5);  // of any type
    CHECK(sink.last_is("another lr train(2)"));
    watch.scalar("lr", c128{1, 2});  // too large for it
    CHECK(sink.last_is("scalar lr train(2)"));
    watch.scalar("lr", "a text");
    CHECK(sink.last_is("scalar lr train(2)"));
    watch.scalar("lr", 0.5F, 1e9);
    CHECK(sink.last_is("scalar lr train(2)"));
    watch.observe("w", weight);
    CHECK(sink.last_is("values w train(2) 3"));
    CHECK(sink.asked["w"] == stats_mask{payload});
    watch.observe("w", packed(weight.data(), {3}, {4}));  // needs a copy first
    CHECK(sink.last_is("observe w train(2)"));
    watch.observe("s", weight);  // with statistics
    CHECK(sink.last_is("observe s train(2)"));
    observer const anybody{watch};
    anybody.observe("w", weight);
    CHECK(sink.last_is("values w train(2) 3"));
    CHECK(watch.health().observed == 4 + 12);
    (void)watch.end();
    std::size_t const before = sink.events.size();
    watch.scalar("lr", 0.5F);
    CHECK(sink.last_is("scalar lr loose"));
    watch.observe("w", weight), watch.observe("loss", 0.5F);  // no step is open
    CHECK(watch.health().refused == 2);
    watch.begin(train(3));
    watch.observe("w", weight);  // not due
    CHECK(sink.events.size() == before + 1);
    watch.observe("loss", weight);  // the name of a scalar, with a tensor
    CHECK(sink.last_is("observe loss train(3)"));
    watch.observe("w", std::vector<float>{});
    CHECK(sink.events.size() == before + 2);
    (void)watch.end();
}

TEST_CASE("what a rule looks at, or a capture wants, does not go in short") {
    short_sink sink;
    std::vector<float> const weight(3, 0.5F);
    hook watch{
        sink, plan{collection{"all", "*", always{}, payload}}, any("w", l2 > 1e6) | only{every{2}},
        on(any("lr", mean > 1) | severity::info, capture{plan{collection{"more", "w", always{}, stats(l2)}}, 1})};
    auto const at = [&](std::uint64_t step, float rate) {
        watch.begin(train(step));
        watch.observe("w", weight);
        std::string const how = sink.events.back();
        watch.scalar("lr", rate);
        (void)watch.end();
        return how;
    };
    (void)at(0, 0.5F);
    CHECK(at(1, 0.5F) == "values w train(1) 3");
    CHECK(at(2, 0.5F) == "observe w train(2)");  // a rule is due
    CHECK(at(3, 2.0F) == "values w train(3) 3");
    CHECK(at(5, 0.5F) == "observe w train(5)");  // captured
    CHECK(has(sink.asked["w"], stats_mask::sum_squares));
    CHECK(at(7, 0.5F) == "values w train(7) 3");
    CHECK(sink.count("number lr") == 0);
    CHECK(sink.count("scalar lr") == 6);
}

TEST_CASE("names are found in any order, long and short, and by their letters alone") {
    hook watch{plan<>{}};
    std::vector<std::string> names;
    for (int i = 0; i < 40; ++i) {  // of every length, differing in the last letter
        names.push_back(std::string(static_cast<std::size_t>(i), 'x') + "a");
        names.push_back(std::string(static_cast<std::size_t>(i), 'x') + "b");
        names.push_back("c" + std::string(static_cast<std::size_t>(i), 'x') + "a");
    }
    names.erase(names.begin() + 2);  // "ca" must be declared again
    auto const walk = [&](std::size_t first, std::size_t stride) {
        watch.begin(watch.health().steps);
        for (std::size_t i = 0, at = first; i < names.size(); ++i, at = (at + stride) % names.size()) {
            std::string const copy = names[at];  // a copy in other memory
            watch.observe(copy, 0.5F);
        }
        (void)watch.end();
    };
    walk(0, 1);
    std::size_t const known = watch.health().declared;
    CHECK(known == names.size());
    for (std::size_t const stride : {1U, 2U, 7U, 118U, 1U, 3U, 3U}) {
        if (names.size() % stride != 0 || stride == 1) { walk(stride, stride); }
    }
    CHECK(watch.health().declared == known);
    std::size_t met = 0;
    watch.each_tensor([&](tensor_info const& each) { met += each.name == names[met] ? 1 : 0; });
    CHECK(met == names.size());
}
