// SPDX-License-Identifier: Apache-2.0
// The problems and how they are sampled; the files of the real data.
#include "data.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace diagnosis {

namespace {

using example::prng;

samples draw_regression(std::size_t count, prng& random) {
    samples made{{std::size_t{8}}, values(count * 8), {}, values(count)};
    for (float& each : made.inputs) { each = normal(random); }
    for (std::size_t i = 0; i < count; ++i) {
        float const* const x = made.row(i);
        made.targets[i] =
            std::sin(2.0F * x[0]) + 0.5F * x[1] * x[2] + 0.7F * std::abs(x[3]) + 0.3F * x[4] + 0.1F * normal(random);
    }
    return made;
}

samples draw_points(std::size_t count, prng& random) {
    samples made{{std::size_t{2}}, values(count * 2), std::vector<std::int32_t>(count), {}};
    constexpr std::array<std::array<float, 2>, 3> centres{{{3.3F, 2.6F}, {-3.4F, 2.2F}, {0.2F, -3.9F}}};
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t const label = random.below(5);
        float* const x = made.row(i);
        if (label < 2) {
            float const radius = (label == 0 ? 0.8F : 2.1F) + 0.22F * normal(random);
            float const angle = random.uniform(0.0F, 6.28318531F);
            x[0] = radius * std::cos(angle);
            x[1] = radius * std::sin(angle);
        } else {
            x[0] = centres[label - 2][0] + 0.6F * normal(random);
            x[1] = centres[label - 2][1] + 0.6F * normal(random);
        }
        x[0] /= 2.0F;  // near one, as after standardising
        x[1] /= 2.0F;
        made.classes[i] = static_cast<std::int32_t>(label);
    }
    return made;
}

constexpr std::size_t side = 16;

// One pattern a class, the same for every seed.
values patterns() {
    prng random{16};
    values made(10 * side * side);
    for (std::size_t c = 0; c < 10; ++c) {
        for (int spot = 0; spot < 4; ++spot) {
            float const x0 = random.uniform(3.0F, 13.0F), y0 = random.uniform(3.0F, 13.0F);
            float const height = spot % 2 == 0 ? 1.6F : -1.6F;
            for (std::size_t y = 0; y < side; ++y) {
                for (std::size_t x = 0; x < side; ++x) {
                    float const dx = static_cast<float>(x) - x0, dy = static_cast<float>(y) - y0;
                    made[(c * side + y) * side + x] += height * std::exp(-(dx * dx + dy * dy) / 6.0F);
                }
            }
        }
    }
    return made;
}

samples draw_pictures(std::size_t count, prng& random) {
    static values const all = patterns();
    samples made{{std::size_t{1}, side, side}, values(count * side * side), std::vector<std::int32_t>(count), {}};
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t const label = random.below(10), right = random.below(5), down = random.below(5);
        float const strength = random.uniform(0.7F, 1.3F);
        float* const into = made.row(i);
        for (std::size_t y = 0; y < side; ++y) {
            for (std::size_t x = 0; x < side; ++x) {
                std::size_t const from_y = (y + down + side - 2) % side, from_x = (x + right + side - 2) % side;
                into[y * side + x] = strength * all[(label * side + from_y) * side + from_x] + 0.5F * normal(random);
            }
        }
        made.classes[i] = static_cast<std::int32_t>(label);
    }
    return made;
}

std::string data_file(char const* name) {
    char const* const folder = std::getenv("SPOTTER_DATA");
    return folder == nullptr || *folder == '\0' ? std::string{} : std::string{folder} + '/' + name;
}

// Numbers of a text with commas, rows of `columns`; lines with another number of them are left out.
values parse_rows(std::string const& text, std::size_t columns) {
    values made;
    std::istringstream lines{text};
    values row;
    for (std::string line; std::getline(lines, line);) {
        row.clear();
        for (char const* at = line.c_str(); *at != '\0';) {
            char* end = nullptr;
            row.push_back(std::strtof(at, &end));
            if (end == at) { break; }
            at = *end == ',' ? end + 1 : end;
        }
        if (row.size() == columns) { made.insert(made.end(), row.begin(), row.end()); }
    }
    return made;
}

// Rows whose last column is the class: two thirds to learn from, one third to be judged by, chosen by the seed.
task split(values const& rows, std::size_t columns, std::size_t classes, std::uint64_t seed) {
    prng random{seed + 1000};
    std::vector<std::size_t> const order = example::shuffled_indices(rows.size() / columns, random);
    task made;
    made.classes = classes;
    made.train.sample = made.eval.sample = {columns - 1};
    for (std::size_t i = 0; i < order.size(); ++i) {
        samples& into = i < order.size() * 2 / 3 ? made.train : made.eval;
        float const* const row = rows.data() + order[i] * columns;
        into.inputs.insert(into.inputs.end(), row, row + columns - 1);
        into.classes.push_back(static_cast<std::int32_t>(row[columns - 1]));
    }
    return made;
}

}  // namespace

task make_regression(std::uint64_t seed) {
    prng random{seed};
    task made{draw_regression(3000, random), draw_regression(500, random), 0, {}};
    float mean = 0, variance = 0;
    auto const count = static_cast<float>(made.train.count());
    for (float const y : made.train.targets) { mean += y / count; }
    for (float const y : made.train.targets) { variance += (y - mean) * (y - mean) / count; }
    for (samples* const each : {&made.train, &made.eval}) {
        for (float& y : each->targets) { y = (y - mean) / std::sqrt(variance); }
    }
    return made;
}

task make_points(std::uint64_t seed) {
    prng random{seed};
    return {draw_points(1000, random), draw_points(500, random), 5, {}};
}

task make_pictures(std::uint64_t seed) {
    prng random{seed};
    return {draw_pictures(1500, random), draw_pictures(500, random), 10, {}};
}

std::optional<task> read_digits(std::uint64_t seed) {
    std::string const path = data_file("digits.csv.gz");
    if (path.empty()) { return {}; }
    std::string text;
    std::FILE* const pipe = popen(("gzip -dc '" + path + "' 2>/dev/null").c_str(), "r");
    if (pipe == nullptr) { return {}; }
    std::array<char, 4096> part{};
    while (std::size_t const size = std::fread(part.data(), 1, part.size(), pipe)) { text.append(part.data(), size); }
    pclose(pipe);
    values rows = parse_rows(text, 65);
    if (rows.size() < 65 * 500) { return {}; }
    for (std::size_t i = 0; i < rows.size(); ++i) { rows[i] = i % 65 < 64 ? rows[i] / 16.0F : rows[i]; }
    return split(rows, 65, 10, seed);
}

std::optional<task> read_breast_cancer(std::uint64_t seed) {
    std::ifstream file{data_file("breast_cancer.csv")};
    std::stringstream text;
    text << file.rdbuf();
    values const rows = parse_rows(text.str(), 31);
    if (rows.size() < 31 * 300) { return {}; }
    task made = split(rows, 31, 2, seed);
    for (std::size_t f = 0; f < 30; ++f) {  // standardised by what is learnt from
        double sum = 0, squares = 0;
        for (std::size_t i = 0; i < made.train.count(); ++i) {
            auto const x = static_cast<double>(made.train.row(i)[f]);
            sum += x;
            squares += x * x;
        }
        double const mean = sum / static_cast<double>(made.train.count());
        double const deviation = std::sqrt(squares / static_cast<double>(made.train.count()) - mean * mean);
        for (samples* const each : {&made.train, &made.eval}) {
            for (std::size_t i = 0; i < each->count(); ++i) {
                float& x = each->row(i)[f];
                x = static_cast<float>((static_cast<double>(x) - mean) / deviation);
            }
        }
    }
    return made;
}

}  // namespace diagnosis
