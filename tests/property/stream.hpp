// SPDX-License-Identifier: Apache-2.0
// Random streams of events, like a training loop on a bad day, and findings as plain values to compare.
#pragma once

#include <tests/trial/runs.hpp>

#include <spotter/replay.hpp>
#include <spotter/rules.hpp>

#include <cstring>
#include <tuple>

namespace spotter_test {

struct random_source {
    std::uint64_t state;
    std::uint64_t next() {
        state += 0x9E3779B97F4A7C15ULL;
        std::uint64_t z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31);
    }
    std::uint64_t below(std::uint64_t end) { return next() % end; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }
    double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
};

struct event {
    std::size_t name = 0;
    std::vector<unsigned char> bytes;
    spotter::tensor_ref like{};
    bool scalar = false;
    bool has_role = false;
    [[nodiscard]] spotter::tensor_ref view() const {
        spotter::tensor_ref it = like;
        it.values.raw = bytes.data();
        return it;
    }
};
struct stream_step {
    spotter::step_id id{};
    std::vector<event> events;
    std::vector<double> loose;
};
using stream = std::vector<stream_step>;

struct name_and_shape {
    char const* name;
    spotter::extents shape;
};
inline std::vector<name_and_shape> const pool{
    {"loss", {}},        {"fc1/w", {4, 6}}, {"grad/fc1/w", {4, 6}}, {"act/1", {8, 5}}, {"fc1/b", {6}},
    {"grad/fc1/b", {6}}, {"aux_loss", {1}}, {"relu/2", {2, 3, 4}},  {"x", {20, 70}},   {"empty", {0, 3}},
    {"lr", {}}};

template <class Value>
void fill(std::vector<unsigned char>& bytes, std::size_t count, random_source& random, double scale,
          std::uint64_t hostility) {
    bytes.resize(count * sizeof(Value));
    for (std::size_t i = 0; i < count; ++i) {
        Value value{};
        double const plain = scale * (random.unit() * 2 - 1);
        if constexpr (std::is_same_v<Value, spotter::bf16>) {
            value.bits = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(plain)) >> 16);
            if (random.one_in(hostility)) { value.bits = static_cast<std::uint16_t>(random.next()); }
        } else if constexpr (std::is_integral_v<Value>) {
            value = static_cast<Value>(plain * 1000);
        } else {
            value = static_cast<Value>(plain);
            if (random.one_in(hostility)) {  // zeros, -0.0, infinities, subnormals, NaN with any payload
                using Bits = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;
                constexpr Bits sign = Bits{1} << (8 * sizeof(Bits) - 1);
                constexpr Bits infinity =
                    sizeof(Value) == 4 ? static_cast<Bits>(0x7F800000U) : static_cast<Bits>(0x7FF0000000000000ULL);
                Bits const special[] = {0,
                                        sign,
                                        infinity,
                                        infinity | sign,
                                        static_cast<Bits>(random.next() & 0xFFFF),
                                        infinity | 1 | (static_cast<Bits>(random.next()) >> 12)};
                std::memcpy(bytes.data() + i * sizeof(Value), &special[random.below(6)], sizeof(Value));
                continue;
            }
        }
        std::memcpy(bytes.data() + i * sizeof(Value), &value, sizeof(Value));
    }
}

inline event make_event(std::size_t which, random_source& random, std::uint64_t hostility, bool late_roles) {
    event it;
    it.name = which;
    it.like.shape = pool[which].shape;
    if (it.like.shape.rank > 0 && random.one_in(40)) { it.like.shape.size[0] += 1; }  // sometimes another shape
    it.like.count = it.like.shape.elements();
    constexpr spotter::dtype types[] = {spotter::dtype::f32, spotter::dtype::f64, spotter::dtype::i32,
                                        spotter::dtype::bf16};
    it.like.type = types[random.one_in(60) ? random.below(4)
                         : which % 4 == 2  ? 1
                         : which % 5 == 3  ? 3
                         : which == 4      ? 2
                                           : 0];
    it.like.layout = which == 1 ? spotter::order::column_major : spotter::order::row_major;
    it.scalar = pool[which].shape.rank == 0 && random.one_in(3);
    it.has_role = random.one_in(30) && late_roles;
    constexpr double scales[] = {1, 1, 1, 1e-9, 0, 50};
    auto const count = static_cast<std::size_t>(it.like.count);
    double const scale = scales[random.below(6)];
    switch (it.like.type) {
        case spotter::dtype::f32:
            fill<float>(it.bytes, count, random, scale, hostility);
            break;
        case spotter::dtype::f64:
            fill<double>(it.bytes, count, random, scale, hostility);
            break;
        case spotter::dtype::i32:
            fill<std::int32_t>(it.bytes, count, random, scale, hostility);
            break;
        default:
            fill<spotter::bf16>(it.bytes, count, random, scale, hostility);
            break;
    }
    return it;
}

// Modes alternate and rewind; tensors come late, stay away or repeat.
inline stream make_stream(std::uint64_t seed, std::size_t steps, bool late_roles = true) {
    random_source random{seed};
    stream made;
    std::uint64_t index[spotter::mode_count]{};
    std::vector<std::uint64_t> first(pool.size());
    for (auto& each : first) { each = random.one_in(3) ? random.below(steps) : 0; }
    std::uint64_t const hostility = random.one_in(2) ? 1000 : 12;
    for (std::size_t s = 0; s < steps; ++s) {
        stream_step step;
        auto const which = static_cast<spotter::mode>(random.one_in(4) ? 1 + random.below(2) : 0);
        std::uint64_t& at = index[index_of(which)];
        if (random.one_in(25)) { at -= random.below(at + 1); }
        step.id = {which, at};
        at += random.one_in(6) ? 3 : 1;
        for (std::size_t i = 0; i < pool.size(); ++i) {
            if (s < first[i] || random.one_in(7)) { continue; }
            for (std::uint64_t times = random.one_in(15) ? 2 : 1; times > 0; --times) {
                step.events.push_back(make_event(i, random, hostility, late_roles));
            }
        }
        if (random.one_in(10) && step.events.size() > 1) { std::swap(step.events.front(), step.events.back()); }
        if (random.one_in(9)) { step.loose.push_back(random.unit()); }
        made.push_back(std::move(step));
    }
    return made;
}

template <class Hook>
void feed(Hook& watch, event const& it) {
    using namespace spotter;
    tensor_ref const view = it.view();
    char const* const name = pool[it.name].name;
    if (it.scalar && view.type == dtype::f32) {
        watch.scalar(name, *view.values.f32);
    } else if (it.scalar && view.type == dtype::f64) {
        watch.scalar(name, *view.values.f64);
    } else if (it.has_role) {
        watch.observe(name, view, it.name == 8 ? role::weight : guess_role(name));
    } else {
        watch.observe(name, view);
    }
}

// A finding as a tuple of owned texts and of numbers by their bits.
using plain_finding = std::tuple<std::string, std::string, std::string, std::string, std::string, std::string,
                                 std::string, std::uint64_t, std::uint64_t, int, int, int, bool, std::uint32_t>;
inline plain_finding plain(spotter::finding const& it) {
    std::string const step = std::string{name_of(it.step.mode)} + std::to_string(it.step.index);
    return {step,
            std::string{it.rule},
            std::string{it.reason},
            std::string{it.tensor},
            std::string{it.measure},
            std::string{it.remedy},
            std::string{it.detail.view()},
            std::bit_cast<std::uint64_t>(it.measured),
            std::bit_cast<std::uint64_t>(it.threshold),
            static_cast<int>(it.how),
            static_cast<int>(it.severity),
            static_cast<int>(it.decision),
            it.decision_is_set,
            it.others};
}
// An alarm: the index of its close, its findings in order, and how many did not fit.
struct plain_alarm {
    std::vector<plain_finding> findings;
    std::uint32_t left_out = 0;
    friend bool operator==(plain_alarm const&, plain_alarm const&) = default;
};
using alarms = std::vector<plain_alarm>;

inline void keep(alarms& all, spotter::step_alarm const& found) {
    if (found.empty() && found.left_out() == 0) { return; }
    plain_alarm one;
    for (spotter::finding const& each : found) { one.findings.push_back(plain(each)); }
    one.left_out = found.left_out();
    all.push_back(std::move(one));
}

using plain_coverage = std::tuple<std::string, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::string>;
inline plain_coverage plain(spotter::coverage const& it) {
    return {std::string{it.rule}, it.matched, it.judged, it.undecided, it.fired, std::string{it.reason}};
}

// Runs a stream through a hook. `admit(name, step)`: whether the tensor is handed to the hook.
template <class Hook, class Admit>
alarms run_through(Hook& watch, stream const& all, Admit const& admit) {
    alarms found;
    for (stream_step const& step : all) {
        watch.begin(step.id);
        for (event const& each : step.events) {
            if (admit(each, step.id)) { feed(watch, each); }
        }
        keep(found, watch.end());
        for (double each : step.loose) { watch.scalar("lr", each); }
    }
    return found;
}
template <class Hook>
alarms run_through(Hook& watch, stream const& all) {
    return run_through(watch, all, [](event const&, spotter::step_id) { return true; });
}

// A plan that keeps only what rules ask for.
inline constexpr spotter::plan nothing{spotter::collection{"none", "*", spotter::never{}, spotter::payload}};

template <class Hook>
std::vector<plain_coverage> coverage_of(Hook const& watch) {
    std::vector<plain_coverage> all;
    watch.coverage_of_rules([&](spotter::coverage const& each) { all.push_back(plain(each)); });
    return all;
}

// Alarms, findings and coverage of a replay.
struct replayed {
    alarms found;
    std::vector<plain_coverage> coverages;
    spotter::replay_report report;
};
template <class... Rules>
replayed play(spotter::trial const& run, Rules const&... rules) {
    replayed it;
    it.report = spotter::replay(run, rules..., [&](spotter::step_alarm const& found) { keep(it.found, found); });
    for (spotter::coverage const& each : it.report.coverages) { it.coverages.push_back(plain(each)); }
    return it;
}

// The number of streams for a property: SPOTTER_PROPERTY_RUNS, or `usual`.
inline std::uint64_t property_runs(std::uint64_t usual) {
    char const* const text = std::getenv("SPOTTER_PROPERTY_RUNS");
    return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

}  // namespace spotter_test
