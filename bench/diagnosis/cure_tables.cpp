// SPDX-License-Identifier: Apache-2.0
// Tables of cures, as Markdown.
#include "cure_tables.hpp"

#include "cures.hpp"
#include "labels.hpp"

#include <map>

namespace diagnosis {

namespace {

// Whether a training ends worse than every healthy base training of its family that was left alone, or lost; of a
// healthy one: worse than its kind.
bool is_bad(outcome const& it, std::vector<outcome> const& alone) {
    label const its = label_of(it, alone);
    return its == label::manifest || its == label::failed;
}
// A structural fault that trains as well as healthy ones is not bad; a healthy training under a cure is held against
// the same kind left alone.
struct tally {
    std::size_t count = 0, bad_alone = 0;
    std::vector<std::size_t> acted{}, saved{}, harmed{};
};

}  // namespace

void print_cures(std::vector<std::vector<outcome>> const& by_cure) {
    std::vector<outcome> const& alone = by_cure[0];
    std::map<std::string, tally> rows;
    for (std::size_t i = 0; i < alone.size(); ++i) {
        fault const broken = alone[i].what.broken;
        tally& row = rows[broken == fault::none ? " healthy" : std::string{info_of(broken).name}];
        row.acted.resize(by_cure.size()), row.saved.resize(by_cure.size()), row.harmed.resize(by_cure.size());
        bool const bad = is_bad(alone[i], alone);
        ++row.count;
        row.bad_alone += bad ? 1 : 0;
        for (std::size_t c = 1; c < by_cure.size(); ++c) {
            outcome const& it = by_cure[c][i];
            bool const still = is_bad(it, alone);
            row.acted[c] += it.acts > 0 ? 1 : 0;
            row.saved[c] += bad && !still ? 1 : 0;
            row.harmed[c] += !bad && still ? 1 : 0;
        }
    }
    std::printf("trainings in which a cure acted / bad ones that it saved / good ones that it made bad\n\n| fault | "
                "trainings | bad when left alone |");
    for (std::size_t c = 1; c < by_cure.size(); ++c) { std::printf(" %s |", std::string{cure_names[c]}.c_str()); }
    std::printf("\n|---|---|---|");
    for (std::size_t c = 1; c < by_cure.size(); ++c) { std::printf("---|"); }
    for (auto const& [name, row] : rows) {
        std::printf("\n| %s | %zu | %zu |", name.c_str(), row.count, row.bad_alone);
        for (std::size_t c = 1; c < by_cure.size(); ++c) {
            std::printf(" %zu / %zu / %zu |", row.acted[c], row.saved[c], row.harmed[c]);
        }
    }
    std::printf("\n");
}

}  // namespace diagnosis
