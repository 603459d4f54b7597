// SPDX-License-Identifier: Apache-2.0
// Workbench, export: the values of a run as named arrays.
#include <spotter/workbench/export.hpp>

#include "read_at_once.hpp"

namespace spotter::inline SPOTTER_ABI::detail {

// Numbers of one name and mode, as one array.
struct number_series {
    dtype type = dtype::none;
    std::vector<std::byte> values{};
    std::vector<std::uint64_t> steps{};

    // False where the value does not fit the series.
    [[nodiscard]] bool add(tensor_ref const& value, step_id step) {
        if (value.shape.rank != 0 || value.type == dtype::text) { return false; }
        if (steps.empty()) { type = value.type; }
        if (type != value.type) { return false; }
        auto const* const first = static_cast<std::byte const*>(value.values.raw);
        values.insert(values.end(), first, first + size_of(value.type));
        steps.push_back(step.index);
        return true;
    }
};

using take_array = std::function<error(recorded_array const&)>;

[[nodiscard]] static std::string array_key(std::string const& title, step_id step) {
    return title + '@' + std::string{name_of(step.mode)} + ':' + std::to_string(step.index);
}

[[nodiscard]] static error take_series(std::string const& key, number_series const& it, take_array const& take) {
    tensor_ref numbers = view_of(it.steps.data(), {it.steps.size()});
    tensor_ref const steps = numbers;
    numbers.type = it.type;
    numbers.values.raw = it.values.data();
    error const why = take({key, numbers, it.steps.size()});
    return why ? why : take({key + ":steps", steps, 0});
}

// One pass over the chosen values.
class array_walk {
public:
    array_walk(trial const& run, export_choice const& choice, std::vector<std::string>& damaged, take_array const& take)
        : run_{run}, choice_{choice}, damaged_{damaged}, take_{take} {}

    [[nodiscard]] error over(worker_reader const& from, std::string const& name) {
        bool const several = run_.readers().size() > 1 || run_.expected_workers() > 1;
        std::string const title = several ? "worker-" + std::to_string(from.number()) + '/' + name : name;
        track const tensor = run_[name].of(worker{from.number()});
        return choice_.step ? take_one(tensor, title) : take_all(tensor, title);
    }
    [[nodiscard]] error const& outcome() const noexcept { return any_ ? fine_ : why_; }

private:
    [[nodiscard]] error take_one(track const& tensor, std::string const& title) {
        recorded_value const value = tensor.at(*choice_.step);
        if (value) {
            any_ = true;
            return take_({title, value.view(), 1});
        }
        if (value.error().code == errc::corrupt) {
            any_ = true;
            damaged_.push_back(array_key(title, *choice_.step));
        } else if (!choice_.names.empty()) {
            why_ = value.error();
        }
        return {};
    }
    [[nodiscard]] error take_all(track const& tensor, std::string const& title) {
        number_series all[mode_count];
        for (step_id const step : tensor.payload_steps()) {
            if (!choice_.has_step(step)) { continue; }
            any_ = true;
            recorded_value const value = tensor.at(step);
            if (value.error().code == errc::corrupt) {
                damaged_.push_back(array_key(title, step));
            } else if (!value) {
                return value.error();
            } else if (!all[index_of(step.mode)].add(value.view(), step)) {
                if (error const why = take_({array_key(title, step), value.view(), 1})) { return why; }
            }
        }
        for (std::size_t i = 0; i < mode_count; ++i) {
            if (all[i].steps.empty()) { continue; }
            std::string const key = title + '@' + std::string{name_of(static_cast<mode>(i))};
            if (error const why = take_series(key, all[i], take_)) { return why; }
        }
        return {};
    }

    trial const& run_;
    export_choice const& choice_;
    std::vector<std::string>& damaged_;
    take_array const& take_;
    bool any_ = false;
    error fine_{};
    error why_{errc::no_payload, "no values were kept of what was chosen: only statistics (export them as .csv)"};
};

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

std::uint64_t recorded_arrays::count() const {
    std::uint64_t all = 0;
    for (auto const& reader : run_.readers()) {
        reader->index().complete();
        for (std::string const& name : names_) {
            recorded_tensor const* const tensor = reader->index().find(name);
            all += tensor == nullptr ? 0 : tensor->entries.size();
        }
    }
    return all;
}

error recorded_arrays::each(std::function<error(recorded_array const&)> const& take) {
    damaged_.clear();
    detail::read_at_once const whole{run_};
    detail::array_walk walk{run_, choice_, damaged_, take};
    for (auto const& reader : run_.readers()) {
        for (std::string const& name : names_) {
            if (error const met = walk.over(*reader, name)) { return met; }
        }
    }
    return walk.outcome();
}

}  // namespace spotter::inline SPOTTER_ABI
