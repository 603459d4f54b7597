// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): a pack whose rules are symptoms of each other: while the run makes progress they are notes, otherwise one cause is
// told first, and the rest because of it. A condition is certain, an outcome or a symptom by its rule and reason. docs/diagnosis.md
#pragma once

#include <spotter/diagnosis/causes.hpp>
#include <spotter/rule/hidden_pack.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

class diagnosed_pack final : public hidden_pack {
public:
    // `objective`: a loss of training is what is to fall.
    explicit diagnosed_pack(bool objective) noexcept;
    SPOTTER_COLD ~diagnosed_pack() override = default;

    tensor_needs declare(tensor_info const& tensor) override;
    void observe(observation const& it) override;
    truth close(step_id step, findings& out) override;

private:
    // What a close brings.
    struct news {
        bool alarm = false, outcome = false;  // something has to be told; the run itself is why
        bool dying = false;                   // units, gradients or values have come to nothing
        bool anything = false;                // some condition holds
        severity level = severity::info;      // of the alarm
        severity held = severity::info;       // of what holds, told or not
        finding const* bad_value = nullptr;   // where values that are no numbers began
    };
    [[nodiscard]] news look(spotter::progress now, bool in_training) noexcept;
    [[nodiscard]] bool tell_cause(news const& what, spotter::progress now, step_id step, finding& cause,
                                  findings& out) noexcept;
    [[nodiscard]] bool tell(step_id step, findings& out) noexcept;
    // That was told as the cause.
    [[nodiscard]] bool is_cause(finding const& it) const noexcept;
    [[nodiscard]] severity level_of(episode const& it, spotter::progress now) const noexcept;
    // A symptom of an illness that was told a short while ago, or once more of the rule and the tensor that told it.
    [[nodiscard]] bool explained(episode const& it) const noexcept;
    [[nodiscard]] bool says_the_same(episode const& it) const noexcept;

    progress_watch losses_;
    update_sizes weights_;
    episodes said_;
    findings scratch_{};
    std::uint64_t close_ = 0;
    spotter::progress told_ =
        spotter::progress::unknown;    // the last that was an alarm; unknown: none since it was well
    std::uint64_t bad_values_at_ = 0;  // the last close with values that are no numbers
    std::string_view cause_{}, cause_reason_{}, cause_tensor_{};  // that was told last
    severity cause_level_ = severity::info;
    bool weights_told_ = false, sign_told_ = false;
    bool has_classes_ = false;  // labels of whole numbers were seen
    std::uint64_t cause_at_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/diagnosis/diagnosed_pack.ipp>
#endif
