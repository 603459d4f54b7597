// SPDX-License-Identifier: Apache-2.0
// Export (L5): a run for TensorBoard: scalars, statistics, histograms, texts and pictures; of a finished run or of one
// that is being written.
#pragma once

#include <spotter/export/event_file.hpp>
#include <spotter/export/recorded_steps.hpp>
#include <spotter/rule/describe.hpp>

#include <array>

namespace spotter::inline SPOTTER_ABI {

// Tensors to show as pictures, by name or glob, with a shape if their axes do not show it.
struct picture_choice {
    std::string names{};                   // a name or a glob
    std::optional<picture_shape> shape{};  // none: according to the axes
};

struct tensorboard_options {                 // what is written to event files
    export_choice which{};                   // which parts of the run
    std::vector<picture_choice> pictures{};  // in addition to tensors of role input whose axes fit pictures
    std::size_t pictures_a_step = 8;         // at most, of each tensor
    bool replace = false;                    // removes event files of an earlier export
};

namespace detail {

// One worker's part: one folder for each mode, so that modes are separate runs, as in TensorBoard's own programs.
class tensorboard_worker {
public:
    tensorboard_worker(std::string folder, tensorboard_options const& options, file_system& files,
                       export_counts& counts)
        : folder_{std::move(folder)}, options_{&options}, files_{&files}, counts_{&counts} {}

    void step(recorded_step const& at);
    void entry(recorded_step const& at, recorded_entry& it);
    void finding(recorded_step const&, spotter::finding const& it);
    void end(recorded_step const& at) { send(at.step.mode, at.time, at.step.index, values_); }
    // A scalar between steps: written at the step of the last close, or at the next free step of its series.
    void loose(recorded_step const& at, recorded_entry& it);

    [[nodiscard]] error flush();
    template <class Use>
    void each_file(Use&& use) const {
        for (auto const& each : modes_) {
            if (each != nullptr) { use(*each); }
        }
    }

private:
    [[nodiscard]] event_file& file_of(mode which, double time);
    void send(mode which, double time, std::uint64_t step, message const& values);
    // The tag of a tensor: its name as valid UTF-8, which protocol buffers require.
    [[nodiscard]] std::string const& tag_of(recorded_tensor const& tensor);
    void add(recorded_step const& at, recorded_entry& it, message& into);
    void add_pictures(recorded_entry& it, std::string const& tag, message& into);
    void put(message const& value, message& into);

    std::string folder_;
    tensorboard_options const* options_;
    file_system* files_;
    export_counts* counts_;
    message values_{};  // of the current step
    std::map<tensor_id, std::string> tags_{};
    std::array<std::map<tensor_id, std::uint64_t>, mode_count> loose_{};  // the step of the last scalar between steps
    std::array<std::unique_ptr<event_file>, mode_count> modes_{};
};

}  // namespace detail

// Writes `folder`/train/events.out.tfevents.…, eval/… and predict/…; for a run of several workers each in worker-0/,
// worker-1/ and so on. Single numbers become scalars. Of a tensor it writes statistics `name:statistic` and a
// histogram, as stored or else from its values. Texts and findings are texts. Tensors of role input and the chosen ones
// are pictures. Values that are not finite stay in scalars, are left out of histograms, and are black in pictures. Only
// closed steps are written. If steps were closed again (a rewind, a resumed run), the later closes replace the earlier
// ones. The files are valid at any time. errc: exists, unwritable, io_error, disk_full.
class tensorboard_writer {
public:
    explicit tensorboard_writer(std::string_view folder, tensorboard_options options = {},
                                file_system& files = system_files())
        : folder_{files.absolute(folder).view()}, options_{std::move(options)}, files_{files},
          workers_{options_.which} {}
    tensorboard_writer(tensorboard_writer const&) = delete;
    tensorboard_writer& operator=(tensorboard_writer const&) = delete;

    // Writes what was closed since the last call, and flushes the files. Only for one run: errc::replaced where the
    // trial has become another run; then nothing of it is written.
    [[nodiscard]] error advance(trial const& run);
    [[nodiscard]] export_counts const& counts() const noexcept { return counts_; }
    // Calls use(event_file const&) for each file.
    template <class Use>
    void each_file(Use&& use) {
        workers_.each([&](detail::tensorboard_worker const& each) { each.each_file(use); });
    }

private:
    std::string folder_;
    tensorboard_options options_;
    file_system& files_;
    export_counts counts_{};
    recorded_workers<detail::tensorboard_worker> workers_;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/export/tensorboard.ipp>
#endif
