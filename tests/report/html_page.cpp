// SPDX-License-Identifier: Apache-2.0
// Whole pages: of finished, live, dead, damaged, failed and empty runs, of several workers and several runs; nothing
// gets out of its quotes, and nothing is asked of the network.
#include <tests/report/page.hpp>

#include <spotter/rules.hpp>

#include <csignal>

using namespace spotter;
using namespace spotter_test;

namespace {

// A small network's worth of tensors: layers, activations, inputs as pictures, labels and logits at eval.
template <class... More>
void record_training(std::string const& path, std::uint64_t steps, More const&... more) {
    plan const keep{collection{"losses", role::loss, always{}, payload},
                    collection{"metrics", role::metric, always{}, payload},
                    collection{"gradients", "grad/*", always{}, stats(mean_abs, l2) | histogram},
                    collection{"weights", "fc*/w", every{4}, payload},
                    collection{"activations", "act/*", always{}, stats(zero_fraction, mean)},
                    collection{"judged", "{input,labels,logits}", during{mode::eval}, payload}};
    hook watch{path, keep, more...};
    std::vector<float> weights(16 * 10), input(12 * 16), logits(12 * 10), act(12 * 8);
    std::vector<std::int32_t> labels(12);
    for (std::uint64_t i = 0; i < steps; ++i) {
        for (std::size_t k = 0; k < weights.size(); ++k) {
            weights[k] = 0.01F * static_cast<float>((k * 37 + i) % 100) - 0.5F;
        }
        for (std::size_t k = 0; k < act.size(); ++k) { act[k] = k % 3 == 0 ? 0.0F : 1.0F; }
        float const loss = 1.0F / static_cast<float>(i + 1);
        (void)watch.step(train(i), "fc1/w"_t = view_of(weights, {16, 10}), "fc2/w"_t = view_of(weights, {16, 10}),
                         "act/fc1"_t = view_of(act, {12, 8}), "grad/fc1/w"_t = view_of(weights, {16, 10}),
                         "grad/fc2/w"_t = view_of(weights, {16, 10}), "loss"_t = loss, "metric/accuracy"_t = 1 - loss);
        if (i % 5 != 4) { continue; }
        for (std::size_t k = 0; k < labels.size(); ++k) {
            labels[k] = static_cast<std::int32_t>(k % 10);
            for (std::size_t p = 0; p < 16; ++p) { input[k * 16 + p] = static_cast<float>(p == k); }
            // Sample 3 is taken for 7.
            for (std::size_t c = 0; c < 10; ++c) { logits[k * 10 + c] = c == (k == 3 ? 7 : k % 10) ? 4.0F : 0.0F; }
        }
        watch.begin(eval(i / 5));
        watch.observe("input", view_of(input, {12, 16}));
        watch.observe("labels", view_of(labels, {12}));
        watch.observe("logits", view_of(logits, {12, 10}), role::prediction, flag::logits);
        (void)watch.end("loss"_t = 2 * loss);
    }
    watch.finish();
}

constexpr auto large_loss = any("loss", maximum > 0.9) | named{"large_loss"};

}  // namespace

TEST_CASE("a page of a training has its sections in order, and the numbers of the record") {
    temporary_folder const folder;
    record_training(folder / "run", 40, large_loss);
    trial const run = open(folder / "run");
    std::string const page = to_html(run);
    check_page(page);
    CHECK(sections_of(page) ==
          std::vector<std::string>{"findings", "curves", "layers", "histograms", "activations", "classes", "times"});
    CHECK(has_text(page, "finished"));
    CHECK(has_text(page, "40 train (last 39), 8 eval (last 7)"));
    CHECK(has_text(page, "1 warning: large_loss at train(0) in loss"));
    CHECK(has_text(page, "maximum <b>1</b> &#62; 0.9"));
    CHECK(has_text(page, "class=\"mark warning\""));
    CHECK(has_text(page, "Gradients: mean size"));
    CHECK(has_text(page, "Updates: size of the change"));
    CHECK(has_text(page, "33.3 %</td>"));  // zero outputs of act/fc1
    CHECK(has_text(page, "<b>91.7 %</b> of 12 samples right: 11 of labels and logits at eval(7)."));
    CHECK(has_text(page, "title=\"3 taken for 7: 1 of 1\""));
    CHECK(has_text(page, "<img alt=\"3 taken for 7\" src=\"data:image/bmp;base64,"));
    CHECK(has_text(page, "3 taken for 7, 86&#160;%&#160;sure"));
    CHECK(has_text(page, "Nothing is missing"));
    CHECK(page.size() < 150'000);
}

TEST_CASE("a record without values shows what rules saw of labels and predictions") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", plan{collection{"losses", "loss", always{}, payload}}, confusion{},
                   class_imbalance{}};
        std::int32_t const labels[] = {0, 0, 1, 2}, said[] = {0, 1, 1, 2};
        for (std::uint64_t i = 0; i < 3; ++i) {
            (void)watch.step(train(i), "labels"_t = view_of(labels, {4}), "loss"_t = 1.0);
            (void)watch.step(eval(i), "labels"_t = view_of(labels, {4}), "pred"_t = view_of(said, {4}));
        }
        watch.finish();
    }
    std::string const page = to_html(open(folder / "run"));
    check_page(page);
    CHECK(has_text(page, "<b>75 %</b> of 4 samples right: 3 of what rules saw of the last evaluation."));
    CHECK(has_text(page, "Labels over the whole training"));
    CHECK_FALSE(has_text(page, "<img"));
}

TEST_CASE("what a name, a reason or a text says cannot become mark-up") {
    temporary_folder const folder;
    std::string const evil = "grad/\"><script>alert(1)</script><img src=http://x onerror='y'>/w";
    std::string const run = folder / "run<i>&";
    {
        constexpr auto rule = any("*", maximum > 0.5) | named{"</style><script>alert(2)</script>"};
        hook watch{run, plan{collection{"<u>all</u>", "*", always{}, payload | stats(mean_abs) | histogram}}, rule};
        float const values[] = {0, 0.3F, 1, 2};
        for (std::uint64_t i = 0; i < 4; ++i) {
            watch.begin(train(i));
            watch.observe(evil, view_of(values, {2, 2}), role::gradient);
            watch.observe("loss/\"><svg onload=alert(3)>", 1.0 / static_cast<double>(i + 1));
            watch.observe("\xff\xfe\x1b[2J", 1.0);
            (void)watch.end();
        }
        watch.scalar("note", "<script>alert(4)</script>");
        watch.fail("</p><script>alert(5)</script>");
    }
    std::vector<trial> both;
    both.push_back(open(run)), both.push_back(open(run));
    for (std::string const& page : {to_html(both[0]), to_html(std::span<trial const>{both})}) {
        check_page(page);
        CHECK(has_text(page, "&#60;script&#62;alert(1)"));
        CHECK(has_text(page, "&#60;script&#62;alert(2)"));
        CHECK(has_text(page, "&#60;script&#62;alert(5)"));
        CHECK(has_text(page, "&#60;svg onload"));
    }
}

TEST_CASE("a run that is still being written, one that died and one that failed say so on top") {
    temporary_folder const folder;
    {
        hook watch{folder / "live", everything};
        for (std::uint64_t i = 0; i < 5; ++i) { (void)watch.step(train(i), "loss"_t = 1.0); }
        watch.flush();
        std::string const page = to_html(open(folder / "live"));
        check_page(page);
        CHECK(has_text(page, "This run is still being written"));
        CHECK(has_text(page, "No finding so far."));
        CHECK(has_text(page, "verdict open"));
        watch.fail("out of data");
    }
    std::string const failed = to_html(open(folder / "live"));
    check_page(failed);
    CHECK(has_text(failed, "ended by a failure: out of data"));
    CHECK(has_text(failed, "verdict bad"));
    in_killed_child([&] {
        hook watch{folder / "died", everything};
        for (std::uint64_t i = 0; i < 5; ++i) { (void)watch.step(train(i), "loss"_t = 1.0); }
        watch.flush();
        ::raise(SIGKILL);
    });
    std::string const died = to_html(open(folder / "died"));
    check_page(died);
    CHECK(has_text(died, "ended without closing it"));
    CHECK(has_text(died, "spotter recover"));
}

TEST_CASE("an empty run and a damaged one make a page") {
    temporary_folder const folder;
    { hook watch{folder / "empty", everything}; }
    std::string const empty = to_html(open(folder / "empty"));
    check_page(empty);
    CHECK(has_text(empty, "Nothing was recorded"));
    CHECK(has_text(empty, "verdict open"));
    CHECK(sections_of(empty).front() == "findings");

    record_training(folder / "run", 30);
    std::string const file = folder / "run/000000.spot";
    std::vector<char> const sound = read_file(file);
    std::string const whole = to_html(open(folder / "run"));
    for (std::size_t at = 64; at < sound.size(); at += sound.size() / 24 + 1) {
        std::vector<char> bytes = sound;
        for (std::size_t i = 0; i < 40 && at + i < bytes.size(); ++i) {
            bytes[at + i] = static_cast<char>(bytes[at + i] ^ 0x5A);
        }
        write_file(file, bytes);
        INFO(at);
        std::string const page = to_html(open(folder / "run"));
        check_page(page);
        CHECK((has_text(page, "The record is damaged in ") || page.size() <= whole.size()));
    }
    write_file(file, {sound.begin(), sound.begin() + 300});
    check_page(to_html(open(folder / "run")));
}

TEST_CASE("NaN and infinity are gaps, and where a loop was rewound both ways are there") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything, any("loss", nonfinite > 0) | named{"bad_loss"}};
        for (std::uint64_t i = 0; i < 60; ++i) {
            double const loss = i == 20 ? std::bit_cast<double>(0x7FF8000000000000ULL) : 1.0;
            (void)watch.step(train(i % 40), "loss"_t = loss);
        }
        watch.finish();
    }
    std::string const page = to_html(open(folder / "run"));
    check_page(page);
    CHECK(has_text(page, "not finite at step 20"));
    CHECK(has_text(page, "bad_loss at train(20)"));
    CHECK(has_text(page, "60 train (last 39)"));
}

TEST_CASE("several workers are one run; which is meant is said") {
    temporary_folder const folder;
    for (std::uint32_t const worker : {2U, 1U, 0U}) {
        hook watch{folder / "run", everything, large_loss, options{.ring_bytes = 1 << 16, .worker = worker}};
        for (std::uint64_t i = 0; i < 5; ++i) { (void)watch.step(train(i), "loss"_t = worker == 2 ? 2.0 : 0.5); }
    }
    std::string const page = to_html(open(folder / "run"));
    check_page(page);
    CHECK(has_text(page, "15 train (last 4)"));
    CHECK(has_text(page, ", worker 2"));
    CHECK(has_text(page, "<dt>workers</dt><dd>3</dd>"));
}

TEST_CASE("runs side by side: curves in one chart, differences in a table, findings of each") {
    temporary_folder const folder;
    record_training(folder / "a", 40);
    record_training(folder / "b", 20, large_loss);
    std::vector<trial> runs;
    runs.push_back(open(folder / "a")), runs.push_back(open(folder / "b"));
    std::string const page = to_html(std::span<trial const>{runs});
    check_page(page);
    auto const sections = sections_of(page);
    REQUIRE(sections.size() > 5);
    CHECK((sections[0] == "runs" && sections[1] == "differences"));
    CHECK((sections[2] == "findings-1" && sections[3] == "findings-2" && sections[4] == "curves"));
    CHECK(has_text(page, "rule large_loss"));
    CHECK(has_text(page, "<td>loss, eval</td><td>loss, train</td><td>metric/accuracy, train</td>"));
    CHECK(has_text(page, "<th><a href=\"#findings-1\">a</a></th><td class=\"text\">finished</td><td>40</td>"));
    CHECK(has_text(page, "</i>a, train</span>"));
    CHECK(has_text(page, "</i>b, eval</span>"));
}

TEST_CASE("boosted trees: shares of importance over the rounds, and the depth") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything, tree_depth{}};
        for (std::uint64_t i = 0; i < 8; ++i) {
            float const gain[] = {0, 1, 3, 0};
            std::vector<std::uint64_t> const ids{0, 1, 2, 5, 6, i < 4 ? 13U : 62U};
            (void)watch.step(train(i), "feature_importance/gain"_t = view_of(gain, {4}), "trees/0/id"_t = ids,
                             "train-auc"_t = 0.9, "test-auc"_t = 0.8);
        }
        watch.finish();
    }
    std::string const page = to_html(open(folder / "run"));
    check_page(page);
    CHECK(has_text(page, "<th>f2</th>"));
    CHECK(has_text(page, "75 %"));
    CHECK(has_text(page, "Depth of the deepest tree; curve: 3 to 5 over steps 0 to 7, at the end 5"));
    CHECK(has_text(page, "<b>auc</b>"));
    CHECK(has_text(page, "tree is too deep"));
    CHECK(has_text(page, "<b>depth of trees/0/id</b>"));
    CHECK(has_text(page, "verdict bad"));
}

TEST_CASE("a long run makes a small page, and its one spike is in it") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        for (std::uint64_t i = 0; i < 30'000; ++i) { (void)watch.step(train(i), "loss"_t = i == 12'345 ? 99.0 : 1.0); }
        watch.finish();
    }
    std::string const page = to_html(open(folder / "run"));
    check_page(page);
    CHECK(page.size() < 60'000);
    CHECK(has_text(page, "loss; curve: 1 to 99 over steps 0 to 29999"));
}
