// SPDX-License-Identifier: Apache-2.0
// Export (L5): a run for TensorBoard: scalars, statistics, histograms, texts and pictures, finished or while it is being written.
#pragma once

#include <spotter/export/event_file.hpp>
#include <spotter/export/recorded_steps.hpp>
#include <spotter/rule/describe.hpp>

#include <array>

namespace spotter::inline SPOTTER_ABI {

// Tensors to be shown as pictures: those of a name or glob, of a shape where their axes do not say it.
struct picture_choice {
    std::string names{};
    std::optional<picture_shape> shape{};
};

struct tensorboard_options {
    export_choice which{};
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

    void step(recorded_step const& at) {
        values_.clear();
        ++counts_->steps;
        if (at.again) {
            file_of(at.step.mode, at.time).add(restart_event(at.time, at.step.index));
            loose_[index_of(at.step.mode)].clear();
        }
    }
    void entry(recorded_step const& at, recorded_entry& it) {
        if (it.time()) {
            message own;
            add(at, it, own);
            send(at.step.mode, *it.time(), at.step.index, own);
        } else {
            add(at, it, values_);
        }
    }
    void finding(recorded_step const&, spotter::finding const& it) {
        text<1024> line;
        describe(it, line);
        if (!it.remedy.empty()) { line << "\n\n" << it.remedy; }
        values_.nested(1, text_summary("findings", line.view()));
        ++counts_->values;
    }
    void end(recorded_step const& at) { send(at.step.mode, at.time, at.step.index, values_); }
    // It has no step of its own: that of the last closing, or the next one where the series has that already.
    void loose(recorded_step const& at, recorded_entry& it) {
        auto const [last, fresh] = loose_[index_of(at.step.mode)].try_emplace(it.tensor().info.id, at.step.index);
        if (!fresh) { last->second = (std::max)(last->second + 1, at.step.index); }
        message own;
        add(at, it, own);
        send(at.step.mode, it.time().value_or(at.time), last->second, own);
    }

    [[nodiscard]] error flush() {
        for (auto const& each : modes_) {
            if (each == nullptr) { continue; }
            if (error const why = each->flush()) { return why; }
        }
        return {};
    }
    template <class Use>
    void each_file(Use&& use) const {
        for (auto const& each : modes_) {
            if (each != nullptr) { use(*each); }
        }
    }

private:
    [[nodiscard]] event_file& file_of(mode which, double time) {
        auto& file = modes_[index_of(which)];
        if (file == nullptr) {
            file = std::make_unique<event_file>(folder_ + '/' + std::string{name_of(which)}, time, options_->replace,
                                                *files_);
        }
        return *file;
    }
    void send(mode which, double time, std::uint64_t step, message const& values) {
        if (!values.empty()) { file_of(which, time).add(summary_event(time, step, values)); }
    }
    // The tag of a tensor: names may be no UTF-8, which protocol buffers refuse.
    [[nodiscard]] std::string const& tag_of(recorded_tensor const& tensor) {
        auto const [it, fresh] = tags_.try_emplace(tensor.info.id);
        if (fresh) { it->second = utf8_text(tensor.name); }
        return it->second;
    }
    void add(recorded_step const& at, recorded_entry& it, message& into) {
        std::string const& tag = tag_of(it.tensor());
        if (it.is_text()) { return put(text_summary(tag, it.text()), into); }
        if (it.is_number()) {
            measurement const found = it.number();
            if (found.known) { put(scalar_summary(tag, found.value), into); }
        } else {
            each_statistic(it, options_->which, [&](statistic which, double const& value) {
                put(scalar_summary(tag + ':' + std::string{which.name()}, value), into);
            });
            distribution const spread = it.histogram();
            if (spread.has_histogram) {
                put(histogram_summary(tag, spread, it.stats(terms::sum | terms::sum_squares, it.has_read())), into);
            }
            add_pictures(it, tag, into);
        }
        if (it.has_values() && it.damaged()) { counts_->damaged.push_back(place_of(at, it.name())); }
    }
    void add_pictures(recorded_entry& it, std::string const& tag, message& into) {
        if (!it.has_values()) { return; }
        std::optional<picture_shape> told{};
        bool wanted = it.tensor().info.role == role::input;
        for (picture_choice const& each : options_->pictures) {
            if (each.names != it.name() && !glob{each.names}(it.name())) { continue; }
            wanted = true;
            told = each.shape;
            break;
        }
        if (!wanted || !picture_axes_of(it.shape(), told) || !it.values()) { return; }
        // A series of TensorBoard is of one kind: the tag alone is the histogram.
        put(image_summary(tag + ":images", pictures_of(it.values().view(), options_->pictures_a_step, told)), into);
    }
    void put(message const& value, message& into) {
        into.nested(1, value);
        ++counts_->values;
    }

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

// Writes `folder`/train/events.out.tfevents.…, eval/… and predict/…; of a run of several workers each in worker-0/, worker-1/ and so
// on. Single numbers become scalars; of a tensor its statistics `name:statistic` and a histogram, as stored or else of its values; texts
// and findings are texts; tensors of role input and those that were chosen are pictures. What is not finite is left as it is in scalars,
// out of histograms, and black in pictures. A closed step alone counts; where steps were closed again (a rewind, a resumed run), the
// later ones hold. A file is valid at any time. errc: exists, unwritable, io_error, disk_full.
class tensorboard_writer {
public:
    explicit tensorboard_writer(std::string_view folder, tensorboard_options options = {},
                                file_system& files = system_files())
        : folder_{folder}, options_{std::move(options)}, files_{files}, workers_{options_.which} {}
    tensorboard_writer(tensorboard_writer const&) = delete;
    tensorboard_writer& operator=(tensorboard_writer const&) = delete;

    // Writes what was closed since the last call, down to the files. Always of the same run: errc::replaced where the trial is another
    // one now, of which nothing is written.
    [[nodiscard]] error advance(trial const& run) {
        if (!workers_.goes_on(run)) { return detail::export_of_another_run(); }
        bool const several = run.readers().size() > 1 || run.expected_workers() > 1;
        workers_.advance(run, [&](worker_reader const& each) {
            std::string const own = several ? folder_ + "/worker-" + std::to_string(each.number()) : folder_;
            return detail::tensorboard_worker{own, options_, files_, counts_};
        });
        error why{};
        workers_.each([&](detail::tensorboard_worker& each) {
            if (error const its = each.flush(); its && !why) { why = its; }
        });
        return why;
    }
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
