// SPDX-License-Identifier: Apache-2.0
// report: a page of a run or of several, what is refused, and how a browser takes it.
#include <tests/tools/tool.hpp>

#include <spotter/rule/builtin/dead_relu.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

bool has_text(std::string const& page, std::string_view part) { return page.find(part) != std::string::npos; }

// A run with all that a page draws: findings, curves in two modes, layers, histograms, mistakes.
void record_all(std::string const& path) {
    plan const keep{collection{"all", "*", always{}, payload | histogram | stats(mean_abs, zero_fraction)}};
    hook watch{path, keep, large_loss, dead_relu{.samples = 1}};
    std::vector<float> weights(16 * 10), input(12 * 16), logits(12 * 10), act(12 * 8);
    std::vector<std::int32_t> labels(12);
    for (std::uint64_t i = 0; i < 30; ++i) {
        for (std::size_t k = 0; k < weights.size(); ++k) {
            weights[k] = 0.01F * static_cast<float>((k * 37 + i) % 100) - 0.5F;
        }
        for (std::size_t k = 0; k < act.size(); ++k) { act[k] = k % 8 < 5 ? 0.0F : 1.0F; }
        for (std::size_t k = 0; k < labels.size(); ++k) {
            labels[k] = static_cast<std::int32_t>(k % 10);
            for (std::size_t p = 0; p < 16; ++p) { input[k * 16 + p] = static_cast<float>(p * k % 16); }
            for (std::size_t c = 0; c < 10; ++c) { logits[k * 10 + c] = c == (k == 3 ? 7 : k % 10) ? 4.0F : 0.0F; }
        }
        (void)watch.step(train(i),
                         "a layer with quite a long name/that no phone has the room for/fc1/w"_t =
                             view_of(weights, {16, 10}),
                         "act/fc1"_t = view_of(act, {12, 8}), "grad/fc1/w"_t = view_of(weights, {16, 10}),
                         "loss"_t = 1.0F / static_cast<float>(i + 1));
        (void)watch.step(eval(i), "input"_t = view_of(input, {12, 16}), "labels"_t = view_of(labels, {12}),
                         "pred"_t = view_of(logits, {12, 10}), "loss"_t = 0.5);
    }
    watch.finish();
}

}  // namespace

TEST_CASE("report: a page in a file, reported in words, as a document, or on standard output") {
    temporary_folder const folder;
    record_small(folder / "run", large_loss);
    std::string const out = folder / "pages/run.html";
    tool_output const text = ask("report " + folder / "run -o " + out);
    CHECK(text.code == 0);
    CHECK(text.says(out + ": "));
    CHECK(text.err.empty());
    std::string const page = text_of(out);
    CHECK(page.starts_with("<!DOCTYPE html>"));
    CHECK(page.ends_with("</html>\n"));
    CHECK(has_text(page, "1 warning: large_loss at train(0) in loss"));
    tool_output const shown = ask("report " + folder / "run -o -");
    CHECK((shown.code == 0 && shown.out == page));
    auto const it = ask("report --json --force " + folder / "run/ -o " + out).document();
    CHECK(it.at("verb") == "report");
    CHECK(it.at("path") == folder / "run");
    CHECK(it.at("runs") == nlohmann::json{folder / "run"});
    CHECK(it.at("file") == out);
    CHECK(it.at("bytes") == std::filesystem::file_size(out));
}

TEST_CASE("report: several runs in one page") {
    temporary_folder const folder;
    record_small(folder / "a");
    record_small(folder / "b", large_loss);
    CHECK(ask("report " + folder / "a " + folder / "b -o " + folder / "both.html").code == 0);
    std::string const page = text_of(folder / "both.html");
    CHECK((has_text(page, "<h1>a</h1>") && has_text(page, "<h1>b</h1>")));
    CHECK(has_text(page, "id=\"differences\""));
    CHECK(has_text(page, "id=\"findings-2\""));
}

TEST_CASE("report: the table of several runs as CSV, in a file or on standard output") {
    temporary_folder const folder;
    record_small(folder / "a");
    record_small(folder / "b", on(large_loss, stop));
    std::string const both = folder / "a " + folder / "b ";
    tool_output const shown = ask("report " + both + "--as csv");
    CHECK(shown.code == 0);
    CHECK(shown.out.starts_with(
        "run,path,ended,stop_asked_by,stop_asked_at,why,steps,seconds,\"loss, eval\",\"loss, train\"\n"
        "a," +
        folder / "a,finished,,,,10,"));
    CHECK(shown.says(",finished,large_loss,train(0),"));  // it went on
    CHECK(ask("report " + both + "--as csv -o " + folder / "runs.csv").code == 0);
    CHECK(text_of(folder / "runs.csv") == shown.out);
    CHECK(ask("report " + both + "--as csv --section runs").code == 2);
    CHECK(ask("report " + both + "--as pdf").code == 2);
    CHECK(ask("report " + both + "--as csv --json").code == 2);
}

TEST_CASE("report: only some sections, and a wrong one is reported with those that there are") {
    temporary_folder const folder;
    record_small(folder / "a");
    record_small(folder / "b", large_loss);
    std::string const both = folder / "a " + folder / "b ";
    tool_output const some = ask("report " + both + "--section runs --section findings-2 -o -");
    CHECK(some.code == 0);
    CHECK((some.says("<section id=\"runs\">") && some.says("<section id=\"findings-2\">")));
    CHECK_FALSE((some.says("<section id=\"findings-1\">") || some.says("<nav>")));
    tool_output const wrong = ask("report " + both + "--section trees -o " + folder / "x.html");
    CHECK((wrong.code == 3 && wrong.complains("no section \"trees\"; there are runs differences curves findings")));
    CHECK_FALSE(std::filesystem::exists(folder / "x.html"));
    tool_output const unknown = ask("report " + both + "--section nothing -o " + folder / "x.html");
    CHECK((unknown.code == 2 && unknown.complains("no page has a section \"nothing\": there are runs ")));
    CHECK(ask("report " + both + "--section tress -o -").complains("did you mean trees?"));
}

TEST_CASE("report --rules: findings of rules that judge the record anew") {
    temporary_folder const folder;
    record_small(folder / "run", large_loss);
    std::string const run = folder / "run";
    tool_output const recorded = ask("report " + run + " -o -");
    CHECK((recorded.code == 0 && recorded.says("</span> large_loss</h3>")));
    tool_output const anew = ask("report " + run + " --rules dead_relu --rules loss_not_decreasing -o -");
    CHECK(anew.code == 0);
    CHECK_FALSE(anew.says("large_loss</h3>"));
    CHECK(anew.says("Findings are of rules that judged the record anew"));
    CHECK(anew.says("<b>dead_relu</b>: "));  // what it lacked
    CHECK(ask("report " + run + " --rules nobody -o -").code == 2);
    CHECK(ask("report " + run + " --rules dead_relu --as csv").code == 2);
}

TEST_CASE("report: what is there is kept, and what cannot be written is reported") {
    temporary_folder const folder;
    record_small(folder / "run");
    write_file(folder / "there.html", {'a'});
    std::string const run = folder / "run";
    tool_output it = ask("report " + run + " -o " + folder / "there.html");
    CHECK((it.code == 4 && it.complains("--force")));
    CHECK(read_file(folder / "there.html") == std::vector<char>{'a'});
    CHECK(ask("report --force " + run + " -o " + folder / "there.html").code == 0);
    CHECK(std::filesystem::file_size(folder / "there.html") > 1000);
    it = ask("report --force " + run + " -o " + folder / "run");
    CHECK((it.code == 4 && it.complains("is a folder")));
    CHECK(ask("report " + run + " -o " + folder / "there.html/below.html").code == 4);
    CHECK(ask("report " + run + " --json -o -").code == 2);
    it = ask("report " + run + " " + folder / "missing -o " + folder / "x.html");
    CHECK((it.code == 3 && it.complains("does not exist")));
    CHECK_FALSE(std::filesystem::exists(folder / "x.html"));
    it = ask("report --help");
    CHECK((it.code == 0 && it.says("spotter report runs/a runs/b -o both.html") && it.says("Exit codes:")));
}

TEST_CASE("report: a live run, a damaged one and an empty one make a page") {
    temporary_folder const folder;
    {
        hook watch{folder / "live", everything};
        (void)watch.step(train(0), "loss"_t = 1.0);
        watch.flush();
        CHECK(ask("report " + folder / "live -o " + folder / "live.html").code == 0);
        CHECK(has_text(text_of(folder / "live.html"), "still being written"));
    }
    { hook watch{folder / "empty", everything}; }
    CHECK(ask("report " + folder / "empty -o -").says("Nothing was recorded"));
    record_small(folder / "run");
    flip(folder / "run/000000.spot", std::filesystem::file_size(folder / "run/000000.spot") / 2);
    tool_output const damaged = ask("report " + folder / "run -o -");
    CHECK(damaged.code == (open(folder / "run").losses().any() ? 5 : 0));  // values alone it may not have read
    CHECK(damaged.says("</html>"));
}

// tests/tools/browser.py asks a browser without a screen: messages on its console, requests, overflow at the width of a
// phone, a PDF.
TEST_CASE(
    "report: a browser shows it without a complaint, a request or a scroll bar, on a phone, on a desk and on paper") {
    if (!SPOTTER_TEST_FOREIGN) { SPOTTER_SKIP("SPOTTER_TEST_FOREIGN is off"); }
    temporary_folder const folder;
    record_all(folder / "run");
    record_small(folder / "other");
    CHECK(ask("report " + folder / "run -o " + folder / "one.html").code == 0);
    CHECK(ask("report " + folder / "run " + folder / "other -o " + folder / "two.html").code == 0);
    std::string many;
    for (int i = 0; i < 8; ++i) {
        std::string const path = folder / ("a run with quite a long name/" + std::to_string(i));
        std::filesystem::create_directories(path);
        hook watch{path, everything};
        watch.scalar("learning rate of the first layer", 0.1 * i);
        for (std::uint64_t k = 0; k < 50; ++k) {
            (void)watch.step(train(k), "loss"_t = 1.0 / static_cast<double>(k + 1),
                             "metric/accuracy of the first head"_t = 0.1 * i);
        }
        watch.finish();
        many += "'" + path + "' ";
    }
    CHECK(ask("report " + many + "-o " + folder / "many.html").code == 0);
    {
        // One long name of a feature leaves room for the bars; values below a thousandth have long labels.
        hook watch{folder / "trees", everything};
        std::string const feature = "average_shap/" + std::string(120, 'm');
        for (std::uint64_t k = 0; k < 20; ++k) {
            (void)watch.step(train(k), "loss"_t = 0.0001 + 0.00002 * static_cast<double>(k % 4),
                             "average_shap/age"_t = 0.2);
            watch.begin(eval(k));
            watch.observe(feature, 0.5);
            watch.observe("average_shap/age", 0.25);
            (void)watch.end();
        }
        watch.finish();
    }
    CHECK(ask("report " + folder / "trees -o " + folder / "trees.html").code == 0);
    std::string const script = std::string{SPOTTER_SOURCE_DIR} + "/tests/tools/browser.py";
    tool_output const browser =
        run_shell("python3 '" + script + "' '" + folder / "trees.html" + "' '" + folder / "one.html" + "' '" +
                  folder / "two.html" + "' '" + folder / "many.html" + "' 2>&1");
    if (browser.code == 77 || browser.code == 127) {
        SPOTTER_SKIP(browser.out.empty() ? "python3 was not found" : browser.out.c_str());
    }
    INFO(browser.out);
    CHECK(browser.code == 0);
}
