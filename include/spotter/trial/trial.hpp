// SPDX-License-Identifier: Apache-2.0
// Trial (L4): a recorded run, finished or still being written, as a snapshot to ask questions of.
#pragma once

#include <spotter/file/posix.hpp>
#include <spotter/trial/track.hpp>

#include <algorithm>
#include <optional>

namespace spotter::inline SPOTTER_ABI {

// running: a live process writes it. finished: closed normally. failed: ended by an exception or hook.fail(). died: the writer
// is gone without a word.
enum class run_status : std::uint8_t { running, finished, failed, died };

[[nodiscard]] constexpr std::string_view name_of(run_status status) noexcept {
    constexpr std::string_view names[] = {"running", "finished", "failed", "died"};
    return names[static_cast<std::size_t>(status)];
}

// present: closed. absent: the run has gone past it, or is over, without it. pending: it may still come.
enum class step_state : std::uint8_t { present, absent, pending };

// Which names: all that fulfil every field given. Unknown values give an empty list.
struct filter {
    std::optional<spotter::mode> mode{};
    std::optional<step_id> step{};
    std::string_view pattern{};  // a glob
    std::string_view collection{};
};

// What reads from it does not change under the reader until `refresh`. One thread.
class trial {
public:
    // Names, sorted.
    [[nodiscard]] std::vector<std::string> names(filter const& which = {}) const {
        std::vector<std::string> found;
        std::uint64_t members = ~std::uint64_t{0};
        if (!which.collection.empty()) { members = collection_bit(which.collection); }
        for (auto const& tensor : index_->tensors()) {
            if (tensor->entries.empty()) { continue; }
            if (!which.collection.empty() && (tensor->info.collections & members) == 0) { continue; }
            if (!which.pattern.empty() && !glob{which.pattern}(tensor->name)) { continue; }
            bool const seen =
                std::any_of(tensor->entries.begin(), tensor->entries.end(), [&](track_entry const& entry) {
                    bool const right_mode = !which.mode || (!entry.loose && entry.step.mode == *which.mode);
                    return right_mode && (!which.step || (!entry.loose && entry.step == *which.step));
                });
            if (seen) { found.push_back(tensor->name); }
        }
        std::sort(found.begin(), found.end());
        return found;
    }
    [[nodiscard]] std::vector<std::string> names(std::string_view pattern) const {
        return names(filter{.pattern = pattern});
    }

    [[nodiscard]] track operator[](std::string_view name) const {
        return {*index_, index_->find(name), name, status_ == run_status::running};
    }

    // Closed steps at which anything was kept, each once, in order of their first closing.
    [[nodiscard]] std::vector<step_id> steps() const {
        return steps_if([](step_id) { return true; });
    }
    [[nodiscard]] std::vector<step_id> steps(mode which) const {
        return steps_if([=](step_id step) { return step.mode == which; });
    }
    template <policy Policy>
    [[nodiscard]] std::vector<step_id> steps(Policy const& which) const {
        return steps_if([&](step_id step) { return which(step); });
    }
    [[nodiscard]] std::vector<mode> modes() const {
        std::vector<mode> found;
        for (mode const each : {mode::train, mode::eval, mode::predict}) {
            if (!steps(each).empty()) { found.push_back(each); }
        }
        return found;
    }
    [[nodiscard]] std::vector<recorded_collection> const& collections() const noexcept { return index_->collections(); }

    // The place of a step among all closed steps, whatever their mode; and back.
    [[nodiscard]] result<std::uint64_t> ordinal(step_id step) const {
        for (std::size_t i = index_->steps().size(); i > 0; --i) {
            if (index_->steps()[i - 1].step == step) { return index_->steps()[i - 1].ordinal; }
        }
        return {errc::no_such_step, "no such step was closed"};
    }
    [[nodiscard]] result<step_id> step_at(std::uint64_t ordinal) const {
        for (closed_step const& each : index_->steps()) {
            if (each.ordinal == ordinal) { return each.step; }
        }
        return {errc::no_such_step, "no step with this ordinal was closed"};
    }
    [[nodiscard]] step_state state(step_id step) const {
        bool later = false;
        for (closed_step const& each : index_->steps()) {
            if (each.step == step) { return step_state::present; }
            later = later || (each.step.mode == step.mode && each.step.index > step.index);
        }
        return later || status_ != run_status::running ? step_state::absent : step_state::pending;
    }

    [[nodiscard]] run_status status() const noexcept { return status_; }
    // Of a failed run the reason; of a finished one the first thing that went wrong, if any did.
    [[nodiscard]] std::string_view why_ended() const noexcept { return index_->ended_why(); }
    // Closings, of any mode, whether anything was kept or not.
    [[nodiscard]] std::uint64_t closed_steps() const noexcept { return index_->steps().size(); }
    [[nodiscard]] std::uint32_t attempts() const noexcept { return index_->attempts(); }
    // What the rules of the hook found while it ran. Texts live as long as the trial.
    [[nodiscard]] std::vector<finding> const& findings() const noexcept { return index_->findings(); }
    // How much each rule of the hook could judge; known once the run has ended.
    [[nodiscard]] std::vector<recorded_coverage> const& coverages() const noexcept { return index_->coverages(); }
    // Bytes that could not be read. Values in them are errc::corrupt or absent; everything else is sound.
    [[nodiscard]] std::vector<damaged_place> const& damage() const noexcept { return index_->damage(); }
    [[nodiscard]] run_totals const& totals() const noexcept { return index_->totals(); }
    [[nodiscard]] std::string_view path() const noexcept { return index_->path(); }

    // Takes in what was written meanwhile. After an error everything read so far still holds.
    [[nodiscard]] error refresh() {
        bool const live = index_->is_locked();  // asked first: a run that ends now is still seen as ended next time
        error const why = index_->refresh();
        if (index_->ended()) {
            status_ = index_->ended_how() == 1 ? run_status::finished : run_status::failed;
        } else {
            status_ = live ? run_status::running : run_status::died;
        }
        return why;
    }

    // For replay and reports.
    [[nodiscard]] run_index const& index() const noexcept { return *index_; }

    friend result<trial> open_trial(std::string_view path, file_system& files) noexcept;

private:
    trial(std::string_view path, file_system& files) : index_{std::make_unique<run_index>(path, files)} {}

    [[nodiscard]] std::uint64_t collection_bit(std::string_view name) const noexcept {
        auto const& all = index_->collections();
        for (std::size_t i = 0; i < all.size() && i < 64; ++i) {
            if (all[i].name == name) { return std::uint64_t{1} << i; }
        }
        return 0;
    }
    template <class Admit>
    [[nodiscard]] std::vector<step_id> steps_if(Admit const& admit) const {
        std::vector<step_id> found;
        std::set<step_id> known;
        for (closed_step const& each : index_->steps()) {
            if (each.holds && admit(each.step) && known.insert(each.step).second) { found.push_back(each.step); }
        }
        return found;
    }

    std::unique_ptr<run_index> index_;
    run_status status_ = run_status::running;
};

// Opens a run folder, finished or still being written; never waits. errc: not_a_run, unknown_version, io_error. A damaged or
// truncated record opens: what is whole can be read, trial::damage() lists the rest. Worker k of several recorded into
// `path/worker-k`; open that. `files` must outlive the trial.
[[nodiscard]] inline result<trial> open_trial(std::string_view path, file_system& files = system_files()) noexcept {
#if SPOTTER_EXCEPTIONS
    try {
#endif
        trial opened{path, files};
        if (error const why = opened.refresh()) { return why; }
        return opened;
#if SPOTTER_EXCEPTIONS
    } catch (...) { return {errc::out_of_memory, "no memory to open the run"}; }
#endif
}

}  // namespace spotter::inline SPOTTER_ABI
