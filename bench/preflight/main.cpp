// SPDX-License-Identifier: Apache-2.0
// How well does an examination distinguish healthy loops from broken ones, and does its first line name the fault?
// Hand-written nets with one planted fault each, and healthy loops with people's habits (docs/preflight.md).
//
//     bench_preflight [--development | --last | --deep] [--only TEXT] [--seeds FIRST..LAST] [--bare] [--words]
//     [--check]
//                     [--passive]
//
// By default it runs the nets left out of development; --development, --last (the nets added last) and --deep (nets of
// 70 to 300 tensors) select others. Of a deep net the first line must name the tensor, too, where the fault has one.
// --bare leaves out the optional handles. --words prints the findings of each arm with an unexpected result. --check
// compares each net's own gradients with central differences, and examines nothing. --passive examines nothing either:
// it trains the same loops for 300 steps, until packs::supervised raises its first alarm.
#include "catalogue.hpp"
#include "passive.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace preflight_bench {

struct choices {
    half of = half::left_out;
    std::string only{};
    std::uint64_t first_seed = 1, last_seed = 4;
    bool handles = true, words = false, checks = false, passive = false;
};

// Whether a cause, or a rule, is among those that are right for a fault.
[[nodiscard]] bool is_right(choices const& how, fault_row const& row, std::string const& cause) {
    if (how.passive) { return names(row.what, cause); }
    std::string const causes = " " + std::string{row.causes} + " ";
    return !cause.empty() && causes.find(" " + cause + " ") != std::string::npos;
}

struct tally {
    int runs = 0, right = 0, later = 0, silent = 0;
    std::map<std::string, int> otherwise{};
    std::uint64_t passes = 0;
};
struct healthy_tally {
    int runs = 0, errors = 0, warnings = 0;
    std::size_t gradients = 0, not_proven = 0;
    std::uint64_t passes = 0, most_passes = 0;
    std::map<std::string, int> reported{};
};

void show(net_entry const& net, std::string_view what, std::uint64_t seed, outcome const& it) {
    std::printf("-- %s, %.*s, seed %llu: %s, %u passes, %zu of %zu not proven\n%s\n", net.name, int(what.size()),
                what.data(), static_cast<unsigned long long>(seed), it.first.empty() ? "silent" : it.first.c_str(),
                it.passes, it.not_proven, it.gradients, it.words.c_str());
}

class bench {
public:
    explicit bench(choices const& how)
        : how_(how), nets_(how.of == half::development ? nets_for_development()
                           : how.of == half::left_out  ? nets_left_out()
                           : how.of == half::deep      ? nets_deep()
                                                       : nets_last()) {}

    void run() {
        for (net_entry const& net : nets_) {
            for (int h = 0; h < int(habit::last_); ++h) {
                if (net.can_habit(habit(h))) { each_seed(net, arm{fault::none, habit(h)}, habit_names[h]); }
            }
            for (int f = 1; f < int(fault::last_); ++f) {
                if (net.can_fault(fault(f))) { each_seed(net, arm{fault(f), habit::plain}, fault_rows[f].name); }
            }
            std::fflush(stdout);
        }
        print();
    }
    void check_nets() const {
        for (net_entry const& net : nets_) {
            double worst = 0;
            for (std::uint64_t seed = how_.first_seed; seed <= how_.last_seed; ++seed) {
                worst = std::max(worst, net.own_error(arm{}, seed));
            }
            std::printf("%-32s %.2g\n", net.name, worst);
        }
    }

private:
    void each_seed(net_entry const& net, arm const& what, std::string_view name) {
        std::string const title = std::string{net.name} + "/" + std::string{name};
        if (!how_.only.empty() && title.find(how_.only) == std::string::npos) { return; }
        for (std::uint64_t seed = how_.first_seed; seed <= how_.last_seed; ++seed) {
            outcome it = how_.passive ? net.train(what, seed) : net.examine(what, seed, how_.handles);
            if (how_.of == half::deep && !how_.passive && !it.first.empty()) { ask_place(net, what, seed, it); }
            bool const fine = what.broken == fault::none ? count_healthy(net, what, it) : count_broken(net, what, it);
            if (how_.words && !fine) { show(net, name, seed, it); }
        }
    }
    // A finding at another tensor is not that of the fault.
    static void ask_place(net_entry const& net, arm const& what, std::uint64_t seed, outcome& it) {
        std::string const place = net.place(what, seed);
        if (!place.empty() && it.place != place) { it.first += "(elsewhere)", it.all.clear(); }
    }
    bool count_healthy(net_entry const& net, arm const& what, outcome const& it) {
        for (healthy_tally* each : {&healthy_[net.name], &by_habit_[what.how], &all_healthy_}) {
            ++each->runs;
            each->errors += !it.first.empty() && it.is_error ? 1 : 0;
            each->warnings += !it.first.empty() && !it.is_error ? 1 : 0;
            each->gradients += it.gradients, each->not_proven += it.not_proven;
            each->passes += it.passes, each->most_passes = std::max<std::uint64_t>(each->most_passes, it.passes);
            if (!it.first.empty()) { ++each->reported[it.first]; }
        }
        return it.first.empty();
    }
    bool count_broken(net_entry const& net, arm const& what, outcome const& it) {
        fault_row const& row = fault_rows[int(what.broken)];
        bool const right = is_right(how_, row, it.first);
        bool const later = !right && std::any_of(it.all.begin(), it.all.end(),
                                                 [&](std::string const& each) { return is_right(how_, row, each); });
        for (tally* each : {&by_fault_[what.broken], &by_net_[net.name], &all_broken_}) {
            ++each->runs, each->right += right ? 1 : 0, each->later += later ? 1 : 0,
                each->silent += it.first.empty() ? 1 : 0;
            each->passes += it.passes;
            if (!right) { ++each->otherwise[it.first.empty() ? "silent" : it.first]; }
        }
        return right;
    }
    static std::string list(std::map<std::string, int> const& counts) {
        std::string text;
        for (auto const& [name, times] : counts) {
            text += (text.empty() ? "" : ", ") + name + " " + std::to_string(times);
        }
        return text;
    }
    void print_healthy(std::string_view name, healthy_tally const& it) const {
        std::printf("| %.*s | %d | %d | %d | ", int(name.size()), name.data(), it.runs, it.errors, it.warnings);
        if (!how_.passive) {
            std::printf("%.1f %% | ", it.gradients > 0 ? 100.0 * double(it.not_proven) / double(it.gradients) : 0.0);
        }
        std::printf("%.0f | %llu | %s |\n", double(it.passes) / std::max(1, it.runs),
                    static_cast<unsigned long long>(it.most_passes), list(it.reported).c_str());
    }
    void print_broken(std::string_view name, tally const& it) const {
        std::printf("| %.*s | %d | %d | %d | %d | %.0f | %s |\n", int(name.size()), name.data(), it.runs, it.right,
                    it.later, how_.passive ? it.runs - it.silent : it.silent, double(it.passes) / std::max(1, it.runs),
                    list(it.otherwise).c_str());
    }
    void print() {
        std::string const healthy_head =
            "runs | errors | warnings | " + std::string{how_.passive ? "steps" : "not proven | passes"} +
            ", mean | most | reported |\n|---|---|---|---|---|---|---|" + (how_.passive ? "\n" : "---|\n");
        std::string const broken_head = "runs | right first | right later | " +
                                        std::string{how_.passive ? "alarmed | steps" : "silent | passes"} +
                                        ", mean | reported instead |\n|---|---|---|---|---|---|---|\n";
        std::printf("\n| healthy, by net | %s", healthy_head.c_str());
        for (auto const& [name, it] : healthy_) { print_healthy(name, it); }
        print_healthy("all", all_healthy_);
        std::printf("\n| healthy, by habit | %s", healthy_head.c_str());
        for (auto const& [what, it] : by_habit_) { print_healthy(habit_names[int(what)], it); }
        std::printf("\n| broken, by fault | %s", broken_head.c_str());
        for (auto const& [what, it] : by_fault_) { print_broken(fault_rows[int(what)].name, it); }
        print_broken("all", all_broken_);
        std::printf("\n| broken, by net | %s", broken_head.c_str());
        for (auto const& [name, it] : by_net_) { print_broken(name, it); }
        std::printf("\nright first: %.1f %% of %d; healthy with an error: %.2f %%, with a warning: %.2f %% of %d; ",
                    100.0 * all_broken_.right / std::max(1, all_broken_.runs), all_broken_.runs,
                    100.0 * all_healthy_.errors / std::max(1, all_healthy_.runs),
                    100.0 * all_healthy_.warnings / std::max(1, all_healthy_.runs), all_healthy_.runs);
        if (how_.passive) {
            std::printf("alarmed: %.1f %%\n",
                        100.0 * (all_broken_.runs - all_broken_.silent) / std::max(1, all_broken_.runs));
        } else {
            std::printf("not proven: %.1f %% of %zu gradients\n",
                        100.0 * double(all_healthy_.not_proven) /
                            double(std::max<std::size_t>(1, all_healthy_.gradients)),
                        all_healthy_.gradients);
        }
    }

    choices how_;
    std::vector<net_entry> nets_;
    std::map<std::string, healthy_tally> healthy_{};
    std::map<habit, healthy_tally> by_habit_{};
    std::map<fault, tally> by_fault_{};
    std::map<std::string, tally> by_net_{};
    healthy_tally all_healthy_{};
    tally all_broken_{};
};

}  // namespace preflight_bench

int main(int count, char** arguments) {
    using namespace preflight_bench;
    choices how;
    for (int i = 1; i < count; ++i) {
        std::string const word = arguments[i];
        std::string const next = i + 1 < count ? arguments[i + 1] : "";
        if (word == "--development") {
            how.of = half::development;
        } else if (word == "--last") {
            how.of = half::last;
        } else if (word == "--deep") {
            how.of = half::deep;
        } else if (word == "--bare") {
            how.handles = false;
        } else if (word == "--words") {
            how.words = true;
        } else if (word == "--passive") {
            how.passive = true;
        } else if (word == "--check") {
            how.checks = true;
        } else if (word == "--only") {
            how.only = next, ++i;
        } else if (word == "--seeds") {
            how.first_seed = std::strtoull(next.c_str(), nullptr, 10);
            std::size_t const dots = next.find("..");
            how.last_seed =
                dots == std::string::npos ? how.first_seed : std::strtoull(next.c_str() + dots + 2, nullptr, 10);
            ++i;
        } else {
            std::fprintf(stderr, "%s: not known; see the first lines of bench/preflight/main.cpp\n", word.c_str());
            return 2;
        }
    }
    if (char const* const quick = std::getenv("SPOTTER_BENCH_QUICK"); quick != nullptr && *quick == '1') {
        how.last_seed = how.first_seed;
    }
    bench it{how};
    how.checks ? it.check_nets() : it.run();
    return 0;
}
