// SPDX-License-Identifier: Apache-2.0
// The bodies of cuda_device.hpp.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/clock.hpp>
#include <spotter/ext/cuda/cuda_device.hpp>
#include <spotter/ext/cuda/ptx/blocks.hpp>
#include <spotter/ext/cuda/ptx/chains.hpp>
#include <spotter/ext/cuda/ptx/fold.hpp>
#include <spotter/stat/lanes.hpp>

#include <chrono>
#include <thread>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY cuda_device::here::here(cuda_device& of) noexcept : of_{of} {
    if (of_.dead_) { return; }
    detail::cuda_driver::context now = nullptr;
    current_ = of_.driver_.current(&now) == detail::cuda_driver::success && now == of_.context_;
    if (!current_) { current_ = pushed_ = of_.fine(of_.driver_.push(of_.context_), "cuCtxPushCurrent"); }
}
SPOTTER_BODY cuda_device::here::~here() {
    detail::cuda_driver::context mine = nullptr;
    if (pushed_) { (void)of_.driver_.pop(&mine); }
}

SPOTTER_BODY bool cuda_device::fine(int result, char const* what) noexcept {
    if (result == detail::cuda_driver::success) { return true; }
    bool const memory = result == detail::cuda_driver::no_memory;
    error why{memory ? errc::out_of_memory : errc::no_device, "CUDA: "};
    why.what << what << ": " << driver_.name_of(result) << " (" << result << ')';
    if (!memory && result != detail::cuda_driver::invalid_value) {
        // After such an error every call in the context fails with it, so the context is unusable.
        dead_ = true;
        why.what << "; tensors of the device are refused from here on";
    }
    failures_.add(why);
    return false;
}

SPOTTER_COLD_BODY cuda_device::cuda_device(cuda_options const& chosen) noexcept
    : chosen_{chosen}, driver_{chosen.library} {}

SPOTTER_COLD_BODY error cuda_device::begin() noexcept {
    if (used_) { return {errc::busy, "the device belongs to another hook: give each one its own"}; }
    if (driver_.lack()) { return driver_.lack(); }
    if (dead_) { return failures_.first(); }
    auto const failed = [this]() noexcept {
        error const why = failures_.first();
        free_all();
        return why;
    };
    int cards = 0;
    if (!find_context(cards)) { return failed(); }
    if (context_ == nullptr) {
        error why{errc::no_device, "there is no card of number "};
        why.what << chosen_.ordinal << ": the driver knows of " << cards;
        return why;
    }
    used_ = true;
    here const now{*this};
    int processors = 0, major = 0;
    if (!now ||
        !fine(driver_.device_attribute(&major, detail::cuda_driver::compute_major, card_), "cuDeviceGetAttribute") ||
        !fine(driver_.device_attribute(&processors, detail::cuda_driver::processors, card_), "cuDeviceGetAttribute")) {
        return failed();
    }
    if (major < 7) {
        free_all();
        return {errc::no_device, "the card is older than the kernels take (compute capability 7.0)"};
    }
    grid_ = processors > 0 ? 2U * static_cast<unsigned>(processors) : 2U;
    bool const all =
        load_kernels() && fine(driver_.make_stream(&side_, detail::cuda_driver::not_blocking), "cuStreamCreate");
    return all ? error{} : failed();
}

// Takes the thread's current context or the card's primary context; none if there is no such card.
SPOTTER_COLD_BODY bool cuda_device::find_context(int& cards) noexcept {
    if (driver_.current(&context_) != detail::cuda_driver::success) { context_ = nullptr; }
    if (context_ != nullptr) { return fine(driver_.device_of_current(&card_), "cuCtxGetDevice"); }
    if (!fine(driver_.device_count(&cards), "cuDeviceGetCount")) { return false; }
    if (cards <= chosen_.ordinal) { return true; }
    primary_ = fine(driver_.device_get(&card_, chosen_.ordinal), "cuDeviceGet") &&
               fine(driver_.retain_primary(&context_, card_), "cuDevicePrimaryCtxRetain");
    return primary_;
}

SPOTTER_COLD_BODY bool cuda_device::load_kernels() noexcept {
    struct {
        char const* text;
        char const* name;
        detail::cuda_driver::function* into;
    } const kernels[] = {{detail::cuda_pass::blocks_ptx, "spotter_blocks", &blocks_},
                         {detail::cuda_pass::fold_ptx, "spotter_fold", &fold_},
                         {detail::cuda_pass::chains_ptx, "spotter_chains", &chains_}};
    for (std::size_t i = 0; i < std::size(kernels); ++i) {
        if (!fine(driver_.load_module(&modules_[i], kernels[i].text), "cuModuleLoadData") ||
            !fine(driver_.get_function(kernels[i].into, modules_[i], kernels[i].name), "cuModuleGetFunction")) {
            return false;
        }
    }
    return true;
}

SPOTTER_COLD_BODY void cuda_device::end() noexcept {
    if (!used_) { return; }
    for (std::size_t i = 0; i < device::steps; ++i) {
        if (steps_[i].closed && wait(i, 1) == device_state::working) { dead_ = true; }
    }
    free_all();
}

SPOTTER_COLD_BODY void cuda_device::free(step& it) noexcept {
    auto const end_event = [this](detail::cuda_driver::event one) noexcept {
        if (one != nullptr) { (void)driver_.end_event(one); }
    };
    auto const give_back_pinned = [this](void* memory) noexcept {
        if (memory != nullptr) { (void)driver_.give_back_pinned(memory); }
    };
    for (batch& one : it.batches) {
        if (one.partials != 0) { (void)driver_.give_back(one.partials); }
        give_back_pinned(one.results);
        end_event(one.taken);
    }
    for (pinned& one : it.memory) { give_back_pinned(one.memory); }
    for (detail::cuda_driver::event const one : it.moments) { end_event(one); }
    end_event(it.done);
}

// Nothing can be freed in a lost context: its memory is gone, and calls may hang.
SPOTTER_COLD_BODY void cuda_device::free_all() noexcept {
    if (here const now{*this}; context_ != nullptr && now) {
        for (step& each : steps_) { free(each); }
        for (kept_values const& each : kept_) {
            if (each.memory != 0) { (void)driver_.give_back(each.memory); }
        }
        if (side_ != nullptr) { (void)driver_.end_stream(side_); }
        for (detail::cuda_driver::module& each : modules_) {
            if (each != nullptr) { (void)driver_.unload_module(each); }
        }
    }
    for (step& each : steps_) { each = {}; }
    kept_ = {};
    for (detail::cuda_driver::module& each : modules_) { each = nullptr; }
    if (primary_ && context_ != nullptr) { (void)driver_.release_primary(card_); }
    side_ = nullptr, context_ = nullptr, primary_ = used_ = false;
    pinned_bytes_ = kept_bytes_ = 0;
}

SPOTTER_COLD_BODY cuda_device::~cuda_device() { end(); }

namespace detail {

inline constexpr refusal_words lost_device{errc::no_device, "is not taken: its device failed, health() says how"};

}  // namespace detail

SPOTTER_BODY stats_mask cuda_device::known_terms(dtype type) noexcept {
    if (is_complex(type) || type == dtype::text) { return stats_mask::none; }
    return without(pass_terms, stats_mask::product);
}

// A kernel that reads unmapped memory destroys the loop's own context, so each address is checked first.
SPOTTER_BODY refusal_words cuda_device::look_at(device_values const& from, detail::cuda_driver::stream in) noexcept {
    auto const at = cast_to<detail::cuda_driver::address>(reinterpret_cast<std::uintptr_t>(from.view.values.raw));
    int ordinal = 0;
    int const known = driver_.pointer_attribute(&ordinal, detail::cuda_driver::ordinal_of, at);
    if (known == detail::cuda_driver::invalid_value) {
        return {errc::null_pointer, "is no memory of a device: was it freed, or never taken?"};
    }
    if (!fine(known, "cuPointerGetAttribute")) { return detail::lost_device; }
    if (ordinal != card_ || (from.ordinal != device_values::any_device && from.ordinal != card_)) {
        return {errc::no_device, "lies on another card than the hook's: give a hook to each card"};
    }
    detail::cuda_driver::address base = 0;
    std::size_t size = 0;
    int const ranged = driver_.range_of(&base, &size, at);
    bool const unknown = ranged == detail::cuda_driver::invalid_value || ranged == detail::cuda_driver::not_found;
    if (!unknown && !fine(ranged, "cuMemGetAddressRange")) { return detail::lost_device; }
    if (unknown || at < base || at - base > size || size - (at - base) < from.view.bytes()) {
        return {errc::no_shape, "is larger than the memory that its address is in: was it freed?"};
    }
    std::size_t const word = size_of(from.view.type);
    if (word > 0 && at % (is_complex(from.view.type) ? word / 2 : word) != 0) {
        return {errc::not_contiguous, "begins at an address that its elements cannot be at"};
    }
    int capturing = 0;
    if (driver_.is_capturing(in, &capturing) == detail::cuda_driver::success && capturing != 0) {
        return {errc::busy, "is in a stream whose work is captured into a graph: observe it outside the capture"};
    }
    return {};
}

// Allocates what a batch keeps from step to step, where it is missing.
SPOTTER_COLD_BODY bool cuda_device::make(batch& it) noexcept {
    constexpr std::size_t bytes = detail::cuda_pass::tasks_at_once * sizeof(detail::cuda_pass::result);
    if (it.results == nullptr) {
        void* memory = nullptr;
        if (!fine(driver_.take_pinned(&memory, bytes, detail::cuda_driver::portable_and_mapped), "cuMemHostAlloc")) {
            return false;
        }
        it.results = static_cast<detail::cuda_pass::result*>(memory);
    }
    return it.taken != nullptr ||
           fine(driver_.make_event(&it.taken, detail::cuda_driver::without_timing), "cuEventCreate");
}

SPOTTER_BODY cuda_device::batch* cuda_device::batch_for(std::size_t place, detail::cuda_driver::stream in) noexcept {
    step& it = steps_[place];
    if (it.open) {
        batch& last = it.batches[it.batch_count - 1];
        if (last.stream == in && last.count < detail::cuda_pass::tasks_at_once) { return &last; }
        launch(place);
    }
    if (!it.batches.grow(it.batch_count + 1)) { return nullptr; }
    batch& next = it.batches[it.batch_count];
    if (!make(next)) { return nullptr; }
    next.count = 0, next.blocks = 0, next.chains = false, next.stream = in, next.failed = false;
    ++it.batch_count;
    it.open = true;
    return &next;
}

SPOTTER_BODY std::byte* cuda_device::room_for(step& it, std::size_t bytes) noexcept {
    constexpr std::size_t line = 256;
    std::size_t const wanted = (bytes + line - 1) / line * line;
    for (std::size_t i = 0; i < it.memory_count; ++i) {
        pinned& each = it.memory[i];
        if (each.bytes - each.used >= wanted) { return each.memory + std::exchange(each.used, each.used + wanted); }
    }
    constexpr std::size_t piece = 1 << 20;
    std::size_t const size = wanted > piece ? wanted : piece;
    if (pinned_bytes_ + size > chosen_.values_bytes || !it.memory.grow(it.memory_count + 1)) { return nullptr; }
    void* memory = nullptr;
    if (!fine(driver_.take_pinned(&memory, size, detail::cuda_driver::portable_and_mapped), "cuMemHostAlloc")) {
        return nullptr;
    }
    pinned_bytes_ += size;
    it.memory[it.memory_count++] = {static_cast<std::byte*>(memory), size, wanted};
    return static_cast<std::byte*>(memory);
}

SPOTTER_BODY bool cuda_device::keep(device_values const& from, device_wish const& wish, tensor& taken) noexcept {
    std::size_t const which = std::size_t{wish.tensor} * mode_count + index_of(wish.step.mode);
    if (!kept_.grow(which + 1)) { return false; }
    kept_values& it = kept_[which];
    if (it.elsewhere) { return false; }
    if (it.room < taken.bytes) {
        it.valid = false;
        if (it.memory != 0) { (void)fine(driver_.give_back(std::exchange(it.memory, 0)), "cuMemFree"); }
        kept_bytes_ -= std::exchange(it.room, 0);
        it.elsewhere = kept_bytes_ + taken.bytes > chosen_.change_bytes ||
                       !fine(driver_.take_memory(&it.memory, taken.bytes), "cuMemAlloc");
        if (it.elsewhere) { return false; }
        it.room = taken.bytes;
        kept_bytes_ += it.room;
    }
    tensor_ref const& now = from.view;
    taken.has_previous =
        it.valid && it.view.type == now.type && it.view.shape == now.shape && it.view.layout == now.layout;
    taken.previous = it.index;
    taken.keep = it.memory, taken.kept = which;
    it.view = now, it.index = wish.step.index, it.valid = true;
    return true;
}

SPOTTER_BODY refusal_words cuda_device::take(std::size_t place, device_values const& from, device_wish const& wish,
                                             std::uint32_t& number) noexcept {
    constexpr refusal_words no_memory{errc::out_of_memory, "is not taken from its device: no memory"};
    here const now{*this};
    if (!now) { return detail::lost_device; }
    bool const asks = from.in_current && chosen_.current_stream != nullptr;
    detail::cuda_driver::stream const in = asks ? chosen_.current_stream(card_) : from.stream;
    step& it = steps_[place];
    tensor taken;
    taken.count = from.view.count;
    if (taken.count > 0) {
        if (refusal_words const why = look_at(from, in); why.code != errc::none) { return why; }
        taken.from = reinterpret_cast<std::uintptr_t>(from.view.values.raw);
        taken.bytes = as_size(from.view.bytes());
        stats_mask known = known_terms(from.view.type);
        bool const changes = any(known) && has(wish.wanted, stats_mask::change);
        if (changes && keep(from, wish, taken)) { known |= stats_mask::change; }
        taken.wanted = wish.wanted & known;
        taken.counted = any(taken.wanted);
        if (wish.values || any(without(wish.wanted, known))) {
            taken.values = room_for(it, taken.bytes);
            if (taken.values == nullptr) {
                return {errc::out_of_memory, "has values that are due, and there is no page-locked memory for them: "
                                             "cuda_options::values_bytes"};
            }
        }
    }
    if (!it.tensors.grow(it.count + 1)) { return no_memory; }
    if (taken.counted || taken.values != nullptr) {
        batch* const to = batch_for(place, in);
        if (to == nullptr) { return no_memory; }
        taken.batch = static_cast<std::uint32_t>(it.batch_count - 1);
        taken.at = to->count;
        if (taken.counted) { add_task(taken, from.view.type, *to); }
    }
    number = static_cast<std::uint32_t>(it.count);
    it.tensors[it.count++] = taken;
    ++work_.tensors;
    return {};
}

SPOTTER_BODY void cuda_device::add_task(tensor const& it, dtype type, batch& to) noexcept {
    detail::cuda_pass::task& task = to.tasks.of[to.count++];
    task = {it.from,
            it.count,
            it.bytes,
            to.blocks,
            it.has_previous ? it.keep : 0,
            static_cast<std::uint32_t>(type),
            static_cast<std::uint32_t>(it.wanted)};
    to.chains = to.chains || it.has_previous || has(it.wanted, stats_mask::hash);
    to.blocks += (it.count + block_size - 1) / block_size;
}

SPOTTER_BODY void cuda_device::launch(std::size_t place) noexcept {
    step& it = steps_[place];
    if (!std::exchange(it.open, false)) { return; }
    here const now{*this};
    if (now) {
        start(it, it.batches[it.batch_count - 1]);
    } else {
        it.batches[it.batch_count - 1].failed = true;
    }
    it.launched = it.count;
}

SPOTTER_BODY void cuda_device::start(step& of, batch& it) noexcept {
    it.failed = !put(of, it);
    for (std::size_t i = of.launched; i < of.count && it.failed; ++i) {
        if (of.tensors[i].keep != 0) { kept_[of.tensors[i].kept].valid = false; }
    }
}

SPOTTER_BODY bool cuda_device::make_room(batch& it) noexcept {
    it.room = 0;
    if (it.partials != 0 && !fine(driver_.give_back(std::exchange(it.partials, 0)), "cuMemFree")) { return false; }
    std::uint64_t const room = it.blocks + it.blocks / 4;
    std::size_t const bytes = as_size(room * sizeof(detail::cuda_pass::partial));
    if (!fine(driver_.take_memory(&it.partials, bytes), "cuMemAlloc")) { return false; }
    it.room = room;
    return true;
}

// Into the tensors' stream, since later work in it may overwrite the values: the reading kernel, the kernels that
// process whole tensors, and copies. Into a separate stream: the fold of the results.
SPOTTER_BODY bool cuda_device::put(step& of, batch& it) noexcept {
    if (it.blocks > it.room && !make_room(it)) { return false; }
    auto const run = [&](detail::cuda_driver::function what, unsigned grid, unsigned threads,
                         detail::cuda_driver::stream in, void** with) noexcept {
        return fine(driver_.launch(what, grid, 1, 1, threads, 1, 1, 0, in, with, nullptr), "cuLaunchKernel");
    };
    std::uint32_t count = it.count;
    std::uint64_t blocks = it.blocks;
    void* to_read[] = {&it.tasks, &count, &blocks, &it.partials};
    void* to_follow[] = {&it.tasks, &it.results};
    void* to_fold[] = {&it.tasks, &it.partials, &it.results};
    if (count > 0) {
        constexpr std::uint64_t groups = detail::cuda_pass::threads / detail::cuda_pass::lanes;
        std::uint64_t const wanted = (blocks + groups - 1) / groups;
        unsigned const grid = wanted < grid_ ? static_cast<unsigned>(wanted) : grid_;
        if (!run(blocks_, grid, detail::cuda_pass::threads, it.stream, to_read)) { return false; }
        ++work_.launches;
        if (it.chains && !run(chains_, count, detail::cuda_pass::chain_threads, it.stream, to_follow)) { return false; }
    }
    for (std::size_t i = of.launched; i < of.count; ++i) {
        if (!copy(of.tensors[i], it.stream)) { return false; }
    }
    return fine(driver_.record(it.taken, it.stream), "cuEventRecord") &&
           fine(driver_.wait_in_stream(side_, it.taken, 0), "cuStreamWaitEvent") &&
           (count == 0 || run(fold_, count, detail::cuda_pass::fold_threads, side_, to_fold));
}

SPOTTER_BODY bool cuda_device::copy(tensor const& it, detail::cuda_driver::stream in) noexcept {
    if (it.keep != 0 && !fine(driver_.copy_there(it.keep, it.from, it.bytes, in), "cuMemcpyDtoDAsync")) {
        return false;
    }
    if (it.values == nullptr) { return true; }
    if (!fine(driver_.copy_here(it.values, it.from, it.bytes, in), "cuMemcpyDtoHAsync")) { return false; }
    work_.copied_bytes += it.bytes;
    return true;
}

SPOTTER_BODY void cuda_device::close(std::size_t place) noexcept {
    launch(place);
    step& it = steps_[place];
    here const now{*this};
    if (!now) { return; }
    if (it.done == nullptr &&
        !fine(driver_.make_event(&it.done, detail::cuda_driver::without_timing), "cuEventCreate")) {
        return;
    }
    for (std::size_t i = 0; i < it.moment_count; ++i) {
        if (!fine(driver_.wait_in_stream(side_, it.moments[i], 0), "cuStreamWaitEvent")) { return; }
    }
    it.closed = fine(driver_.record(it.done, side_), "cuEventRecord");
}

SPOTTER_BODY bool cuda_device::mark(std::size_t place, void* stream, std::uint32_t& number) noexcept {
    here const now{*this};
    step& it = steps_[place];
    if (!now || !it.moments.grow(it.moment_count + 1)) { return false; }
    detail::cuda_driver::event& moment = it.moments[it.moment_count];
    if (moment == nullptr && !fine(driver_.make_event(&moment, 0), "cuEventCreate")) { return false; }
    if (!fine(driver_.record(moment, stream), "cuEventRecord")) { return false; }
    number = static_cast<std::uint32_t>(it.moment_count++);
    return true;
}

SPOTTER_BODY double cuda_device::seconds(std::size_t place, std::uint32_t from, std::uint32_t to) noexcept {
    here const now{*this};
    float milliseconds = 0;
    step const& it = steps_[place];
    bool const known =
        now && fine(driver_.elapsed(&milliseconds, it.moments[from], it.moments[to]), "cuEventElapsedTime");
    return known ? 1e-3 * static_cast<double>(milliseconds) : -1;
}

SPOTTER_BODY device_state cuda_device::look(std::size_t place) noexcept {
    if (dead_ || !steps_[place].closed) { return device_state::lost; }
    here const now{*this};
    if (!now) { return device_state::lost; }
    int const result = driver_.query(steps_[place].done);
    if (result == detail::cuda_driver::not_ready) { return device_state::working; }
    return fine(result, "cuEventQuery") ? device_state::done : device_state::lost;
}

SPOTTER_BODY device_state cuda_device::wait(std::size_t place, double seconds) noexcept {
    double const until = detail::steady_seconds() + seconds;
    ++work_.waits;
    for (;;) {
        device_state const now = look(place);
        if (now != device_state::working || detail::steady_seconds() >= until) { return now; }
        std::this_thread::sleep_for(std::chrono::microseconds{20});
    }
}

SPOTTER_BODY device_answer cuda_device::answer(std::size_t place, std::uint32_t number) noexcept {
    step const& it = steps_[place];
    tensor const& of = it.tensors[number];
    device_answer answer;
    answer.stats.count = of.count;
    if (!of.counted && of.values == nullptr) { return answer; }
    batch const& in = it.batches[of.batch];
    if (in.failed) {
        answer.lost = {errc::no_device, "was not taken from its device: health() says why"};
        return answer;
    }
    answer.values = of.values;
    if (of.counted) { answer.stats = statistics_of(of, in.results[of.at]); }
    return answer;
}

SPOTTER_BODY summary cuda_device::statistics_of(tensor const& of, detail::cuda_pass::result const& from) noexcept {
    gathered all;
    all.result.count = of.count;
    all.result.nan = from.nan, all.result.pos_inf = from.pos_inf, all.result.neg_inf = from.neg_inf;
    all.result.first_bad = from.first_bad, all.result.zeros = from.zeros;
    if (all.result.finite() > 0) {
        all.widen_range(from.minimum, from.maximum);
        all.widen_abs_range(from.abs_minimum, from.abs_maximum);
    }
    all.sum.lane[0] = from.sum, all.sum_abs.lane[0] = from.sum_abs, all.sum_squares.lane[0] = from.sum_squares;
    all.spread.about_mean = from.moment2;
    summary stats;
    stats.count = of.count;
    if (any(of.wanted & pass_terms)) { stats = all.finish(of.wanted); }
    if (has(of.wanted, stats_mask::hash)) { stats.hash = from.hash; }
    if (!has(of.wanted, stats_mask::change)) { return stats; }
    stats.has |= stats_mask::change;
    if (!of.has_previous) { return stats; }
    stats.has_previous = from.compared != 0;
    stats.previous_index = of.previous;
    stats.previous_sum_squares = from.previous_sum_squares;
    stats.delta_sum_squares = from.delta_sum_squares, stats.dot = from.dot, stats.changed = from.changed;
    return stats;
}

// Does not reuse anything of work that does not finish.
SPOTTER_BODY void cuda_device::release(std::size_t place) noexcept {
    step& it = steps_[place];
    if (!dead_ && it.closed && look(place) == device_state::working) { dead_ = true; }
    it.batch_count = it.count = it.launched = it.moment_count = 0;
    it.open = it.closed = false;
    for (std::size_t i = 0; i < it.memory_count; ++i) { it.memory[i].used = 0; }
}

SPOTTER_BODY void cuda_device::add_troubles(failure_list& into) const noexcept { into.add(failures_); }

}  // namespace spotter::inline SPOTTER_ABI
