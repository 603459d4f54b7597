// SPDX-License-Identifier: Apache-2.0
// Act (L6): checkpoints of which a bad one never takes the place of a good one.
#pragma once

#include <spotter/act/checkpoint_folder.hpp>
#include <spotter/core/guard.hpp>

#include <memory>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Tensors of a net as files of safetensors in a folder, `train-500.safetensors`. A file is written aside, brought to
// the disk and renamed, so that whatever has that name is whole. It is written only if every value is finite in the
// type that it is written in, and it is good once the rules of a hook have told no warning until the next one is saved;
// going back makes nothing good. Good ones are removed for newer good ones alone; if there is none yet the newest
// stays, whatever it is. A list beside them (`checkpoints.list`) says which files are theirs: others are never touched.
// What happens is recorded as texts of the scalar `checkpoint` (`spotter checkpoints RUN` lists them). One thread; of
// two that save into a folder one is busy.
class checkpoints {
public:
    // `folder` is made if it is missing. `files` must outlive this.
    explicit checkpoints(std::string_view folder, checkpoint_options const& choices = {},
                         file_system& files = system_files()) noexcept {
        if (!guarded([&] { inside_ = std::make_unique<detail::checkpoint_folder>(folder, choices, files); })) {
            no_memory();
        }
        if (inside_ != nullptr) { trouble_ = inside_->trouble(); }
    }

    // Behind the close of a step and before its update, or behind the update: what is written is the tensors as they
    // are now. They are given as to hook.step: `"fc1/w"_t = w`, or a net that visit_tensors visits. errc::wrong_type
    // where a value is not finite as it is written, and what the disk says; the files that were there are there.
    template <class Hook, class... Tensors>
    [[nodiscard]] error save(Hook& watch, step_id step, Tensors const&... tensors) noexcept {
        review(watch);
        if (inside_ == nullptr) { return trouble_; }
        error why;
        bool const fine = guarded([&] {
            detail::checkpoint_writer& file = inside_->begin(step, watch.vital_signs().moment_of(step));
            (each_of(tensors, [&](std::string_view name, offered const& values) { file.declare(name, values); }), ...);
            (each_of(tensors, [&](std::string_view, offered const& values) { file.write(values); }), ...);
            why = inside_->end();
        });
        if (!fine) { why = no_memory(); }
        tell(watch, step, why ? "refused: " : "unproven", why);
        return why;
    }
    // The same with a file that the loop wrote itself, in whatever format: it is moved into the folder. On another file
    // system errc::unwritable.
    template <class Hook>
    [[nodiscard]] error adopt(Hook& watch, step_id step, std::string_view path) noexcept {
        review(watch);
        if (inside_ == nullptr) { return trouble_; }
        error why;
        if (!guarded([&] { why = inside_->adopt(step, watch.vital_signs().moment_of(step), std::string{path}); })) {
            why = no_memory();
        }
        tell(watch, step, why ? "refused: " : "unproven", why);
        return why;
    }
    // Says of those that are unproven whether they are good, by what the hook's rules have told since: at the next
    // save, and by the loop at its end.
    template <class Hook>
    void review(Hook& watch) noexcept {
        for (std::size_t i = 0; inside_ != nullptr && i < inside_->all().size(); ++i) {
            detail::listed_checkpoint const& each = inside_->all()[i];
            // Of another hook's steps, or an earlier process's, nobody here knows how they went.
            truth const good = watch.vital_signs().healthy_since(each.moment);
            if (each.file.state != checkpoint_state::unproven || good == truth::undecided) { continue; }
            step_id const step = each.file.step;
            std::size_t const before = inside_->all().size();
            error why;
            if (!guarded([&] { why = inside_->settle(i, good == truth::yes); })) { why = no_memory(); }
            note(why);
            std::size_t const gone = before - inside_->all().size();
            if (gone > 0) { i = static_cast<std::size_t>(-1); }  // from the beginning
            if (why) { continue; }                               // it is looked at again
            tell(watch, step, good == truth::yes ? "good" : "bad: a warning or an error at its step or behind it", {});
        }
        error why;
        if (inside_ != nullptr && !guarded([&] { why = inside_->tidy(); })) { why = no_memory(); }
        note(why);
    }

    // Oldest first; those of earlier processes, too.
    [[nodiscard]] std::vector<checkpoint_file> all() const {
        std::vector<checkpoint_file> found;
        if (inside_ == nullptr) { return found; }
        for (detail::listed_checkpoint const& each : inside_->all()) { found.push_back(each.file); }
        return found;
    }
    // To begin from again: the newest good one that is as it was written (one of an earlier process is read for that,
    // once); its path is empty where there is none.
    [[nodiscard]] checkpoint_file last_good() const {
        return inside_ != nullptr ? inside_->last_good() : checkpoint_file{};
    }
    // The first thing that went wrong and was not returned.
    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }

private:
    template <class Argument, class Use>
    static void each_of(Argument const& argument, Use&& use) {
        if constexpr (std::same_as<Argument, named_tensor>) {
            use(argument.name, argument.values);
        } else {
            detail::visit_each(argument,
                               [&](std::string_view name, auto const& values, auto...) { use(name, offer(values)); });
        }
    }
    template <class Hook>
    void tell(Hook& watch, step_id step, std::string_view what, error const& why) noexcept {
        text<400> line;
        line << name_of(step.mode) << '(' << step.index << ") " << what << why.what.view();
        watch.scalar("checkpoint", line.view());
    }
    error no_memory() noexcept {
        error const why{errc::out_of_memory, "no memory for a checkpoint"};
        note(why);
        return why;
    }
    void note(error const& why) noexcept {
        if (!trouble_) { trouble_ = why; }
    }

    std::unique_ptr<detail::checkpoint_folder> inside_{};
    error trouble_{};
};

}  // namespace spotter::inline SPOTTER_ABI
