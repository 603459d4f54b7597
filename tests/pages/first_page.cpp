// SPDX-License-Identifier: Apache-2.0
// The code of README.md, unchanged: a healthy net gives no finding, a NaN gives exactly one, and the record can be
// read.
#include <tests/catch.hpp>
#include <tests/pages/planted.hpp>

#include "readme_loop_includes.inc"
#include "readme_net_includes.inc"
#include "readme_read_includes.inc"

#include <algorithm>
#include <vector>

namespace sp = spotter;

namespace first_page {

using namespace pages;

void train(planted_net& net) {
#include "readme_loop.inc"
}

std::string train_with(planted_net& net, place where, std::uint64_t at) {
    net.where = where, net.at = at;
    return printed_by([&] { train(net); });
}

bool all_finite(planted_net const& net) {
    return std::all_of(net.w1.values.begin(), net.w1.values.end(), [](float w) { return sp::is_finite(w); });
}

constexpr std::size_t batch_size = 32;
struct my_net {
    std::vector<float> w1 = std::vector<float>(256 * 784), gradients = w1, b1 = std::vector<float>(256),
                       hidden = std::vector<float>(batch_size * 256);
};
#include "readme_net.inc"

void read_it_back() {
#include "readme_read.inc"
    CHECK(w.size() == std::size_t{2} * 16);
}

}  // namespace first_page

using namespace first_page;

TEST_CASE("the loop of the first page leaves a net alone that is well, and its record is read as shown there") {
    somewhere_else const folder;
    planted_net net;
    CHECK(train_with(net, place::nowhere, 0).empty());
    CHECK((net.steps == 10'000 && net.updates == 10'000 && net.validations == 100));
    {
        sp::trial const run = sp::open_trial("runs/a").value();
        CHECK(run.status() == sp::run_status::finished);
        CHECK((run.steps(sp::mode::train).size() == 10'000 && run.steps(sp::mode::eval).size() == 100));
        CHECK((run.findings().empty() && run["fc1/w"].payload_steps().size() == 100));
    }
    std::string const report = printed_by(read_it_back);
    CHECK(count(report, "10000 steps judged") + count(report, "healthy") > 0);
}

TEST_CASE("a NaN in a training step is reported once, as the first page shows it, and does not reach the weights") {
    for (place const where : {place::gradient, place::gradient_from_then_on}) {
        somewhere_else const folder;
        planted_net net;
        std::string const printed = train_with(net, where, 200);
        INFO(printed);
        CHECK((count(printed, "error: ") == 1 && count(printed, "warning: ") == 0));
        CHECK(count(printed, "note: ") == count(printed, "(because of non_finite"));  // each names the NaN as its cause
        CHECK((net.steps == 201 && net.updates == 200 && all_finite(net)));
        std::size_t const second = printed.find('\n', printed.find('\n') + 1);
        REQUIRE(second != printed.npos);
        CHECK(count(text_of(SPOTTER_SOURCE_DIR "/README.md"), "```\n" + printed.substr(0, second) + "\n```") == 1);
    }
}

TEST_CASE("the loop of the first page also does what the evaluation's findings ask for") {
    somewhere_else const folder;
    planted_net net;
    std::string const printed = train_with(net, place::evaluation, 350);
    INFO(printed);
    CHECK(count(printed, "error: ") == 1);
    CHECK(count(printed, "error: non_finite: ") == 1);
    CHECK(count(printed, " at eval(400), \"loss\"") == 1);
    CHECK((net.steps == 401 && net.updates == 400));
}

TEST_CASE("a loop that does not stop gets a NaN at every step, or once if requested") {
    // as in docs/loop.md
    auto const reported = [](auto rule) {
        planted_net net;
        net.where = place::gradient_from_then_on, net.at = 10;
        sp::hook watch{sp::plan{sp::defaults::losses}, rule, sp::packs::supervised};
        std::uint64_t times = 0;
        for (std::uint64_t i = 0; i < 60; ++i) {
            (void)net.forward_backward();
            auto const found = watch.step(sp::train(i), net);
            times += static_cast<std::uint64_t>(std::count_if(
                found.begin(), found.end(), [](sp::finding const& it) { return it.rule == "non_finite"; }));
        }
        return times;
    };
    CHECK(reported(sp::on(sp::non_finite{}, sp::stop)) == 50);
    CHECK(reported(sp::on(sp::non_finite{}, sp::stop) | sp::once) == 1);
}

TEST_CASE("a net shows its tensors as on the first page") {
    std::vector<std::string> seen;
    visit_tensors(my_net{}, [&](char const* name, auto const& tensor) {
        seen.push_back(name);
        if constexpr (requires { tensor.shape; }) {
            CHECK(tensor.shape.rank == 2);
        } else {
            CHECK(seen.size() == 4);
        }
    });
    CHECK(seen == std::vector<std::string>{"fc1/w", "grad/fc1/w", "act/fc1", "fc1/b"});
}
