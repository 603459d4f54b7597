// SPDX-License-Identifier: Apache-2.0
// profile: shares of sections, slow steps, and the document; what is refused.
#include <tests/tools/tool.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

double reported_time = 1'700'000'000;
double print_reported_time() noexcept { return reported_time; }

void record_with_sections(std::string const& path) {
    hook watch{path, everything, options{.drain = drain::poll, .clock = &print_reported_time}};
    for (std::uint64_t i = 0; i < 50; ++i) {
        {
            auto const part = watch.section("data");
            reported_time += i == 30 ? 2.0 : 0.06;
        }
        watch.begin_section("forward");
        reported_time += 0.03;
        watch.end_section("forward");
        reported_time += 0.01;
        (void)watch.step(i, "loss"_t = 1.0F);
        watch.poll();
    }
}

}  // namespace

TEST_CASE("profile: what a step is made of, which steps were slow, and a sentence") {
    temporary_folder const folder;
    record_with_sections(folder / "run");
    tool_output const text = ask("profile " + folder / "run");
    CHECK(text.code == 0);
    CHECK(text.err.empty());
    for (std::string_view const words : {"train: 49 steps", "data: median 60 ms", "in no section", "train(30): 2.0 s",
                                         "more than usual in data", "is section data: read ahead"}) {
        INFO(std::string{words});
        CHECK(text.says(words));
    }
    auto const it = ask("profile --json " + folder / "run").document();
    CHECK(it.at("verb") == "profile");
    auto const& train = it.at("workers").at(0).at("modes").at(0);
    CHECK(train.at("mode") == "train");
    CHECK(train.at("steps").at("count") == 49);
    CHECK(train.at("sections").at(0).at("section") == "data");
    CHECK(train.at("sections").at(0).at("count") == 49);
    CHECK(train.at("slow_steps") == 1);
    CHECK(train.at("slow").at(0).at("section") == "data");
    CHECK(train.at("slow").at(0).at("step") == nlohmann::json{{"mode", "train"}, {"index", 30}});
    std::string const page = folder / "page.html";
    CHECK(ask("report " + folder / "run -o " + page).code == 0);
    auto const bytes = read_file(page);
    std::string const html(bytes.begin(), bytes.end());
    for (std::string_view const words :
         {"What train steps are made of", ">data</th>", "more than usual in data", "read ahead"}) {
        INFO(std::string{words});
        CHECK(html.find(words) != std::string::npos);
    }
}

TEST_CASE("profile: a record without times says so, and what is no run is refused") {
    temporary_folder const folder;
    CHECK(ask("profile " + folder / "none").code == 3);
    { hook watch{folder / "run", everything}; }
    tool_output const text = ask("profile " + folder / "run");
    CHECK(text.code == 0);
    CHECK(text.says("The record does not say how long its steps took."));
}
