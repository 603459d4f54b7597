// SPDX-License-Identifier: Apache-2.0
// Export (L5): the values of a run as arrays under names: what .npz and .safetensors hold.
#pragma once

#include <spotter/export/recorded_steps.hpp>
#include <spotter/trial/read_at_once.hpp>

#include <concepts>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// An array under its key, for as long as the call that it is handed to.
struct recorded_array {
    std::string const& key;    // in the file; no other has it
    tensor_ref const& view;    // what is in it
    std::uint64_t values = 0;  // recorded ones that are in it; 0 of one that says of which steps another one is
};

// Numbers of one name are one array a mode: `name@mode` with one axis, in the order of their steps' closing, and behind
// it `name@mode:steps`, the index of each (u64). Every other value is an array of its own, `name@mode:index`, as is a
// number of another type than the first of its name and mode. Of one step (export_choice::step) every value is one,
// under its name alone. In a run of several workers names stand behind "worker-1/".
class recorded_arrays {
public:
    // All must outlive it; of `names` those that the choice has.
    recorded_arrays(trial const& run, export_choice const& choice, std::vector<std::string> const& names)
        : run_{run}, choice_{choice}, names_{names} {}

    // How many values there are, or more: some may be superseded, or not chosen.
    [[nodiscard]] std::uint64_t count() const;

    // Calls take(recorded_array) -> error for each, in the order of the names; the first error ends it. One tensor is
    // in memory at a time, or the numbers of a name. errc: no_payload where none of what was chosen kept its values; as
    // of track::at. The same each time.
    template <std::invocable<recorded_array> Take>
    [[nodiscard]] error each(Take&& take) {
        error why{errc::no_payload, "no values were kept of what was chosen: only statistics (export them as .csv)"};
        bool any = false;
        damaged_.clear();
        detail::read_at_once const whole{run_};
        for (auto const& reader : run_.readers()) {
            for (std::string const& name : names_) {
                error const met =
                    choice_.step ? take_one(*reader, name, why, any, take) : take_all(*reader, name, any, take);
                if (met) { return met; }
            }
        }
        return any ? error{} : why;
    }

    // "name@mode:index" of those that cannot be read, as `each` met them last.
    [[nodiscard]] std::vector<std::string> const& damaged() const noexcept { return damaged_; }

private:
    struct series {
        dtype type = dtype::none;
        std::vector<std::byte> values{};
        std::vector<std::uint64_t> steps{};
    };

    [[nodiscard]] std::string title_of(worker_reader const& from, std::string const& name) const;
    [[nodiscard]] static std::string key_of(std::string const& title, step_id step);
    // True where it goes into the series.
    [[nodiscard]] static bool add(series& into, tensor_ref const& value, step_id step);

    template <class Take>
    [[nodiscard]] error take_one(worker_reader const& from, std::string const& name, error& why, bool& any,
                                 Take& take) {
        std::string const title = title_of(from, name);
        recorded_value const value = run_[name].of(worker{from.number()}).at(*choice_.step);
        if (value) {
            any = true;
            return take(recorded_array{title, value.view(), 1});
        }
        if (value.error().code == errc::corrupt) {
            any = true;
            damaged_.push_back(key_of(title, *choice_.step));
        } else if (!choice_.names.empty()) {
            why = value.error();
        }
        return {};
    }
    template <class Take>
    [[nodiscard]] error take_all(worker_reader const& from, std::string const& name, bool& any, Take& take) {
        std::string const title = title_of(from, name);
        track const tensor = run_[name].of(worker{from.number()});
        series all[mode_count];
        for (step_id const step : tensor.payload_steps()) {
            if (!choice_.has_step(step)) { continue; }
            any = true;
            recorded_value const value = tensor.at(step);
            if (value.error().code == errc::corrupt) {
                damaged_.push_back(key_of(title, step));
            } else if (!value) {
                return value.error();
            } else if (!add(all[index_of(step.mode)], value.view(), step)) {
                if (error const why = take(recorded_array{key_of(title, step), value.view(), 1})) { return why; }
            }
        }
        for (std::size_t i = 0; i < mode_count; ++i) {
            series const& mine = all[i];
            if (mine.steps.empty()) { continue; }
            std::string const key = title + '@' + std::string{name_of(static_cast<mode>(i))};
            tensor_ref numbers = view_of(mine.steps.data(), {mine.steps.size()});
            tensor_ref const steps = numbers;
            numbers.type = mine.type;
            numbers.values.raw = mine.values.data();
            error why = take(recorded_array{key, numbers, mine.steps.size()});
            if (!why) { why = take(recorded_array{key + ":steps", steps, 0}); }
            if (why) { return why; }
        }
        return {};
    }

    trial const& run_;
    export_choice const& choice_;
    std::vector<std::string> const& names_;
    std::vector<std::string> damaged_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/export/recorded_arrays.ipp>
#endif
