// SPDX-License-Identifier: Apache-2.0
// Replay (L5): faults that are put into what a record says, so that rules can be tried on them.
#pragma once

#include <spotter/core/event.hpp>
#include <spotter/core/feature_list.hpp>
#include <spotter/rule/list.hpp>
#include <spotter/stat/summary.hpp>

#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// What is done to a tensor from the step of the fault on; k counts its steps since.
enum class alteration : std::uint8_t {
    not_a_number,  // its first value is NaN
    scaled,        // times `factor`
    growing,       // times factor^k
    spikes,        // times `factor` at every 50th step
    level,         // its mean stands still, up to a wave of 0.5 %
    frozen,        // as it was
    shuffled,      // the rows of a batch belong to other samples: each is taken from half a batch away
    one_row,       // all rows of a batch are its first
};

// What comes of a fault: the loss in training, from the same step on.
enum class outcome_of_fault : std::uint8_t { as_recorded, stands_still, rises };

// A mistake that programs make, as a record would show it.
struct planted_fault {
    std::string_view name{};           // as `spotter check --self-test` calls it
    std::string_view what{};           // a sentence
    std::string_view needed{};         // what has to be recorded for it
    spotter::role role = role::other;  // of the tensors that show it
    spotter::mode mode = mode::train;  // at whose steps they do
    bool all = false;                  // of that role, or the first
    bool early = false;  // a program has it from the first train step on, or it comes in the middle of the run
    alteration how = alteration::scaled;                    // what is done to them
    double factor = 1;                                      // of `scaled`, `growing` and `spikes`
    outcome_of_fault loss = outcome_of_fault::as_recorded;  // what the loss does then
    std::string_view rules[3]{};                            // that are made for it
};

// Faults that trainings have, each as one of these would show it. None of them is about one framework.
[[nodiscard]] std::span<planted_fault const> planted_faults() noexcept;

namespace detail {

// Alters what a replay hands to rules. Statistics follow exactly; what is made of values is altered where the values
// were recorded.
class fault_planter {
public:
    fault_planter(planted_fault const& fault, step_id from) : fault_{fault}, from_{from} {}
    fault_planter(fault_planter const&) = delete;
    fault_planter& operator=(fault_planter const&) = delete;

    // What of it the rules are to see, valid until the next call.
    [[nodiscard]] observation alter(observation const& it);
    // An attempt begins: what is remembered of tensors was of the one before.
    void restart() { tensors_.clear(); }

    [[nodiscard]] std::uint64_t tensors() const noexcept { return altered_tensors_; }
    [[nodiscard]] std::string const& first_tensor() const noexcept { return first_name_; }

private:
    struct memory {  // of a tensor that is altered
        std::uint64_t steps = 0;
        double factor = 1;  // of the observation before
        double level = 0;   // the mean at the first
        summary frozen{};
        std::vector<std::byte> values{};
        tensor_ref view{};
        bool counted = false;
    };

    struct change {
        alteration how = alteration::scaled;
        double factor = 1;
    };

    // What is done to it, if anything.
    [[nodiscard]] std::optional<change> change_of(observation const& it);
    [[nodiscard]] static double factor_at(change const& what, memory& of, observation const& it,
                                          tensor_ref const& values);
    void scale(double factor, memory& of, observation const& it);
    void freeze(memory& of, observation const& it);
    // False where the values were not recorded, or are none of rows.
    [[nodiscard]] bool move_rows(alteration how, observation const& it);
    void spoil(observation const& it);
    void take_values(tensor_ref const& from);

    planted_fault const& fault_;
    step_id from_;
    bool active_ = false;
    std::string first_name_{};  // of those of its role
    std::uint64_t altered_tensors_ = 0;
    std::map<tensor_id, memory> tensors_{};
    summary stats_{};
    std::vector<std::byte> bytes_{};
    tensor_ref view_{};
    std::vector<std::uint32_t> active_units_{};
    unit_activity units_{};
    struct altered_values {
        tensor_ref const& view;
        tensor_ref operator()() const noexcept { return view; }
    };
    altered_values const load_{view_};
    feature_list features_{};
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/replay/planted_fault.ipp>
#endif
