// SPDX-License-Identifier: Apache-2.0
// Ext (L6): samples of the machine during a run, with rules of their own: what the processor, memory, disks, networks
// and GPUs do while a loop trains. Needs only the operating system; with a glibc before 2.34 link with -ldl.
//
//     spotter::system_sampler machine{spotter::packs::system};
//     spotter::hook watch{"runs/a", keep, spotter::options{.beside = &machine}};
#pragma once

#include <spotter/ext/system/source.hpp>
#include <spotter/file/file_system.hpp>
#include <spotter/format/layout.hpp>
#include <spotter/hook/writer_task.hpp>
#include <spotter/record/recorded_hook.hpp>

#include <atomic>
#include <optional>

namespace spotter::inline SPOTTER_ABI {

// Runs on the writer thread of the run that it is given to, once a second by default, and records into the run's folder
// `system`, a run of its own: a sample is a step of mode::predict. The findings of its rules are in that record, and
// are reported to the loop with the alarm of its next close. It costs the training thread nothing. It must outlive the
// hook. docs/ext.md#system
template <class... Rules>
class system_sampler final : public writer_task {
public:
    explicit system_sampler(Rules const&... rules) noexcept : system_sampler{system_options{}, rules...} {}
    explicit system_sampler(system_options const& choices, Rules const&... rules) noexcept
        : rules_{std::in_place, rules...}, source_{choices},
          every_{choices.seconds > 1e-3 ? static_cast<std::uint64_t>(choices.seconds * 1000) : 1} {}
    system_sampler(system_sampler const&) = delete;
    system_sampler& operator=(system_sampler const&) = delete;
    ~system_sampler() = default;

    // The folder of the samples; empty until the first. For the writer thread, and for use after the run.
    [[nodiscard]] std::string_view path() const noexcept { return watch_ ? watch_->path() : std::string_view{}; }

    void begin(std::string_view folder, options const& run, std::uint64_t now) noexcept override {
        watch_.reset();
        waiting_ = {};  // an alarm left over from an earlier run is dropped
        posted_.store(false, std::memory_order_relaxed);
        source_.open();
        options own{};
        own.existing = run.existing == existing::replace ? existing::replace : existing::resume;
        own.drain = drain::poll;
        own.ring_bytes = 64U << 10;
        // Ten samples take a quarter of the space of ten single ones.
        own.flush_milliseconds = static_cast<std::uint32_t>(every_ < 6000 ? 10 * every_ : 60'000);
        own.clock = run.clock;
        path_text const place{folder, layout::system_name};
        rules_.apply([&](Rules const&... each) { watch_.emplace(place, kept, each..., own); });
        // The sampling interval is not a step time that rules should judge: with this scalar neither a hook nor a
        // replay adds one.
        watch_->scalar(step_time_name, 1e-3 * static_cast<double>(every_));
        begun_at_ = now;
        before_ = {};
        samples_ = 0;
        (void)work(now, {});  // counters are relative to this first call
    }
    std::uint64_t work(std::uint64_t now, loop_progress const& loop) noexcept override {
        if (now < due_ && samples_ > 0) { return due_; }
        source_.sample(1e-3 * static_cast<double>(now));
        due_ = now + every_;
        if (samples_++ == 0) { return due_; }
        observe(now, loop);
        return due_;
    }
    bool has_news() const noexcept override { return posted_.load(std::memory_order_relaxed); }
    void tell(step_id step, step_alarm& into) noexcept override {
        if (!posted_.load(std::memory_order_acquire)) { return; }
        for (finding each : letter_) {
            each.step = step;
            into.add(each);
        }
        posted_.store(false, std::memory_order_release);
    }
    void end() noexcept override {
        if (watch_) { watch_->finish(); }
        source_.close();
    }
    error trouble() const noexcept override {
        if (source_.trouble()) { return source_.trouble(); }
        return watch_ ? watch_->health().first_error : error{};
    }

private:
    static constexpr plan kept{collection{"system", "sys/*", always{}, payload | stats(mean, maximum)}};

    void observe(std::uint64_t now, loop_progress const& loop) noexcept {
        system_load const& it = source_.load();
        auto& watch = *watch_;
        if (samples_ == 2) { watch.scalar("sys/absent", source_.absent().view()); }
        watch.begin(predict(samples_ - 2));
        if (it.has(system_load::part::cpu)) { watch.observe("sys/cpu", std::span{it.cpu.data(), it.cores}); }
        each_number(it, [&](std::string_view name, auto value) { watch.scalar(name, value); });
        if (loop.closes > before_.closes && before_.closes > 0 && loop.closed_at >= before_.closed_at) {
            watch.scalar("sys/step",
                         (loop.closed_at - before_.closed_at) / static_cast<double>(loop.closes - before_.closes));
        }
        if (loop.closes == 0) { watch.scalar("sys/initialization", 1e-3 * static_cast<double>(now - begun_at_)); }
        before_ = loop;
        for (finding const& each : watch.end()) { waiting_.add(each); }
        watch.poll();
        if (waiting_.empty() || posted_.load(std::memory_order_acquire)) { return; }
        letter_ = waiting_;
        waiting_ = {};
        posted_.store(true, std::memory_order_release);
    }

    pack<Rules...> rules_;
    system_source source_;
    std::uint64_t every_;
    std::optional<hook<recorder, std::remove_const_t<decltype(kept)>, Rules..., options>> watch_{};
    std::uint64_t begun_at_ = 0, due_ = 0, samples_ = 0;
    loop_progress before_{};
    step_alarm waiting_{};  // until the loop has taken the one posted before
    step_alarm letter_{};   // owned by the loop while posted_
    std::atomic<bool> posted_{false};
};

template <class... Rules>
system_sampler(system_options, Rules...) -> system_sampler<Rules...>;
template <rule... Rules>
system_sampler(Rules...) -> system_sampler<Rules...>;

}  // namespace spotter::inline SPOTTER_ABI
