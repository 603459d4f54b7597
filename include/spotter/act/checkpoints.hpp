// SPDX-License-Identifier: Apache-2.0
// Act (L6): checkpoints where a bad one never replaces a good one.
#pragma once

#include <spotter/act/checkpoint_folder.hpp>
#include <spotter/act/checkpoint_roles.hpp>
#include <spotter/core/guard.hpp>

#include <memory>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Saves a net's tensors as safetensors files in a folder, `train-500.safetensors`. A file is written under another
// name, synced and renamed, so a file with its final name is complete. It is only written if every value is finite in
// the written type. It becomes good if the hook's rules report no warning until the next one is saved; a rewind does
// not make it good. Good ones are only removed for newer good ones. While there is none, the newest is kept, whatever
// its state. A list beside them (`checkpoints.list`) names the files that belong to it; it never touches others. Events
// are recorded as texts of the scalar `checkpoint` (`spotter checkpoints RUN` lists them). Use it in one thread; of two
// processes that save into the same folder, one gets errc::busy.
class checkpoints {
public:
    // Creates `folder` if it is missing. `files` must outlive this.
    explicit checkpoints(std::string_view folder, checkpoint_options const& choices = {},
                         file_system& files = system_files()) noexcept
        : batch_{choices.batch} {
        if (!guarded([&] { inside_ = std::make_unique<detail::checkpoint_folder>(folder, choices, files); })) {
            no_memory();
        }
        if (inside_ != nullptr) { trouble_ = inside_->trouble(); }
    }

    // Call it after a step's close and its update: training goes on at the next index. Writes the current values of
    // the tensors. They are passed as to hook.step: `"fc1/w"_t = w`, or a net with visit_tensors. Of a net, what
    // each batch makes anew is left out (checkpoint_options::batch). errc::wrong_type where a value is not finite in
    // the written type; errc::user_code_threw where visit_tensors threw; errors of the disk. After an error the earlier
    // files are still there.
    template <class Hook, class... Tensors>
    [[nodiscard]] error save(Hook& watch, step_id step, Tensors const&... tensors) noexcept {
        review(watch);
        if (inside_ == nullptr) { return trouble_; }
        auto const write = [&] {
            detail::checkpoint_writer& file = inside_->begin(step, watch.vital_signs().moment_of(step), run_of(watch));
            (each_of(tensors, [&](std::string_view name, offered const& values) { file.declare(name, values); }), ...);
            (each_of(tensors, [&](std::string_view, offered const& values) { file.write(values); }), ...);
            return inside_->end();
        };
        error const why = detail::answer_of_net(write, lack);
        tell(watch, step, why ? "refused: " : "unproven", why);
        return why;
    }
    // Adds a file that the loop wrote itself, in any format, by moving it into the folder. errc::unwritable on another
    // file system.
    template <class Hook>
    [[nodiscard]] error adopt(Hook& watch, step_id step, std::string_view path) noexcept {
        review(watch);
        if (inside_ == nullptr) { return trouble_; }
        error why;
        run_moment const moment = watch.vital_signs().moment_of(step);
        if (!guarded([&] { why = inside_->adopt(step, moment, run_of(watch), std::string{path}); })) {
            why = no_memory();
        }
        tell(watch, step, why ? "refused: " : "unproven", why);
        return why;
    }
    // Decides which unproven checkpoints are good, from what the hook's rules have reported since. `save` calls it; the
    // loop calls it at its end.
    template <class Hook>
    void review(Hook& watch) noexcept {
        for (std::size_t i = 0; inside_ != nullptr && i < inside_->all().size(); ++i) {
            detail::listed_checkpoint const& each = inside_->all()[i];
            // Unknown for steps of another hook or of an earlier process.
            truth const good = watch.vital_signs().healthy_since(each.moment);
            if (each.file.state != checkpoint_state::unproven || good == truth::undecided) { continue; }
            step_id const step = each.file.step;
            std::size_t const before = inside_->all().size();
            error why;
            if (!guarded([&] { why = inside_->mark(i, good == truth::yes); })) { why = no_memory(); }
            note(why);
            std::size_t const gone = before - inside_->all().size();
            if (gone > 0) { i = static_cast<std::size_t>(-1); }  // start again from the first
            if (why) { continue; }                               // it will be tried again
            tell(watch, step, good == truth::yes ? "good" : "bad: a warning or an error at its step or behind it", {});
        }
        error why;
        if (inside_ != nullptr && !guarded([&] { why = inside_->tidy(run_of(watch)); })) { why = no_memory(); }
        note(why);
    }

    // Oldest first, those of earlier processes and of other runs included.
    [[nodiscard]] std::vector<checkpoint_file> all() const {
        std::vector<checkpoint_file> found;
        if (inside_ == nullptr) { return found; }
        for (detail::listed_checkpoint const& each : inside_->all()) { found.push_back(each.file); }
        return found;
    }
    // The checkpoint to go on from: the newest good one that this hook's run saved, in this attempt or an earlier one,
    // whose file is unchanged (a file of an earlier process is read once to check it). Its path is empty where there
    // is none: a new training begins at its beginning. A hook that records nothing finds only what it saved itself.
    template <class Hook>
    [[nodiscard]] checkpoint_file last_good(Hook const& watch) const {
        return inside_ != nullptr ? inside_->last_good(run_of(watch)) : checkpoint_file{};
    }
    template <class... Hook>
    checkpoint_file last_good() const {
        static_assert(sizeof...(Hook) > 0,
                      "spotter: last_good(watch) is the last good checkpoint of that hook's run. For those of other "
                      "trainings there are last_good_of(\"runs/a\") and last_good_of_any_run().");
        return {};
    }
    // The same of the run that is recorded in the folder `recorded`, such as the attempt before, or the training whose
    // weights this one begins with.
    [[nodiscard]] checkpoint_file last_good_of(std::string_view recorded) const {
        return inside_ != nullptr ? inside_->last_good_of(recorded) : checkpoint_file{};
    }
    // The newest good one in the folder, whichever training saved it. Not for resuming: it may be another training's.
    [[nodiscard]] checkpoint_file last_good_of_any_run() const {
        return inside_ != nullptr ? inside_->last_good(detail::checkpoint_folder::any_run) : checkpoint_file{};
    }
    // The first error that was not returned.
    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }

private:
    static constexpr char lack[] = "no memory for a checkpoint";

    template <class Hook>
    [[nodiscard]] static std::uint64_t run_of(Hook const& watch) noexcept {
        std::uint64_t const recorded = watch.run_id();
        return recorded != 0 ? recorded : detail::unrecorded_run(watch.vital_signs().moment_of(step_id{}).hook);
    }
    template <class Argument, class Use>
    void each_of(Argument const& argument, Use&& use) const {
        if constexpr (std::same_as<Argument, named_tensor>) {
            use(argument.name, argument.values);
        } else {
            detail::visit_each(argument, [&](std::string_view name, auto const& values, auto... role_and_flags) {
                if (batch_ || !detail::is_of_batch(name, role_and_flags...)) { use(name, offer(values)); }
            });
        }
    }
    template <class Hook>
    void tell(Hook& watch, step_id step, std::string_view what, error const& why) noexcept {
        text<400> line;
        line << name_of(step.mode) << '(' << step.index << ") " << what << why.what.view();
        watch.scalar("checkpoint", line.view());
    }
    error no_memory() noexcept {
        error const why{errc::out_of_memory, lack};
        note(why);
        return why;
    }
    void note(error const& why) noexcept {
        if (!trouble_) { trouble_ = why; }
    }

    std::unique_ptr<detail::checkpoint_folder> inside_{};
    bool batch_;  // checkpoint_options::batch
    error trouble_{};
};

}  // namespace spotter::inline SPOTTER_ABI
