// SPDX-License-Identifier: Apache-2.0
// What losses of every course say of a run, and from which sample on.
#include <spotter/core/evaluation_name.hpp>
#include <spotter/diagnosis/progress.hpp>

#include <tests/catch.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <deque>
#include <random>
#include <string>
#include <vector>

using namespace spotter;

namespace {

// Each answer with the sample at which it was first given: "30 improves".
using answers = std::vector<std::string>;
template <class Course>
answers story(std::uint64_t samples, Course&& course) {
    detail::falling_series all;
    answers reported;
    progress last = progress::unknown;
    for (std::uint64_t i = 0; i < samples; ++i) {
        all.add(course(i), {});
        if (all.says() == last) { continue; }
        last = all.says();
        reported.push_back(std::to_string(i + 1) + ' ' + std::string{name_of(last)});
    }
    return reported;
}

// Even noise from -1 to 1, of each seed the same everywhere.
class noise {
public:
    explicit noise(std::uint32_t seed) : random_{seed} {}
    double operator()() { return static_cast<double>(random_()) / 2147483648.0 - 1; }

private:
    std::mt19937 random_;
};

// From `first` on, smaller by `share` a sample.
double falling(double first, double share, std::uint64_t sample) { return first * std::exp(-share * double(sample)); }

std::uint64_t sample_of(std::string const& answer) { return std::stoull(answer); }
bool any_says(answers const& all, std::string_view what) {
    for (std::string const& each : all) {
        if (each.ends_with(what)) { return true; }
    }
    return false;
}

// A run as the hook shows it: losses, evaluations and metrics by name.
class shown_run {
public:
    explicit shown_run(bool objective = true) : watch_{objective} {}
    void see(step_id at, std::string_view name, double value) {
        tensor_info& tensor = tensor_of(name);
        summary stats;
        stats.has = stats_mask::sum;
        stats.count = 1;
        stats.sum = value;
        watch_.observe({tensor, at, stats, {}, {}, nullptr, nullptr, 0});
    }
    progress says() { return watch_.says(); }
    progress_watch& inside() { return watch_; }

private:
    tensor_info& tensor_of(std::string_view name) {
        for (tensor_info& each : tensors_) {
            if (each.name == name) { return each; }
        }
        tensor_info& fresh = tensors_.emplace_back();
        fresh.name = name, fresh.role = guess_role(name), fresh.id = static_cast<tensor_id>(tensors_.size() - 1);
        for (tensor_info const& each : tensors_) {
            if (is_evaluation_of(name, each.name)) { fresh.partner = each.id; }
        }
        CHECK(watch_.declare(fresh));
        return fresh;
    }

    progress_watch watch_;
    std::deque<tensor_info> tensors_;
};

}  // namespace

TEST_CASE("progress: a loss that falls improves as soon as anything is said, noise or none") {
    CHECK(story(2000, [](std::uint64_t i) { return falling(2, 0.01, i); }) == answers{"30 improves"});
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
        noise some{seed};
        CHECK(story(2000, [&](std::uint64_t i) { return falling(2, 0.02, i) + 0.1 * some(); }) ==
              answers{"30 improves"});
        answers const slow = story(2000, [&](std::uint64_t i) { return falling(2, 0.001, i) + 0.3 * some(); });
        REQUIRE(slow.size() == 1);
        CHECK((slow[0].ends_with("improves") && sample_of(slow[0]) < 300));
    }
}

TEST_CASE("progress: what falls below zero improves, too; a sum of logarithms may go anywhere") {
    noise some{1};
    CHECK(any_says(story(2000, [&](std::uint64_t i) { return -1 - 0.002 * double(i) + 0.05 * some(); }), "improves"));
    CHECK(story(2000, [](std::uint64_t i) { return 1 - 0.002 * double(i); }) == answers{"30 improves"});
}

TEST_CASE("progress: a loss that stands still where it began is flat soon, one of all zeros says nothing") {
    CHECK(story(1000, [](std::uint64_t) { return 2.3; }) == answers{"30 flat"});
    CHECK(story(1000, [](std::uint64_t) { return 0.0; }).empty());
    // By a thousandth it takes longer; a line search may look elsewhere first.
    CHECK(story(200, [](std::uint64_t i) { return i % 2 == 0 ? 2.3 : 2.3015; }) == answers{"100 flat"});
    CHECK(story(100, [](std::uint64_t i) { return i == 1 || i == 2 ? 4.6 : 2.3; }) == answers{"33 flat"});
    // What has learned and stands still where it began is not flat.
    CHECK_FALSE(any_says(story(400, [](std::uint64_t i) { return i > 300 ? 2 : falling(2, 0.01, i); }), "flat"));
}

TEST_CASE("progress: a plateau without noise, and a running mean near its first, do not stand still") {
    auto const plateau = [](double crumb) {
        return story(300, [=](std::uint64_t i) { return i < 260 ? 0.5 * (1 - crumb * double(i)) : 0.1; });
    };
    CHECK_FALSE(any_says(plateau(2e-6), "flat"));
    CHECK_FALSE(any_says(plateau(1e-5), "flat"));
    CHECK(any_says(plateau(1e-9), "flat"));  // that is what rounding leaves
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
        noise some{seed};
        double total = 0;
        auto const mean_so_far = [&](std::uint64_t i) {
            total += i < 60 ? 1.8 * (1 + 2e-5 * some()) : falling(1.8, 1e-3, i - 60);
            return total / double(i + 1);
        };
        CHECK_FALSE(any_says(story(400, mean_so_far), "flat"));
    }
}

TEST_CASE("progress: what is thrown up and falls by a tenth of the way from third to third is not worse") {
    noise some{1};
    auto const thrown_up = [&](double to, double in) {
        return story(400, [&, to, in](std::uint64_t i) {
            return i == 0 ? 0.1 : to + 0.95 * std::exp(-double(i) / in) * (1 + 0.05 * some());
        });
    };
    CHECK_FALSE(any_says(thrown_up(0.05, 30), "worsens"));
    CHECK_FALSE(any_says(thrown_up(0.05, 60), "worsens"));
    CHECK(any_says(thrown_up(0.5, 30), "worsens"));  // it stays above
}

TEST_CASE("progress: a part that begins below a hundredth of the sum tells nothing, either way") {
    auto const sum_of = [](double part, double by) {
        shown_run run;
        for (std::uint64_t i = 0; i < 400; ++i) {
            double const residual = falling(part, by, i);
            run.see(train(i), "residual_loss", residual), run.see(train(i), "total_loss", 0.5 + residual);
        }
        return run.says();
    };
    CHECK(sum_of(5e-8, -0.025) != progress::worsens);
    CHECK(sum_of(4e-3, 0.01) != progress::improves);
    CHECK(sum_of(0.1, -0.025) == progress::worsens);
    CHECK(sum_of(0.1, 0.01) == progress::improves);
}

TEST_CASE("progress: a running mean that begins at 0 is judged from where it meets the loss") {
    auto const mean_of = [](double share, std::uint64_t every, double rate) {
        noise random{7};
        double shown = 0;
        std::uint64_t i = 0;
        return story(3000, [=](std::uint64_t) mutable {
            do {
                double const loss = 0.2 + 2 * std::exp(-rate * double(i)) + 0.3 * random();
                shown = share * shown + (1 - share) * loss;
            } while (++i % every != 0);
            return shown;
        });
    };
    for (double const share : {0.99, 0.995, 0.999}) {
        for (std::uint64_t const every : {1U, 10U}) {
            CAPTURE(share, every);
            CHECK(!any_says(mean_of(share, every, 2e-4), "worsens"));
        }
    }
    CHECK(any_says(mean_of(0.99, 10, 2e-4), "improves"));
    CHECK(any_says(mean_of(0.99, 10, -2e-4), "worsens"));
    detail::mean_from_zero nothing;
    for (std::uint64_t i = 0; i < 40; ++i) { CHECK(!nothing.add(0)); }
    // A loss that runs away from a level of its own, or from nothing.
    CHECK(any_says(story(200, [](std::uint64_t i) { return 2 + 0.4 * double(i); }), "worsens"));
    CHECK(any_says(story(200, [](std::uint64_t i) { return 0.1 * std::exp(0.2 * double(i)); }), "worsens"));
}

TEST_CASE("progress: a loss that begins low without a large update is a running mean that begins at 0") {
    auto const says = [](bool small_updates, auto&& course) {
        shown_run run;
        progress worst = progress::unknown;
        for (std::uint64_t i = 0; i < 200; ++i) {
            run.see(train(i), "loss", course(i));
            if (run.inside().any_begins_low() && small_updates) { run.inside().pass_low_beginnings(); }
            worst = run.says() > worst ? run.says() : worst;
        }
        return worst;
    };
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
        // Each value keeps a third of the one before, and the first is of one sample.
        noise scatter{seed};
        auto const soon = [&](double rate, std::uint64_t i) {
            return (0.2 + std::exp(-rate * double(i))) * (1 - 0.98 * std::pow(0.36, double(i))) * (1 + 0.1 * scatter());
        };
        CHECK(says(true, [&](std::uint64_t i) { return soon(0.02, i); }) == progress::improves);
        CHECK(says(true, [&](std::uint64_t i) { return soon(0, i); }) == progress::unknown);
        CHECK(says(false, [&](std::uint64_t i) { return soon(0, i); }) == progress::worsens);
    }
    // One that runs away goes on to climb.
    auto const away = [](std::uint64_t i) { return 0.1 * std::exp(0.3 * double(i < 40 ? i : 40)); };
    CHECK(says(true, away) == progress::worsens);
}

TEST_CASE("progress: beside the loss that is minimised its terms are no objectives") {
    auto const says = [](std::string_view total, std::string_view term, double rate) {
        shown_run run;
        progress worst = progress::unknown;
        for (std::uint64_t i = 0; i < 400; ++i) {
            run.see(train(i), term, 0.5 + 4 * (1 - std::exp(-0.1 * double(i))));
            run.see(train(i), total, 5 + 10 * std::exp(-rate * double(i)));
            progress const now = run.says();
            worst = now > worst ? now : worst;
        }
        return worst;
    };
    for (char const* const total : {"loss", "train_loss", "total_loss", "loss/total"}) {
        for (char const* const term : {"loss/kl", "kl_loss", "loss/reconstruction"}) {
            INFO(total << ' ' << term);
            CHECK(says(total, term, 0.01) == progress::improves);
            CHECK(says(total, term, -0.01) == progress::worsens);
        }
    }
    CHECK(says("reconstruction_loss", "kl_loss", 0.01) == progress::worsens);  // neither is said to be all
    CHECK(says("loss", "d_loss", 0.01) == progress::improves);
}

TEST_CASE("progress: a loss of one of two nets against each other says nothing of the run by itself") {
    for (char const* name : {"g_loss", "loss/discriminator", "D_loss", "adversarial_loss"}) {
        shown_run worse, better;
        for (std::uint64_t i = 0; i < 400; ++i) {
            worse.see(train(i), name, 1 + 0.1 * double(i)), better.see(train(i), name, falling(2, 0.01, i));
        }
        CHECK((worse.says() == progress::unknown && worse.inside().loses_in_net_of("fc1/w")));  // of no known net: any
        CHECK((better.says() == progress::unknown && !better.inside().loses_in_net_of("fc1/w")));
    }
    shown_run explodes;  // no rival does that
    for (std::uint64_t i = 0; i < 100; ++i) { explodes.see(train(i), "g_loss", falling(1, -0.1, i)); }
    CHECK(explodes.says() == progress::worsens);
}

TEST_CASE("progress: the losses of a net are distinguished by its name") {
    shown_run run;
    for (std::uint64_t i = 0; i < 100; ++i) {
        run.see(train(i), "d_loss", falling(1, -0.03, i)), run.see(train(i), "g_loss", falling(1, 0.03, i));
    }
    progress_watch& all = run.inside();
    for (char const* of : {"d/fc1/w", "discriminator.0.weight", "netD.main.0.weight", "D_lin1"}) {
        CHECK((all.rises_in_net_of(of) && all.loses_in_net_of(of)));
    }
    for (char const* of : {"g/fc1/w", "generator.0.weight", "netG.main.0.weight", "g_lin1"}) {
        CHECK((!all.rises_in_net_of(of) && !all.loses_in_net_of(of)));
    }
    CHECK(all.rises_in_net_of("fc1/w"));  // whose is not known: any
}

TEST_CASE("progress: returns that fall are worse beside a critic that runs away, or for very long") {
    auto const falls = [](char const* metric, char const* loss, double growth, std::uint64_t episodes = 400) {
        shown_run run{false};
        noise some{1};
        for (std::uint64_t i = 0; i < episodes; ++i) {
            bool const early = i < episodes / 8;
            run.see(train(i), metric, early ? 22 + 8 * some() : 9.5 + some());
            run.see(train(i), loss, std::exp(growth * double(i) / double(episodes)));
        }
        return run.says();
    };
    for (char const* metric :
         {"metric/episode_return", "episode_reward", "rollout/ep_rew_mean", "EpRet", "metric/success_rate", "score"}) {
        CHECK(falls(metric, "critic_loss", 8) == progress::worsens);
    }
    CHECK(falls("metric/return", "value_loss", 8) == progress::worsens);
    CHECK(falls("metric/return", "qf1_loss", 8, 40) == progress::worsens);  // forty episodes
    CHECK(falls("metric/return", "loss", 2) == progress::unknown);          // an agent that explores
    CHECK(falls("metric/return", "policy_loss", 8, 90) == progress::unknown);
    CHECK(falls("metric/return", "policy_loss", 8) == progress::flat);  // a policy without a critic
    CHECK(falls("metric/return", "loss", 0, 6000) == progress::worsens);
    CHECK(falls("metric/entropy", "value_loss", 8) == progress::unknown);
}

TEST_CASE("progress: returns that fall at once are flat where a policy learns without a critic") {
    auto const falls = [](double from, double to, char const* second_loss, std::uint64_t updates = 100) {
        shown_run run{false};
        noise some{1};
        for (std::uint64_t i = 0; i < updates; ++i) {
            run.see(train(i), "metric/episode_return", i < 5 ? from + some() : to + some());
            run.see(train(i), "loss/policy", some());
            run.see(train(i), second_loss, 0.6);
        }
        return run.says();
    };
    CHECK(falls(30, 9, "loss/entropy") == progress::flat);
    CHECK(falls(30, 9, "loss/entropy", 99) == progress::unknown);
    CHECK(falls(30, 26, "loss/entropy") == progress::unknown);
    CHECK(falls(-200, -400, "loss/entropy") == progress::flat);
    CHECK(falls(30, 9, "loss/value") == progress::unknown);  // a critic has values to learn first
}

TEST_CASE("progress: returns of a policy in small steps are flat once they have fallen by a quarter") {
    auto const falls = [](double to, char const* divergence, std::uint64_t updates) {
        shown_run run{false};
        noise some{1};
        for (std::uint64_t i = 0; i < 40; ++i) {
            for (std::uint64_t k = 0; k < updates; ++k) {
                double const kl = updates > 1 ? 0.01 * static_cast<double>(k) : std::exp(3 * some());
                run.see(train(i * updates + k), divergence, kl);
                run.see(train(i * updates + k), "metric/kl_coeff", 0.2);
                run.see(train(i * updates + k), "loss/policy", some());
                run.see(train(i * updates + k), "loss/value", 1);
            }
            run.see(train(i * updates + updates - 1), "metric/episode_return", (i < 8 ? 22 : to) + some());
        }
        return run.says();
    };
    CHECK(falls(9, "metric/approx_kl", 8) == progress::flat);
    CHECK(falls(9, "kl", 8) == progress::flat);
    CHECK(falls(18, "metric/approx_kl", 8) == progress::unknown);
    CHECK(falls(9, "metric/approx_kl", 1) == progress::unknown);  // each batch is used once: it may explore
    CHECK(falls(9, "metric/entropy", 8) == progress::unknown);
}

TEST_CASE("progress: returns that have fallen by a quarter are flat after a thousand, however the policy explores") {
    auto const falls = [](double to, std::uint64_t samples, std::uint64_t back_at = 5000) {
        shown_run run{false};
        noise some{1};
        for (std::uint64_t i = 0; i < samples; ++i) {
            run.see(train(i), "loss", 1);
            run.see(train(i), "metric/return", (i < 50 || i >= back_at ? 22 : to) + 3 * some());
        }
        return run.says();
    };
    CHECK(falls(10, 1100) == progress::flat);
    CHECK(falls(10, 900) == progress::unknown);
    CHECK(falls(20, 1100) == progress::unknown);
    CHECK(falls(10, 1100, 500) != progress::flat);
}

TEST_CASE("progress: returns that scatter about one level have not fallen") {
    for (std::uint32_t seed = 1; seed <= 50; ++seed) {
        shown_run run{false};
        noise some{seed};
        progress worst = progress::unknown;
        for (std::uint64_t i = 0; i < 150 * 8; ++i) {
            run.see(train(i), "kl", 0.01 * static_cast<double>(i % 8));
            if (i % 8 == 7) { run.see(train(i), "metric/return", some() + some() + some()); }
            worst = run.says() > worst ? run.says() : worst;
        }
        CHECK(worst < progress::flat);
    }
}

TEST_CASE("progress: noise about one level is flat soon after 500 samples, and neither better nor worse") {
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
        noise some{seed};
        answers const reported = story(3000, [&](std::uint64_t) { return 2.3 + 0.1 * some(); });
        REQUIRE_FALSE(reported.empty());
        CHECK((sample_of(reported.front()) >= 500 && sample_of(reported.back()) <= 700 &&
               reported.back().ends_with("flat")));
        CHECK_FALSE((any_says(reported, "improves") || any_says(reported, "worsens")));
    }
}

TEST_CASE(
    "progress: what grows is worse once it was worse for 200 samples, what jumps far for thirty, what runs away soon") {
    CHECK(any_says(story(2000, [](std::uint64_t i) { return 2 + 0.01 * double(i); }), "worsens"));
    CHECK(any_says(story(2000, [](std::uint64_t i) { return 0.1 * double(i); }), "worsens"));
    // Without scatter as soon as its last third is 1.3 times the first loss, and a mild rise has time to pass.
    CHECK(story(60, [](std::uint64_t i) { return 1.85 + 1.3 * (1 - std::exp(-0.1 * double(i))); }) ==
          answers{"32 worsens"});
    auto const mild = [](std::uint64_t i) { return i == 0 ? 1.0 : i < 3000 ? 1.15 + 1e-5 * double(i) : 0.2; };
    CHECK_FALSE(any_says(story(4000, mild), "worsens"));
    CHECK(any_says(story(2000, [](std::uint64_t i) { return falling(2, -0.05, i); }), "32 worsens"));
    noise some{1};
    CHECK(story(2000, [&](std::uint64_t i) { return i == 0 ? 2 : 50 + some(); }) == answers{"31 worsens"});
    CHECK(story(2000, [](std::uint64_t i) { return i == 100 ? 500 : falling(2, 0.01, i); }) == answers{"30 improves"});
}

TEST_CASE("progress: a loss without a bottom is worse, though it falls") {
    answers const reported = story(2000, [](std::uint64_t i) { return -falling(1, -0.05, i); });
    CHECK(reported == answers{"30 improves", "145 worsens"});
}

TEST_CASE("progress: who learns after all has improved, whatever was said before") {
    noise some{1};
    answers const flat_first = story(2000, [&](std::uint64_t i) {
        return i < 700 ? 2.3 + 0.1 * some() : falling(2.3, 0.01, i - 700) + 0.1 * some();
    });
    REQUIRE_FALSE(flat_first.empty());
    CHECK((any_says(flat_first, "flat") && flat_first.back().ends_with("improves")));
    CHECK((sample_of(flat_first.back()) > 700 && sample_of(flat_first.back()) < 1100));
    answers const worse_first =
        story(4000, [](std::uint64_t i) { return i < 200 ? 2 + 0.1 * double(i) : falling(22, 0.01, i - 200); });
    CHECK((any_says(worse_first, "worsens") && worse_first.back().ends_with("improves")));
}

TEST_CASE("progress: what was learned and is lost is worse, and not once it is back") {
    auto const course = [](std::uint64_t i) { return i < 500 ? falling(2, 0.01, i) : falling(0.01, -0.05, i - 500); };
    CHECK(story(2000, course) == answers{"30 improves", "808 worsens"});
    auto const back = [](std::uint64_t i) { return i > 1000 && i < 1200 ? 20 : falling(2, 0.01, i); };
    answers const reported = story(3000, back);
    REQUIRE(reported.size() == 3);
    CHECK((reported[1] == "1031 worsens" && reported[2].ends_with("improves")));
}

TEST_CASE(
    "progress: samples one by one in the order of their classes: each class is a surprise, and less so each time") {
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
        noise some{seed};
        auto const course = [&](std::uint64_t i) {
            double const surprise = falling(2.3, 0.2, i % 20);  // 20 of a class, ten classes
            return 0.1 + (0.2 + surprise) * std::exp(-0.001 * double(i)) + 0.05 * some();
        };
        answers const reported = story(4000, course);
        REQUIRE_FALSE(reported.empty());
        CHECK(reported.back().ends_with("improves"));
        CHECK_FALSE(any_says(reported, "worsens"));
    }
}

TEST_CASE("progress: the fewest samples are those of a loop that shows each epoch alone") {
    shown_run run;
    for (std::uint64_t i = 0; i < 29; ++i) { run.see(train(i), "loss", falling(2, 0.1, i)); }
    CHECK(run.says() == progress::unknown);
    run.see(train(29), "loss", falling(2, 0.1, 29));
    CHECK(run.says() == progress::improves);
}

TEST_CASE("progress: an evaluation that improves is progress; one that stays where training began is none") {
    auto const of = [](double trained_share, double first, double evaluated_share, std::uint64_t evaluations = 40) {
        shown_run run;
        for (std::uint64_t i = 0; i < 400; ++i) {
            run.see(train(i), "loss", falling(2.3, trained_share, i));
            if (i % (400 / evaluations) == 0) { run.see(eval(i), "loss", falling(first, evaluated_share, i)); }
        }
        return run.says();
    };
    CHECK(of(0, 2, 0.01) == progress::improves);
    CHECK(of(0.01, 2.3, 0) == progress::flat);         // learned by heart
    CHECK(of(0.01, 2.3, -0.001) == progress::flat);    // and worse from evaluation to evaluation
    CHECK(of(0.01, 2, 0) == progress::improves);       // below where training began
    CHECK(of(0.01, 2.3, 0, 8) == progress::improves);  // too few
    CHECK(of(0.01, 230, 0) == progress::improves);     // another loss: a sum beside a mean
    CHECK(of(0.01, 3, 0.0006) == progress::improves);  // high, and falling
    // Half the size of the training loss, as of another batch: neither gets anywhere.
    CHECK(of(0.0001, 1.1, 0) == progress::flat);
    CHECK(of(0.0001, 1.1, 0.001) == progress::improves);
    shown_run alone;
    for (std::uint64_t i = 0; i < 400; ++i) { alone.see(eval(i), "loss", 2.3); }
    CHECK(alone.says() == progress::unknown);
}

TEST_CASE("progress: an evaluation that rises from the first on shows that nothing carries over") {
    auto const of = [](auto&& evaluated) {
        shown_run run;
        std::string_view name{};
        evidence why;
        for (std::uint64_t i = 0; i < 400; ++i) {
            run.see(train(i), "loss", falling(4.8, 0.005, i));
            if (i % 20 == 19) { run.see(eval(i), "loss", evaluated(static_cast<double>(i))); }
        }
        return std::pair{run.says(), run.inside().not_carried_over(name, why) != nullptr};
    };
    CHECK(of([](double i) { return 3.3 + 0.003 * i; }) == std::pair{progress::flat, true});
    CHECK(of([](double) { return 3.3; }) == std::pair{progress::improves, false});
    CHECK(of([](double i) { return 3.3 + 0.0005 * i; }) ==
          std::pair{progress::improves, false});  // by less than a tenth
    CHECK(of([](double i) { return i < 150 ? 3.3 - 0.003 * i : 2.4 + 0.003 * i; }) ==
          std::pair{progress::improves, false});  // it fell first: rule overtraining judges that
}

TEST_CASE("progress: an objective below zero is judged as one above it") {
    auto const of = [](double trained_until, double first, double last) {
        shown_run run;
        for (std::uint64_t i = 0; i < 400; ++i) {
            double const done = double(i) / 399;
            run.see(train(i), "loss", -0.1 + (trained_until + 0.1) * done);
            if (i % 20 == 19) { run.see(eval(i), "loss", first + (last - first) * done); }
        }
        return run.says();
    };
    CHECK(of(-0.6, -0.1, -0.5) == progress::improves);
    CHECK(of(-0.6, -0.1, -0.1) == progress::flat);      // learned by heart
    CHECK(of(-0.6, -0.1, -0.08) == progress::flat);     // and worse from evaluation to evaluation
    CHECK(of(-0.6, -0.2, -0.2) == progress::improves);  // below where training began
    CHECK(of(-0.105, -0.15, -0.15) == progress::flat);  // neither gets anywhere
    CHECK(of(-0.105, -0.1, -0.12) == progress::improves);
}

TEST_CASE("progress: where evaluation creeps as training does, and no faster, nothing is learned") {
    auto const epochs = [](std::uint64_t count, auto&& fallen) {
        shown_run run;
        for (std::uint64_t i = 0; i < count; ++i) {
            double const by = fallen(static_cast<double>(i));
            run.see(train(i), "loss", 1.1 * (1 - by)), run.see(eval(i), "loss", 1.12 * (1 - by));
        }
        return run.says();
    };
    CHECK(epochs(60, [](double i) { return 1e-5 * i; }) == progress::flat);         // a rate that is far too small
    CHECK(epochs(45, [](double i) { return 1e-5 * i; }) == progress::unknown);      // too few
    CHECK(epochs(60, [](double i) { return 1e-4 * i; }) == progress::unknown);      // which may come to something
    CHECK(epochs(60, [](double i) { return 1e-7 * i * i; }) == progress::unknown);  // a rate that warms up
    CHECK(epochs(60, [](double i) { return 1e-6 * std::exp(0.1 * i); }) == progress::unknown);  // it leaves a plateau
}

TEST_CASE("progress: an evaluation has a name of its own, and may come in train steps") {
    for (bool const in_eval_steps : {true, false}) {
        for (auto const [trained, evaluated] :
             {std::array{"train_loss", "val_loss"}, {"loss", "test_loss"}, {"train-rmse", "validation-rmse"}}) {
            shown_run run;
            for (std::uint64_t i = 0; i < 400; ++i) {
                run.see(train(i), trained, falling(2.3, 0.01, i));
                if (i % 10 == 0) { run.see(in_eval_steps ? eval(i) : train(i), evaluated, 2.3); }
            }
            CHECK(run.says() == progress::flat);  // learned by heart
            CHECK(run.inside().evaluated(trained).value == 1);
            CHECK_FALSE(run.inside().evaluated(evaluated).known);
        }
    }
}

TEST_CASE("progress: on its way is a loss whose last third is well below the one before, or that has fallen and is "
          "young") {
    auto const on_its_way = [](auto&& course) {
        shown_run run;
        for (std::uint64_t i = 0; i < 300; ++i) { run.see(train(i), "loss", course(i)); }
        return run.inside().is_on_its_way(true);
    };
    CHECK(on_its_way([](std::uint64_t i) { return falling(2, 0.001, i); }));
    CHECK_FALSE(on_its_way([](std::uint64_t i) { return i < 90 ? falling(2.15, 0.01, i) : 2.0; }));
    CHECK(on_its_way([](std::uint64_t i) { return i < 90 ? falling(2.5, 0.01, i) : 2.0; }));  // what is frequent
    CHECK_FALSE(on_its_way([](std::uint64_t) { return 2.0; }));
    // By 2 % from third to third: beyond two standard errors it falls, within them that is noise.
    auto const slowly = [](double scatter) {
        return [=, of = noise{5}](std::uint64_t i) mutable { return falling(2.9, 2e-4, i) + scatter * of(); };
    };
    CHECK(on_its_way(slowly(0.05)));
    CHECK_FALSE(on_its_way(slowly(1)));
}

TEST_CASE("progress: a first sample that is low by accident was not thrown up") {
    auto const gains_nothing = [](double lowest) {
        shown_run run;
        noise of{7};
        for (std::uint64_t i = 0; i < 200; ++i) {
            double const scatters = i < 10 ? 2 : 0.25 + 0.05 * of();
            run.see(train(i), "loss", i == 0 ? 0.2 : i % 20 == 15 ? lowest : scatters);
        }
        return run.inside().has_gained_nothing();
    };
    CHECK(gains_nothing(0.2));
    CHECK_FALSE(gains_nothing(0.05));
}

TEST_CASE("progress: a loss that scatters far above its beginning, or stays above it sample by sample, worsens") {
    auto const scatters = [](std::uint64_t i) {
        return i < 30 ? (i < 10 ? 58.0 : 33.0) + double(i % 3) : 150.0 * (1 + static_cast<double>(i * i % 60));
    };
    CHECK(story(200, scatters) == answers{"30 improves", "60 worsens"});
    // Single samples in the order of their classes; each is right or wrong.
    auto const by_sample = [](double wrong) {
        return [=](std::uint64_t i) { return i < 50 ? falling(0.74, 0.1, i) : i / 50 % 3 == 0 ? 0.0 : wrong; };
    };
    answers const wrong = story(40000, by_sample(2));
    CHECK((wrong.size() >= 3 && wrong[1].ends_with("flat") && wrong[2].ends_with("worsens")));
    CHECK(story(40000, by_sample(1)) == answers{"30 improves", "300 flat"});
    CHECK(std::count_if(wrong.begin(), wrong.end(), [](auto const& it) { return it.ends_with("improves"); }) == 1);
}

TEST_CASE("progress: a first sample that is right by accident says nothing of those behind it") {
    int worse = 0;
    for (std::uint32_t seed = 1; seed <= 40; ++seed) {
        noise of{seed};
        auto const of_samples = [&](std::uint64_t i) { return i == 0 ? 2.5e-6 : 0.4 + 0.39 * of(); };
        worse += any_says(story(450, of_samples), "worsens") ? 1 : 0;
    }
    CHECK(worse <= 1);  // by chance
    // One that rises behind it is worse all the same.
    noise of{1};
    auto const rising = [&](std::uint64_t i) { return i == 0 ? 0.1 : 0.4 + 0.004 * double(i) + 0.1 * of(); };
    CHECK(any_says(story(450, rising), "worsens"));
}

TEST_CASE("progress: what was learned is lost where a loss stays above the middle to its beginning") {
    // It falls from 0.45 to 0.03, and leaps at 300: a rate that jumps. The first loss is the highest that it had.
    auto const leaps_to = [](double level) {
        noise of{3};
        return story(900, [=](std::uint64_t i) mutable {
            return (i < 300 ? 0.03 + falling(0.42, 0.03, i) : level) * (1 + 0.2 * of());
        });
    };
    CHECK(leaps_to(0.03) == answers{"30 improves"});
    CHECK(leaps_to(0.15) == answers{"30 improves"});  // less than half of the gain is lost
    answers const lost = leaps_to(0.42);
    REQUIRE(lost.size() == 2);
    CHECK(lost[1].ends_with("flat"));
    // It comes back, and has improved again.
    noise of{3};
    answers const back = story(3000, [&](std::uint64_t i) {
        double const level = i < 300 ? 0.03 + falling(0.42, 0.03, i) : i < 700 ? 0.42 : 0.02;
        return level * (1 + 0.2 * of());
    });
    REQUIRE(back.size() == 3);
    CHECK((back[1].ends_with("flat") && back[2].ends_with("improves")));
}

TEST_CASE("progress: a crumb is no progress") {
    CHECK(story(400, [](std::uint64_t i) { return 22.18 - 1e-7 * double(i); }) == answers{"30 flat"});
    CHECK(story(400, [](std::uint64_t i) { return 22.18 + 0.1 * double(i % 2) - 1e-7 * double(i); }).empty());
    CHECK(story(400, [](std::uint64_t i) { return 22.18 - 1e-2 * double(i); }) == answers{"34 improves"});
}

TEST_CASE("progress: a loss that runs away is known from its tenth sample far above the first on") {
    for (double const times : {2.0, 4.0, 10.0}) {
        answers const reported = story(60, [=](std::uint64_t i) { return std::pow(times, static_cast<double>(i)); });
        REQUIRE_FALSE(reported.empty());
        INFO(reported[0]);
        CHECK((reported[0].ends_with("worsens") && sample_of(reported[0]) <= 13));
    }
    // A leap in a few steps: what counts is the level that it comes to, not the ramp.
    for (double const ramp : {15.0, 37.5, 60.0}) {
        auto const leaps = [=](std::uint64_t i) { return i == 0 ? 7.6 : i < 3 ? ramp : 95 + 3 * double(i * 7 % 5); };
        answers const reported = story(60, leaps);
        REQUIRE_FALSE(reported.empty());
        CHECK((reported[0].ends_with("worsens") && sample_of(reported[0]) <= 40));
    }
    // Thrown up by the first steps, and on its way back.
    CHECK_FALSE(any_says(story(60, [](std::uint64_t i) { return i == 0 ? 2.3 : falling(20, 0.05, i); }), "worsens"));
}

TEST_CASE("progress: what is flat or worse says by which comparison, and that holds") {
    noise some{3};
    std::vector<std::vector<double>> courses(9);
    for (std::uint64_t i = 0; i < 3000; ++i) {
        double const at = static_cast<double>(i);
        courses[0].push_back(2.3);
        courses[1].push_back(i % 2 == 0 ? 2.3 : 2.3015);
        courses[2].push_back(2.3 + 0.1 * some());
        courses[3].push_back(2.3 * std::exp(0.002 * at));
        courses[4].push_back(i < 30 ? 58.0 : 150.0 * (1 + static_cast<double>(i * i % 60)));
        courses[5].push_back(1 - at);  // below zero without a bottom
        courses[6].push_back(-1 - at);
        courses[7].push_back(i < 5 ? 0.3 : 0.9 + 0.5 * some());
        courses[8].push_back(i < 50 ? falling(0.74, 0.1, i) : i / 50 % 3 == 0 ? 0.0 : 2.0);
    }
    std::size_t flat = 0, worse = 0;
    for (auto const& course : courses) {
        detail::falling_series all;
        for (double const value : course) {
            all.add(value, {});
            if (all.says() != progress::flat && all.says() != progress::worsens) { continue; }
            (all.says() == progress::flat ? flat : worse) += 1;
            evidence const why = all.why();
            if (!holds(why.measured, why.how, why.threshold) || why.measure.empty()) {
                FAIL(why.measure << ' ' << why.measured << ' ' << symbol_of(why.how) << ' ' << why.threshold);
            }
        }
    }
    CHECK((flat > 3000 && worse > 3000));
}

TEST_CASE("progress: of a loss beside metrics the loss tells, of metrics alone all of them") {
    shown_run both, alone, one_moves;
    for (std::uint64_t i = 0; i < 600; ++i) {
        both.see(train(i), "loss", 2.3), both.see(train(i), "train-mae", falling(1, 0.01, i));
        alone.see(train(i), "train-logloss", 0.69), alone.see(train(i), "train-error", 0.5);
        one_moves.see(train(i), "train-l2", falling(1, 0.01, i)), one_moves.see(train(i), "train-l1", 0.5);
    }
    CHECK((both.says() == progress::flat && alone.says() == progress::flat));
    CHECK(one_moves.says() == progress::improves);
    shown_run rises;
    for (std::uint64_t i = 0; i < 100; ++i) { rises.see(train(i), "valid_0's auc", 0.5 + 0.004 * double(i)); }
    CHECK(rises.says() == progress::improves);
}

TEST_CASE("progress: the loss of an earlier phase says nothing of the one that is trained now") {
    auto const after_a_phase = [](std::uint64_t between, double size = 1) {
        shown_run run;
        for (std::uint64_t i = 0; i < 1300; ++i) {
            if (i < 600 || i % between == 0) { run.see(train(i), "autoencoder_loss", size * falling(2, 0.01, i)); }
            if (i >= 600) { run.see(train(i), "readout_loss", 2.3); }
        }
        return run.says();
    };
    CHECK(after_a_phase(5000) == progress::flat);
    CHECK(after_a_phase(5000, 1000) == progress::flat);  // a sum over pixels, beside which the other is a small part
    CHECK(after_a_phase(50) == progress::improves);      // both are trained
    shown_run seldom;                                    // every 300 steps from the start on
    for (std::uint64_t i = 0; i < 20000; ++i) {
        if (i % 300 == 0) { seldom.see(train(i), "seldom_loss", falling(2, 0.01, i / 30)); }
        seldom.see(train(i), "readout_loss", 2.3);
    }
    CHECK(seldom.says() == progress::improves);
}

TEST_CASE("progress: what rises from the start was never below it") {
    auto const rises = [](std::uint64_t samples, auto&& course) {
        detail::falling_series all;
        for (std::uint64_t i = 0; i < samples; ++i) { all.add(course(i), {}); }
        return all.rises_from_the_start();
    };
    auto const up = [](std::uint64_t i) { return falling(2, -0.05, i); };
    CHECK_FALSE(rises(5, up));
    CHECK((rises(6, up) && rises(500, up)));
    CHECK_FALSE(rises(500, [](std::uint64_t i) { return falling(2, 0.01, i); }));
    CHECK_FALSE(rises(60, [&](std::uint64_t i) { return i < 20 ? falling(2, 0.01, i) : up(i); }));  // first it fell
}

TEST_CASE("progress: where no loss is an objective returns tell, which rise") {
    shown_run run{false};
    for (std::uint64_t i = 0; i < 400; ++i) { run.see(train(i), "policy_loss", falling(2, -0.05, i)); }
    CHECK((run.says() == progress::unknown && !run.inside().has_objective()));
    for (std::uint64_t i = 0; i < 100; ++i) { run.see(train(400 + i), "metric/return", 10 + double(i)); }
    CHECK(run.says() == progress::improves);
    shown_run from_zero{false};
    for (std::uint64_t i = 0; i < 100; ++i) { from_zero.see(train(i), "metric/return", double(i) + double(i % 3)); }
    CHECK(from_zero.says() == progress::improves);
}

TEST_CASE(
    "progress: two nets against each other stand still, one alone is flat; the first loss is the one that is shown") {
    shown_run both, one;
    std::string_view name{};
    CHECK(both.inside().loss(name) == nullptr);
    for (std::uint64_t i = 0; i < 600; ++i) {
        both.see(train(i), "d_loss", 1.4), both.see(train(i), "g_loss", 0.7);
        one.see(train(i), "loss", 1.4);
    }
    CHECK((both.says() == progress::unknown && one.says() == progress::flat));
    REQUIRE(both.inside().loss(name) != nullptr);
    CHECK((name == "d_loss" && std::abs(both.inside().loss(name)->train.level() - 1.4) < 1e-12));
}

TEST_CASE("progress: what is not finite, or predicted, is not counted") {
    shown_run run;
    for (std::uint64_t i = 0; i < 400; ++i) {
        run.see(train(i), "loss", falling(2, 0.01, i));
        run.see(predict(i), "loss", falling(2, -0.05, i));
        run.see(train(i), "loss", std::bit_cast<double>(std::uint64_t{0x7FF0000000000000}));
    }
    CHECK(run.says() == progress::improves);
    std::string_view name{};
    CHECK(run.inside().loss(name)->train.samples() == 400);
}

TEST_CASE("progress: near the largest index, and after a gap of half of all, a loss counts as ever") {
    std::uint64_t const top = ~std::uint64_t{0};
    for (std::uint64_t const start : {std::uint64_t{0}, top - 59}) {
        shown_run run;
        for (std::uint64_t i = 0; i < 60; ++i) {
            run.see(train(start + i), "loss", falling(2, 0.01, i));
            run.see(train(start + i), "loss/other", 1e-3);
        }
        CHECK(run.says() == progress::improves);
        CHECK(run.inside().loss() != nullptr);
    }
    shown_run leaps;
    for (std::uint64_t i = 0; i < 60; ++i) { leaps.see(train(i < 30 ? i : i + top / 2), "loss", falling(2, 0.01, i)); }
    CHECK(leaps.says() == progress::improves);
}
