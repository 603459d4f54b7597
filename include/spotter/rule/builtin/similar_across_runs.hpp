// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): runs that should be equal and differ, or that should differ and are equal.
// docs/rules.md#similar_across_runs
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/beside.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>
#include <spotter/rule/machine.hpp>
#include <spotter/stat/lanes.hpp>

#include <cstring>

namespace spotter::inline SPOTTER_ABI {

// Warning at a step at which a tensor of one stream differs from the same tensor, at the same step, of the first stream
// that has it; with `expect = different`, at which it is the same in all streams. Without a tolerance it compares the
// hashes of the bits. With a tolerance it compares values element by element, |a - b| <= atol + rtol |b|, where b is
// the first stream's (this needs recorded values). Another shape or type is a difference. Non-finite elements are equal
// if they are of the same kind (NaN, +inf, -inf). Of several observations of a tensor within a step the first in each
// stream counts. Every mode. Needs `replay_side_by_side`.
struct similar_across_runs {
    using kind = rule_kind;
    static constexpr std::string_view name = "similar_across_runs";
    static constexpr std::string_view remedy =
        "Compare the named tensor's producer between the two sides; it is the first that differs.";

    // Whether equal or different streams are expected.
    enum class expected : std::uint8_t { same, different };
    // For `.expect = similar_across_runs::different`.
    static constexpr expected same = expected::same, different = expected::different;

    selector select = &select::everything;
    double rtol = 0;                   // times the size of the first stream's element
    double atol = 0;                   // both 0: the bits must be equal
    expected expect = expected::same;  // what is correct

    // AWS SimilarAcrossRuns: true where a run differs from the base run, which comes first.
    [[nodiscard]] static constexpr similar_across_runs sagemaker_defaults() noexcept { return {}; }

    // The result of comparing a tensor of two streams: same, or what differs.
    enum class outcome : std::uint8_t { unknown, same, values, shape, type };
    struct comparison {                     // of one tensor, at the current step
        std::uint64_t digest = 0;           // hash of the first stream's values, where bits are compared
        bool known = false;                 // digest or copy is set
        extents shape{};                    // of the first stream's
        dtype type = dtype::none;           // of the first stream's
        order layout = order::row_major;    // of the first stream's
        slot_array<unsigned char> values;   // of the first stream, where there is a tolerance
        std::uint32_t first = 0, last = 0;  // streams: the one to compare with; the one compared last
        outcome found = outcome::unknown;   // same until a stream differs; then how the first one does
        std::uint32_t other = 0;            // the first stream that differs
        std::uint32_t count = 0;            // number of those; with `expect = different` of equal ones
        std::uint64_t index = 0;            // of the differing element, in storage order
        double here = 0, there = 0;         // that element in `other`, and in `first`
    };
    struct state {
        met_streams streams;
        per_tensor<comparison> all;
        bool paired = false;        // two streams had the same tensor at some step
        bool lacks_memory = false;  // for a stream, or for a copy of values
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return !select(tensor) ? stats_mask::none
               : exact()       ? stats_mask::hash
                               : stats_mask::payload | stats_mask::nonfinite;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        return seen.all.declare(tensor) != nullptr;
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        bool const room = seen.streams.place_of(it.stream) != met_streams::none;
        seen.lacks_memory = seen.lacks_memory || !room;
        if (!room || seen.all.find(it.tensor.id) == nullptr) { return; }
        comparison& mine = seen.all[it.tensor.id];
        if (seen.all.touch(it.tensor.id)) {
            take(mine, it);
            seen.lacks_memory = seen.lacks_memory || (!exact() && !mine.known && !it.view.absent());
            return;
        }
        if (std::exchange(mine.last, it.stream) == it.stream) { return; }
        seen.paired = true;
        compare(mine, it);
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        bool judged = false;
        violation found;
        comparison const* worst = nullptr;
        for (tensor_id const id : seen.all.touched()) {
            comparison const& mine = seen.all[id];
            if (mine.found == outcome::unknown) { continue; }
            judged = true;
            if ((mine.found == outcome::same) == (expect == expected::same)) { continue; }
            worst = worst == nullptr ? &mine : worst;
            found.blame(seen.all.name_of(id), mine.count);
        }
        seen.all.clear();
        if (worst == nullptr) { return judged ? truth::no : truth::undecided; }
        out.push(describe(found, *worst));
        return truth::yes;
    }
    [[nodiscard]] constexpr bool short_of_memory(state const& seen) const noexcept { return seen.lacks_memory; }
    [[nodiscard]] constexpr std::string_view silence(state const& seen) const noexcept {
        return seen.streams.count() < 2 ? other_run_missing
               : !seen.paired           ? "no two streams have a tensor at the same step"
               : exact()                ? "hashes not recorded: keep the values, or have this rule in the hooks"
                                        : "payload not recorded";
    }

private:
    [[nodiscard]] constexpr bool exact() const noexcept { return !(rtol > 0) && !(atol > 0); }

    constexpr void take(comparison& mine, observation const& it) const noexcept {
        mine.first = mine.last = it.stream;
        mine.found = outcome::unknown;
        mine.count = 0;
        mine.shape = it.view.shape;
        mine.type = it.tensor.type;
        mine.layout = it.view.layout;
        if (exact()) {
            mine.known = has(it.stats.has, stats_mask::hash);
            mine.digest = it.stats.hash;
            return;
        }
        auto const bytes = as_size(it.view.bytes());
        mine.known = !it.view.absent() && mine.values.grow(bytes);
        if (mine.known) { mine.type = it.view.type; }
        if (mine.known && bytes > 0) { std::memcpy(mine.values.data(), it.view.values.raw, bytes); }
    }
    [[nodiscard]] constexpr outcome outcome_of(comparison& mine, observation const& it) const noexcept {
        if (it.view.shape != mine.shape) { return outcome::shape; }
        dtype const type = exact() || it.view.absent() ? it.tensor.type : it.view.type;
        bool const lies_alike = exact() || it.view.layout == mine.layout || mine.shape.rank <= 1;
        if (type != mine.type || !lies_alike) { return outcome::type; }
        bool const known = exact() ? has(it.stats.has, stats_mask::hash) : !it.view.absent();
        if (!mine.known || !known) { return outcome::unknown; }
        bool const equal = exact() ? it.stats.hash == mine.digest : close_enough(mine, it.view, it.stream);
        return equal ? outcome::same : outcome::values;
    }
    // The first difference stays, and what is equal before it does not count.
    constexpr void compare(comparison& mine, observation const& it) const noexcept {
        outcome const now = outcome_of(mine, it);
        if (now == outcome::unknown) { return; }
        bool const differs = now != outcome::same;
        if (mine.found == outcome::unknown || (differs && mine.found == outcome::same)) {
            mine.found = now, mine.other = it.stream;
            if (differs) { mine.count = 0; }
        }
        mine.count += differs || mine.found == outcome::same ? 1 : 0;
    }
    // Keeps the first element beyond the tolerance, of the first stream that has one.
    [[nodiscard]] constexpr bool close_enough(comparison& mine, tensor_ref const& now,
                                              std::uint32_t stream) const noexcept {
        bool all = true;
        values_pointer before{};
        before.raw = mine.values.data();
        bool const kept = mine.found == outcome::values;
        visit_values(now, [&]<class Value>(element_view<Value> values) {
            Value const* const theirs = detail::pointer_in<Value>(before);
            for (std::size_t i = 0; i < values.size() && all; ++i) {
                if (within(values[i], theirs[i])) { continue; }
                all = false;
                if (kept) { continue; }
                mine.index = i, mine.other = stream;
                mine.here = detail::see(values[i]).value, mine.there = detail::see(theirs[i]).value;
            }
        });
        return all;
    }
    template <class Value>
    [[nodiscard]] SPOTTER_STRICT constexpr bool within(Value const& a, Value const& b) const noexcept {
        SPOTTER_STRICT_BODY
        if constexpr (requires { a.re, a.im; }) {
            return within(a.re, b.re) && within(a.im, b.im);
        } else {
            auto const x = detail::see(a), y = detail::see(b);
            bool const finite = x.kind < number_class::pos_inf && y.kind < number_class::pos_inf;
            if (!finite) { return x.kind == y.kind; }
            double allowed = rtol * magnitude(y.value);
            force_rounding(allowed);
            return magnitude(x.value - y.value) <= atol + allowed;
        }
    }

    [[nodiscard]] constexpr finding describe(violation const& found, comparison const& worst) const noexcept {
        bool const differ = worst.found != outcome::same;
        finding it = found.as_finding(worst.found == outcome::shape  ? "shapes differ"
                                      : worst.found == outcome::type ? "types differ"
                                      : differ                       ? "values differ"
                                                                     : "values are equal",
                                      differ ? "streams that differ" : "streams that are equal", relation::greater, 0);
        it.worker = worst.other;
        if (worst.found == outcome::values && !exact()) {
            it.detail << "element " << worst.index << ": " << worst.here << " in stream " << worst.other << ", "
                      << worst.there << " in stream " << worst.first;
        } else {
            it.detail << "stream " << worst.other << " against stream " << worst.first;
        }
        return it;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
