// SPDX-License-Identifier: Apache-2.0
// Workbench, page: a page's knowledge of a run, in memory that does not grow with the run's length.
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

// A step with recorded values or a histogram. `at` is its position on the page's axis of steps.
struct kept_step {
    step_id step{};        // with its mode
    std::uint64_t at = 0;  // the step itself in train, else the train step before
};
struct kept_spread {        // the distribution of values at one step
    kept_step where{};      // its step
    distribution values{};  // its histogram
};

// One tensor in one mode. Steps of eval and predict are placed at the train step closed before them, so that all modes
// share one axis.
struct mode_story {
    static constexpr std::size_t columns = 128;  // most buckets of one of these series

    std::uint64_t observations = 0;    // with or without statistics
    std::uint64_t unreadable = 0;      // of the values that were read
    series value{};                    // a scalar, or the mean of the elements
    series mean_abs{columns};          // mean of the absolute values
    series root_mean_square{columns};  // l2 over the root of the number of elements
    series change{columns};            // l2 of the difference to the previous value, divided by that value's l2
    series zeros{columns};             // share of elements
    series idle{columns};              // share of units without an active element
    series most{columns};              // the largest element
    sample<kept_spread> spreads{10};   // stored histograms
    sample<kept_step> kept{10};        // steps with values
    std::deque<kept_step> recent{};    // the latest of these, for inputs, labels and predictions
};

// One for each mode, created at the tensor's first observation in it: one takes 2 KB, and most tensors have one mode.
class mode_stories {
public:
    [[nodiscard]] mode_story& operator[](std::size_t mode);  // created if missing
    // An empty one for a mode without observations.
    [[nodiscard]] mode_story const& operator[](std::size_t mode) const noexcept;

private:
    std::array<std::unique_ptr<mode_story>, mode_count> made_{};
};

struct worker_curves {                     // a loss or metric of one of several workers
    std::uint32_t worker = 0;              // its number
    std::array<series, mode_count> value;  // by mode
};

struct tensor_story {  // a page's content for one tensor
    std::string name{};
    tensor_info info{};                    // the last declaration; its views live as long as the run
    mode_stories modes{};                  // by mode
    std::string text{};                    // the latest text
    double number = 0;                     // the latest finite scalar
    bool has_number = false;               // `number` is set
    std::string setting{};                 // its value as a setting, before the first step
    std::vector<worker_curves> workers{};  // of the drawn workers (run_story::drawn), in that order

    // The story of train, or else of another observed mode: `seen_in`.
    [[nodiscard]] mode_story& any_mode() { return modes[seen_in()]; }
    [[nodiscard]] mode_story const& any_mode() const noexcept { return modes[seen_in()]; }
    [[nodiscard]] std::size_t seen_in() const noexcept;         // index_of that mode; 0 where there is none
    [[nodiscard]] std::uint64_t observations() const noexcept;  // of all modes
};

// A finding with the observations of its tensor around it.
struct evidence {
    struct moment {              // one observation near the finding
        std::uint64_t step = 0;  // the index within the mode
        summary stats{};         // as recorded; `has` has the known terms
        double idle = -1;        // share of units without an active element; negative: unknown
    };
    static constexpr std::size_t before = 80, after = 24;  // limits of observations: up to the finding, and after it

    spotter::detail::repeated_finding what;
    std::uint64_t at = 0;          // position on the page's axis of steps
    std::deque<moment> moments{};  // in the order of observation
    std::size_t after_it = 0;      // number of moments after the finding
    std::size_t order = 0;         // rank by the time of its first report, among the findings of the run
    series reported{};             // the measured number, at each report
};

// The durations of the steps of a mode: from the previous close to their own, if recorded.
struct step_times {
    static constexpr int bins = 90;            // ten for each power of ten, from a microsecond on
    static constexpr double shortest = 1e-6;   // seconds; shorter steps are in the first bin
    series seconds{};                          // over the page's axis of steps
    std::array<std::uint64_t, bins> counts{};  // of steps; longer ones are in the last bin
    std::uint64_t count = 0;                   // of steps
    double sum = 0, longest = 0;               // seconds

    void add(std::uint64_t at, double took);  // adds a step's seconds at a position of the page's axis
    // A duration that at least this share of the steps does not exceed, to a tenth of a power of ten.
    [[nodiscard]] double quantile(double share) const noexcept;
};

struct worker_times {          // the train steps of one of several workers
    std::uint32_t worker = 0;  // its number
    series own{};              // seconds from begin to close: its own work, without waiting for others between steps
};

struct run_story {                        // a page's content for one run
    trial const* run = nullptr;           // must outlive the story
    judgement const* anew = nullptr;      // used instead of the recorded findings
    std::string name{};                   // the last part of the path
    std::vector<tensor_story> tensors{};  // in the order of their first observation
    std::vector<evidence> findings{};     // strongest first
    std::array<step_times, mode_count> times{};
    std::array<std::uint64_t, mode_count> closes{};     // closed steps, by mode
    std::array<std::uint64_t, mode_count> last_step{};  // the largest closed index, by mode
    double began = 0, last_close = 0;                   // seconds since 1970; 0: unknown
    std::string version{};                              // of the library that wrote it
    // From extracted features: of the whole training; of the last evaluation.
    class_counts train_classes{}, eval_classes{};
    class_balance train_labels{};            // samples of each class in training, from extracted features
    class_hits train_hits{}, eval_hits{};    // shares of right predictions, over the page's axis of steps
    ranks_report ranks{};                    // for several workers: their positions, and slow ones
    std::vector<worker_times> drawn{};       // of several workers those with curves of their own, by number
    std::vector<std::string> class_names{};  // by class, from the text "class_names", one a line

    // Those of `anew` if there is one.
    [[nodiscard]] std::vector<finding> const& found() const {
        return anew != nullptr ? anew->findings : run->findings();
    }
    // Those of `anew` if there is one.
    [[nodiscard]] std::vector<recorded_coverage> const& coverages() const {  // likewise
        return anew != nullptr ? anew->coverages : run->coverages();
    }
    [[nodiscard]] bool blames(std::string_view tensor) const noexcept;  // a finding names that tensor first
};

}  // namespace spotter::inline SPOTTER_ABI::html
