// SPDX-License-Identifier: Apache-2.0
// A hook whose type must be written: as a function's result, a parameter, a member.
#include <tests/catch.hpp>
#include <tests/hook/collect.hpp>

#include <spotter/rules.hpp>

using namespace spotter;
using spotter_test::collecting_sink;

namespace {

// As in docs/hook.md: plan and rules are in one function, and the hook's type is its result type.
auto watch_into(collecting_sink& sink) {
    return hook{sink, plan{defaults::losses}, on(any("loss", maximum > 10.0), stop)};
}
using my_hook = decltype(watch_into(std::declval<collecting_sink&>()));

step_alarm one_step(my_hook& watch, std::uint64_t i, double loss) { return watch.step(train(i), "loss"_t = loss); }

struct trainer {
    explicit trainer(collecting_sink& sink) : watch{watch_into(sink)} {}
    my_hook watch;
};

}  // namespace

TEST_CASE("a hook made by a function is a parameter and a member under the name of what it returns") {
    collecting_sink sink;
    {
        trainer it{sink};
        CHECK(!one_step(it.watch, 0, 1));
        CHECK(one_step(it.watch, 1, 11).decision() == decision::stop);
    }
    CHECK(sink.starts == 1);  // neither moved nor copied
    CHECK(sink.count("close") == 2);
    CHECK(sink.ended == "finished");
}
