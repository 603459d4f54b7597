// SPDX-License-Identifier: Apache-2.0
// Laws on random steps and random streams: policies, composites and adaptors, compared with what their parts give
// alone.
#include <spotter/core/tensor_access.hpp>
#include <spotter/plan/policy.hpp>
#include <spotter/rule/adapt.hpp>
#include <spotter/rule/quantify.hpp>
#include <spotter/stat/summarize.hpp>

#include <tests/catch.hpp>

#include <vector>

using namespace spotter;

namespace {

class prng {
public:
    explicit prng(std::uint64_t seed) : state_{seed * 2 + 1} {}
    std::uint64_t below(std::uint64_t end) {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return (state_ >> 33) % end;
    }

private:
    std::uint64_t state_;
};

// One close of a stream: a step, and for each of three tensors a value, a NaN, or nothing.
struct close_event {
    step_id step;
    std::vector<float> values[3];
};
std::vector<close_event> random_stream(std::uint64_t seed, std::size_t closes) {
    prng random{seed};
    std::vector<close_event> out(closes);
    std::uint64_t next[mode_count]{};
    for (close_event& each : out) {
        std::uint64_t const m = random.below(5) < 3 ? 0 : 1 + random.below(2);
        each.step = {static_cast<mode>(m), next[m]};
        next[m] += 1 + random.below(2);
        for (std::vector<float>& tensor : each.values) {
            std::uint64_t const what = random.below(8);
            if (what == 0) { continue; }
            tensor.push_back(what == 1 ? std::bit_cast<float>(0x7FC00000U) : static_cast<float>(random.below(10)) - 5);
        }
    }
    return out;
}

template <rule Rule>
std::vector<truth> answers(Rule const& rule, std::vector<close_event> const& stream) {
    constexpr std::string_view names[] = {"a", "b/1", "b/2"};
    machine<Rule> it{rule};
    tensor_info tensors[3];
    bool watched[3];
    for (std::uint32_t i = 0; i < 3; ++i) {
        tensors[i] = {.id = i, .name = names[i], .type = dtype::f32, .shape = {1}};
        watched[i] = any(it.declare(tensors[i]).mask);
    }
    findings found;
    std::vector<truth> out;
    for (close_event const& each : stream) {
        for (std::size_t i = 0; i < 3; ++i) {
            if (each.values[i].empty() || !watched[i]) { continue; }
            summary const stats = summarize(as_tensor(each.values[i]), pass_terms);
            it.observe({tensors[i], each.step, stats});
        }
        found.clear();
        out.push_back(it.close(each.step, found));
        // There is a finding if and only if the answer is yes, with the step of the close.
        CHECK(found.empty() == (out.back() != truth::yes));
        for (finding const& one : found) { CHECK(one.step == each.step); }
    }
    return out;
}

// A reference for an adaptor: a function of all decided answers so far in a mode.
template <class Next>
std::vector<truth> adapted_by(std::vector<truth> inner, std::vector<close_event> const& stream, Next next) {
    std::vector<truth> decided_so_far[mode_count];
    for (std::size_t i = 0; i < inner.size(); ++i) {
        if (!decided(inner[i])) { continue; }
        std::vector<truth>& history = decided_so_far[index_of(stream[i].step.mode)];
        history.push_back(inner[i]);
        inner[i] = next(history);
    }
    return inner;
}

constexpr auto a = any("a", maximum > 0);
constexpr auto b = all("b/*", maximum > 1);
constexpr auto c = fraction("*", minimum < 2) > 0.5;

}  // namespace

TEST_CASE("de Morgan for policies, on 10^4 random steps [S12]", "[S12]") {
    static_assert((every{10} && during{mode::train})(train(20)) && !(every{10} && during{mode::train})(eval(20)));
    prng random{1};
    unsigned wrong = 0;
    for (int i = 0; i < 10000; ++i) {
        step_id const at{static_cast<mode>(random.below(3)),
                         random.below(2) == 0 ? random.below(1000) : random.below(~std::uint64_t{0})};
        auto const x = every{1 + random.below(20)} || during{static_cast<mode>(random.below(3))};
        auto const y = between{random.below(500), random.below(1000)} && from{random.below(300)};
        wrong += (!(x || y))(at) != (!x && !y)(at) || (!(x && y))(at) != (!x || !y)(at) || (!!x)(at) != x(at) ? 1 : 0;
    }
    CHECK(wrong == 0);
}

TEST_CASE("a composite answers by Kleene what its parts answer alone [A47]", "[A47]") {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        auto const stream = random_stream(seed, 60);
        auto const left = answers(a | for_steps{2}, stream);
        auto const right = answers(b | cooldown{3}, stream);
        auto const both_answers = answers((a | for_steps{2}) && (b | cooldown{3}), stream);
        auto const either_answers = answers((a | for_steps{2}) || (b | cooldown{3}), stream);
        auto const negated_answers = answers(!(a | for_steps{2}), stream);
        for (std::size_t i = 0; i < stream.size(); ++i) {
            CHECK(both_answers[i] == conjunction(left[i], right[i]));
            CHECK(either_answers[i] == disjunction(left[i], right[i]));
            CHECK(negated_answers[i] == negation(left[i]));
        }
        CHECK(answers(!(a || b), stream) == answers(!a && !b, stream));
        CHECK(answers((a && b) || c, stream) == answers(c || (b && a), stream));
    }
}

TEST_CASE("for_steps and cooldown do what their sentences say [A47]", "[A47]") {
    for (std::uint64_t seed = 100; seed < 130; ++seed) {
        auto const stream = random_stream(seed, 80);
        for (std::size_t n : {1U, 2U, 3U, 5U}) {
            auto const streak = adapted_by(answers(c, stream), stream, [n](std::vector<truth> const& history) {
                std::size_t in_a_row = 0;
                while (in_a_row < history.size() && history[history.size() - 1 - in_a_row] == truth::yes) {
                    ++in_a_row;
                }
                return truth_of(in_a_row >= n);
            });
            CHECK(answers(c | for_steps{n}, stream) == streak);
            auto const silent = adapted_by(answers(c, stream), stream, [n](std::vector<truth> const& history) {
                std::size_t since = n;  // decided closes since the last delivered finding
                truth last = truth::no;
                for (truth each : history) {
                    last = since >= n ? each : truth::no;
                    since = last == truth::yes ? 1 : since + 1;
                }
                return last;
            });
            CHECK(answers(c | cooldown{n}, stream) == silent);
        }
    }
}

TEST_CASE("only equals a stream without the other steps [S70]", "[S70]") {
    for (std::uint64_t seed = 200; seed < 220; ++seed) {
        auto const stream = random_stream(seed, 80);
        auto const policy = during{mode::train} && every{2};
        std::vector<close_event> kept;
        for (close_event const& each : stream) {
            if (policy(each.step)) { kept.push_back(each); }
        }
        auto const rule = (a | rearm{2}) || (b | for_steps{2});
        auto const seen = answers(rule | only{policy}, stream);
        auto const alone = answers(rule, kept);
        std::size_t k = 0;
        for (std::size_t i = 0; i < stream.size(); ++i) {
            CHECK(seen[i] == (policy(stream[i].step) ? alone[k++] : truth::undecided));
        }
    }
}
