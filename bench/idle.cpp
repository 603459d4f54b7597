// SPDX-License-Identifier: Apache-2.0
// T4: what a hook costs at a step at which nothing is due, and what rules cost a tensor.
#include "bench.hpp"

#include <spotter/hook.hpp>
#include <spotter/rules.hpp>

#include <memory>

using namespace spotter;

namespace {

constexpr plan keep{defaults::weights, defaults::gradients};

// As many small tensors as a step has; their names are long enough to look like names.
struct network {
    std::vector<std::string> names;
    std::vector<std::vector<float>> values;

    explicit network(std::size_t count) : values(count, bench::weights(16)) {
        for (std::size_t i = 0; i < count; ++i) { names.push_back("layer" + std::to_string(i) + "/weight"); }
    }
};

template <class Visit>
void visit_tensors(network const& net, Visit visit) {
    for (std::size_t i = 0; i < net.names.size(); ++i) { visit(net.names[i], net.values[i]); }
}

// Nanoseconds a tensor at steps that no collection wants, after one at which all were met. `observe(i)` is called for each.
template <class Hook, class Observe>
[[nodiscard]] double idle_time(Hook& watch, std::size_t count, Observe&& observe) {
    std::uint64_t index = 0;
    auto const step = [&] {
        watch.begin(train(index));
        observe();
        bench::do_not_optimise(watch.end());
        index += index % 500 == 499 ? 2 : 1;  // never again a multiple of 500
    };
    step();
    std::size_t const steps_at_once = (std::max)(std::size_t{20'000} / count, std::size_t{1});
    bench::samples times;
    for (std::size_t i = 0; i < bench::rounds(300, 20); ++i) { times.time(steps_at_once, step); }
    return times.median() / static_cast<double>(count);
}

void idle_hook(std::size_t count) {
    network const net{count};
    std::string const suffix = ", " + std::to_string(count) + " tensors a step";

    hook watch{keep};
    std::vector<tensor_handle> handles;
    for (std::string const& name : net.names) { handles.push_back(watch.tensor(name)); }
    double const by_handle = idle_time(watch, count, [&] {
        for (std::size_t i = 0; i < count; ++i) { watch.observe(handles[i], net.values[i]); }
    });
    // The control: the same walk, making the same views and looking at one bit.
    std::uint64_t due = 0, seen = 0;
    bench::do_not_optimise(due);
    bench::samples walk;
    for (std::size_t round = 0; round < bench::rounds(300, 20); ++round) {
        walk.time((std::max)(std::size_t{20'000} / count, std::size_t{1}), [&] {
            for (std::size_t i = 0; i < count; ++i) {
                tensor_ref const view = as_tensor(net.values[i]);
                bench::do_not_optimise(due);
                if ((due & 1) != 0) { seen += view.count; }
            }
        });
    }
    bench::do_not_optimise(seen);
    std::string const control = bench::control("bare walk", walk.median() / static_cast<double>(count), "ns");
    // A step by itself (begin, end) is not a tensor's cost, so it is told apart where there is only one.
    hook lone{keep};
    double const empty_step = idle_time(lone, 1, [] {});
    bench::target("T4 idle hook by handle" + suffix, by_handle - empty_step / static_cast<double>(count), "ns a tensor",
                  bench::wanted::at_most, 1, control);

    hook visited{keep};
    double const by_name = idle_time(visited, count, [&] {
        visit_tensors(net, [&](std::string_view name, auto const& values) { visited.observe(name, values); });
    });
    bench::target("T4 idle hook by visit_tensors" + suffix, by_name - empty_step / static_cast<double>(count),
                  "ns a tensor", bench::wanted::at_most, 1, control);
    if (count == 1) { bench::figure("  an empty idle step, begin and end", empty_step, "ns"); }
}

// Eight rules that look at every tensor, each a composition.
constexpr auto rule_1 = any("*", l2 > 1e3) || any("*", nonfinite > 0);
constexpr auto rule_2 = all("*", mean_abs < 1e-7) | for_steps{3};
constexpr auto rule_3 = any("*", maximum > 1e6) && !all("*", zero_fraction > 0.5);
constexpr auto rule_4 = (fraction("*", zero_fraction > 0.95) > 0.5) | rearm{10};
constexpr auto rule_5 = any("*", stddev < 1e-9) | cooldown{10};
constexpr auto rule_6 = all("*", mean > 10) || any("*", minimum < -1e6);
constexpr auto rule_7 = any("*", l1 > 1e9) | only{during{mode::train}};
constexpr auto rule_8 = on(any("*", of_abs(maximum) > 1e9) | named{"huge"}, stop);

// The control: the same machines behind a base class, as a list of rules made at run time would have them.
struct any_machine {
    virtual ~any_machine() = default;
    virtual void observe(observation const& it) = 0;
};
template <class Rule>
struct virtual_machine final : any_machine {
    machine<Rule> it;
    explicit virtual_machine(Rule const& rule, tensor_info const& tensor) : it{rule} { (void)it.declare(tensor); }
    void observe(observation const& seen) override { it.observe(seen); }
};
// And a rule that does as little as the smallest one does, to see the dispatch alone.
template <int Which>
struct counting {
    using kind = rule_kind;
    static constexpr std::string_view name = "counting";
    double limit = 1e3;
    struct state {
        std::uint64_t above = 0;
    };
    [[nodiscard]] constexpr terms needs(tensor_info const&) const noexcept { return terms::nonfinite; }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        seen.above += it.stats.maximum > limit + Which ? 1 : 0;
    }
    [[nodiscard]] constexpr truth close(state&, step_id, findings&) const noexcept { return truth::no; }
};

template <class... Rules>
void eight_rules(char const* what, bool is_target, Rules const&... rules) {
    std::vector<float> const values = bench::weights(16);
    tensor_info tensor{};
    tensor.id = 0;
    tensor.name = "layer0/weight";
    tensor.role = role::weight;
    tensor.type = dtype::f32;
    tensor.shape = {16};
    summary const stats = summarize(as_tensor(values), without(pass_terms, terms::hash | terms::product));
    observation const seen{tensor, train(1), stats, as_tensor(values), {}};

    judges<Rules...> composed{rules...};
    composed.declare(tensor, [](std::size_t, requirement const&) {});
    std::vector<std::unique_ptr<any_machine>> list;
    (list.push_back(std::make_unique<virtual_machine<Rules>>(rules, tensor)), ...);

    bench::samples by_value, by_virtual;
    for (std::size_t i = 0; i < bench::rounds(400, 40); ++i) {
        by_value.time(2000, [&] {
            bench::do_not_optimise(seen);
            composed.observe(seen, 0xFF);
        });
        by_virtual.time(2000, [&] {
            bench::do_not_optimise(seen);
            for (auto const& each : list) { each->observe(seen); }
        });
    }
    bench::do_not_optimise(composed);
    std::string const control = bench::control("the same by virtual calls", by_virtual.median(), "ns");
    if (is_target) {
        bench::target(std::string{"T4 "} + what, by_value.median(), "ns a tensor", bench::wanted::at_most, 15, control);
        bench::target(std::string{"T4 "} + what + ", against virtual calls", by_value.median() / by_virtual.median(),
                      "x", bench::wanted::at_most, 0.5, control);
    } else {
        bench::figure(std::string{"  "} + what, by_value.median(), "ns a tensor", control);
    }
}

}  // namespace

int main() {
    for (std::size_t const count : {1U, 100U, 10'000U}) { idle_hook(count); }
    eight_rules("8 composed rules", true, rule_1, rule_2, rule_3, rule_4, rule_5, rule_6, rule_7, rule_8);
    eight_rules("8 rules that only count", false, counting<1>{}, counting<2>{}, counting<3>{}, counting<4>{},
                counting<5>{}, counting<6>{}, counting<7>{}, counting<8>{});
    return 0;
}
