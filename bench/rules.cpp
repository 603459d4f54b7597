// SPDX-License-Identifier: Apache-2.0
// T4: the cost of rules. For each built-in one: its state, an observed tensor and a close; for eight composed ones: a
// tensor.
#include "bench.hpp"
#include "eight_rules.hpp"

#include <spotter/core/tensor_access.hpp>
#include <spotter/judge/judges.hpp>
#include <spotter/plan/policy.hpp>
#include <spotter/rules.hpp>
#include <spotter/stat/delta.hpp>
#include <spotter/stat/summarize.hpp>

#include <cmath>
#include <functional>
#include <memory>
#include <new>

using namespace spotter;

namespace {

std::size_t allocated = 0;  // bytes allocated so far

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
    allocated += size;
    if (void* const found = std::malloc(size > 0 ? size : 1)) { return found; }
    throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

constexpr std::size_t variations = 4;  // of a tensor's values, used in turn

// A tensor that some rule watches, as a step observes it.
struct sight {
    tensor_info info{};
    std::vector<float> values[variations]{};
    summary stats[variations]{};
    std::vector<std::uint32_t> active{}, finite{};
};

sight make_sight(char const* name, extents const& shape, flag flags = flag::none, dtype type = dtype::f32) {
    sight made;
    made.info.name = name;
    made.info.role = guess_role(name);
    made.info.partner_role = guess_role(gradient_of(name));
    made.info.type = type;
    made.info.shape = shape;
    made.info.flags = flags;
    made.info.activation = activation_of(flags);
    auto const count = static_cast<std::size_t>(shape.elements());
    std::vector<float> const all = bench::weights(count + variations);
    for (std::size_t v = 0; v < variations; ++v) {
        made.values[v].assign(all.begin() + static_cast<std::ptrdiff_t>(v),
                              all.begin() + static_cast<std::ptrdiff_t>(v + count));
        made.stats[v] = summarize(view_of(made.values[v].data(), shape), pass_terms);
        if (v > 0) {
            std::vector<float> const& before = made.values[v - 1];
            compare_with_previous(view_of(made.values[v].data(), shape), view_of(before.data(), shape), v - 1,
                                  made.stats[v]);
        }
    }
    auto const units = static_cast<std::size_t>(unit_count(shape, default_axis));
    made.active.assign(units, 1), made.finite.assign(units, 1);
    return made;
}
// Attention weights after a softmax: 8 heads, 64 queries, 64 keys.
sight make_attention() {
    sight made = make_sight("attention/1", {1, 8, 64, 64});
    for (std::vector<float>& each : made.values) {
        for (std::size_t first = 0; first < each.size(); first += 64) {
            float total = 0;
            for (std::size_t k = first; k < first + 64; ++k) { total += each[k] = std::exp(each[k]); }
            for (std::size_t k = first; k < first + 64; ++k) { each[k] /= total; }
        }
    }
    return made;
}
std::vector<sight> const& sights() {
    static std::vector<sight> const all = [] {
        std::vector<sight> made;
        for (char const* name :
             {"loss", "metric/approx_kl", "metric/entropy", "metric/clip_fraction", "metric/explained_variance",
              "metric/episode_return", "metric/loss_scale", "metric/step_skipped", "metric/grad_sq_small",
              "metric/grad_sq_big", "time/step", "time/wait"}) {
            made.push_back(make_sight(name, {}));
        }
        for (char const* name : {"fc/w", "target/fc/w", "grad/fc/w"}) { made.push_back(make_sight(name, {8, 8})); }
        made.push_back(make_sight("fc/w", {8, 8}, flag::none, dtype::bf16));
        for (char const* name : {"labels", "trees/0/id", "feature_importance/gain"}) {
            made.push_back(make_sight(name, {16}));
        }
        made.push_back(make_sight("input", {4, 4, 2, 2}));
        made.push_back(make_sight("input", {16, 4}, flag::none, dtype::i32));
        made.push_back(make_sight("pred", {16, 4}, flag::logits));
        made.push_back(make_sight("pre/1", {16, 4}, activated_by(activation_kind::tanh)));
        made.push_back(make_sight("act/1", {16, 4}, activated_by(activation_kind::relu)));
        made.push_back(make_attention());
        return made;
    }();
    return all;
}

// The memory beyond sizeof of a rule's state, for `count` tensors of each sort that the rule watches; and the number of
// sorts.
template <rule Rule>
std::size_t bytes_for(Rule const& rule, std::size_t each, std::vector<sight const*>* watched = nullptr) {
    machine<Rule> it{rule};
    std::size_t const before = allocated;
    tensor_id id = 0;
    for (sight const& one : sights()) {
        tensor_info info = one.info;
        info.id = id;
        if (!any(it.declare(info).mask)) { continue; }
        if (watched != nullptr) { watched->push_back(&one); }
        for (std::size_t i = 0; i < each; ++i) {
            info.id = id++;
            (void)it.declare(info);
        }
    }
    return allocated - before;
}

template <rule Rule>
void one_rule(Rule const& rule) {
    std::vector<sight const*> watched;
    watched.reserve(sights().size());
    (void)bytes_for(rule, 0, &watched);
    constexpr std::size_t copies = 32;
    double const sorts = static_cast<double>(watched.empty() ? 1 : watched.size());
    double const bytes = static_cast<double>(bytes_for(rule, 16 * copies) - bytes_for(rule, copies)) /
                         (15.0 * static_cast<double>(copies) * sorts);

    machine<Rule> it{rule};
    std::vector<tensor_info> infos;
    for (sight const* one : watched) {
        for (std::size_t i = 0; i < copies; ++i) {
            infos.push_back(one->info);
            infos.back().id = static_cast<tensor_id>(infos.size() - 1);
            if (one->info.name == "fc/w") { infos.back().partner = 0; }
            (void)it.declare(infos.back());
        }
    }
    bench::samples observing, closing;
    findings found;
    for (std::uint64_t step = 0; step < bench::rounds(400, 40); ++step) {
        std::size_t const v = step % variations;
        observing.time(1, [&] {
            for (tensor_info const& info : infos) {
                sight const& one = *watched[info.id / copies];
                tensor_ref view = view_of(one.values[v].data(), info.shape);
                it.observe({info, train(step), one.stats[v], view, {one.active, one.finite, 1}});
            }
        });
        closing.time(1, [&] {
            found.clear();
            bench::do_not_optimise(it.close(train(step), found));
        });
    }
    std::printf("  %-29s %6zu %10.0f %12.1f %9.0f\n", std::string{Rule::name}.c_str(), sizeof(machine<Rule>), bytes,
                infos.empty() ? 0 : observing.median() / static_cast<double>(infos.size()), closing.median());
    std::fflush(stdout);
}
// The rule, with the options that some rules require.
template <rule Rule>
Rule as_asked(Rule it) {
    if constexpr (std::same_as<Rule, gradient_noise_scale>) { it.batch_small = 16, it.batch_big = 64; }
    if constexpr (std::same_as<Rule, initial_loss>) { it.expected = 1; }
    if constexpr (std::same_as<Rule, rl_entropy_collapse>) { it.max_entropy = 1; }
    return it;
}
void each_rule() {
    std::printf("  %-29s %6s %10s %12s %9s\n", "built-in rule, as it comes", "sizeof", "B a tensor", "ns a tensor",
                "ns a close");
    detail::each_built_in_rule([](auto const& each) {
        using Rule = std::remove_cvref_t<decltype(each)>;
        // Rules with `healthy` read the healthy values from a record, and are left out.
        if constexpr (!requires { Rule::healthy; }) { one_rule(as_asked(each)); }
    });
}

// The control: the same rules as objects composed at run time, each node behind a base class. A leaf calls its
// predicate directly, or through a std::function.
struct node {
    virtual ~node() = default;
    virtual void observe(observation const& it) = 0;
};
template <class Ask>
struct leaf_node final : node {
    Ask ask;
    std::vector<bool> watched{true};  // by tensor id
    std::uint32_t answers[3]{};
    explicit leaf_node(Ask const& which) : ask{which} {}
    void observe(observation const& it) override {
        if (watched[it.tensor.id]) { ++answers[static_cast<std::size_t>(ask(it.stats))]; }
    }
};
struct pair_node final : node {
    std::unique_ptr<node> left, right;
    pair_node(std::unique_ptr<node> one, std::unique_ptr<node> other) : left{std::move(one)}, right{std::move(other)} {}
    void observe(observation const& it) override {
        left->observe(it);
        right->observe(it);
    }
};
template <class Admit>
struct outer_node final : node {
    std::unique_ptr<node> inner;
    Admit admit;
    outer_node(std::unique_ptr<node> it, Admit const& when) : inner{std::move(it)}, admit{when} {}
    void observe(observation const& it) override {
        if (admit(it.step)) { inner->observe(it); }
    }
};
template <bool ByFunction>
struct made_at_run_time {
    static std::vector<std::unique_ptr<node>> eight() {
        std::vector<std::unique_ptr<node>> made;
        [&](auto const&... each) { (made.push_back(of(each)), ...); }(bench::rule_1, bench::rule_2, bench::rule_3,
                                                                      bench::rule_4, bench::rule_5, bench::rule_6,
                                                                      bench::rule_7, bench::rule_8);
        return made;
    }
    template <class Rule>
    static std::unique_ptr<node> of(Rule const& it) {
        if constexpr (!ByFunction) {
            return std::make_unique<leaf_node<decltype(it.ask)>>(it.ask);
        } else {
            return std::make_unique<leaf_node<std::function<truth(summary const&)>>>(it.ask);
        }
    }
    template <class Left, class Right>
    static std::unique_ptr<node> of(both_rules<Left, Right> const& it) {
        return std::make_unique<pair_node>(of(it.left), of(it.right));
    }
    template <class Left, class Right>
    static std::unique_ptr<node> of(either_rule<Left, Right> const& it) {
        return std::make_unique<pair_node>(of(it.left), of(it.right));
    }
    template <class Inner>
    static std::unique_ptr<node> of(not_rule<Inner> const& it) {
        return around(it.inner, [](step_id) { return true; });
    }
    template <class Inner, class Adaptor>
    static std::unique_ptr<node> of(adapted<Inner, Adaptor> const& it) {
        if constexpr (requires(step_id step) { it.adaptor.admits(step); }) {
            return around(it.inner, [adaptor = it.adaptor](step_id step) { return adaptor.admits(step); });
        } else {
            return around(it.inner, [](step_id) { return true; });
        }
    }
    template <class Inner, class Admit>
    static std::unique_ptr<node> around(Inner const& inner, Admit const& admit) {
        return std::make_unique<outer_node<Admit>>(of(inner), admit);
    }
};

// The judges' own machines behind a base class, one per rule: only the list is made at run time.
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
// A rule that does as little as the smallest one, to measure the dispatch alone.
template <int Which>
struct counting {
    using kind = rule_kind;
    static constexpr std::string_view name = "counting";
    double limit = 1e3;
    struct state {
        std::uint64_t above = 0;
    };
    [[nodiscard]] constexpr stats_mask needs(tensor_info const&) const noexcept { return stats_mask::nonfinite; }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        seen.above += it.stats.maximum > limit + Which ? 1 : 0;
    }
    [[nodiscard]] constexpr truth close(state&, step_id, findings&) const noexcept { return truth::no; }
};

template <class... Rules>
void eight_rules(char const* what, bool composes, Rules const&... rules) {
    std::vector<float> const values = bench::weights(16);
    tensor_info tensor{};
    tensor.id = 0;
    tensor.name = "layer0/weight";
    tensor.role = role::weight;
    tensor.type = dtype::f32;
    tensor.shape = {16};
    summary const stats = summarize(as_tensor(values), without(pass_terms, stats_mask::hash | stats_mask::product));
    observation const seen{tensor, train(1), stats, as_tensor(values), {}};

    judges<Rules...> composed{rules...};
    composed.declare(tensor, [](std::size_t, tensor_needs const&) {});
    std::vector<std::unique_ptr<any_machine>> list;
    (list.push_back(std::make_unique<virtual_machine<Rules>>(rules, tensor)), ...);

    std::vector<std::unique_ptr<node>> const nodes = made_at_run_time<false>::eight();
    std::vector<std::unique_ptr<node>> const functions = made_at_run_time<true>::eight();
    bench::samples by_value, by_list, by_nodes, by_functions;
    for (std::size_t i = 0; i < bench::rounds(400, 40); ++i) {
        by_value.time(2000, [&] {
            bench::do_not_optimise(seen);
            composed.observe(seen, ~std::uint64_t{0});
        });
        auto const time_list = [&](bench::samples& times, auto const& rules_of_it) {
            times.time(2000, [&] {
                bench::do_not_optimise(seen);
                for (auto const& each : rules_of_it) { each->observe(seen); }
            });
        };
        time_list(by_list, list), time_list(by_nodes, nodes), time_list(by_functions, functions);
    }
    bench::do_not_optimise(composed);
    std::string const in_a_list = bench::control("each behind a base class", by_list.median(), "ns");
    if (!composes) {
        bench::figure(std::string{"  "} + what, by_value.median(), "ns a tensor", in_a_list);
        return;
    }
    std::string const as_nodes = bench::control("each node behind a base class", by_nodes.median(), "ns");
    bench::target(std::string{"T4 "} + what, by_value.median(), "ns a tensor", bench::wanted::at_most, 15, in_a_list);
    bench::target(std::string{"T4 "} + what + ", against virtual calls", by_value.median() / by_nodes.median(), "x",
                  bench::wanted::at_most, 0.5,
                  as_nodes + ", " + bench::control("predicates in std::function", by_functions.median(), "ns"));
}

}  // namespace

int main() {
    each_rule();
    eight_rules("8 composed rules, each an argument", true, bench::rule_1, bench::rule_2, bench::rule_3, bench::rule_4,
                bench::rule_5, bench::rule_6, bench::rule_7, bench::rule_8);
    eight_rules("8 composed rules by ||", true,
                bench::rule_1 || bench::rule_2 || bench::rule_3 || bench::rule_4 || bench::rule_5 || bench::rule_6 ||
                    bench::rule_7 || bench::rule_8);
    eight_rules("8 composed rules by together", true,
                together(bench::rule_1, bench::rule_2, bench::rule_3, bench::rule_4, bench::rule_5, bench::rule_6,
                         bench::rule_7, bench::rule_8));
    eight_rules("8 rules that only count", false, counting<1>{}, counting<2>{}, counting<3>{}, counting<4>{},
                counting<5>{}, counting<6>{}, counting<7>{}, counting<8>{});
    return 0;
}
