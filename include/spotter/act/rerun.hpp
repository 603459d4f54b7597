// SPDX-License-Identifier: Apache-2.0
// Act (L6): computes a step with an alarm again, to distinguish a bug or bad data from a hardware fault.
#pragma once

#include <spotter/core/guard.hpp>
#include <spotter/core/pattern.hpp>
#include <spotter/core/sentence.hpp>
#include <spotter/core/text.hpp>
#include <spotter/hook/naming.hpp>
#include <spotter/hook/source_copy.hpp>
#include <spotter/rule/finding.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Where two computations of a step differ, in the order in which its tensors were observed.
struct image_difference {
    std::string tensor{};        // the first that differs; empty: none
    std::uint64_t tensors = 0;   // number of differing tensors
    std::uint64_t elements = 0;  // differing elements of the first one
    std::uint64_t first = 0;     // the first of those, in storage order
    std::uint64_t bits = 0;      // differing bits of the first tensor; 0 where only hashes were kept
    bool other_tensors = false;  // another set or order of tensors, or another type or shape

    // There is a difference.
    [[nodiscard]] bool any() const noexcept { return tensors > 0 || other_tensors; }
};

namespace detail {

// Copies the tensors that it observes, as a hook does; beyond `most_bytes` in total it keeps hashes of blocks. Throws
// where memory is exhausted.
class step_image {
public:
    explicit step_image(std::uint64_t most_bytes) noexcept : left_{most_bytes} {}

    template <class Values>
    void observe(std::string_view name, Values const& values) {
        take(name, offer(values), guess_role(name) == role::input);
    }
    template <class Values>
    void observe(std::string_view name, Values const& values, role what, flag = flag::none) {
        take(name, offer(values), what == role::input);
    }
    template <class Values>
    void observe(std::string_view name, Values const& values, flag) {
        observe(name, values);
    }
    template <class Value>
    void scalar(std::string_view name, Value const& value) {
        take(name, offer(value), false);
    }

    [[nodiscard]] image_difference operator-(step_image const& other) const;
    // Hash of the first observed input; 0 where there was none.
    [[nodiscard]] std::uint64_t input_hash() const noexcept { return input_; }

private:
    static constexpr std::size_t block = 4096;
    struct kept_tensor {
        std::string name{};
        dtype type = dtype::none;
        extents shape{};
        std::uint64_t bytes = 0;
        std::vector<std::byte> values{};      // or, for lack of room,
        std::vector<std::uint64_t> hashes{};  // hashes of blocks
    };

    void take(std::string_view name, offered const& values, bool is_input);
    static void compare(kept_tensor const& a, kept_tensor const& b, image_difference& found);

    std::vector<kept_tensor> all_{};
    std::uint64_t left_;
    std::uint64_t input_ = 0;
    bool has_input_ = false;
    source_copy copies_{};
};

}  // namespace detail

//   not_asked     no finding requires it
//   reproducible  the same bits again: a bug, or the data
//   transient     other bits, and twice the same ones then: a fault of the machine the first time
//   unsteady      other bits each time: the program is not deterministic, and nothing can be concluded
//   here_only     the same bits again, and others elsewhere: this machine is wrong each time, or the other one rounds
//                 differently
//   failed        it could not be computed again: `restore` returned false, or memory was lacking
enum class rerun_verdict : std::uint8_t { not_asked, reproducible, transient, unsteady, failed, here_only };
[[nodiscard]] constexpr std::string_view name_of(rerun_verdict what) noexcept {
    constexpr std::string_view names[] = {"not_asked", "reproducible", "transient", "unsteady", "failed", "here_only"};
    return names[static_cast<std::size_t>(what)];
}

// Options of computing again.
struct rerun_options {
    // A warning or an error of these rules requires it.
    glob rules = "{non_finite,loss_spike,gradient_spike,exploding_gradient,replica_divergence}";
    // Limit of the copies of tensors for comparing a step with itself. Tensors beyond it are hashed: then differing
    // tensors are known, but not the number of bits.
    std::uint64_t most_bytes = 1ULL << 30;
};

// The result of a step.
struct rerun_result {
    step_alarm alarm{};                                // of the last computation, to which the loop's tensors now
                                                       // belong
    rerun_verdict verdict = rerun_verdict::not_asked;  // how far to trust the alarm
    // Between the first and the second computation; for here_only between both and the one elsewhere.
    image_difference apart{};
    std::uint64_t input = 0;  // hash of the first input; 0 where none was observed
};

// How many steps were computed again, and with which results.
struct rerun_counts {
    std::uint64_t steps = 0;                                                                 // steps computed again
    std::uint64_t reproducible = 0, transient = 0, unsteady = 0, failed = 0, here_only = 0;  // those steps by verdict
};

namespace detail {
struct nowhere {
    void operator()() const noexcept {}
};
}  // namespace detail

// A loop computes its steps through it:
//     save()        copies what computing a step changes and does not recompute: the state of random numbers, running
//                   means, the position in the data
//     restore()     restores that copy, as often as called; may return false where it cannot
//     compute()     forward and backward, without the update
//     show(see)     observes the step's tensors, in program order: see.observe("fc1/w", w), as with a hook
//     elsewhere()   optional: as compute, on another core or card that rounds alike, into the same tensors. A step with
//                   two equal results is computed there too, without judging it, and then here again, so that the
//                   tensors are those of the alarm
// It stores nothing in the loop, and without an alarm costs only `save`. Results are recorded as the text `rerun` of
// the step.
template <class Save, class Restore, class Compute, class Show, class Elsewhere = detail::nowhere>
class rerun {
public:
    rerun(Save save, Restore restore, Compute compute, Show show, rerun_options const& choices = {})
        : save_{std::move(save)}, restore_{std::move(restore)}, compute_{std::move(compute)}, show_{std::move(show)},
          choices_{choices} {}
    rerun(Save save, Restore restore, Compute compute, Show show, Elsewhere elsewhere,
          rerun_options const& choices = {})
        requires std::invocable<Elsewhere&>
        : save_{std::move(save)}, restore_{std::move(restore)}, compute_{std::move(compute)}, show_{std::move(show)},
          elsewhere_{std::move(elsewhere)}, choices_{choices} {}

    // Opens the step, computes, observes and closes it; repeats that where an alarm requires it. Exceptions of the
    // functions reach the caller.
    template <class Hook>
    [[nodiscard]] rerun_result step(Hook& watch, step_id id) {
        rerun_result made;
        save_();
        made.alarm = judge(watch, id);
        if (!asks(made.alarm)) { return made; }
        ++counts_.steps;
        made.verdict = compare(watch, id, made);
        count(made.verdict);
        tell(watch, id, made);
        return made;
    }
    // Since the beginning.
    [[nodiscard]] rerun_counts const& counts() const noexcept { return counts_; }

private:
    using image_of = std::unique_ptr<detail::step_image>;

    template <class Hook>
    [[nodiscard]] rerun_verdict compare(Hook& watch, step_id id, rerun_result& made) {
        image_of const first = image();
        if (first == nullptr) { return rerun_verdict::failed; }
        made.input = first->input_hash();
        image_of const second = again(watch, id, made);
        if (second == nullptr || !subtract(*first, *second, made.apart)) { return rerun_verdict::failed; }
        if (!made.apart.any()) { return compare_elsewhere(watch, id, *second, made); }
        image_of const third = again(watch, id, made);
        image_difference later;
        if (third == nullptr || !subtract(*second, *third, later)) { return rerun_verdict::failed; }
        return later.any() ? rerun_verdict::unsteady : rerun_verdict::transient;
    }
    // For a step with two equal results.
    template <class Hook>
    [[nodiscard]] rerun_verdict compare_elsewhere([[maybe_unused]] Hook& watch, [[maybe_unused]] step_id id,
                                                  [[maybe_unused]] detail::step_image const& here,
                                                  [[maybe_unused]] rerun_result& made) {
        if constexpr (std::same_as<Elsewhere, detail::nowhere>) {
            return rerun_verdict::reproducible;
        } else {
            if (!restored()) { return rerun_verdict::failed; }
            elsewhere_();
            image_of const there = image();
            bool const fine = there != nullptr && subtract(here, *there, made.apart);
            bool const back = again(watch, id, made) != nullptr;
            if (!fine || !back) { return rerun_verdict::failed; }
            return made.apart.any() ? rerun_verdict::here_only : rerun_verdict::reproducible;
        }
    }
    // False where memory for a name is lacking.
    [[nodiscard]] static bool subtract(detail::step_image const& one, detail::step_image const& other,
                                       image_difference& into) noexcept {
        return guarded([&] { into = one - other; });
    }
    template <class Hook>
    [[nodiscard]] step_alarm judge(Hook& watch, step_id id) {
        watch.begin(id);
        compute_();
        show_(watch);
        return watch.end();
    }
    template <class Hook>
    [[nodiscard]] image_of again(Hook& watch, step_id id, rerun_result& made) {
        if (!restored()) { return nullptr; }
        made.alarm = judge(watch, id);
        return image();
    }
    [[nodiscard]] bool restored() {
        if constexpr (std::same_as<decltype(restore_()), bool>) {
            return restore_();
        } else {
            restore_();
            return true;
        }
    }
    [[nodiscard]] image_of image() {
        image_of made;
        bool const fine = guarded([&] {
            made = std::make_unique<detail::step_image>(choices_.most_bytes);
            show_(*made);
        });
        return fine ? std::move(made) : nullptr;
    }
    [[nodiscard]] bool asks(step_alarm const& found) const noexcept {
        for (finding const& each : found) {
            if (each.severity >= severity::warning && choices_.rules(each.rule)) { return true; }
        }
        return false;
    }
    void count(rerun_verdict what) noexcept {
        std::uint64_t* const each[] = {nullptr,           &counts_.reproducible, &counts_.transient,
                                       &counts_.unsteady, &counts_.failed,       &counts_.here_only};
        ++*each[static_cast<std::size_t>(what)];
    }
    template <class Hook>
    static void tell(Hook& watch, step_id id, rerun_result const& made) noexcept {
        text<400> line;
        line << name_of(id.mode) << '(' << id.index << ") " << name_of(made.verdict);
        if (made.apart.any()) {
            line << ": " << std::string_view{made.apart.tensor}.substr(0, 120) << ", "
                 << detail::plural(made.apart.bits, "bit").view() << " in "
                 << detail::plural(made.apart.elements, "element").view() << " from " << made.apart.first
                 << " on, the first of " << detail::plural(made.apart.tensors, "tensor").view();
        }
        if (made.input != 0) { line << "; input " << made.input; }
        watch.scalar("rerun", line.view());
    }

    Save save_;
    Restore restore_;
    Compute compute_;
    Show show_;
    [[no_unique_address]] Elsewhere elsewhere_{};
    rerun_options choices_;
    rerun_counts counts_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/casts.hpp>
#include <spotter/format/checksum.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY void step_image::take(std::string_view name, offered const& values, bool is_input) {
    tensor_ref view = values.view;
    if (values.copy != nullptr && copies_.take(values, view).code != errc::none) { return; }
    if (view.absent() || view.refused != refusal::none) { return; }  // a hook leaves these out, too, and reports why
    kept_tensor one;
    one.name = std::string{name};
    one.type = view.type;
    one.shape = view.shape;
    one.bytes = view.bytes();
    auto const* const first = static_cast<std::byte const*>(view.values.raw);
    auto const size = as_size(one.bytes);
    if (one.bytes <= left_) {
        left_ -= one.bytes;
        one.values.assign(first, first + size);
    } else {
        for (std::size_t at = 0; at < size; at += block) {
            one.hashes.push_back(xxh64({first + at, (std::min)(block, size - at)}));
        }
    }
    if (is_input && !std::exchange(has_input_, true)) { input_ = xxh64({first, size}); }
    all_.push_back(std::move(one));
}

SPOTTER_BODY image_difference step_image::operator-(step_image const& other) const {
    image_difference found;
    found.other_tensors = all_.size() != other.all_.size();
    for (std::size_t i = 0; i < (std::min)(all_.size(), other.all_.size()); ++i) {
        kept_tensor const &a = all_[i], &b = other.all_[i];
        if (a.name != b.name || a.type != b.type || a.shape != b.shape || a.bytes != b.bytes) {
            found.other_tensors = true;
            if (found.tensor.empty()) { found.tensor = a.name; }
            return found;  // later tensors would be compared with different ones
        }
        compare(a, b, found);
    }
    return found;
}

SPOTTER_BODY void step_image::compare(kept_tensor const& a, kept_tensor const& b, image_difference& found) {
    std::size_t const wide = (std::max)(size_of(a.type), std::size_t{1});
    if (a.values.size() == a.bytes && b.values.size() == b.bytes) {
        if (a.values.empty() || std::memcmp(a.values.data(), b.values.data(), a.values.size()) == 0) { return; }
        if (found.tensors++ > 0) { return; }
        found.tensor = a.name;
        for (std::size_t at = 0; at < a.values.size(); at += wide) {
            std::uint64_t bits = 0;
            for (std::size_t i = at; i < (std::min)(at + wide, a.values.size()); ++i) {
                bits += static_cast<std::uint64_t>(std::popcount(static_cast<unsigned>(a.values[i] ^ b.values[i])));
            }
            if (bits > 0 && found.elements++ == 0) { found.first = at / wide; }
            found.bits += bits;
        }
        return;
    }
    auto const apart = std::mismatch(a.hashes.begin(), a.hashes.end(), b.hashes.begin(), b.hashes.end());
    if (apart.first == a.hashes.end() && apart.second == b.hashes.end()) { return; }
    if (found.tensors++ > 0) { return; }
    found.tensor = a.name;
    found.first = static_cast<std::uint64_t>(apart.first - a.hashes.begin()) * block / wide;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
