// SPDX-License-Identifier: Apache-2.0
// Workbench, self_test: plants a fault into the observations that a replay passes to rules.
#pragma once

#include <spotter/core/event.hpp>
#include <spotter/core/feature_list.hpp>
#include <spotter/stat/summary.hpp>
#include <spotter/workbench/self_test.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI::detail {

// Alters the observations that a replay passes to rules. Statistics are updated exactly; features of values are altered
// if the values were recorded.
class fault_planter {
public:
    fault_planter(planted_fault const& fault, step_id from) : fault_{fault}, from_{from} {}
    fault_planter(fault_planter const&) = delete;
    fault_planter& operator=(fault_planter const&) = delete;

    // The altered observation, valid until the next call.
    [[nodiscard]] observation alter(observation const& it);
    // A new attempt begins: forgets the tensors of the previous one.
    void restart() { tensors_.clear(); }

    [[nodiscard]] std::uint64_t tensors() const noexcept { return altered_tensors_; }
    [[nodiscard]] std::string const& first_tensor() const noexcept { return first_name_; }
    [[nodiscard]] bool saw_values() const noexcept { return saw_values_; }  // of any of them

private:
    struct memory {  // of an altered tensor
        std::uint64_t steps = 0;
        double factor = 1;  // of the previous observation
        double level = 0;   // the mean at the first observation
        summary frozen{};
        std::vector<std::byte> values{};
        tensor_ref view{};
        bool counted = false;
    };

    struct change {
        alteration how = alteration::scaled;
        double factor = 1;
    };

    // The change to apply, if any.
    [[nodiscard]] std::optional<change> change_of(observation const& it);
    [[nodiscard]] static double factor_at(change const& what, memory& of, observation const& it,
                                          tensor_ref const& values);
    void scale(double factor, memory& of, observation const& it);
    void freeze(memory& of, observation const& it);
    // False where the values were not recorded, or have no rows.
    [[nodiscard]] bool move_rows(alteration how, observation const& it);
    void spoil(observation const& it);
    void take_values(tensor_ref const& from);

    planted_fault const& fault_;
    step_id from_;
    bool active_ = false;
    std::string first_name_{};  // name of the first tensor with its role
    bool saw_values_ = false;
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

}  // namespace spotter::inline SPOTTER_ABI::detail
