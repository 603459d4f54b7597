// SPDX-License-Identifier: Apache-2.0
// Export (L5): a run for TensorBoard: scalars, statistics, histograms, texts and pictures, finished or while it is
// being written.
#pragma once

#include <spotter/export/event_file.hpp>
#include <spotter/export/recorded_steps.hpp>
#include <spotter/rule/describe.hpp>

#include <array>

namespace spotter::inline SPOTTER_ABI {

// Tensors to be shown as pictures: those of a name or glob, of a shape where their axes do not say it.
struct picture_choice {
    std::string names{};                   // a name or a glob
    std::optional<picture_shape> shape{};  // none: as the axes say
};

struct tensorboard_options {                 // what goes into event files
    export_choice which{};                   // of the run
    std::vector<picture_choice> pictures{};  // beside tensors of role input whose axes are those of pictures
    std::size_t pictures_a_step = 8;         // the first ones of a tensor
    bool replace = false;                    // event files that an earlier export left
};

namespace detail {

// One worker's part: a folder each mode, so that the modes are runs of their own, as in TensorBoard's own programs.
class tensorboard_worker {
public:
    tensorboard_worker(std::string folder, tensorboard_options const& options, file_system& files,
                       export_counts& counts)
        : folder_{std::move(folder)}, options_{&options}, files_{&files}, counts_{&counts} {}

    void step(recorded_step const& at);
    void entry(recorded_step const& at, recorded_entry& it);
    void finding(recorded_step const&, spotter::finding const& it);
    void end(recorded_step const& at) { send(at.step.mode, at.time, at.step.index, values_); }
    // It has no step of its own: that of the last closing, or the next one where the series has that already.
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
    // The tag of a tensor: names may be no UTF-8, which protocol buffers refuse.
    [[nodiscard]] std::string const& tag_of(recorded_tensor const& tensor);
    void add(recorded_step const& at, recorded_entry& it, message& into);
    void add_pictures(recorded_entry& it, std::string const& tag, message& into);
    void put(message const& value, message& into);

    std::string folder_;
    tensorboard_options const* options_;
    file_system* files_;
    export_counts* counts_;
    message values_{};  // of the step that is being told
    std::map<tensor_id, std::string> tags_{};
    std::array<std::map<tensor_id, std::uint64_t>, mode_count> loose_{};  // the last step of a scalar between steps
    std::array<std::unique_ptr<event_file>, mode_count> modes_{};
};

}  // namespace detail

// Writes `folder`/train/events.out.tfevents.…, eval/… and predict/…; of a run of several workers each in worker-0/,
// worker-1/ and so on. Single numbers become scalars; of a tensor its statistics `name:statistic` and a histogram, as
// stored or else of its values; texts and findings are texts; tensors of role input and those that were chosen are
// pictures. What is not finite is left as it is in scalars, out of histograms, and black in pictures. A closed step
// alone counts; where steps were closed again (a rewind, a resumed run), the later ones hold. A file is valid at any
// time. errc: exists, unwritable, io_error, disk_full.
class tensorboard_writer {
public:
    explicit tensorboard_writer(std::string_view folder, tensorboard_options options = {},
                                file_system& files = system_files())
        : folder_{files.absolute(folder).view()}, options_{std::move(options)}, files_{files},
          workers_{options_.which} {}
    tensorboard_writer(tensorboard_writer const&) = delete;
    tensorboard_writer& operator=(tensorboard_writer const&) = delete;

    // Writes what was closed since the last call, down to the files. Always of the same run: errc::replaced where the
    // trial is another one now, of which nothing is written.
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
