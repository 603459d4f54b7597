// SPDX-License-Identifier: Apache-2.0
// Act (L6): checkpoints of which a bad one never takes the place of a good one.
#pragma once

#include <spotter/core/guard.hpp>
#include <spotter/file/system.hpp>
#include <spotter/hook/naming.hpp>
#include <spotter/hook/source_copy.hpp>

#include <memory>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// What may be said of a folder of checkpoints.
struct checkpoint_options {
    // Good ones that stay; 1 at least. Older ones are removed once a newer one is good.
    std::uint32_t keep = 2;
    // Floating-point values of more bits are written in this type, rounded to the nearest: f32, bf16 or f16. none: as they are.
    dtype as = dtype::none;
    // Down to the disk before it takes its name: against power cuts.
    bool sync = true;
};

//   unproven  written whole; whether what it holds is good, the steps behind it will say
//   good      nothing went wrong at its step or from there to the next checkpoint
//   bad       a rule told a warning or an error at its step or behind it, before the next checkpoint
enum class checkpoint_state : std::uint8_t { unproven, good, bad };
[[nodiscard]] constexpr std::string_view name_of(checkpoint_state state) noexcept {
    constexpr std::string_view names[] = {"unproven", "good", "bad"};
    return names[static_cast<std::size_t>(state)];
}

// A checkpoint that is there.
struct checkpoint_file {
    step_id step{};  // at which it was saved
    checkpoint_state state = checkpoint_state::unproven;
    std::string path{};  // of the file
};

namespace detail {

// The folder: what is in it, and how a file comes to be in it. Throws where memory is exhausted; its caller does not let that out.
class checkpoint_folder {
public:
    checkpoint_folder(std::string_view folder, checkpoint_options const& choices, file_system& files);

    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }
    [[nodiscard]] std::vector<checkpoint_file> const& all() const noexcept { return all_; }  // oldest first
    [[nodiscard]] std::string const& path() const noexcept { return folder_; }

    // Of one file: begin, `declare` each tensor, `write` each in that order, end. After an error the rest does nothing, and end returns it.
    void begin(step_id step);
    void declare(std::string_view name, offered const& values);
    void write(offered const& values);
    [[nodiscard]] error end();
    // A whole file that somebody wrote.
    [[nodiscard]] error adopt(step_id step, std::string_view from);
    // What the steps behind it said.
    [[nodiscard]] error settle(std::size_t which, bool good);
    // Good ones beyond `keep`, and bad ones but the newest of all, go.
    [[nodiscard]] error tidy();

private:
    [[nodiscard]] std::string path_of(step_id step, std::string_view end) const;
    void look();
    [[nodiscard]] bool take(offered const& values, tensor_ref& view);
    [[nodiscard]] error enter(step_id step, std::string const& part);
    void put(void const* bytes, std::size_t size);

    std::string folder_;
    checkpoint_options choices_;
    file_system& files_;
    error trouble_{};
    std::vector<checkpoint_file> all_{};

    struct writing;
    std::shared_ptr<writing> now_{};
    source_copy copies_{};
};

}  // namespace detail

// Tensors of a net as files of safetensors in a folder, `train-500.safetensors`. A file is written aside, brought to the disk and renamed,
// so that whatever has that name is whole. It is written only if every value is finite in the type that it is written in, and it is good once
// the rules of a hook have told no warning until the next one is saved. Good ones are removed for newer good ones alone; if there is none yet the newest
// stays, whatever it is. What happens is recorded as texts of the scalar `checkpoint` (`spotter checkpoints RUN` lists them). One thread.
class checkpoints {
public:
    // `folder` is made if it is missing. `files` must outlive this.
    explicit checkpoints(std::string_view folder, checkpoint_options const& choices = {},
                         file_system& files = system_files()) noexcept {
        if (!guarded([&] { inside_ = std::make_unique<detail::checkpoint_folder>(folder, choices, files); })) { no_memory(); }
        if (inside_ != nullptr) { trouble_ = inside_->trouble(); }
    }

    // Behind the close of a step and before its update, or behind the update: what is written is the tensors as they are now. They are given as
    // to hook.step: `"fc1/w"_t = w`, or a net that visit_tensors visits. errc::wrong_type where a value is not finite as it is written, and what
    // the disk says; the files that were there are there.
    template <class Hook, class... Tensors>
    [[nodiscard]] error save(Hook& watch, step_id step, Tensors const&... tensors) noexcept {
        review(watch);
        if (inside_ == nullptr) { return trouble_; }
        error why;
        bool const fine = guarded([&] {
            inside_->begin(step);
            (each_of(tensors, [&](std::string_view name, offered const& values) { inside_->declare(name, values); }), ...);
            (each_of(tensors, [&](std::string_view, offered const& values) { inside_->write(values); }), ...);
            why = inside_->end();
        });
        if (!fine) { why = no_memory(); }
        tell(watch, step, why ? "refused: " : "unproven", why);
        return why;
    }
    // The same with a file that the loop wrote itself, in whatever format: it is moved into the folder. On another file system errc::unwritable.
    template <class Hook>
    [[nodiscard]] error adopt(Hook& watch, step_id step, std::string_view path) noexcept {
        review(watch);
        if (inside_ == nullptr) { return trouble_; }
        error why;
        if (!guarded([&] { why = inside_->adopt(step, path); })) { why = no_memory(); }
        tell(watch, step, why ? "refused: " : "unproven", why);
        return why;
    }
    // Says of those that are unproven whether they are good, by what the hook's rules have told since: at the next save, and by the loop at its end.
    template <class Hook>
    void review(Hook& watch) noexcept {
        for (std::size_t i = 0; inside_ != nullptr && i < inside_->all().size(); ++i) {
            checkpoint_file const& each = inside_->all()[i];
            if (each.state != checkpoint_state::unproven || !saved_here(each.step)) { continue; }
            bool const good = watch.healthy_since(each.step);
            error why;
            if (!guarded([&] { why = inside_->settle(i, good); })) { why = no_memory(); }
            note(why);
            if (why) { continue; }  // it is looked at again
            tell(watch, inside_->all()[i].step, good ? "good" : "bad: a warning or an error at its step or behind it", {});
        }
        error why;
        if (inside_ != nullptr && !guarded([&] { why = inside_->tidy(); })) { why = no_memory(); }
        note(why);
    }

    // Oldest first; those of earlier processes, too.
    [[nodiscard]] std::vector<checkpoint_file> all() const {
        return inside_ != nullptr ? inside_->all() : std::vector<checkpoint_file>{};
    }
    // To begin from again: the newest good one; its path is empty where there is none.
    [[nodiscard]] checkpoint_file last_good() const {
        checkpoint_file found;
        for (checkpoint_file const& each : all()) {
            if (each.state == checkpoint_state::good) { found = each; }
        }
        return found;
    }
    // The first thing that went wrong and was not returned.
    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }

private:
    template <class Argument, class Use>
    static void each_of(Argument const& argument, Use&& use) {
        if constexpr (std::same_as<Argument, named_tensor>) {
            use(argument.name, argument.values);
        } else {
            detail::visit_each(argument, [&](std::string_view name, auto const& values, auto...) { use(name, offer(values)); });
        }
    }
    template <class Hook>
    void tell(Hook& watch, step_id step, std::string_view what, error const& why) noexcept {
        text<400> line;
        line << name_of(step.mode) << '(' << step.index << ") " << what << why.what.view();
        watch.scalar("checkpoint", line.view());
        if (!why) { (void)guarded([&] { mine_.push_back(step); }); }
    }
    // Of an earlier process nobody here knows how its steps went.
    [[nodiscard]] bool saved_here(step_id step) const noexcept {
        for (step_id const each : mine_) {
            if (each == step) { return true; }
        }
        return false;
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
    std::vector<step_id> mine_{};
    error trouble_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/act/checkpoints.ipp>
#endif
