// SPDX-License-Identifier: Apache-2.0
// Workbench, page: what a page needs to know of a run, in memory that does not grow with its length.
#pragma once

#include "page/class_counts.hpp"
#include "page/series.hpp"

#include <spotter/report/gathered.hpp>
#include <spotter/report/summary.hpp>
#include <spotter/trial/trial.hpp>
#include <spotter/workbench/page.hpp>
#include <spotter/workbench/ranks.hpp>

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI::html {

// A step at which values or a histogram were kept. `at` is its place on the page's axis of steps.
struct kept_step {
    step_id step{};        // with its mode
    std::uint64_t at = 0;  // the step itself in train, else that of the train step before
};
struct kept_spread {        // how the values of one step are spread
    kept_step where{};      // of which step
    distribution values{};  // its histogram
};

// One tensor in one mode. Steps of eval and predict stand at the train step that was closed before them, so that curves
// of all modes have one axis.
struct mode_story {
    static constexpr std::size_t columns = 128;  // buckets that one of these series has at most

    std::uint64_t observations = 0;    // of the tensor in the mode, with or without statistics
    std::uint64_t unreadable = 0;      // of those whose values were looked at
    series value{};                    // a scalar, or the mean of the elements
    series mean_abs{columns};          // mean of the absolute values
    series root_mean_square{columns};  // l2 over the root of the number of elements
    series change{columns};            // l2 of the difference to the one before, over l2 of that
    series zeros{columns};             // share of elements
    series idle{columns};              // share of units without an active element
    series most{columns};              // the largest element
    sample<kept_spread> spreads{10};   // stored histograms
    sample<kept_step> kept{10};        // steps with values
    std::deque<kept_step> recent{};    // the latest of these, of inputs, labels and predictions
};

// One for each mode, made when the tensor is first seen in it: one takes two kilobytes, and most tensors are seen in
// one mode.
class mode_stories {
public:
    [[nodiscard]] mode_story& operator[](std::size_t mode);  // made where there is none
    // An empty one where the tensor was not seen.
    [[nodiscard]] mode_story const& operator[](std::size_t mode) const noexcept;

private:
    std::array<std::unique_ptr<mode_story>, mode_count> made_{};
};

struct worker_curves {                     // a loss or metric, as one of several workers saw it
    std::uint32_t worker = 0;              // its number
    std::array<series, mode_count> value;  // by mode
};

struct tensor_story {  // what a page says of one tensor
    std::string name{};
    tensor_info info{};                    // the last declaration; its views live as long as the run
    mode_stories modes{};                  // by mode
    std::string text{};                    // the latest, of a tensor that is text
    double number = 0;                     // the latest finite scalar
    bool has_number = false;               // `number` is set
    std::string setting{};                 // the number or text that it was told as before the first step
    std::vector<worker_curves> workers{};  // of those that are drawn (run_story::drawn), in that order

    // Of train, or else of another mode that it was seen in: `seen_in`.
    [[nodiscard]] mode_story& any_mode() { return modes[seen_in()]; }
    [[nodiscard]] mode_story const& any_mode() const noexcept { return modes[seen_in()]; }
    [[nodiscard]] std::size_t seen_in() const noexcept;         // index_of that mode; 0 where it was seen in none
    [[nodiscard]] std::uint64_t observations() const noexcept;  // of all modes
};

// A finding with what was observed of the tensor that it blames, around it.
struct evidence {
    struct moment {              // one observation near the finding
        std::uint64_t step = 0;  // the index within the mode
        summary stats{};         // as recorded; `has` says of what
        double idle = -1;        // share of units without an active element; negative where it is unknown
    };
    static constexpr std::size_t before = 80, after = 24;  // observations that are kept: up to the finding, behind it

    spotter::detail::repeated_finding what;
    std::uint64_t at = 0;          // its place on the page's axis of steps
    std::deque<moment> moments{};  // in the order of observation
    std::size_t after_it = 0;      // how many of these are behind the finding
    std::size_t order = 0;         // by the time at which it was first told, among the findings of the run
    series told{};                 // the measured number, each time that it was told
};

// How long the steps of a mode took: from the close before to their own, where the record says so.
struct step_times {
    static constexpr int bins = 90;            // ten a power of ten, from a microsecond on
    static constexpr double shortest = 1e-6;   // seconds; what is shorter counts in the first bin
    series seconds{};                          // over the page's axis of steps
    std::array<std::uint64_t, bins> counts{};  // of steps; what is longer than the last bin counts in it
    std::uint64_t count = 0;                   // of steps
    double sum = 0, longest = 0;               // seconds

    void add(std::uint64_t at, double took);  // seconds of a step at a place of the page's axis
    // At least this share of the steps took no longer, to a tenth of a power of ten.
    [[nodiscard]] double quantile(double share) const noexcept;
};

struct worker_times {          // the train steps of one of several workers
    std::uint32_t worker = 0;  // its number
    series own{};              // seconds from begin to close: its own work, without the wait for others in between
};

struct run_story {                        // all that a page shows of one run
    trial const* run = nullptr;           // outlives the story
    judgement const* anew = nullptr;      // that, instead of what was found while it was recorded
    std::string name{};                   // the last part of the path
    std::vector<tensor_story> tensors{};  // in the order in which they were first observed
    std::vector<evidence> findings{};     // strongest first
    std::array<step_times, mode_count> times{};
    std::array<std::uint64_t, mode_count> closes{};     // closed steps, by mode
    std::array<std::uint64_t, mode_count> last_step{};  // the largest index that was closed, by mode
    double began = 0, last_close = 0;                   // seconds since 1970; 0 where unknown
    std::string version{};                              // of the library that wrote it
    // That rules extracted: of the whole training; of the last evaluation.
    class_counts train_classes{}, eval_classes{};
    class_balance train_labels{};            // samples of each class in the training, as rules extracted them
    class_hits train_hits{}, eval_hits{};    // shares that were right, over the page's axis of steps
    ranks_report ranks{};                    // of several workers: where they are, and who is slow
    std::vector<worker_times> drawn{};       // those of several workers that have curves of their own: by number
    std::vector<std::string> class_names{};  // by class, as the text "class_names" has them, one a line

    // Of `anew` where there is one.
    [[nodiscard]] std::vector<finding> const& found() const {
        return anew != nullptr ? anew->findings : run->findings();
    }
    // Likewise.
    [[nodiscard]] std::vector<recorded_coverage> const& coverages() const {  // likewise
        return anew != nullptr ? anew->coverages : run->coverages();
    }
    [[nodiscard]] bool blames(std::string_view tensor) const noexcept;  // a finding names that tensor first
};

}  // namespace spotter::inline SPOTTER_ABI::html
