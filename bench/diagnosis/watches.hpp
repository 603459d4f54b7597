// SPDX-License-Identifier: Apache-2.0
// The hooks that watch one training, without recording: its program's pack at every step, and the packs that it is
// compared with.
#pragma once

#include "limits.hpp"
#include "outcome.hpp"

#include <spotter/core/role.hpp>
#include <spotter/core/step.hpp>
#include <spotter/core/tensor_ref.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace diagnosis {

// Which pack judges a program.
enum class pack_choice { supervised, rl, boosting };

class watches {
public:
    static inline bool baselines = true;  // whether sagemaker's pack looks on, too
    // Whether the rules of the program's pack do, each for itself and with its defaults.
    static inline bool alone = false;
    static inline bool tells = false;  // whether everything that the program's own pack finds is printed, notes too
    static inline bool tries_limits = false;  // whether the program's own pack is tried with other limits, too
    static inline std::map<std::string, diagnosis_limits> limits_of{};  // of its own pack, by family; none: as they are

    // Findings before step `onset` of a fault are no detection of it. `known` is the loss of guessing or, for rl, the
    // number of actions; unless it is positive, the rule that needs it is silent.
    watches(assignment const& what, std::uint64_t onset, pack_choice pack, double known);
    watches(watches const&) = delete;
    watches& operator=(watches const&) = delete;
    ~watches();

    void begin(spotter::step_id step);
    void observe(std::string_view name, spotter::tensor_ref const& it, spotter::flag flags);
    void observe(std::string_view name, spotter::tensor_ref const& it, spotter::role what, spotter::flag flags);
    void end();
    // Writes down what each hook said, once the training is over.
    void finish(outcome& into);

private:
    struct hooks;
    std::unique_ptr<hooks> hooks_;
};

}  // namespace diagnosis
