// SPDX-License-Identifier: Apache-2.0
// Workbench, profile: the bodies of spotter/workbench/profile.hpp.
#include "profile/times.hpp"

#include <spotter/core/sentence.hpp>
#include <spotter/workbench/profile.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace spotter::inline SPOTTER_ABI::detail {

constexpr std::string_view section_names = "time/";

// Limits of shares of a step: large enough to mention; waiting that matters.
constexpr double large_share = 0.5, waiting_share = 0.2, busy_share = 0.85, pressing_share = 0.05;
constexpr double slow_factor = 2, slow_deviations = 5, slow_worker_factor = 1.5;
constexpr std::size_t shown_slow_steps = 10, steps_to_judge = 20;

[[nodiscard]] static double rank_of(std::vector<double> const& sorted, double share) {
    if (sorted.empty()) { return 0; }
    auto const rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return sorted[(std::min)(rank > 0 ? rank - 1 : 0, sorted.size() - 1)];
}
[[nodiscard]] static duration_summary summary_of(std::vector<double> seconds) {
    std::sort(seconds.begin(), seconds.end());
    duration_summary made;
    made.count = seconds.size();
    for (double const each : seconds) { made.sum += each; }
    made.median = rank_of(seconds, 0.5);
    made.p99 = rank_of(seconds, 0.99);
    made.longest = seconds.empty() ? 0 : seconds.back();
    return made;
}

// The durations of a worker's steps of one mode, and of each section by step.
struct mode_times {
    std::vector<timed_step> steps{};
    std::map<std::string, std::map<std::uint64_t, double>> sections{};  // by path, then by the index of the step
    std::set<std::string> of_kernels{};                                 // paths of sections that a device timed
};

static void take_sections(trial const& run, mode which, std::set<std::uint64_t> const& timed, mode_times& into) {
    for (std::string const& name : run.names(std::string{section_names} + "*")) {
        if (name == step_time_name) { continue; }
        if (has(run[name].info().flags, flag::of_kernels)) {
            into.of_kernels.insert(name.substr(section_names.size()));
        }
        for (point const& each : run[name].history(mean, during{which})) {
            bool const counts = is_finite(each.value) && each.value >= 0 && timed.contains(each.step.index);
            if (counts) { into.sections[name.substr(section_names.size())][each.step.index] = each.value; }
        }
    }
}

// Outer sections by their share, each followed by its subsections.
static void put_sections(std::vector<section_profile> const& all, std::string const& inside,
                         std::vector<section_profile>& into) {
    std::vector<section_profile> mine;
    for (section_profile const& each : all) {
        bool const within = each.path.starts_with(inside) && each.path.find('/', inside.size()) == std::string::npos;
        if (within) { mine.push_back(each); }
    }
    std::sort(mine.begin(), mine.end(), [](section_profile const& a, section_profile const& b) {
        return a.share != b.share ? a.share > b.share : a.path < b.path;
    });
    for (section_profile& each : mine) {
        std::string const path = each.path + '/';
        into.push_back(std::move(each));
        put_sections(all, path, into);
    }
}

[[nodiscard]] static double slow_beyond(std::vector<double> seconds) {
    std::sort(seconds.begin(), seconds.end());
    double const median = rank_of(seconds, 0.5);
    for (double& each : seconds) { each = std::fabs(each - median); }
    std::sort(seconds.begin(), seconds.end());
    return (std::max)(slow_factor * median, median + slow_deviations * 1.4826 * rank_of(seconds, 0.5));
}

[[nodiscard]] static std::string beside_of(trial const& run, machine_profile const& machine, timed_step const& it,
                                           timed_step const* before) {
    std::string text;
    if (before != nullptr && before->step.mode != it.step.mode) {
        text = fmt::format("behind {}({})", name_of(before->step.mode), before->step.index);
    }
    for (finding const& each : run.findings()) {
        if (each.step != it.step) { continue; }
        text += fmt::format("{}with a finding of {}", text.empty() ? "" : ", ", each.rule);
        break;
    }
    std::string const machine_did = unusual_between(machine, it.closed - it.seconds, it.closed);
    return text.empty() || machine_did.empty() ? text + machine_did : text + ", " + machine_did;
}

// Names the section where most of the excess of a slow step is, if one has half of it.
static void blame_section(mode_times const& times, mode_profile const& usual, slow_step& slow) {
    for (section_profile const& each : usual.sections) {
        auto const& by_step = times.sections.at(each.path);
        auto const found = by_step.find(slow.step.index);
        double const beyond = found != by_step.end() ? found->second - each.spent.median : 0;
        // Of a section and its subsection the inner one is named if most of the excess is there.
        bool const inner = !slow.section.empty() && each.path.starts_with(slow.section + '/');
        if (beyond > (inner ? 0.8 : 1.0) * slow.beyond) { slow.beyond = beyond, slow.section = each.path; }
    }
    if (slow.beyond < 0.5 * (slow.seconds - usual.steps.median)) { slow.section.clear(), slow.beyond = 0; }
}

static void take_slow(trial const& run, machine_profile const& machine, std::vector<timed_step> const& all,
                      mode_times const& times, mode_profile& into) {
    std::vector<double> seconds;
    for (timed_step const& each : times.steps) { seconds.push_back(each.seconds); }
    if (seconds.size() < steps_to_judge) { return; }
    double const limit = slow_beyond(std::move(seconds));
    std::vector<std::size_t> slow;  // indices in `all`
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].step.mode == into.mode && !all[i].first && all[i].seconds > limit) { slow.push_back(i); }
    }
    into.slow_steps = slow.size();
    std::sort(slow.begin(), slow.end(), [&](std::size_t a, std::size_t b) {
        return all[a].seconds != all[b].seconds ? all[a].seconds > all[b].seconds : a < b;
    });
    slow.resize((std::min)(slow.size(), shown_slow_steps));
    for (std::size_t const at : slow) {
        slow_step made{
            all[at].step, all[at].seconds, {}, 0, beside_of(run, machine, all[at], at > 0 ? &all[at - 1] : nullptr)};
        blame_section(times, into, made);
        into.slow.push_back(std::move(made));
    }
}

[[nodiscard]] static mode_profile profile_of_mode(trial const& run, machine_profile const& machine, mode which,
                                                  std::vector<timed_step> const& all) {
    mode_profile made;
    made.mode = which;
    mode_times times;
    std::set<std::uint64_t> timed;
    std::vector<double> seconds;
    double inside = 0;
    for (timed_step const& each : all) {
        if (each.step.mode != which || each.first) { continue; }
        times.steps.push_back(each);
        timed.insert(each.step.index);
        seconds.push_back(each.seconds);
        inside += (std::min)(each.inside, each.seconds);
    }
    made.steps = summary_of(std::move(seconds));
    if (!(made.steps.sum > 0)) { return made; }
    made.inside = inside / made.steps.sum;
    take_sections(run, which, timed, times);
    std::vector<section_profile> sections;
    for (auto const& [path, by_step] : times.sections) {
        std::vector<double> spent;
        for (auto const& [index, each] : by_step) { spent.push_back(each); }
        section_profile one{path, summary_of(std::move(spent)), 0, times.of_kernels.contains(path)};
        one.share = one.spent.sum / made.steps.sum;
        if (one.is_outer()) { (one.of_kernels ? made.kernels : made.named) += one.share; }
        sections.push_back(std::move(one));
    }
    put_sections(sections, "", made.sections);
    take_slow(run, machine, all, times, made);
    return made;
}

[[nodiscard]] static bool waits(std::string_view section) {
    for (std::string_view const each :
         {"wait", "data", "load", "loader", "loading", "input", "batch", "fetch", "read"}) {
        if (section == each) { return true; }
    }
    return false;
}

[[nodiscard]] static std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

// The slowest worker, if its steps take much longer than those of the median worker.
[[nodiscard]] static std::string slow_worker(std::vector<worker_profile> const& all) {
    std::vector<std::pair<double, std::uint32_t>> medians;
    for (worker_profile const& each : all) {
        for (mode_profile const& mine : each.modes) {
            if (mine.mode == mode::train && mine.steps.count >= steps_to_judge) {
                medians.emplace_back(mine.steps.median, each.worker);
            }
        }
    }
    if (medians.size() < 2) { return {}; }
    std::sort(medians.begin(), medians.end());
    double const usual = medians[(medians.size() - 1) / 2].first;
    auto const& [slowest, worker] = medians.back();
    if (!(slowest > slow_worker_factor * usual)) { return {}; }
    return fmt::format("Worker {} is slow: a step of its takes {}, {:.2g} times the {} of the others. Look at that "
                       "machine, and at its share of the data.",
                       worker, duration_text(slowest), slowest / usual, duration_text(usual));
}

// A measurement of the whole machine only leads to advice for this program if the program causes most of it; an unknown
// share counts as its own. Child processes count as others.
struct shared_load {
    double others = 0;  // of the used part, 0 to 1

    [[nodiscard]] bool is_theirs() const noexcept { return others > 0.5; }
};
[[nodiscard]] static shared_load processor_load(machine_profile const& it) {
    double const own = it.mean_of("own_cpu"), other = it.mean_of("other_cpu");
    return {it.find("own_cpu") != nullptr && own + other > 0 ? other / (own + other) : 0};
}
[[nodiscard]] static shared_load disk_load(machine_profile const& it) {
    double const own = it.mean_of("own_read") + it.mean_of("own_written");
    double const all = it.mean_of("disk_read") + it.mean_of("disk_written");
    return {it.find("own_read") != nullptr && all > own ? 1 - own / all : 0};
}
// By the memory that this process allocated and did not release. Mapped files are not included: they are the program's
// own if it reads them.
[[nodiscard]] static shared_load memory_load(machine_profile const& it) {
    machine_series const* const own = it.find("memory");
    bool const reads = it.mean_of("own_read") > 0 && !disk_load(it).is_theirs();
    return {own != nullptr && !reads ? 1 - own->most : 0};
}
constexpr std::string_view look_for_others =
    "see what else runs there (top), move it or this run away, or give the run a share of its own (taskset, cgroups)";

// Evicted pages are read again repeatedly, which slows down everything that uses memory.
[[nodiscard]] static std::string short_of_memory(machine_profile const& it) {
    double const waits = it.mean_of("pressure/memory");
    if (waits < pressing_share) { return {}; }
    if (shared_load const load = memory_load(it); load.is_theirs()) {
        return fmt::format("Tasks wait for memory {} of the time, and this process has {} of it at most: {}.",
                           percent(waits), percent(1 - load.others), look_for_others);
    }
    return fmt::format("Tasks wait for memory {} of the time: what the run works on does not fit. Make its batch or "
                       "its cache smaller, or give it more memory.",
                       percent(waits));
}

// Null where no GPU is busy nearly all the time.
[[nodiscard]] static machine_series const* busy_gpu(machine_profile const& it) {
    machine_series const* busiest = nullptr;
    for (machine_series const& each : it.series) {
        if (!each.name.starts_with("gpu_util/") || each.mean < busy_share) { continue; }
        if (busiest == nullptr || each.mean > busiest->mean) { busiest = &each; }
    }
    return busiest;
}

// What a wait is for where a device is at work nearly all the time: the loop's kernels, or perhaps those of others.
// Empty where no device is.
[[nodiscard]] static std::string wait_for_kernels(machine_profile const& it, double kernels) {
    if (kernels >= busy_share) {
        return fmt::format("; the loop's kernels take {} of the step: they are what it waits for, and reading ahead "
                           "will not help.",
                           percent(kernels));
    }
    machine_series const* const gpu = busy_gpu(it);
    if (gpu == nullptr) { return {}; }
    std::string const at_work =
        fmt::format("; GPU {} is at work {} of the time", std::string_view{gpu->name}.substr(gpu->name.rfind('/') + 1),
                    percent(gpu->mean));
    return kernels > 0 && kernels < large_share
               ? fmt::format("{}, and the kernels of named sections take {} of the step: name the others, or {}.",
                             at_work, percent(kernels), look_for_others)
               : at_work + ": kernels are what the loop waits for, and reading ahead will not help.";
}

// What to do about a section that waits, according to the times of kernels and the machine's samples, if there are any.
// A card that is always at work is not idle because of the section: the loop waits for kernels there, or the section is
// hidden behind them.
[[nodiscard]] static std::string instead_of_waiting(machine_profile const& it, double share, double kernels) {
    if (std::string const busy = wait_for_kernels(it, kernels); !busy.empty()) { return busy; }
    if (it.empty() || it.find("cpu") == nullptr) {
        return ": read ahead in another thread, keep batches ready, or make them cheaper.";
    }
    double const disks = (std::max)(it.mean_of("pressure/io"), it.mean_of("io_wait"));
    if (disks >= waiting_share) {
        if (shared_load const load = disk_load(it); load.is_theirs()) {
            return fmt::format("; tasks wait for disks {} of the time, and {} of what goes over them is others': {}.",
                               percent(disks), percent(load.others), look_for_others);
        }
        return fmt::format(
            "; tasks wait for disks {} of the time: read ahead, or keep the data on a faster disk or in memory.",
            percent(disks));
    }
    if (it.mean_of("cpu") >= busy_share) {
        if (processor_load(it).is_theirs()) {
            return fmt::format("; all cores are {} busy, and this process has {}: {}.", percent(it.mean_of("cpu")),
                               percent(it.mean_of("own_cpu")), look_for_others);
        }
        return fmt::format(
            "; all cores are {} busy: make batches cheaper or prepare them beforehand, more threads will not help.",
            percent(it.mean_of("cpu")));
    }
    // Enough threads that a batch is ready whenever one was used up.
    int const threads = (std::max)(2, static_cast<int>(std::ceil(share / (std::max)(0.05, 1 - share))));
    machine_series const* const busiest = it.find("busiest_core");
    return busiest != nullptr && busiest->p95 < busy_share
               ? fmt::format("; no core is above {}: read ahead with {} threads.", percent(busiest->p95), threads)
               : fmt::format("; of all cores {} are at work: read ahead with {} threads.", percent(it.mean_of("cpu")),
                             threads);
}

// Whether other programs slowed steps down or used most of the processor: then all other advice takes that into
// account.
[[nodiscard]] static std::string others_at_work(trial const& run, run_profile const& profile) {
    for (finding const& each : run.findings()) {
        if (each.id == rule_id::noisy_neighbour) {
            return fmt::format(
                " Steps take {:.2g} times as long while others have the processor: see what else runs there.",
                each.measured);
        }
    }
    for (worker_profile const& each : profile.workers) {
        bool const theirs = each.machine.mean_of("cpu") >= busy_share && processor_load(each.machine).is_theirs();
        if (theirs && profile.verdict.find(look_for_others) == std::string::npos) {
            return fmt::format(" Meanwhile others had {} of all cores: {}.", percent(each.machine.mean_of("other_cpu")),
                               look_for_others);
        }
    }
    return {};
}

// What the verdict is about: the profile of a mode, and of the machine of its worker.
struct main_profile {
    mode_profile const* mode = nullptr;  // null: no step was timed
    machine_profile const* machine = nullptr;
};
[[nodiscard]] static main_profile main_of(run_profile const& it) {
    main_profile found;
    for (worker_profile const& worker : it.workers) {
        for (mode_profile const& each : worker.modes) {
            if (each.steps.count == 0 || (found.mode != nullptr && each.mode >= found.mode->mode)) { continue; }
            found = {&each, &worker.machine};
        }
    }
    return found;
}

[[nodiscard]] static std::string verdict_of(run_profile const& it) {
    if (std::string const slow = slow_worker(it.workers); !slow.empty()) { return slow; }
    auto const [main, machine] = main_of(it);
    if (main == nullptr) { return "The record does not say how long its steps took."; }
    if (std::string const short_of = short_of_memory(*machine); !short_of.empty()) { return short_of; }
    std::string const took =
        fmt::format("A {} step takes {} (median)", name_of(main->mode), duration_text(main->steps.median));
    if (main->sections.empty()) { return took + "; its parts have no names: name them with watch.section(\"data\")."; }
    for (section_profile const& each : main->sections) {
        std::string_view const leaf = std::string_view{each.path}.substr(each.path.rfind('/') + 1);
        if (waits(leaf) && !each.of_kernels && each.share >= waiting_share) {
            return fmt::format("{} of a {} step is section {}{}", percent(each.share), name_of(main->mode), each.path,
                               instead_of_waiting(*machine, each.share, main->kernels));
        }
    }
    section_profile const& most = main->sections.front();
    double const named = (std::max)(main->named, main->kernels);
    if (1 - named >= large_share) {
        return fmt::format("{}; {} of it is in no section: name more of its parts.", took, percent(1 - named));
    }
    return fmt::format("{}; most of it, {}, is section {}{}.", took, percent(most.share),
                       most.of_kernels ? most.label() : most.path,
                       main->named > 1.02 ? ", though sections overlap" : "");
}

static void describe_mode(mode_profile const& it, std::string& text) {
    text += fmt::format("{}: {}, {} in all; median {}, 99 % below {}, longest {}\n", name_of(it.mode),
                        plural(it.steps.count, "step").view(), duration_text(it.steps.sum),
                        duration_text(it.steps.median), duration_text(it.steps.p99), duration_text(it.steps.longest));
    auto const line = [&](std::string_view name, std::size_t depth, double share, duration_summary const* spent) {
        text += fmt::format("    {:>5}  {:{}}{}", percent(share), "", 2 * depth, name);
        if (spent != nullptr) {
            text += fmt::format(": median {}, 99 % below {}", duration_text(spent->median), duration_text(spent->p99));
            if (spent->count < it.steps.count) { text += fmt::format(", in {}", plural(spent->count, "step").view()); }
        }
        text += '\n';
    };
    for (section_profile const& each : it.sections) {
        auto const depth = static_cast<std::size_t>(std::count(each.path.begin(), each.path.end(), '/'));
        line(each.label(), depth, each.share, &each.spent);
    }
    if (!it.sections.empty()) { line("in no section", 0, (std::max)(0.0, 1 - it.named), nullptr); }
    if (it.slow_steps > 0) { text += fmt::format("    {} slow, the longest:\n", it.slow_steps); }
    for (slow_step const& each : it.slow) {
        text +=
            fmt::format("        {}({}): {}", name_of(each.step.mode), each.step.index, duration_text(each.seconds));
        if (!each.section.empty()) {
            text += fmt::format(", {} of it more than usual in {}", duration_text(each.beyond), each.section);
        }
        text += each.beside.empty() ? "\n" : ", " + each.beside + '\n';
    }
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

std::string section_profile::label() const {
    return path.substr(path.rfind('/') + 1) + (of_kernels ? " (kernels)" : "");
}

run_profile profile_of(trial const& run) {
    run_profile made;
    bool const several = run.workers().size() > 1;
    for (std::uint32_t const number : run.workers()) {
        worker_profile mine{number, {}, machine_of(run, worker{number})};
        auto const alone = several ? open_trial(run.folder(), worker{number}) : result<trial>{errc::none, ""};
        if (several && !alone) { continue; }  // trial::damage says why
        trial const& its = several ? *alone : run;
        auto const all = its.times();
        for (mode const each : {mode::train, mode::eval, mode::predict}) {
            mode_profile one = detail::profile_of_mode(its, mine.machine, each, all);
            if (one.steps.count > 0) { mine.modes.push_back(std::move(one)); }
        }
        made.workers.push_back(std::move(mine));
    }
    made.verdict = detail::verdict_of(made);
    made.verdict += detail::others_at_work(run, made);
    return made;
}

std::string describe(run_profile const& it) {
    std::string text;
    for (worker_profile const& worker : it.workers) {
        if (it.workers.size() > 1) { text += fmt::format("worker {}\n", worker.worker); }
        for (mode_profile const& each : worker.modes) { detail::describe_mode(each, text); }
        text += describe(worker.machine);
    }
    return text + it.verdict + '\n';
}

}  // namespace spotter::inline SPOTTER_ABI
