// SPDX-License-Identifier: Apache-2.0
// Workbench, page: one pass over the rows of a run makes its story. Only values of single numbers are read.
#pragma once

#include "page/story.hpp"

#include <spotter/format/zstd_codec.hpp>
#include <spotter/rule/builtin/classes.hpp>
#include <spotter/stat/units.hpp>
#include <spotter/trial/recorded_events.hpp>

namespace spotter::inline SPOTTER_ABI::html {

// The pass over one worker's record.
class run_reader {
public:
    // `into` already has the findings; those of this worker get their evidence.
    run_reader(worker_reader const& from, run_story& into);

    // The tensors' stories, by the record's ids.
    [[nodiscard]] std::vector<tensor_story> read();

private:
    void take_begin(rows::run_begin const& it);
    void take_close(rows::close const& it);

    // The position of a step on the page's axis.
    [[nodiscard]] std::uint64_t place_of(step_id step) const noexcept;
    [[nodiscard]] tensor_story* story_of(tensor_id id) noexcept;  // null for one that was declared since

    void take_observation(recorded_observation const& from);
    // Whether a curve is drawn from values if no statistics were recorded: for small losses and metrics, and single
    // numbers.
    [[nodiscard]] static bool is_number(tensor_info const& it) noexcept;
    // False where the value is unreadable.
    [[nodiscard]] bool add_value(recorded_observation const& it, summary& stats);
    static void add_statistics(mode_story& mine, std::uint64_t at, summary const& stats);
    // -1 where no unit activity was recorded.
    [[nodiscard]] static double share_of_idle(rows::observe const& it) noexcept;
    static void witness(evidence& of, step_id step, summary const& stats, double idle);

    void take_scalar(recorded_scalar const& from);
    void take_text(tensor_story& tensor, rows::scalar const& it);
    // Recorded between steps, before the first close.
    [[nodiscard]] bool is_setting(tensor_story const& tensor, rows::scalar const& it) const noexcept;

    // Reads the class of each sample, as extracted from labels and predictions.
    void take_feature(recorded_feature const& it);
    void pair_classes(step_id step);

    static constexpr std::size_t most_recent = 64, most_evidence = 64;
    static constexpr std::uint64_t classes_key = class_pairs::key(class_reading::by_type, default_axis);
    static constexpr std::uint64_t label_rows_key = class_pairs::key(class_reading::of_labels, default_axis);

    worker_reader const& from_;
    run_story& story_;
    std::vector<tensor_story> tensors_{};
    std::vector<std::vector<evidence*>> blamed_{};  // by tensor
    std::vector<evidence*> unplaced_{};             // waiting for their step's close, which gives their position on the
                                                    // axis
    worker_times* own_ = nullptr;                   // null for a worker without its own curve
    class_list labels_{}, said_{};
    std::vector<std::byte> values_{};
    payload_unpacker unpacker_{};
    std::uint32_t attempt_ = ~0U;
    std::uint64_t counted_ = 0, last_train_ = 0;
    bool has_train_ = false;
    mode mode_before_ = mode::train;
};

// The findings that fit on a page, strongest first.
[[nodiscard]] std::vector<evidence> gather_evidence(trial const& run, std::vector<finding> const& findings);

// With several workers a tensor's story is that of the lowest that observed it; steps are those of all.
[[nodiscard]] run_story read_story(trial const& run, judgement const* anew = nullptr);

}  // namespace spotter::inline SPOTTER_ABI::html
