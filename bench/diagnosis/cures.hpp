// SPDX-License-Identifier: Apache-2.0
// A training that follows cures (spotter/heal.hpp): what they ask for, and the hook that they go by. docs/act.md
#pragma once

#include <spotter/core/role.hpp>
#include <spotter/core/step.hpp>
#include <spotter/core/tensor_ref.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace diagnosis {

// Which cures a training follows.
enum class cured_by { nothing, skip_batch, clip_gradients, step_back, warm_up, reinitialise, all };
inline constexpr std::array<std::string_view, 7> cure_names{
    "left alone", "skip_batch", "clip_gradients", "step_back", "warm_up_again", "reinitialise_units", "all of them"};

// What a program is to do with its update: spotter::treatment, and the units that are dead, as names of activations and
// places there.
struct prescription {
    bool skip = false, restore = false;
    double rate = 1, largest_norm = 0;
    std::vector<std::pair<std::string, std::size_t>> reinitialise{};
};

// A hook with packs::supervised and the gauge of the cures chosen.
class healer {
public:
    static inline cured_by choice = cured_by::nothing;
    static inline bool tells = false;  // whether what cures do is printed

    healer();
    healer(healer const&) = delete;
    healer& operator=(healer const&) = delete;
    ~healer();

    void begin(spotter::step_id step);
    void observe(std::string_view name, spotter::tensor_ref const& it, spotter::role const* what, spotter::flag flags);
    [[nodiscard]] prescription end();
    [[nodiscard]] bool healthy_since(spotter::step_id step) const;
    [[nodiscard]] std::size_t acts() const;

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace diagnosis
