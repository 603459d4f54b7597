// SPDX-License-Identifier: Apache-2.0
// The table of causes: of each row what makes it the first, and what makes another one; and that docs/diagnosis.md and
// docs/internals/diagnosis.md have the same table.
#include <spotter/diagnosis/cause_table.hpp>

#include <tests/catch.hpp>

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

namespace {

using namespace spotter::detail;
using enum sign;

constexpr cause first(signs const& seen) { return rank(seen).first; }

// A row each: it is first.
static_assert(first({bad_values, bad_data, most_weights_leapt, most_weights_leap}) == cause::bad_value);
static_assert(first({bad_values, bad_gradient_alone, most_weights_climb, loss_rises_under_small_steps}) ==
              cause::bad_value);
static_assert(first({bad_values, one_bad_element, large_weights}) == cause::bad_value);
static_assert(first({batches_again, eval_above_training}) == cause::same_batch);
static_assert(first({no_activation, gradient_vanishes}) == cause::no_activation);
static_assert(first({output_does_not_match, guesses}) == cause::mismatch);
static_assert(first({one_feature_tells_all, eval_above_training}) == cause::leak);
static_assert(first({deep_trees, eval_above_training}) == cause::deep_trees);
static_assert(first({constant_reward, most_weights_leap}) == cause::constant_reward);
static_assert(first({updates_without_effect, most_weights_leapt, most_weights_leap}) == cause::left_out);
static_assert(first({updates_undone, most_weights_leapt, eval_as_before, guesses}) == cause::set_back);
static_assert(first({weights_alike, no_gradient, gradient_vanishes}) == cause::alike);
static_assert(first({raw_input, wide_input, dead_units}) == cause::raw_input);
static_assert(first({large_weights, saturated_units, gradient_vanishes}) == cause::large_weights);
static_assert(first({most_weights_shrank, gradient_vanishes, gradient_fades_with_depth}) == cause::decay);
static_assert(first({nothing_moves, eval_as_before}) == cause::zero_rate);
static_assert(first({hardly_anything_moves, eval_as_before}) == cause::small_rate);
static_assert(first({most_weights_leapt, most_weights_leap, dead_units}) == cause::large_rate);
static_assert(first({one_gradient_jumped, most_weights_leap, units_died}) == cause::spike);
static_assert(first({most_weights_climb, loss_gets_worse}) == cause::wrong_sign);
static_assert(first({gradient_holds_those_before, some_weights_climb}) == cause::piles_up);
static_assert(first({dead_without_a_leap, dead_units, no_gradient}) == cause::dead_units);
static_assert(first({no_gradient, gradient_vanishes}) == cause::no_gradient);
static_assert(first({gradient_vanishes, gradient_fades_with_depth}) == cause::depth);
static_assert(first({guesses, classes_imbalanced}) == cause::labels);
static_assert(first({classes_imbalanced}) == cause::imbalance);
static_assert(first({classes_imbalanced, loss_gets_worse}) == cause::none);
static_assert(first({unmixed_batches, guesses, eval_above_training}) == cause::imbalance);
static_assert(first({eval_rises, eval_above_training}) == cause::overfit);
static_assert(first({updates_lost_in_bf16}) == cause::precision);

// A row each: what speaks for it, and another one is first.
static_assert(first({bad_values, most_weights_leapt}) == cause::large_rate);
// Steps that are too large throw the loss up before it overflows.
static_assert(first({bad_values, most_weights_leap, loss_has_not_risen}) == cause::bad_value);
static_assert(first({bad_values, most_weights_leapt, most_weights_leap, loss_has_not_risen}) == cause::large_rate);
static_assert(first({batches_again, unmixed_batches}) == cause::same_batch);
static_assert(first({no_activation, bad_values, bad_data}) == cause::bad_value);
static_assert(first({output_does_not_match, bad_values, bad_data}) == cause::bad_value);
static_assert(first({one_feature_tells_all, loss_gets_worse, most_weights_climb}) == cause::wrong_sign);
static_assert(first({deep_trees, bad_values, bad_data}) == cause::bad_value);
static_assert(first({constant_reward, batches_again}) == cause::same_batch);
static_assert(first({updates_without_effect, nothing_moves}) == cause::zero_rate);
static_assert(first({not_in_optimizer, nothing_moves}) == cause::left_out);  // what is in it moves
static_assert(first({updates_without_effect, hardly_anything_moves}) == cause::small_rate);
static_assert(first({updates_without_effect, dead_without_a_leap, dead_units}) == cause::dead_units);
static_assert(first({weights_alike, not_in_optimizer}) == cause::left_out);
static_assert(first({updates_undone, bad_values, bad_data}) == cause::bad_value);
static_assert(first({wide_input, most_weights_leapt, most_weights_leap}) == cause::large_rate);
static_assert(rank({wide_input, most_weights_leapt}).second == cause::large_rate);  // close behind raw_input
static_assert(first({wide_input, most_weights_leapt}) == cause::raw_input);
static_assert(first({large_weights, raw_input}) == cause::raw_input);
static_assert(first({most_weights_shrank, updates_without_effect, bad_data, bad_values}) == cause::bad_value);
static_assert(first({nothing_moves, dead_without_a_leap, dead_units}) == cause::dead_units);
static_assert(first({hardly_anything_moves, saturated_units}) == cause::dead_units);
static_assert(first({dead_without_a_leap, dead_units, saturated_units, loss_rises_under_small_steps,
                     loss_gets_worse}) == cause::wrong_sign);  // they die of the steps that climb
static_assert(first({most_weights_leapt, most_weights_climb}) == cause::wrong_sign);
static_assert(first({most_weights_leapt, not_in_optimizer}) == cause::left_out);
static_assert(first({some_weights_climb, most_weights_leapt}) == cause::large_rate);
static_assert(first({gradients_pile_up, most_weights_climb}) == cause::wrong_sign);
static_assert(first({dead_units, most_weights_leapt, most_weights_leap}) == cause::large_rate);
static_assert(first({no_gradient, weights_alike}) == cause::alike);
static_assert(first({gradient_vanishes, most_weights_leapt}) == cause::large_rate);
static_assert(first({guesses, no_gradient, eval_as_before, weights_alike}) == cause::alike);
static_assert(first({classes_imbalanced, guesses}) == cause::labels);
static_assert(first({eval_rises, batches_again}) == cause::same_batch);
static_assert(first({updates_lost_in_bf16, updates_without_effect}) == cause::left_out);

static_assert(first({most_weights_climb, optimizer_ascends, loss_has_not_risen, no_gradient}) == cause::no_gradient);
static_assert(first({weights_came_to_rest, updates_without_effect}) == cause::zero_rate);
static_assert(first({labels_below_zero, guesses}) == cause::mismatch);
static_assert(first({hardly_anything_moves, nothing_to_gain}) == cause::dead_units);
static_assert(first({nothing_moves, updates_without_effect, nothing_to_gain}) == cause::dead_units);
static_assert(first({some_weights_climb, loss_gets_worse, most_weights_leapt}) == cause::wrong_sign);
static_assert(first({some_weights_climb, some_keep_climbing, loss_has_not_risen, guesses}) == cause::wrong_sign);
static_assert(first({predictions_opposed, guesses}) == cause::wrong_sign);
static_assert(first({labels_contradict, eval_rises, eval_above_training}) == cause::labels);
static_assert(first({labels_contradict, raw_input}) == cause::raw_input);
static_assert(first({guesses, tiny_input}) == cause::raw_input);
static_assert(first({guesses, wide_input}) == cause::raw_input);
static_assert(first({units_died, dead_units, eval_rises}) == cause::large_rate);
static_assert(first({most_weights_leapt_later, no_gradient, guesses}) == cause::large_rate);
static_assert(first({one_gradient_jumped, bad_values, bad_data}) == cause::bad_value);
static_assert(first({weights_overflowed, bad_values}) == cause::large_rate);
static_assert(first({most_weights_leap, gradient_vanishes, gradient_fades_with_depth}) == cause::depth);
static_assert(first({optimizer_ascends, some_weights_climb, some_keep_climbing, most_weights_shrank}) == cause::decay);
static_assert(first({weights_overflowed, bad_values, gradients_pile_up}) == cause::piles_up);
static_assert(first({most_weights_leap, gradient_holds_those_before}) == cause::piles_up);
static_assert(first({units_died, dead_units, updates_without_effect}) == cause::large_rate);
static_assert(first({units_died, dead_units, raw_input}) == cause::raw_input);
static_assert(first({units_died, dead_units, not_in_optimizer}) == cause::left_out);
static_assert(first({large_weights, most_weights_shrank}) == cause::large_weights);
static_assert(first({weights_came_to_rest, updates_lost_in_bf16}) == cause::precision);
static_assert(first({weights_rest_at_zero, nothing_moves, dead_without_a_leap, dead_units}) == cause::alike);

// A loss that rests speaks against a rate that is too large: what begins next to zero has to grow.
static_assert(first({most_weights_leap, loss_rests}) == cause::none);
static_assert(first({most_weights_leapt, loss_rests, no_gradient}) == cause::no_gradient);
static_assert(first({most_weights_leapt, loss_rests, eval_as_before}) == cause::labels);
static_assert(first({most_weights_leapt, most_weights_leap, loss_rests}) == cause::large_rate);

// Gradients that change little speak against a rate that is too large.
static_assert(first({most_weights_leap, units_died, gradients_change_little, loss_gets_worse}) == cause::piles_up);
static_assert(first({loss_rises_under_small_steps, loss_gets_worse, gradients_change_little}) == cause::wrong_sign);
static_assert(first({loss_gets_worse, gradients_change_little}) == cause::piles_up);
static_assert(first({gradients_change_little, loss_without_bottom}) == cause::wrong_sign);

// What is seen says nothing by itself.
static_assert(first({gradients_change_little}) == cause::none);
static_assert(first({}) == cause::none);
static_assert(first({loss_gets_worse}) == cause::none);
// The next one, and how far behind it is; of equals the first in the table.
static_assert(rank({guesses, no_gradient}).first == cause::no_gradient);
static_assert(rank({guesses, no_gradient}).second == cause::labels);
static_assert(rank({guesses, no_gradient}).lead == 0);
// Labels at random also make weights shrink, where nothing else does.
static_assert(rank({most_weights_shrank, guesses}).first == cause::decay);
static_assert(rank({most_weights_shrank, guesses}).second == cause::labels && small_lead == 1);
static_assert(rank({most_weights_shrank, guesses}).lead == 1);
static_assert(rank({guesses}).second == cause::none && rank({guesses}).lead == 4);
// Another table is ranked by its own weights.
static_assert(rank({guesses, no_gradient}, {{{cause::labels, {}, {}, {{need(guesses, 5)}}, {}, {}},
                                             {cause::no_gradient, {}, {}, {{need(no_gradient, 4)}}, {}, {}}}})
                  .first == cause::labels);

std::string in_words(sign it) {
    std::string words{name_of(it)};
    for (char& each : words) { each = each == '_' ? ' ' : each; }
    return words;
}
std::string row_in_words(cause_row const& row) {
    std::string needed, also_for, contrary;
    for (weighed_sign const& each : row.evidence) {
        if (each.what == sign::count) { continue; }
        std::string& list = each.weight < 0 ? contrary : each.needed ? needed : also_for;
        list += (list.empty() ? "" : ", ") + in_words(each.what) + ' ' + std::to_string(std::abs(each.weight));
    }
    auto const cell = [](std::string const& text) { return text.empty() ? std::string{"–"} : text; };
    return "| " + std::string{row.words} + " | `" + std::string{name_of(row.usual_rule)} + "` | " + needed + " | " +
           cell(also_for) + " | " + cell(contrary) + " | " +
           (row.remedy.empty() ? "as the rule says" : std::string{row.remedy}) + " | " + std::string{row.apart} + " |";
}

std::string row_for_users(cause_row const& row) {
    std::string const rule{name_of(row.usual_rule)};
    std::string const remedy =
        row.remedy.empty() ? "[as the rule says](rules.md#" + rule + ")" : std::string{row.remedy};
    return "| " + std::string{row.words} + " | `" + rule + "` | " + remedy + " | " + std::string{row.apart} + " |";
}
std::string page_named(std::string const& name) {
    std::ifstream file{SPOTTER_SOURCE_DIR "/docs/" + name};
    return std::string{std::istreambuf_iterator<char>{file}, {}};
}

// Each row of the table is a line of the page.
void has_rows(std::string const& page, std::string (*line_of)(cause_row const&)) {
    REQUIRE_FALSE(page.empty());
    for (cause_row const& row : cause_table) {
        INFO(line_of(row));
        CHECK(page.find(line_of(row) + '\n') != page.npos);
    }
}

TEST_CASE("docs/diagnosis.md has the causes with their remedies") {
    has_rows(page_named("diagnosis.md"), row_for_users);
}

TEST_CASE("docs/internals/diagnosis.md has the table of causes as it is") {
    std::string const page = page_named("internals/diagnosis.md");
    has_rows(page, row_in_words);
    // Its table of signs has each sign, in their order, and no other. A row may have several.
    std::string_view const head = "| sign | what it measures |\n|---|---|\n";
    std::size_t const at = page.find(head);
    REQUIRE(at != page.npos);
    std::string signs_of_page, all;
    std::istringstream rows{page.substr(at + head.size())};
    for (std::string row; std::getline(rows, row) && !row.empty();) {
        std::istringstream cell{row.substr(2, row.find(" |", 2) - 2)};
        for (std::string each; std::getline(cell, each, ',');) {
            signs_of_page += each.substr(each.find_first_not_of(' ')) + '\n';
        }
    }
    for (int i = 0; i < static_cast<int>(sign::count); ++i) { all += in_words(static_cast<sign>(i)) + '\n'; }
    CHECK(signs_of_page == all);
}

TEST_CASE("each sign of a row is there once, each sign is in some row, and texts fit into a finding") {
    std::set<sign> met;
    for (cause_row const& row : cause_table) {
        std::set<sign> mine;
        std::size_t length = 0;
        bool needed = false;
        for (weighed_sign const& each : row.evidence) {
            if (each.what == sign::count) { continue; }
            CHECK(mine.insert(each.what).second);
            met.insert(each.what);
            needed = needed || (each.needed && each.weight > 0);
            length += each.weight != 0 ? name_of(each.what).size() : 0;  // those of weight 0 are not listed
        }
        INFO(row.words);
        CHECK(needed);
        CHECK(row.apart.size() <= 80);
        CHECK(length <= 240);
    }
    for (int i = 0; i < static_cast<int>(sign::count); ++i) {
        INFO(in_words(static_cast<sign>(i)));
        CHECK(met.count(static_cast<sign>(i)) == 1);
    }
}

}  // namespace
