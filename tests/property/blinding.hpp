// SPDX-License-Identifier: Apache-2.0
// The test bench: one rule, a healthy stream in which a fault begins, and a non-finite number shortly before.
#pragma once

#include <tests/rule/stage.hpp>

#include <tests/catch.hpp>

#include <cmath>
#include <set>
#include <string>

namespace blinding {

using namespace spotter;
using stage::indices;

struct poison {
    std::string_view tensor{};
    std::uint64_t at = 0;
    float value = 0;
    bool whole = false;  // all elements, not only the first
};

// The stream of one run, passed to its rule.
template <rule Rule>
class scene {
public:
    scene(Rule const& rule, poison const& what) : run_{rule}, poison_{what} {}

    void see(std::string_view name, std::vector<float> values, extents const& shape = {}, flag flags = flag::none) {
        if (names.insert(std::string{name}).second && flags != flag::none) {
            tensor_info info;
            info.name = name, info.role = guess_role(name), info.flags = flags, info.activation = activation_of(flags);
            info.type = dtype::f32, info.shape = shape;
            run_.declare(info);
        }
        if (name == poison_.tensor && now == poison_.at) {
            for (std::size_t i = 0; i < (poison_.whole ? values.size() : 1); ++i) { values[i] = poison_.value; }
        }
        run_.see(at, name, values, shape);
    }
    void number(std::string_view name, double value) { see(name, {static_cast<float>(value)}); }
    void close() { fired = (run_.close(at) == truth::yes) || fired; }

    step_id at{};
    std::uint64_t now = 0;
    bool fired = false;
    std::set<std::string> names{};

private:
    stage::run<Rule> run_;
    poison poison_;
};

inline constexpr std::uint64_t before = 5;  // steps from the poison to the fault

// When the fault begins, and by how much the poison may delay the finding.
struct timing {
    std::uint64_t fault = 60;
    std::uint64_t steps = 200;
    std::uint64_t slack = 2;  // steps: the change to and the change from a non-finite value
};

// The steps at which the rule fires. `feed(scene, step, faulty)` shows the tensors; for a further mode it closes on its
// own.
template <rule Rule, class Feed>
indices fires(Rule const& rule, Feed const& feed, timing const& when, poison const& what, bool faulty,
              std::set<std::string>* names = nullptr) {
    scene<Rule> it{rule, what};
    indices out;
    for (std::uint64_t i = 0; i < when.steps; ++i) {
        it.now = i, it.at = train(i), it.fired = false;
        feed(it, i, faulty && i >= when.fault);
        it.close();
        if (it.fired) { out.push_back(i); }
    }
    if (names != nullptr) { *names = it.names; }
    return out;
}

// A rule that is silent on the healthy stream and fires on the faulty one also fires after a non-finite value in any of
// its tensors.
template <rule Rule, class Feed>
void never_blinded(Rule const& rule, Feed const& feed, timing const& when = {}) {
    INFO(Rule::name);
    std::set<std::string> names;
    CHECK(fires(rule, feed, when, {}, false, &names).empty());
    indices const plainly = fires(rule, feed, when, {}, true);
    REQUIRE(!plainly.empty());
    std::uint64_t const poisoned = when.fault >= before ? when.fault - before : 0;
    for (std::string const& name : names) {
        for (float const value : {stage::nan_f, stage::pos_infinity_f, stage::neg_infinity_f}) {
            for (bool const whole : {false, true}) {
                INFO(name << (whole ? ", all of it" : "") << ": "
                          << (value == value ? value > 0 ? "+inf" : "-inf" : "NaN"));
                poison const what{name, poisoned, value, whole};
                indices after = fires(rule, feed, when, what, true);
                indices healthy = fires(rule, feed, when, what, false);
                for (indices* each : {&after, &healthy}) { std::erase(*each, poisoned); }  // some rules report it
                CHECK(healthy.empty());
                REQUIRE(!after.empty());
                CHECK(after.front() >= when.fault);
                CHECK(after.front() <= plainly.front() + when.slack);
                CHECK(after.back() + when.slack + 2 >= plainly.back());
            }
        }
    }
}

// A fixed pseudo-random number between -1 and 1 for each step and place.
inline float noise(std::uint64_t step, std::uint64_t place) {
    std::uint64_t bits = (step * 131 + place + 1) * 0x9E3779B97F4A7C15U;
    bits = (bits ^ (bits >> 29)) * 0xBF58476D1CE4E5B9U;
    return static_cast<float>(static_cast<double>(bits >> 11) * 0x1p-52 - 1);
}
inline std::vector<float> noises(std::uint64_t step, std::size_t count, double scale = 1, double shift = 0,
                                 std::uint64_t salt = 0) {
    std::vector<float> out(count);
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = static_cast<float>(shift + scale * static_cast<double>(noise(step, i + 1000 * salt)));
    }
    return out;
}

}  // namespace blinding
