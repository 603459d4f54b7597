// SPDX-License-Identifier: Apache-2.0
// Rules on labels and predictions: each example of the catalogue, exactly.
#include <spotter/rule/builtin/class_imbalance.hpp>
#include <spotter/rule/builtin/confusion.hpp>
#include <spotter/rule/builtin/no_better_than_guessing.hpp>
#include <spotter/rule/builtin/output_collapse.hpp>
#include <spotter/rule/builtin/output_mismatch.hpp>
#include <spotter/rule/builtin/unrelated_predictions.hpp>
#include <tests/rule/features.hpp>

#include <tests/catch.hpp>

#include <cmath>
#include <map>
#include <random>

using namespace spotter;
using namespace stage;

namespace {

using classes = std::vector<std::int32_t>;

tensor_ref view_of_classes(classes const& values) { return view_of(values.data(), {values.size()}); }

// `each(i)` for i below `count`.
template <class Each>
classes made_of(std::size_t count, Each each) {
    classes out(count);
    for (std::size_t i = 0; i < count; ++i) { out[i] = static_cast<std::int32_t>(each(i)); }
    return out;
}
template <rule Rule>
truth step(run<Rule>& it, step_id at, classes const& labels, classes const& predictions) {
    it.see(at, "labels", view_of_classes(labels));
    it.see(at, "preds", view_of_classes(predictions));
    return it.close(at);
}
classes const ten = made_of(10, [](std::size_t i) { return i; });

constexpr truth unbalanced_at_once() {
    run it{class_imbalance{.samples = 12}};
    std::int32_t const labels[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    it.see(train(0), "labels", view_of(labels, {12}));
    return it.close(train(0));
}
static_assert(unbalanced_at_once() == truth::yes);
constexpr truth confused() {
    run it{confusion{}};
    std::int32_t const labels[] = {0, 1, 2}, predictions[] = {0, 1, 1};
    it.see(eval(0), "labels", view_of(labels, {3}));
    it.see(eval(0), "preds", view_of(predictions, {3}));
    return it.close(eval(0));
}
static_assert(confused() == truth::yes);

}  // namespace

TEST_CASE("class_imbalance: 990 to 10 is a ratio of 99", "[class_imbalance]") {
    run it{class_imbalance{}};
    classes const labels = made_of(1000, [](std::size_t i) { return i % 100 == 7; });
    CHECK(step(it, train(0), labels, labels) == truth::yes);
    REQUIRE(it.found.size() == 1);
    finding const& found = it.found[0];
    CHECK((found.rule == "class_imbalance" && found.tensor == "labels" && found.reason == "classes are imbalanced"));
    CHECK((found.measured == 99 && found.threshold == 10 && found.how == relation::greater));
    CHECK((found.severity == severity::warning && !found.remedy.empty()));
    CHECK(found.detail.view() == "class 0: 990 samples, class 1: 10");
    run sagemaker{class_imbalance::sagemaker_defaults()};
    CHECK(step(sagemaker, train(0), labels, labels) == truth::yes);
}

TEST_CASE("class_imbalance: 500 samples are needed", "[class_imbalance]") {
    run it{class_imbalance{}};
    it.see(train(0), "labels", view_of_classes(classes(498, 0)));
    it.see(train(0), "labels", view_of_classes(classes{1}));
    CHECK(it.close(train(0)) == truth::undecided);
    CHECK(it.covered().reason.starts_with("warm-up not reached"));
    it.see(train(1), "labels", view_of_classes(classes{0}));
    CHECK(it.close(train(1)) == truth::yes);
    CHECK(it.found[0].measured == 499);
    CHECK(it.close(train(2)) == truth::undecided);  // no labels
    run even{class_imbalance{.samples = 22}};       // exactly ten to one
    CHECK(step(even, train(0), made_of(22, [](std::size_t i) { return i % 11 == 0; }), {}) == truth::no);
}

TEST_CASE("class_imbalance: mispredictions count once the model is right about some", "[class_imbalance]") {
    classes const labels = made_of(500, [](std::size_t i) { return i % 10; });
    classes const shifted = made_of(500, [](std::size_t i) { return (i % 10 + 1) % 10; });
    run it{class_imbalance{.patience = 1}};
    CHECK(step(it, train(0), labels, shifted) == truth::no);
    run sagemaker{class_imbalance::sagemaker_defaults()};
    CHECK(step(sagemaker, train(0), labels, shifted) == truth::yes);
    REQUIRE(sagemaker.found.size() == 1);
    CHECK((sagemaker.found[0].reason == "a class is mispredicted" && sagemaker.found[0].measured == 1));
    CHECK(sagemaker.found[0].threshold == 0.7);
    // One class in ten is wrong, and predictions come first.
    run one{class_imbalance{.patience = 1}};
    one.see(train(0), "preds", view_of_classes(made_of(500, [](std::size_t i) { return i % 10 == 4 ? 5 : i % 10; })));
    one.see(train(0), "labels", view_of_classes(labels));
    CHECK(one.close(train(0)) == truth::yes);
    CHECK((one.found[0].measured == 1 && one.found[0].detail.view() == "class 4: 50 of 50"));
    run few{class_imbalance{.patience = 1, .min_class_samples = 51}};
    CHECK(step(few, train(0), labels, made_of(500, [](std::size_t i) { return i % 10 == 4 ? 5 : i % 10; })) ==
          truth::no);
    auto const aws = class_imbalance::sagemaker_defaults();
    CHECK((aws.threshold_imbalance == 10 && aws.threshold_misprediction == 0.7 && aws.samples == 500));
    CHECK((aws.num_classes == 0 && !aws.argmax && aws.min_accuracy == 0));
    CHECK((aws.patience == 1 && aws.min_class_samples == 1));
}

TEST_CASE("class_imbalance: ten windows of mispredictions in a row fire at the tenth", "[class_imbalance]") {
    classes const labels = made_of(500, [](std::size_t i) { return i % 10; });
    classes const said = made_of(500, [](std::size_t i) { return i % 10 == 4 ? 5 : i % 10; });
    run it{class_imbalance{}};
    std::uint64_t at = 0;
    auto const next = [&](classes const& predicted) { return step(it, train(at++), labels, predicted); };
    for (int i = 0; i < 9; ++i) { CHECK(next(said) == truth::no); }
    CHECK(step(it, eval(0), labels, said) == truth::no);  // a mode has windows of its own
    CHECK(next(said) == truth::yes);
    CHECK((it.found[0].measured == 1 && it.found[0].detail.view() == "class 4: 50 of 50"));
    // It holds until the next window is full, whatever is in that so far.
    CHECK(step(it, train(at++), {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}) == truth::yes);
    CHECK(next(labels) == truth::no);
    for (int i = 0; i < 9; ++i) { CHECK(next(said) == truth::no); }
    CHECK(next(said) == truth::yes);
    // An untrained phase is forgotten: nine windows, one that is right, nine more.
    run forgets{class_imbalance{}};
    for (std::uint64_t i = 0; i < 19; ++i) {
        CHECK(step(forgets, train(i), labels, i == 9 ? labels : said) == truth::no);
    }
}

TEST_CASE("class_imbalance: data that are not shuffled", "[class_imbalance]") {
    // 80 batches of 16; batch i has the class `of(i)`, but its last label that of the next batch where `mixed`.
    auto const found_in = [](auto const& of, auto const& mixed, mode when = mode::train) {
        run it{class_imbalance{}};
        std::string_view reason{};
        for (std::uint64_t i = 0; i < 80; ++i) {
            classes labels(16, of(i));
            if (mixed(i)) { labels.back() = of(i + 1) == of(i) ? of(i) + 1 : of(i + 1); }
            if (step(it, when == mode::train ? train(i) : eval(i), labels, {}) == truth::yes) {
                reason = it.found[it.found.size() - 1].reason;
            }
        }
        return reason;
    };
    auto const never = [](std::uint64_t) { return false; };
    auto const in_turn = [](std::uint64_t i) { return static_cast<std::int32_t>(i % 10); };
    CHECK(found_in(in_turn, never) == "a batch has labels of one class");
    CHECK(found_in(in_turn, [](std::uint64_t i) { return i % 5 == 0; }) == "a batch has labels of one class");
    CHECK(found_in(in_turn, [](std::uint64_t i) { return i % 4 == 0; }).empty());
    CHECK(found_in(in_turn, never, mode::eval).empty());
    CHECK(found_in([](std::uint64_t i) { return static_cast<std::int32_t>(i % 2); }, never).empty());  // as of a GAN
    run rows{class_imbalance{}};  // labels in columns
    truth last = truth::undecided;
    for (std::uint64_t i = 0; i < 200; ++i) {
        std::vector<float> hot(24);
        for (std::size_t k = 0; k < 8; ++k) { hot[3 * k + i % 3] = 1; }
        rows.see(train(i), "labels", hot, {8, 3});
        last = rows.close(train(i));
    }
    CHECK(last == truth::yes);
    run frames{class_imbalance{}};  // a sample a step, with a label for each of its frames
    for (std::uint64_t i = 0; i < 200; ++i) {
        std::vector<std::int32_t> const label(16, static_cast<std::int32_t>(i % 5));
        frames.see(train(i), "labels", view_of(label.data(), {1, 16}));
        CHECK(frames.close(train(i)) != truth::yes);
    }
    run small{class_imbalance{}};
    for (std::uint64_t i = 0; i < 200; ++i) {
        CHECK(step(small, train(i), classes(3, static_cast<std::int32_t>(i % 5)), {}) != truth::yes);
    }
}

TEST_CASE("class_imbalance: a class that never appears counts where their number is given", "[class_imbalance]") {
    classes const labels = made_of(600, [](std::size_t i) { return i % 3; });
    CHECK([&] {
        run it{class_imbalance{.num_classes = 3}};
        return step(it, train(0), labels, {});
    }() == truth::no);
    run it{class_imbalance{.num_classes = 100}};
    CHECK(step(it, train(0), labels, {}) == truth::yes);
    CHECK((it.found[0].reason == "a class has no sample" && it.found[0].measured == 0));
    CHECK(it.found[0].detail.view() == "class 3: none of 600 samples");
}

TEST_CASE("class_imbalance: testifies labels of one class alone, where the model has predicted another",
          "[class_imbalance]") {
    classes const labels = made_of(250, [](std::size_t) { return std::size_t{3}; });
    classes const guesses = made_of(250, [](std::size_t i) { return i % 4; });
    run it{class_imbalance{.threshold_imbalance = 100}};
    CHECK(step(it, train(0), labels, guesses) == truth::undecided);
    CHECK(step(it, train(1), labels, labels) == truth::no);
    CHECK((it.found[0].reason == "all labels are of one class" && it.found[0].measured == 0));
    CHECK((it.found[0].tensor == "labels" && it.found[0].is<class_imbalance>(class_imbalance::one_class)));
    CHECK((step(it, train(2), labels, labels) == truth::no && it.found.empty()));
    CHECK(step(it, train(3), guesses, guesses) == truth::no);
    CHECK(it.found[0].is<class_imbalance>(class_imbalance::several_classes));
    run right{class_imbalance{}};  // nothing shows that there is another class
    CHECK(step(right, train(0), labels, labels) == truth::undecided);
    CHECK((step(right, train(1), labels, labels) == truth::no && right.found.empty()));
    classes const signs = made_of(200, [](std::size_t i) { return i % 2 > 0 ? 1 : -1; });
    classes const others = made_of(200, [](std::size_t) { return 0; });
    run two{class_imbalance{}};  // -1 is no class, but another label
    truth last = truth::undecided;
    for (std::uint64_t i = 0; i < 5; ++i) { last = step(two, train(i), signs, others); }
    CHECK((last == truth::no && two.found.empty()));
}

TEST_CASE("class_imbalance: modes are counted apart, predict steps and what is no class not at all",
          "[class_imbalance]") {
    run it{class_imbalance{.samples = 4}};
    CHECK(step(it, predict(0), classes(9, 0), {}) == truth::undecided);
    CHECK(step(it, train(0), {0, 0, 1}, {}) == truth::undecided);
    CHECK(step(it, eval(0), {0, 0, 1}, {}) == truth::undecided);
    CHECK(step(it, train(1), {-100, -100, 1 << 20}, {}) == truth::undecided);
    CHECK(step(it, train(0), {1}, {}) == truth::no);  // a rewind takes nothing back
    float const odd[] = {nan_f, 0.5F, pos_infinity_f, 1};
    it.see(train(2), "labels", view_of(odd, {4}));
    CHECK(it.close(train(2)) == truth::no);
    CHECK(step(it, eval(1), {1}, {}) == truth::no);
    run none{class_imbalance{}};
    CHECK(step(none, train(0), {}, {1, 2}) == truth::undecided);
    CHECK(machine{class_imbalance{.predictions = "pred["}}.malformed() == "pred[");
}

TEST_CASE("the class of scores is their largest, whatever the order of storage", "[class_imbalance]") {
    auto const classes_of = [](tensor_ref const& scores, bool argmax, int axis = default_axis) {
        feature out;
        tensor_info info;
        class_reading const how = argmax ? class_reading::argmax : class_reading::by_type;
        extract_classes(scores, scores_along(info, scores, how, axis), how, out);
        return std::vector<double>(out.all().begin(), out.all().end());
    };
    using found = std::vector<double>;
    float const rows[] = {0.1F, 0.7F, 0.2F, 3, 1, 3};
    CHECK(classes_of(view_of(rows, {2, 3}), false) == found{1, 0});
    float const columns[] = {0.1F, 3, 0.7F, 1, 0.2F, 3};
    CHECK(classes_of(view_of(columns, {2, 3}, order::column_major), false) == found{1, 0});
    CHECK(classes_of(view_of(columns, {3, 2}), false, 0) == found{1, 0});
    CHECK(classes_of(view_of(rows, {6, 1}), false) == found{0.1F, 0.7F, 0.2F, 3, 1, 3});
    CHECK(classes_of(view_of(rows, {6}), true) == found{3});
    std::int8_t const quantised[] = {1, 5, 9, 2};
    CHECK(classes_of(view_of(quantised, {2, 2}), false) == found{1, 5, 9, 2});
    CHECK(classes_of(view_of(quantised, {2, 2}), true) == found{1, 0});
    float const masked[] = {neg_infinity_f, -5, nan_f, nan_f, nan_f, neg_infinity_f};
    CHECK(classes_of(view_of(masked, {2, 3}), false) == found{1, -1});
    float const pixels[] = {1, 2, 3, 4, 4, 3, 2, 1};  // one image, two classes, four pixels
    CHECK(classes_of(view_of(pixels, {1, 2, 2, 2}), false) == found{1, 1, 0, 0});
}

namespace {

// Rows of floating labels or predictions.
struct table {
    std::uint64_t columns = 0;
    std::vector<float> values{};

    void add(std::vector<float> const& row) {
        columns = row.size();
        values.insert(values.end(), row.begin(), row.end());
    }
    [[nodiscard]] std::uint64_t rows() const { return values.size() / columns; }
};

template <rule Rule>
truth step_of_rows(run<Rule>& it, step_id at, table const& labels, table const& said) {
    it.see(at, "labels", labels.values, {labels.rows(), labels.columns});
    it.see(at, "preds", said.values, {said.rows(), said.columns});
    return it.close(at);
}

class number_source {
public:
    // From `low` to `high`.
    float operator()(float low, float high) {
        return low + (high - low) * static_cast<float>(random_() >> 8U) / 16777216.0F;
    }
    // Near the normal distribution: mean 0, deviation 1.
    float normal() {
        float total = 0;
        for (int i = 0; i < 12; ++i) { total += (*this)(-0.5F, 0.5F); }
        return total;
    }

private:
    std::mt19937 random_{1};
};

// The answers of every rule on classes, in turn, to 30 batches of 50 that `fill(labels, predictions)` makes.
template <class Fill>
std::vector<truth> answers_on(Fill fill) {
    run imbalance{class_imbalance{.patience = 1}};
    run guessing{no_better_than_guessing{.warmup = 0, .warmup_pairs = 0}};
    run mixed{confusion{}};
    run collapse{output_collapse{.warmup = 0, .patience = 1}};
    std::vector<truth> last;
    for (std::uint64_t i = 0; i < 30; ++i) {
        table labels, said;
        for (int k = 0; k < 50; ++k) { fill(labels, said); }
        last = {step_of_rows(imbalance, train(i), labels, said), step_of_rows(guessing, train(i), labels, said),
                step_of_rows(mixed, eval(i), labels, said), step_of_rows(collapse, train(i), labels, said)};
        if (std::count(last.begin(), last.end(), truth::yes) > 0) { return last; }
    }
    return last;
}
std::vector<truth> const none_are_classes{truth::undecided, truth::undecided, truth::undecided, truth::no};
std::vector<truth> const all_are_well{truth::no, truth::no, truth::no, truth::no};

}  // namespace

TEST_CASE("targets of several columns that are numbers are no classes, and their predictions neither") {
    number_source random;
    // Colours of coordinates: red is the strongest of nearly all, and the net is no better at saying which.
    CHECK(answers_on([&](table& labels, table& said) {
              labels.add({random(0.5F, 1), random(0.1F, 0.6F), random(0, 0.4F)});
              said.add({random(0.1F, 0.6F), random(0.5F, 1), random(0, 0.4F)});
          }) == none_are_classes);
    for (std::size_t columns = 2; columns <= 4; ++columns) {  // standardised numbers
        CHECK(answers_on([&](table& labels, table& said) {
                  std::vector<float> numbers(columns), guesses(columns);
                  for (float& each : numbers) { each = random.normal(); }
                  numbers[0] += 2;
                  for (float& each : guesses) { each = random.normal(); }
                  labels.add(numbers), said.add(guesses);
              }) == none_are_classes);
    }
    CHECK(answers_on([&](table& labels, table& said) {  // several of three may hold at once
              std::vector<float> holds{1, random(0, 1) > 0.5F ? 1.0F : 0.0F, random(0, 1) > 0.9F ? 1.0F : 0.0F};
              labels.add(holds), said.add({random.normal(), 3 + random.normal(), random.normal()});
          }) == none_are_classes);
    CHECK(answers_on([&](table& labels, table& said) {  // the sign of each of two numbers
              std::vector<float> signs{random(0, 1) > 0.05F ? 1.0F : -1.0F, random(0, 1) > 0.5F ? 1.0F : -1.0F};
              labels.add(signs), said.add({-signs[0], random.normal()});
          }) == none_are_classes);
}

TEST_CASE("rows of labels that name a class are classes: one-hot, smoothed, soft, and 1 among -1") {
    number_source random;
    std::size_t sample = 0;
    // Of each class of `of` in turn; predictions are logits.
    auto const healthy = [&](std::size_t of, auto row_of) {
        return answers_on([&](table& labels, table& said) {
            std::size_t const which = sample++ % of;
            std::vector<float> logits(of);
            for (std::size_t i = 0; i < of; ++i) { logits[i] = random.normal() + (i == which ? 9 : 0); }
            labels.add(row_of(which)), said.add(logits);
        });
    };
    auto const two_values = [](std::size_t of, float of_class, float of_others) {
        return [=](std::size_t which) {
            std::vector<float> row(of, of_others);
            row[which] = of_class;
            return row;
        };
    };
    CHECK(healthy(10, two_values(10, 1, 0)) == all_are_well);
    CHECK(healthy(10, two_values(10, 0.91F, 0.01F)) == all_are_well);
    CHECK(healthy(2, two_values(2, 0.95F, 0.05F)) == all_are_well);
    CHECK(healthy(5, two_values(5, 1, -1)) == all_are_well);
    CHECK(healthy(5, [&](std::size_t which) {  // the probabilities of a teacher
              std::vector<float> row(5);
              float all = 0;
              for (std::size_t i = 0; i < 5; ++i) { all += row[i] = random(0, 1) + (i == which ? 2 : 0); }
              for (float& each : row) { each /= all; }
              return row;
          }) == all_are_well);
    // A class that is rare is found in them, too.
    CHECK(answers_on([&](table& labels, table& said) {
              bool const rare = sample++ % 20 == 0;
              labels.add({rare ? 0.05F : 0.95F, rare ? 0.95F : 0.05F}), said.add({rare ? 0.0F : 1, rare ? 1.0F : 0});
          })[0] == truth::yes);
}

TEST_CASE("a row of labels names a class, names none, or does not decide") {
    auto const names = [](std::vector<float> const& row) {
        tensor_ref const view = view_of(row.data(), {1, row.size()});
        truth found = truth::undecided;
        for_each_row(view, 1, [&](auto const& it) { found = names_class(it, row.size()); });
        return found;
    };
    for (std::vector<float> const& row : {std::vector<float>{0, 1, 0},
                                          {0.9F, 0.05F, 0.05F},
                                          {0.2F, 0.3F, 0.5F},
                                          {-1, 1, -1},
                                          {1, -1},
                                          {0.499F, 0.5F}}) {
        CHECK(names(row) == truth::yes);
    }
    for (std::vector<float> const& row : {std::vector<float>{0, 1, 1},
                                          {0.2F, 0.3F, 0.6F},
                                          {-0.1F, 1.1F},
                                          {1, 1, -1},
                                          {1, -1, 0},
                                          {2, 0},
                                          {-1, 2},
                                          {1, 1},
                                          {0.3F, 0.3F}}) {
        CHECK(names(row) == truth::no);
    }
    for (std::vector<float> const& row :
         {std::vector<float>{0, 0, 0}, {-1, -1}, {0.5F, 0.5F}, {nan_f, 1}, {pos_infinity_f, 0}}) {
        CHECK(names(row) == truth::undecided);
    }
}

TEST_CASE("labels that once had a row that names no class are numbers from then on; masked rows have no class") {
    run it{class_imbalance{.samples = 2}};
    it.see(train(0), "labels", {0.2F, 0.3F, 0.5F, 0, 0, 0, 0.5F, 0.2F, 0.3F}, {3, 3});
    CHECK(it.close(train(0)) == truth::no);
    it.see(train(1), "labels", {1, 0, 0, 0.2F, 0.3F, 0.6F}, {2, 3});
    CHECK(it.close(train(1)) == truth::undecided);
    it.see(train(2), "labels", {1, 0, 0, 1, 0, 0}, {2, 3});
    CHECK(it.close(train(2)) == truth::undecided);
    it.see(train(3), "labels", {nan_f, 0, 0}, {1, 3});
    CHECK(it.close(train(3)) == truth::undecided);
    // Boxes beside classes are neither classes nor in the way of the pairs.
    run beside{confusion{}};
    beside.see(eval(0), "labels", view_of_classes(ten));
    beside.see(eval(0), "target", std::vector<float>(40, 0.3F), {10, 4});
    beside.see(eval(0), "preds", view_of_classes(ten));
    CHECK(beside.close(eval(0)) == truth::no);
    beside.see(eval(1), "labels", view_of_classes(ten));
    beside.see(eval(1), "target", {0.2F, 0.3F, 0.8F, 0.9F}, {1, 4});
    beside.see(eval(1), "preds", view_of_classes(ten));
    CHECK(beside.close(eval(1)) == truth::no);
    CHECK(judges_without_values(class_imbalance{.samples = 2}, [](auto& played, auto tell) {
        for (std::uint64_t i = 0; i < 6; ++i) {
            played.see(train(i), "labels", {1, 0, 0, i < 4 ? 1.0F : 0.5F, 0, 0}, {2, 3});
            tell(played.close(train(i)));
        }
    }));
}

TEST_CASE("no_better_than_guessing: chance in three windows fires, skill does not, a class of nearly all says nothing",
          "[no_better_than_guessing]") {
    classes const labels = made_of(200, [](std::size_t i) { return i % 10; });
    classes const wrong = made_of(200, [](std::size_t i) { return (i + 3) % 10; });
    classes const same = made_of(200, [](std::size_t) { return 0; });
    classes const third = made_of(200, [](std::size_t i) { return i % 3 == 0 ? i % 10 : (i + 1) % 10; });
    no_better_than_guessing const rule{.warmup = 2, .warmup_pairs = 0};
    run it{rule};
    CHECK(step(it, train(0), labels, wrong) == truth::undecided);  // before the warm-up
    CHECK(step(it, train(1), labels, same) == truth::no);
    CHECK(step(it, train(2), labels, same) == truth::no);
    CHECK(step(it, train(3), labels, wrong) == truth::yes);
    REQUIRE(it.found.size() == 1);
    CHECK(
        (it.found[0].rule == "no_better_than_guessing" && it.found[0].tensor == "labels" && it.found[0].measured == 0));
    CHECK(it.found[0].threshold == Approx(0.1 + 2 * 0.0212132).epsilon(1e-4));
    CHECK(step(it, train(4), labels, third) == truth::no);  // 0.34
    CHECK(step(it, train(5), labels, same) == truth::no);   // the row begins anew
    CHECK(step(it, eval(5), labels, same) == truth::no);    // evaluations are counted apart
    classes const rare = made_of(200, [](std::size_t i) { return i % 50 == 0; });
    run few{rule};
    for (std::uint64_t i = 0; i < 9; ++i) { CHECK(step(few, train(i), rare, same) == truth::undecided); }
    run part{rule};  // windows span steps
    classes const half = made_of(100, [](std::size_t i) { return i % 10; });
    classes const none(100);
    for (std::uint64_t i = 0; i < 5; ++i) { CHECK(step(part, train(i), half, none) != truth::yes); }
    CHECK(step(part, train(5), half, none) == truth::yes);
}

TEST_CASE("no_better_than_guessing: two evaluations are enough where training is better", "[no_better_than_guessing]") {
    classes const labels = made_of(200, [](std::size_t i) { return i % 10; });
    classes const same = made_of(200, [](std::size_t) { return 0; });
    auto const right_in = [&](std::size_t share) {  // of a hundred
        return made_of(200, [&](std::size_t i) { return i / 2 < share ? i % 10 : (i + 1) % 10; });
    };
    auto const answers = [&](classes const& in_training, classes const& in_evaluation) {
        run it{no_better_than_guessing{.warmup = 2}};
        (void)step(it, train(0), labels, in_training);
        (void)step(it, eval(0), labels, in_evaluation);  // before the warm-up
        (void)step(it, train(1), labels, in_training);
        CHECK(step(it, eval(1), labels, in_evaluation) == truth::undecided);
        truth const found = step(it, eval(2), labels, in_evaluation);
        if (found == truth::yes) {
            CHECK(it.found[0].is<no_better_than_guessing>(no_better_than_guessing::in_evaluation_alone));
            CHECK((it.found[0].step.mode == mode::eval && it.found[0].measured == Approx(0.1)));
        }
        return found;
    };
    CHECK(answers(right_in(34), same) == truth::yes);
    CHECK(answers(right_in(20), same) == truth::yes);  // 0.1 above a guess: 3.3 standard errors apart
    CHECK(answers(right_in(18), same) == truth::undecided);
    CHECK(answers(right_in(34), right_in(20)) == truth::undecided);  // better than guessing
    CHECK(answers(same, same) == truth::undecided);
    run taught{no_better_than_guessing{.warmup = 0}};  // guesses in training: the warm-up is not over
    for (std::uint64_t i = 0; i < 9; ++i) { CHECK(step(taught, train(i), labels, same) == truth::undecided); }
}

namespace {

float entropy_of_classes(classes const& all) {
    std::map<int, double> counts;
    for (auto const each : all) { counts[static_cast<int>(each)] += 1; }
    double total = 0;
    for (auto const& [which, count] : counts) {
        double const share = count / static_cast<double>(all.size());
        total -= share * std::log(share);
    }
    return static_cast<float>(total);
}

}  // namespace

TEST_CASE("no_better_than_guessing: a loss below the entropy of the labels knows more than a guess",
          "[no_better_than_guessing]") {
    // Two in five are of the first of ten classes: 1.9913 nats, and 0.0225 for one window, a quarter of it for four.
    classes const labels = made_of(200, [](std::size_t i) { return i % 5 < 2 ? 0 : 1 + i % 9; });
    classes const same = made_of(200, [](std::size_t) { return 0; });
    float const known_below = 0.95F * (entropy_of_classes(labels) + 0.0225F / 4);
    auto const answer = [&](std::vector<float> const& losses,
                            no_better_than_guessing const& rule = {.warmup_pairs = 0}) {
        run it{rule};
        truth last = truth::undecided;
        for (std::uint64_t i = 0; i < losses.size(); ++i) {
            it.see(train(i + 200), "loss", {losses[i]});
            last = step(it, train(i + 200), labels, same);
        }
        return last;
    };
    no_better_than_guessing const at_once{.warmup = 0, .warmup_pairs = 0};
    CHECK(answer({2, 2, 2, 2}, at_once) == truth::yes);
    CHECK(answer({2, 2, 2, known_below - 0.01F}, at_once) == truth::no);
    CHECK(answer({2, 2, 2, known_below + 0.01F}, at_once) == truth::yes);
    CHECK(answer({0.9F, 0.9F, 0.8F, 0.8F}, at_once) == truth::yes);  // no cross-entropy: nothing is known of it
    CHECK(answer({1.7F, 1.7F, 0.8F, 0.8F}, at_once) == truth::yes);  // likewise: none begins that low
    CHECK(answer({2, 2, 2, nan_f}, at_once) == truth::yes);
    CHECK(answer({2, 2, 2, 2}) == truth::undecided);                 // 200 train closes
    CHECK(answer({2, 2, 2, 2}, {.warmup = 0}) == truth::undecided);  // and 5000 pairs
    CHECK(answer(std::vector<float>(28, 2.0F), {.warmup = 0}) == truth::yes);
    // It comes down to the entropy and rests there: until it has had its time.
    CHECK(answer({2.4F, 2.02F, 2.02F, 2.02F, 2.02F}, at_once) == truth::no);
    CHECK(answer({2.4F, 2.02F, 2.02F, 2.02F, 2.02F}, {.warmup = 0, .warmup_pairs = 0, .rests = 3}) == truth::yes);
    CHECK(answer({2.4F, 2.3F, 2.3F, 2.3F}, at_once) == truth::yes);  // not half of the way

    // Words: of 100 classes a window shows each twice, which says nothing of how frequent they are.
    classes const words = made_of(200, [](std::size_t i) { return i % 100; });
    run language{at_once};
    for (std::uint64_t i = 0; i < 4; ++i) {
        language.see(train(i), "loss", {i == 0 ? 4.8F : 4.4F});
        CHECK(step(language, train(i), words, same) != truth::yes);
    }

    // A quarter is one word, the others are 599 words: 5.36 nats. A window of 200 shows 4.32 of them, and 0.38.
    run text{no_better_than_guessing{.warmup = 0, .warmup_pairs = 0, .rests = 0}};
    for (std::uint64_t k = 0; k < 40; ++k) {
        classes const drawn =
            made_of(200, [&](std::size_t i) { return i % 4 == 0 ? 0 : 1 + (i * 37 + k * 131) % 599; });
        text.see(train(k), "loss", {k == 0 ? 6.4F : 4.9F});
        bool const guesses = step(text, train(k), drawn, same) == truth::yes;
        CHECK((k < 20 || !guesses));
    }

    // Of classes that are equally frequent any knowledge shows in right answers, whatever the loss is: squared errors
    // of one-hot labels are below the entropy.
    classes const even = made_of(200, [](std::size_t i) { return i % 3; });
    run squares{at_once};
    for (std::uint64_t i = 0; i < 4; ++i) {
        squares.see(train(i), "loss", {i == 0 ? 1.4F : 0.67F});
        CHECK((step(squares, train(i), even, same) == truth::yes) == (i >= 2));
    }
}

TEST_CASE("no_better_than_guessing: logits beside the probabilities made of them are one prediction",
          "[no_better_than_guessing]") {
    classes const labels = made_of(200, [](std::size_t i) { return i % 10; });
    for (bool const right : {false, true}) {
        run it{no_better_than_guessing{.warmup = 0, .warmup_pairs = 0}};
        truth last = truth::undecided;
        for (std::uint64_t i = 0; i < 4; ++i) {
            it.see(train(i), "labels", view_of_classes(labels));
            for (char const* name : {"logits", "probabilities"}) {
                it.see(train(i), name, view_of_classes(right ? labels : classes(200)));
            }
            last = it.close(train(i));
        }
        CHECK(last == truth_of(!right));
    }
}

TEST_CASE("confusion: ten of ten is silent, a 4 taken for a 7 fires", "[confusion]") {
    classes wrong = ten;
    wrong[4] = 7;
    run it{confusion{}};
    CHECK(step(it, eval(0), ten, ten) == truth::no);
    CHECK(step(it, eval(1), ten, wrong) == truth::yes);
    REQUIRE(it.found.size() == 1);
    finding const& found = it.found[0];
    CHECK((found.measured == 0 && found.threshold == 0.9 && found.how == relation::less));
    CHECK((found.severity == severity::info && found.tensor == "labels"));
    CHECK(found.detail.view() == "prediction 4; 4 is predicted as 7: 1 of 4's");
    CHECK(step(it, eval(2), ten, ten) == truth::no);  // the next phase
    run pairs{confusion{.min_diag = 0, .max_off_diag = 0.01}};
    CHECK(step(pairs, eval(0), ten, ten) == truth::no);
    CHECK(step(pairs, eval(1), ten, wrong) == truth::yes);
    CHECK((pairs.found[0].measured == 0.5 && pairs.found[0].threshold == 0.01));
    run fixed{confusion{.category_no = 10}};
    CHECK(step(fixed, eval(0), ten, wrong) == truth::yes);
    CHECK(fixed.found[0].measured == 0);
    run sagemaker{confusion::sagemaker_defaults()};
    CHECK(step(sagemaker, eval(0), ten, wrong) == truth::yes);
}

TEST_CASE("confusion: the pair is named in both directions where both are confused", "[confusion]") {
    // A hundred of 33 and of 34: 31 and 22 of them taken for one another; of 2, which is rare, the only prediction is
    // wrong.
    classes labels, said;
    auto const add = [&](std::size_t count, std::int32_t label, std::int32_t as) {
        labels.insert(labels.end(), count, label), said.insert(said.end(), count, as);
    };
    add(69, 33, 33), add(31, 33, 34), add(78, 34, 34), add(22, 34, 33), add(50, 1, 1), add(1, 1, 2);
    run poor{confusion{}};
    CHECK(step(poor, eval(0), labels, said) == truth::yes);
    // Not 1 as 2, which is one sample.
    CHECK(poor.found[0].detail.view() == "prediction 2; 33 is predicted as 34: 0.31 of 33's; 34 as 33: 0.22 of 34's");
    run mixed{confusion{.min_diag = 0}};
    CHECK(step(mixed, eval(0), labels, said) == truth::yes);
    CHECK((mixed.found[0].measured == 1 && mixed.found[0].detail.view() == "1 is predicted as 2: 0.0196 of 1's"));
    run one_way{confusion{.min_diag = 0, .max_off_diag = 0.24}};
    labels.pop_back(), said.pop_back();
    CHECK(step(one_way, eval(0), labels, said) == truth::yes);
    CHECK(one_way.found[0].measured == Approx(31.0 / 109));
    CHECK(one_way.found[0].detail.view() == "33 is predicted as 34: 0.31 of 33's");
}

TEST_CASE("confusion: a phase is so many eval closes, or lasts until another mode", "[confusion]") {
    run it{confusion{.samples = 15, .phase_length = 1}};
    CHECK(step(it, eval(0), ten, ten) == truth::undecided);
    CHECK(step(it, train(0), ten, classes(10, 0)) == truth::undecided);
    CHECK(it.close(eval(1)) == truth::undecided);
    CHECK(step(it, eval(2), ten, ten) == truth::no);
    run two{confusion{.phase_length = 2}};
    CHECK(step(two, eval(0), ten, classes(10, 0)) == truth::undecided);
    CHECK(step(two, eval(1), ten, ten) == truth::yes);
    CHECK(two.found[0].measured == Approx(2.0 / 11));
    run whole{confusion{.phase_length = 0}};
    CHECK(step(whole, eval(0), ten, ten) == truth::undecided);
    CHECK(step(whole, eval(1), ten, ten) == truth::undecided);
    CHECK(step(whole, train(0), ten, ten) == truth::no);
    CHECK(step(whole, train(1), ten, ten) == truth::undecided);
}

TEST_CASE("confusion: pairs only, in several batches, without what is no class", "[confusion]") {
    run it{confusion{}};
    it.see(eval(0), "labels", view_of_classes(ten));
    it.see(eval(0), "preds", view_of_classes(ten));
    it.see(eval(0), "preds", view_of_classes(classes{1, 3, -1}));
    it.see(eval(0), "labels", view_of_classes(classes{1, -100, 3}));
    CHECK(it.close(eval(0)) == truth::no);
    CHECK(step(it, eval(1), ten, {1, 2}) == truth::undecided);
    CHECK(step(it, eval(2), {5000}, {5001}) == truth::undecided);
    CHECK(step(it, eval(2), {0}, {1}) == truth::yes);  // the same step again
    run lonely{confusion{}};
    CHECK(step(lonely, train(0), ten, ten) == truth::undecided);
    CHECK(lonely.covered().reason == "matched, but never in mode eval");
    CHECK((lonely.needs("labels") == lonely.needs("preds") && lonely.covered().matched == 1));
    // Probabilities, and one-hot labels.
    run scores{confusion{}};
    scores.see(eval(0), "labels", {1, 0, 0, 0, 1, 0}, {2, 3});
    scores.see(eval(0), "preds", {0.6F, 0.3F, 0.1F, nan_f, 0.3F, 0.1F}, {2, 3});
    CHECK(scores.close(eval(0)) == truth::no);
}

TEST_CASE("confusion holds any pair of 1024 classes", "[confusion]") {
    run it{confusion{.min_diag = 1, .max_off_diag = 1, .phase_length = 4}};
    classes const all = made_of(1024, [](std::size_t i) { return i; });
    classes swapped = all;
    std::swap(swapped[1023], swapped[2]);
    auto const phase = [&](std::uint64_t first, classes const& said) {  // a larger batch would be sampled
        truth answer = truth::undecided;
        for (std::size_t i = 0; i < 4; ++i) {
            auto const at = static_cast<std::ptrdiff_t>(256 * i);
            answer = step(it, eval(first + i), {all.begin() + at, all.begin() + at + 256},
                          {said.begin() + at, said.begin() + at + 256});
        }
        return answer;
    };
    CHECK(phase(0, all) == truth::no);
    CHECK(phase(4, swapped) == truth::yes);
    CHECK(it.found[0].measured == 0);
    CHECK(it.found[0].detail.view() == "prediction 2; 1023 is predicted as 2: 1 of 1023's");
}

TEST_CASE("output_collapse: 512 predictions of class 3 with uniform labels", "[output_collapse]") {
    classes const labels = made_of(512, [](std::size_t i) { return i % 10; }), threes(512, 3);
    run it{output_collapse{.warmup = 0, .patience = 1}};
    CHECK(step(it, train(0), labels, threes) == truth::yes);
    REQUIRE(it.found.size() == 1);
    finding const& found = it.found[0];
    CHECK((found.measured == 1 && found.threshold == 0.99 && found.reason == "one class is predicted"));
    CHECK((found.tensor == "preds" && found.severity == severity::warning && found.detail.view() == "class 3"));
    CHECK(step(it, train(1), labels, labels) == truth::no);
    CHECK(step(it, train(2), labels, threes) == truth::yes);
    CHECK(step(it, train(3), classes(512, 3), threes) == truth::no);  // the labels have no more to say
    CHECK(fired(output_collapse{}, 105, [&](auto& run, step_id at) {
              run.see(at, "labels", view_of_classes(labels));
              run.see(at, "preds", view_of_classes(threes));
          }) == indices{102, 103, 104});
    run partly{output_collapse{.warmup = 0, .patience = 1}};
    classes nearly = threes;
    for (std::size_t i = 0; i < 6; ++i) { nearly[i] = 1; }
    CHECK(step(partly, eval(0), labels, nearly) == truth::no);  // 506 of 512 are less than 0.99
    nearly[0] = 3;
    CHECK(step(partly, eval(1), labels, nearly) == truth::yes);
    CHECK(partly.found[0].measured == 507.0 / 512);
}

TEST_CASE("output_collapse: outputs that do not vary over the batch", "[output_collapse]") {
    auto const constant = [](auto& run, step_id at) {
        std::vector<float> values(16);
        for (std::size_t i = 0; i < 16; ++i) { values[i] = i % 2 == 0 ? 2.0F : -3.0F; }
        if (at.index == 4) { values[3] = nan_f; }
        run.see(at, "preds", values, {8, 2});
    };
    CHECK(fired(output_collapse{.warmup = 2}, 8, constant) == indices{4, 5, 6, 7});
    run it{output_collapse{.warmup = 0, .patience = 1}};
    constant(it, train(0));
    CHECK(it.close(train(0)) == truth::yes);
    CHECK((it.found[0].reason == "outputs are constant" && it.found[0].measured == 0));
    it.see(train(1), "preds", {1, 1, 1, 1, 1, 1, 1, 1.1F}, {8});
    CHECK(it.close(train(1)) == truth::no);
    it.see(train(2), "preds", {1, 1, 1, 1, 1, 1, 1, 1}, {8});
    CHECK(it.close(train(2)) == truth::yes);
    it.see(train(3), "preds", {1, 1, 1, 1, 1, 1, 1}, {7});  // too few
    CHECK(it.close(train(3)) == truth::undecided);
    it.see(train(4), "preds", std::vector<float>(8, nan_f), {8});
    CHECK(it.close(train(4)) == truth::undecided);
    it.see(predict(0), "preds", {1, 1, 1, 1, 1, 1, 1, 1}, {8});
    CHECK(it.close(predict(0)) == truth::undecided);
    CHECK(it.close(train(5)) == truth::undecided);
    // Twice in a step is once.
    run twice{output_collapse{.warmup = 0, .patience = 2}};
    constant(twice, train(0));
    constant(twice, train(0));
    CHECK(twice.close(train(0)) == truth::no);
    constant(twice, train(1));
    CHECK(twice.close(train(1)) == truth::yes);
    // Classes have no deviation to speak of.
    run numbers{output_collapse{.warmup = 0, .patience = 1}};
    numbers.see(train(0), "preds", view_of_classes(classes(8, 3)));
    CHECK(numbers.close(train(0)) == truth::undecided);
    CHECK(numbers.covered().reason.starts_with("warm-up not reached"));
}

TEST_CASE("output_collapse: log-probabilities are judged as the logits that they were made of", "[output_collapse]") {
    // 64 samples of a net that says `prior` of each class, and of each sample `spread` more or less. Offsets are what a
    // softmax takes away.
    auto const with = [](std::size_t columns, double prior, double spread, bool logarithms, flag flags = flag::none) {
        return fired(output_collapse{.warmup = 2}, 6, [&](auto& it, step_id at) {
            if (at.index == 0) {
                it.declare({.name = "preds", .role = role::prediction, .flags = flags, .type = dtype::f32});
            }
            std::vector<float> values(64 * columns);
            for (std::size_t sample = 0; sample < 64; ++sample) {
                double total = 0;
                auto const logit = [&](std::size_t i) {
                    return (i % 2 == 0 ? prior : -prior) + ((sample + i) % 3 == 0 ? spread : -spread);
                };
                for (std::size_t i = 0; i < columns; ++i) { total += std::exp(logit(i)); }
                for (std::size_t i = 0; i < columns; ++i) {
                    values[sample * columns + i] = static_cast<float>(logit(i) - (logarithms ? std::log(total) : 0));
                }
            }
            it.see(at, "preds", values, {64, columns});
        });
    };
    for (bool logarithms : {false, true}) {
        for (std::size_t columns : {2U, 10U, 1000U}) {
            CHECK(with(columns, 0, 0.0005, logarithms).empty());  // it has begun to learn
            CHECK(with(columns, 0.1, 0.0005, logarithms).empty());
            CHECK(with(columns, 3, 0.3, logarithms).empty());
            CHECK(with(columns, 1, 0.0002, logarithms) == indices{4, 5});  // how frequent classes are, and nothing else
            CHECK(with(columns, 1, 0, logarithms) == indices{4, 5});
        }
    }
    // A finding does not require rows that sum to one.
    auto const far_from_one = [&](flag flags) {
        return fired(output_collapse{.warmup = 0, .patience = 1}, 1, [&](auto& it, step_id at) {
            it.declare({.name = "preds", .role = role::prediction, .flags = flags, .type = dtype::f32});
            std::vector<float> values(16);
            for (std::size_t i = 0; i < 16; ++i) { values[i] = (i + i / 2) % 2 == 0 ? -9.000F : -9.003F; }
            it.see(at, "preds", values, {8, 2});
        });
    };
    CHECK(far_from_one(flag::none) == indices{0});
    CHECK(far_from_one(flag::log_probabilities).empty());
    // A class that cannot be, and one column, which no mean can be taken from.
    run masked{output_collapse{.warmup = 0, .patience = 1}};
    std::vector<float> values(24);
    for (std::size_t i = 0; i < 24; ++i) { values[i] = i % 3 == 0 ? neg_infinity_f : i % 2 == 0 ? -0.6926F : -0.6937F; }
    masked.see(train(0), "preds", values, {8, 3});
    CHECK(masked.close(train(0)) == truth::no);
    run single{output_collapse{.warmup = 0, .patience = 1}};
    single.declare({.name = "preds", .role = role::prediction, .flags = flag::log_probabilities, .type = dtype::f32});
    single.see(train(0), "preds", {-1, -1, -1, -1, -1, -1, -1, -1}, {8});
    CHECK(single.close(train(0)) == truth::yes);
}

TEST_CASE("log-probabilities are reported from logits, from shares and from anything else by their values") {
    auto const are = [](std::vector<float> const& values, std::uint64_t columns, flag flags = flag::none) {
        tensor_ref const view = view_of(values.data(), {values.size() / columns, columns});
        return are_log_probabilities({.role = role::prediction, .flags = flags, .type = dtype::f32}, view, 1);
    };
    float const even = -0.6931472F;
    CHECK(are({even, even, -0.1053605F, -2.3025851F}, 2));
    CHECK(are({0, -104, -104, 0}, 2));                         // sure of it
    CHECK(are({0, neg_infinity_f, nan_f, 0, even, even}, 2));  // a class that cannot be; a row that says nothing
    CHECK_FALSE(are({-1, -2}, 2));                             // logits below zero
    CHECK_FALSE(are({even, even, -3, -2}, 2));                 // of two rows one is none
    CHECK_FALSE(are({even, even, 0.5F, 0.5F}, 2));
    CHECK_FALSE(are({0.5F, 0.5F}, 2));
    CHECK_FALSE(are({0, 0}, 2));
    CHECK_FALSE(are({even, -1e30F}, 2));
    CHECK_FALSE(are({0, 0}, 1));
    CHECK_FALSE(are({}, 2));
    CHECK_FALSE(are({nan_f, even}, 2));
    CHECK(are({-1, -2}, 2, flag::log_probabilities));
    // As bf16 has them: 100000 equal ones.
    CHECK(are(std::vector<float>(100000, -11.5F), 100000));
    CHECK_FALSE(are(std::vector<float>(100000, -11.3F), 100000));
    std::int32_t const numbers[] = {0, 0};
    CHECK_FALSE(are_log_probabilities({}, view_of(numbers, {1, 2}), 1));
}

TEST_CASE("output_mismatch: logits that sum to one fire at 2", "[output_mismatch]") {
    auto const with = [](std::initializer_list<float> row, flag flags = flag::logits) {
        return fired(output_mismatch{}, 4, [&](auto& it, step_id at) {
            if (at.index == 0) {
                it.declare({.name = "preds", .role = role::prediction, .flags = flags, .type = dtype::f32});
            }
            it.see(at, "preds", row);
        });
    };
    CHECK(with({0.2F, 0.8F}) == indices{2, 3});
    CHECK(with({-1, 2}).empty());
    CHECK(with({1.5F, -0.5F}).empty());
    CHECK(with({0.2F, 0.7F}).empty());
    CHECK(with({1}).empty());
    CHECK(with({0.2F, 0.8F}, flag::none).empty());
    CHECK(with({nan_f, 1}).empty());
    // Log-probabilities, as such and as logits, are what they should be; logits and shares in their place are not.
    CHECK(with({-1.6094379F, -0.2231435F}, flag::log_probabilities).empty());
    CHECK(with({-1.6094379F, -0.2231435F}).empty());
    CHECK(with({0, -104}, flag::log_probabilities).empty());
    CHECK(with({0.2F, 0.8F}, flag::log_probabilities) == indices{2, 3});
    CHECK(with({-1, 2}, flag::log_probabilities) == indices{2, 3});
    CHECK(with({2, nan_f}, flag::log_probabilities).empty());
    CHECK(with({2}, flag::log_probabilities).empty());

    run it{output_mismatch{.patience = 1}};
    it.declare({.name = "preds", .role = role::prediction, .flags = flag::logits, .type = dtype::f32});
    it.see(eval(0), "preds", {0.2F, 0.8F, nan_f, 9, 0.5F, 0.5F}, {3, 2});  // a row with a NaN is left out
    CHECK(it.close(eval(0)) == truth::yes);
    CHECK((it.found[0].reason == "logits are probabilities" && it.found[0].tensor == "preds"));
    CHECK((it.found[0].measured < 1e-6 && it.found[0].threshold == 1e-3));
    run logarithms{output_mismatch{.patience = 1}};
    logarithms.declare(
        {.name = "preds", .role = role::prediction, .flags = flag::log_probabilities, .type = dtype::f32});
    logarithms.see(train(0), "preds", {-1, -2, 0.5F, -3}, {2, 2});
    CHECK(logarithms.close(train(0)) == truth::yes);
    CHECK((logarithms.found[0].reason == "log-probabilities are above zero" && logarithms.found[0].measured == 0.5));
    it.see(eval(1), "preds", {0.2F, 0.8F, 0.5F, 0.6F}, {2, 2});
    CHECK(it.close(eval(1)) == truth::no);
    it.see(eval(2), "preds", {nan_f, nan_f}, {1, 2});
    CHECK(it.close(eval(2)) == truth::undecided);
    CHECK(it.close(eval(3)) == truth::undecided);
    // Twice in a step counts once.
    run twice{output_mismatch{.patience = 2}};
    twice.declare({.name = "preds", .role = role::prediction, .flags = flag::logits, .type = dtype::f32});
    twice.see(train(0), "preds", {0.2F, 0.8F});
    CHECK(twice.step(train(0), "preds", {0.2F, 0.8F}) == truth::no);
    CHECK(twice.step(train(1), "preds", {0.2F, 0.8F}) == truth::yes);
}

TEST_CASE("rules on classes judge their features as they judge the values") {
    auto const play = [](auto& it, auto tell) {
        it.declare({.name = "preds", .role = role::prediction, .flags = flag::logits, .type = dtype::f32});
        for (std::uint64_t i = 0; i < 12; ++i) {
            step_id const at{i % 3 == 0 ? mode::eval : mode::train, i};
            it.see(at, "labels", view_of_classes(made_of(8, [&](std::size_t k) { return (k + i) % 2; })));
            std::vector<float> scores(16);
            for (std::size_t k = 0; k < 16; ++k) { scores[k] = (k + i / 4) % 2 == 0 ? 0.9F : 0.1F; }
            it.see(at, "preds", scores, {8, 2});
            tell(it.close(at));
        }
    };
    CHECK(judges_without_values(class_imbalance{.threshold_imbalance = 0.5, .samples = 20}, play));
    CHECK(judges_without_values(confusion{}, play));
    CHECK(judges_without_values(output_collapse{.warmup = 0, .patience = 1, .samples = 16}, play));
    CHECK(judges_without_values(output_mismatch{}, play));
}

TEST_CASE("rules on classes make nothing of damaged features") {
    std::vector<truth> const nothing(3, truth::undecided);
    double const nan = static_cast<double>(nan_f), infinity = static_cast<double>(pos_infinity_f);
    tensor_info labels{.name = "labels", .role = role::label, .type = dtype::i32, .shape = {4}};
    tensor_info scores{
        .name = "preds", .role = role::prediction, .flags = flag::logits, .type = dtype::f32, .shape = {8, 2}};
    for (std::vector<double> const& made : {std::vector<double>{nan, -1, 1e300, 0.5, infinity}, {}}) {
        CHECK(answers_to(class_imbalance{.samples = 1}, labels, made) == nothing);
        CHECK(answers_to(confusion{}, labels, made, mode::eval) == nothing);
        CHECK(answers_to(output_collapse{.warmup = 0, .patience = 1, .samples = 1}, scores, made) == nothing);
        CHECK(answers_to(output_mismatch{.patience = 1}, scores, made) == nothing);
    }
}

TEST_CASE("unrelated_predictions: chance in three windows fires, a weak relation in other units does not",
          "[unrelated_predictions]") {
    unrelated_predictions const at_once{.warmup = 0, .warmup_samples = 0};
    std::mt19937 random{1};
    auto const noise = [&] { return static_cast<float>(random() >> 8U) / 16777216.0F - 0.5F; };
    // Batches of 50; a prediction is `share` of its target and noise besides.
    auto const step_of = [&](auto& it, step_id at, float share, float offset = 0, float unit = 1) {
        std::vector<float> targets, said;
        for (int i = 0; i < 50; ++i) {
            targets.push_back(noise());
            said.push_back(offset + unit * (share * targets.back() + (1 - std::abs(share)) * noise()));
        }
        it.see(at, "target", targets, {50, 1});
        it.see(at, "prediction", said, {50, 1});
        return it.close(at);
    };
    auto const fires_at = [&](float share, unrelated_predictions const& rule, float offset = 0, float unit = 1) {
        run it{rule};
        for (std::uint64_t i = 0; i < 200; ++i) {
            if (step_of(it, train(i), share, offset, unit) == truth::yes) { return i; }
        }
        return no_index;
    };
    CHECK(fires_at(0, at_once) == 32);  // a window has 501 pairs of a column at least: 11 batches
    CHECK(fires_at(-0.5F, at_once) == 32);
    CHECK(fires_at(0.2F, at_once) == no_index);
    CHECK(fires_at(0.2F, at_once, 1000, 100) == no_index);
    CHECK(fires_at(0, {}) == 175);  // the third window that ends after 150 closes
    run it{at_once};
    for (std::uint64_t i = 0; i < 33; ++i) { CHECK((step_of(it, train(i), 0) == truth::yes) == (i == 32)); }
    REQUIRE(it.found.size() == 1);
    CHECK((it.found[0].tensor == "target" && it.found[0].threshold == Approx(2 / std::sqrt(549.0))));
    CHECK((it.found[0].severity == severity::warning && std::abs(it.found[0].measured) < 0.0895));
    CHECK(step_of(it, eval(0), 0) == truth::undecided);  // evaluations are counted apart
    for (std::uint64_t i = 33; i < 43; ++i) { CHECK(step_of(it, train(i), 0.9F) == truth::yes); }
    CHECK(step_of(it, train(43), 0.9F) == truth::no);  // until a window is better
    CHECK(it.found[0].is<unrelated_predictions>(unrelated_predictions::unrelated));
    run against{at_once};
    for (std::uint64_t i = 0; i < 33; ++i) { (void)step_of(against, train(i), -0.5F); }
    REQUIRE(against.found.size() == 1);
    CHECK(against.found[0].is<unrelated_predictions>(unrelated_predictions::opposed));
    CHECK((against.found[0].measured < -0.3 && against.found[0].threshold == Approx(-6 / std::sqrt(549.0))));
}

TEST_CASE("unrelated_predictions: two evaluations are enough where training is better", "[unrelated_predictions]") {
    std::mt19937 random{1};
    auto const noise = [&] { return static_cast<float>(random() >> 8U) / 16777216.0F - 0.5F; };
    auto const step_of = [&](auto& it, step_id at, float share, std::size_t count) {
        std::vector<float> targets, said;
        for (std::size_t i = 0; i < count; ++i) {
            targets.push_back(noise());
            said.push_back(share * targets.back() + (1 - share) * noise());
        }
        it.see(at, "target", targets, {count, 1});
        it.see(at, "prediction", said, {count, 1});
        return it.close(at);
    };
    // A training of 800 samples; every tenth step an evaluation of 600 (120 are paired).
    auto const fires_after = [&](float in_training, float in_evaluation) {
        run it{unrelated_predictions{.warmup = 0}};
        for (std::uint64_t i = 0; i < 200; ++i) {
            (void)step_of(it, train(i), in_training, 4);
            if (i % 10 == 9 && step_of(it, eval(i), in_evaluation, 600) == truth::yes) {
                CHECK(it.found[0].is<unrelated_predictions>(unrelated_predictions::in_evaluation_alone));
                return (i + 1) / 10;
            }
        }
        return no_index;
    };
    CHECK(fires_after(0.5F, 0) == 15);  // training's first window ends after 126 steps, the third here after 15
    CHECK(fires_after(0.5F, 0.4F) == no_index);
    CHECK(fires_after(0, 0) == no_index);
}

TEST_CASE("unrelated_predictions: a column is compared with its own mean", "[unrelated_predictions]") {
    unrelated_predictions const at_once{.warmup = 0, .warmup_samples = 0};
    // 60 steps of `samples` samples: targets and predictions by sample and column. The limit of the last finding.
    auto const limit_of = [&](std::uint64_t samples, std::uint64_t columns, auto make, extents const& shape) {
        run it{at_once};
        for (std::uint64_t i = 0; i < 60; ++i) {
            std::vector<float> targets, said;
            for (std::uint64_t k = 0; k < samples; ++k) { make(targets, said, columns); }
            it.see(train(i), "target", targets, shape);
            it.see(train(i), "prediction", said, shape);
            if (it.close(train(i)) == truth::yes) { return it.found[0].threshold; }
        }
        return 0.0;
    };
    number_source random;
    // The predictions know a share of their sample's target; column c has mean c and a spread of 10^-c.
    auto const knowing = [&](float share) {
        return [&random, share](std::vector<float>& targets, std::vector<float>& said, std::uint64_t columns) {
            for (std::uint64_t c = 0; c < columns; ++c) {
                float const centre = static_cast<float>(c % 5), spread = std::pow(10.0F, -centre),
                            own = random.normal();
                targets.push_back(centre + spread * own);
                said.push_back(centre + spread * (share * own + (1 - share) * random.normal()));
            }
        };
    };
    // Colours whose rows are shuffled.
    double const shuffled = limit_of(50, 3, knowing(0), {50, 3});
    CHECK(shuffled == Approx(2 / std::sqrt(8 * 64 - 3.0)));
    CHECK(limit_of(50, 3, knowing(0.5F), {50, 3}) == 0);
    CHECK(limit_of(1, 3, knowing(0), {1, 3}) == 0);  // too few pairs so far
    CHECK(limit_of(64, 1, knowing(0), {64, 1}) > 0);
    CHECK(limit_of(64, 1, knowing(0.5F), {64, 1}) == 0);
    // Many columns: a step shows 64 elements of them. Nine steps have 8 free pairs of each element.
    CHECK(limit_of(16, 40, knowing(0), {16, 40}) > 0);
    CHECK(limit_of(16, 40, knowing(0.5F), {16, 40}) == 0);
    CHECK(limit_of(8, 192, knowing(0), {8, 3, 8, 8}) == Approx(2 / std::sqrt(64.0 * 8)));
    CHECK(limit_of(8, 192, knowing(0.5F), {8, 3, 8, 8}) == 0);
    // The same batch again: the targets of a column do not vary.
    std::vector<float> const same{0.5F, 10.5F, 100.5F};
    CHECK(limit_of(1, 3, [&](auto& targets, auto& said, auto) { targets = same, said = {1, 11, 101}; }, {1, 3}) == 0);
}

TEST_CASE("unrelated_predictions: a column whose targets hardly vary does not outweigh the others",
          "[unrelated_predictions]") {
    // Soft labels of a net that knows them: one class is nearly absent from the labels, not from the predictions.
    auto const fires = [](float share) {
        run it{unrelated_predictions{.warmup = 0, .warmup_samples = 0}};
        number_source random;
        for (std::uint64_t i = 0; i < 60; ++i) {
            std::vector<float> targets, said;
            for (std::uint64_t k = 0; k < 20; ++k) {
                for (std::uint64_t c = 0; c < 8; ++c) {
                    float const spread = c == 0 ? 1e-9F : 1, own = random.normal();
                    targets.push_back(spread * own);
                    said.push_back(c == 0 ? 0.1F * random.normal() : share * own + (1 - share) * random.normal());
                }
            }
            it.see(train(i), "target", targets, {20, 8});
            it.see(train(i), "prediction", said, {20, 8});
            if (it.close(train(i)) == truth::yes) { return true; }
        }
        return false;
    };
    CHECK(!fires(0.9F));
    CHECK(!fires(0.3F));
    CHECK(fires(0));
}

TEST_CASE("unrelated_predictions: a picture is one sample, whatever its pixels", "[unrelated_predictions]") {
    // A net that still draws the mean of all pictures. The step at which the rule fires; `no_index`: it does not.
    auto const fires_at = [](std::uint64_t samples, std::uint64_t pixels, std::uint64_t steps) {
        run it{unrelated_predictions{}};
        number_source random;
        for (std::uint64_t i = 0; i < steps; ++i) {
            std::vector<float> targets, said;
            for (std::uint64_t k = 0; k < samples * pixels; ++k) {
                targets.push_back(random.normal()), said.push_back(0.01F * random.normal());
            }
            it.see(train(i), "target", targets, {samples, pixels});
            it.see(train(i), "prediction", said, {samples, pixels});
            if (it.close(train(i)) == truth::yes) { return i; }
        }
        return no_index;
    };
    CHECK(fires_at(1, 100, 1000) == no_index);
    std::uint64_t const alone = fires_at(1, 100, 6000);
    CHECK((alone > 5000 && alone < 5100));
    std::uint64_t const eight = fires_at(8, 100, 1000);
    CHECK((eight > 625 && eight < 725));
}

TEST_CASE("unrelated_predictions: columns by any layout, and in batches of any size", "[unrelated_predictions]") {
    // Two columns with means far apart, in column-major order, and with the batch axis second: predictions are noise.
    number_source random;
    for (bool const second : {false, true}) {
        run it{unrelated_predictions{.warmup = 0, .warmup_samples = 0}};
        bool found = false;
        for (std::uint64_t i = 0; i < 60; ++i) {
            std::uint64_t const samples = 20 + i % 7;
            std::vector<float> targets, said;
            for (float const centre : {0.0F, 100.0F}) {
                for (std::uint64_t k = 0; k < samples; ++k) {
                    targets.push_back(centre + random.normal()), said.push_back(centre + random.normal());
                }
            }
            extents const shape = second ? extents{2, samples} : extents{samples, 2};
            order const layout = second ? order::row_major : order::column_major;
            for (char const* name : {"target", "prediction"}) {
                if (i == 0) {
                    it.declare({.name = name,
                                .role = guess_role(name),
                                .flags = second ? batch_axis(1) : flag::none,
                                .type = dtype::f32,
                                .shape = shape});
                }
                auto const& values = name[0] == 't' ? targets : said;
                it.see(train(i), name, view_of(values.data(), shape, layout));
            }
            found = it.close(train(i)) == truth::yes || found;
        }
        CHECK(found);
    }
}

TEST_CASE("unrelated_predictions: masks and sets of tags, of several samples", "[unrelated_predictions]") {
    // 60 steps: two of five tags a sample at random; predictions that know them by `share`. How it fired; 0: not.
    auto const how = [](float share, extents const& shape, std::uint64_t steps = 60) {
        run it{unrelated_predictions{.warmup = 0, .warmup_samples = 0}};
        number_source random;
        std::uint8_t found = 0;
        for (std::uint64_t i = 0; i < steps; ++i) {
            std::vector<float> targets, said;
            for (std::uint64_t k = 0; k < shape.elements(); ++k) {
                targets.push_back(random.normal() > 0.25F ? 1.0F : 0.0F);
                said.push_back(0.4F + share * (targets.back() - 0.4F) + 0.01F * random.normal());
            }
            it.see(train(i), "target", targets, shape);
            it.see(train(i), "prediction", said, shape);
            if (it.close(train(i)) == truth::yes) { found = it.found[0].condition; }
        }
        return found;
    };
    CHECK(how(0, {20, 5}) == unrelated_predictions::unrelated);
    CHECK(how(0, {20, 5}, 600) == unrelated_predictions::unrelated);  // never for long: rare tags are learned late
    CHECK(how(0, {20, 4, 4}) == unrelated_predictions::unrelated);
    CHECK(how(-0.5F, {20, 5}) == unrelated_predictions::opposed);
    CHECK(how(0.01F, {20, 5}) == 0);
    CHECK(how(0, {100, 1}) == 0);  // two classes: not so soon
    CHECK(how(0, {100}) == 0);
    CHECK(how(0, {1, 100}) == 0);
}

TEST_CASE("unrelated_predictions: a score of two classes, after many windows", "[unrelated_predictions]") {
    // Whole-number labels below `classes`; a share `ones` of them is not 0. Scores that know them by `known`.
    auto const first = [](double ones, float known, std::uint32_t classes = 2) {
        run it{unrelated_predictions{}};
        std::mt19937 random{1};
        auto const even = [&] { return static_cast<double>(random()) / 4294967296.0; };
        std::vector<std::int32_t> labels(50);
        std::vector<float> said(50);
        for (std::uint64_t i = 0; i < 600; ++i) {
            for (std::size_t k = 0; k < 50; ++k) {
                labels[k] = even() < ones ? 1 + static_cast<std::int32_t>(random() % (classes - 1U)) : 0;
                said[k] = 0.3F + known * (static_cast<float>(labels[k]) - 0.3F) + 0.1F * static_cast<float>(even());
            }
            it.see(train(i), "labels", view_of(labels.data(), {50}));
            it.see(train(i), "pred", view_of(said.data(), {50, 1}));
            if (it.close(train(i)) == truth::yes) {
                CHECK(it.found[0].condition == unrelated_predictions::long_unrelated);
                return static_cast<std::int64_t>(i);
            }
        }
        return std::int64_t{-1};
    };
    std::int64_t const at = first(0.25, 0);
    CHECK((at > 150 && at < 500));
    CHECK(first(0.5, 0) > 150);
    CHECK(first(0.25, 0.02F) == -1);   // it knows something
    CHECK(first(0.25, -0.02F) == -1);  // the score of the other class
    CHECK(first(0.05, 0) == -1);       // rare
    CHECK(first(0.7, 0, 5) == -1);     // class numbers
}

TEST_CASE("unrelated_predictions: class numbers beside scores in columns are not read", "[unrelated_predictions]") {
    unrelated_predictions const rule;
    unrelated_predictions::state seen;
    tensor_info const labels{.name = "labels", .role = role::label, .type = dtype::i64, .shape = extents{50}};
    tensor_info const logits{.name = "logits", .role = role::prediction, .type = dtype::f32, .shape = extents{50, 10}};
    tensor_info const score{.name = "pred", .role = role::prediction, .type = dtype::f32, .shape = extents{50, 1}};
    CHECK((rule.declare(seen, labels) && rule.declare(seen, logits)));
    CHECK_FALSE(seen.has_target);
    CHECK((rule.declare(seen, score) && seen.has_target));
    CHECK(rule.needs(labels) == stats_mask::feature);  // no pass over whole numbers
}

TEST_CASE("unrelated_predictions: one answer to everything tells nothing; classes and two values are left out",
          "[unrelated_predictions]") {
    unrelated_predictions const rule{.samples = 7, .warmup = 0, .warmup_samples = 0, .patience = 1};
    auto const answer = [&](std::vector<float> const& targets, std::vector<float> const& said) {
        run it{rule};
        it.see(train(0), "target", targets, {targets.size()});
        it.see(train(0), "prediction", said, {said.size()});
        return it.close(train(0));
    };
    std::vector<float> const numbers{0.5F, 1.5F, 2.5F, 3.5F, 0.25F, 7.5F, 0.75F, 9}, same(8, 0.5F);
    CHECK(answer(numbers, same) == truth::yes);
    CHECK(answer(numbers, numbers) == truth::no);
    CHECK(answer(same, numbers) == truth::undecided);
    CHECK(answer({0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 0, 1, 2, 2, 1, 0}) == truth::undecided);      // classes
    CHECK(answer({0, 1, 2, 3, 4, 5, 6, 7}, same) == truth::yes);                                // counts
    CHECK(answer({.1F, .9F, .1F, .9F, .1F, .9F, .1F, .9F}, same) == truth::no);                 // one window of two
    CHECK(answer(numbers, std::vector<float>(7, 0.5F)) == truth::undecided);                    // not of the same size
    CHECK(answer({0.5F, 1.5F, nan_f, 3.5F, 0.25F, 7.5F, 0.75F, 9}, same) == truth::undecided);  // nor of no number
    CHECK(judges_without_values(rule, [&](auto& it, auto tell) {
        for (std::uint64_t i = 0; i < 4; ++i) {
            it.see(train(i), "target", numbers, {8});
            it.see(train(i), "prediction", i % 2 == 0 ? same : numbers, {8});
            tell(it.close(train(i)));
        }
    }));
    run alone{rule};
    alone.see(train(0), "target", numbers, {8});
    CHECK(alone.close(train(0)) == truth::undecided);
    CHECK(alone.covered().reason.starts_with("warm-up not reached"));
    CHECK(unrelated_predictions{.predictions = "["}.malformed() == "[");
}
