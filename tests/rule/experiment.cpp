// SPDX-License-Identifier: Apache-2.0
// What an experiment said, as a record holds it: read back it is the same, and what is no such text says nothing.
#include <spotter/rule/experiment.hpp>

#include <tests/catch.hpp>

#include <string>

using namespace spotter;

namespace {

detail::experiment_text written(experiment_answer const& it, std::span<rule_id const> right = {}) {
    detail::experiment_text made;
    detail::write_right(made, right);
    detail::write_answer(made, it);
    return made;
}

finding of(rule_id which, severity level = severity::error) {
    finding made;
    made.attribute_to(which);
    made.severity = level, made.detail << "seen";
    return made;
}

}  // namespace

TEST_CASE("an answer is read as it was written, whatever letters a name has") {
    experiment_answer said;
    said.add({rule_id::update_direction, experiment_outcome::refuted, {}});
    said.add({rule_id::dead_update_path, experiment_outcome::proven, {"detached", "a layer\nof 2 \xff lines"}});
    said.add({rule_id::gradient_not_cleared, experiment_outcome::not_proven, {}});
    said.first = {"no_gradient", ""};
    constexpr rule_id right[] = {rule_id::learning_rate_zero, rule_id::update_direction};
    detail::experiment_text const text = written(said, right);
    detail::experiment_reader read{text.view()};
    REQUIRE(read.read());
    REQUIRE(read.right().size() == 2);
    CHECK(read.right()[0] == rule_id::learning_rate_zero);
    CHECK(read.right()[1] == rule_id::update_direction);
    REQUIRE(read.answer().count == said.count);
    for (std::size_t i = 0; i < said.count; ++i) {
        CHECK(read.answer().words[i].of == said.words[i].of);
        CHECK(read.answer().words[i].outcome == said.words[i].outcome);
        CHECK(read.answer().words[i].proof == said.words[i].proof);
    }
    CHECK(read.answer().first == said.first);
}

TEST_CASE("a text that is cut, or of another kind, says nothing") {
    experiment_answer said;
    said.add({rule_id::dead_update_path, experiment_outcome::proven, {"detached", "fc1/w"}});
    detail::experiment_text const text = written(said);
    for (std::size_t size = 1; size < text.view().size(); ++size) {
        detail::experiment_reader read{text.view().substr(0, size)};
        CHECK(!read.read());
        CHECK(read.answer().count == 0);
    }
    for (std::string_view const each :
         {"perhaps update_direction\n", "proven update_direction detached x fc\n", "first detached 99 fc1/w\n",
          "first  0 \n", "proven update_direction detached 4294967296 fc\n"}) {
        INFO(std::string{each});
        detail::experiment_reader read{each};
        CHECK(!read.read());
    }
    detail::experiment_reader later{"refuted a_rule_of_a_later_version\nrefuted update_direction\n"};
    REQUIRE(later.read());
    CHECK(later.answer().count == 1);
}

TEST_CASE("an answer changes findings of its rules alone, and no notes") {
    experiment_answer said;
    said.add({rule_id::update_direction, experiment_outcome::refuted, {}});
    said.add({rule_id::dead_update_path, experiment_outcome::proven, {"detached", "fc1/w"}});
    finding first;
    first.rule = "detached", first.tensor = "fc1/w";
    said.lead_with(first);
    finding notes[] = {of(rule_id::update_direction, severity::info), of(rule_id::loss_spike)};
    CHECK(!said.concerns(notes));
    CHECK(said.apply(notes) == nullptr);
    CHECK(notes[0].detail.view() == "seen");
    finding one[] = {of(rule_id::update_direction)};
    CHECK(said.apply(one) == &first);
    CHECK(one[0].severity == severity::info);
    finding both[] = {of(rule_id::update_direction), of(rule_id::dead_update_path)};
    CHECK(said.apply(both) == nullptr);  // the second says it
    CHECK(both[1].detail.view() == "proven: detached at \"fc1/w\"; seen");
    CHECK(both[1].leads);
}
