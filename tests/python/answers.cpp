// SPDX-License-Identifier: Apache-2.0
// What the reader of C++ says of a run's folder, and of copies of it that are damaged: `answers FOLDER`, then a line of
// standard input each.
//
//     whole                       as it stands
//     flip FILE AT MASK           the bits of MASK in the byte at AT
//     erase FILE AT BYTES         so many bytes less
//     cut FILE AT                 nothing from there on
//     drop FILE                   no such file; behind any of these `; without FILE...` takes further files away
//
// A line for each answer, its question and a tab before it, then a line with a dot. tests/python/test_mutants.py asks
// the other reader the same.
#include <tests/fault/frozen_files.hpp>

#include <spotter/trial.hpp>

#include <bit>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

using namespace spotter;
using namespace spotter_test;

namespace {

std::string text_of(step_id step) { return std::string{name_of(step.mode)} + ":" + std::to_string(step.index); }

std::string hex_of(void const* from, std::size_t bytes) {
    std::string hex;
    for (std::size_t i = 0; i < bytes; ++i) {
        char letters[3];
        (void)std::snprintf(letters, sizeof letters, "%02x", static_cast<unsigned char const*>(from)[i]);
        hex += letters;
    }
    return hex;
}
std::string hex_of(double value) { return hex_of(&value, sizeof value); }
std::string code_of(error const& why) { return "!" + std::string{name_of(why.code)}; }

// What every mutant is asked: names and steps of the whole record.
struct questions {
    std::set<std::string> names{};
    std::set<step_id> steps{};
    std::uint32_t attempts = 1;
    std::vector<std::uint32_t> workers{};
};

class answering {
public:
    answering(trial const& run, questions const& asked) : run_{run}, asked_{asked} {}

    void all() {
        values(false);  // from the few rows that may hold them, then once all rows were read
        lists();
        values(true);
    }

private:
    static void say(std::string const& question, std::string const& answer) {
        std::cout << question << '\t' << answer << '\n';
    }

    static void value(std::string const& question, recorded_value const& found) {
        if (!found) { return say(question, code_of(found.error())); }
        std::string shape;
        for (std::size_t axis = 0; axis < found.view().shape.rank; ++axis) {
            shape += std::to_string(found.view().shape.size[axis]) + ",";
        }
        say(question, shape + hex_of(found.view().values.raw, static_cast<std::size_t>(found.view().bytes())));
    }
    void values(bool again) {
        for (std::string const& name : asked_.names) {
            each_value(name, run_[name], again);
            for (std::uint32_t const number : asked_.workers) {
                if (asked_.workers.size() > 1) {
                    each_value(name + " of " + std::to_string(number), run_[name].of(worker{number}), again);
                }
            }
        }
    }
    void each_value(std::string const& title, track const& from, bool again) {
        for (step_id const step : asked_.steps) {
            std::string const question = title + " " + text_of(step);
            if (!again) {
                value(question, from.at(step));
                continue;
            }
            value(question + " again", from.at(step));
            value(question + " first", from.at(step, nth{0}));
            value(question + " second", from.at(step, nth{1}));
            for (std::uint32_t number = 0; number < asked_.attempts && asked_.attempts > 1; ++number) {
                value(question + " attempt " + std::to_string(number), from.at(step, attempt{number}));
            }
            auto const stat = from.stat(step, mean);
            say(question + " mean", stat ? hex_of(*stat) : code_of(stat.error()));
            auto const time = from.time(step);
            say(question + " time", time ? hex_of(*time) : code_of(time.error()));
            auto const shape = from.shape(step);
            say(question + " shape",
                shape ? std::to_string(shape->rank) + "/" + std::to_string(shape->elements()) : code_of(shape.error()));
        }
    }
    static void steps(std::string const& question, std::vector<step_id> const& found) {
        std::string all;
        for (step_id const each : found) { all += text_of(each) + " "; }
        say(question, all);
    }
    void lists() {
        steps("steps", run_.steps());
        steps("steps of all", run_.steps(closed_by::all));
        say("status", std::string{name_of(run_.status())});
        say("attempts", std::to_string(run_.attempts()));
        say("closed", std::to_string(run_.closed_steps()));
        std::string names;
        for (std::string const& each : run_.names()) { names += each + " "; }
        say("names", names);
        std::string findings;
        for (finding const& each : run_.findings()) {
            findings += std::string{each.rule} + "@" + text_of(each.step) + " ";
        }
        say("findings", findings);
        for (std::string const& name : asked_.names) { list("", name, run_[name]); }
        for (std::uint32_t const number : asked_.workers) {
            if (asked_.workers.size() < 2) { continue; }
            std::string const whose = " of " + std::to_string(number);
            steps("steps" + whose, run_.steps(worker{number}));
            for (std::string const& name : asked_.names) { list(whose, name, run_[name].of(worker{number})); }
        }
        for (step_id const step : asked_.steps) {
            constexpr char const* states[] = {"present", "absent", "pending"};
            say("state " + text_of(step), states[static_cast<std::size_t>(run_.state(step))]);
        }
        std::set<std::string> damage;
        for (damaged_place const& each : run_.damage()) {
            damage.insert(each.file + ":" + std::to_string(each.offset) + "+" + std::to_string(each.bytes) + " ");
        }
        std::string all;
        for (std::string const& each : damage) { all += each; }
        say("damage", all);
    }
    static void list(std::string const& whose, std::string const& name, track const& from) {
        steps(name + whose + " steps", from.steps());
        steps(name + whose + " payload steps", from.payload_steps());
        std::string history, loose;
        for (mode const each : {mode::train, mode::eval}) {
            for (point const& it : from.history(mean, during{each})) {
                history += text_of(it.step) + "=" + (it.known ? hex_of(it.value) : "unknown") + " ";
            }
        }
        say(name + whose + " history", history);
        for (loose_scalar const& each : from.loose()) { loose += hex_of(each.value) + "@" + hex_of(each.time) + " "; }
        say(name + whose + " loose", loose);
    }

    trial const& run_;
    questions const& asked_;
};

// False where the line is not understood.
bool mutate(std::string const& line, folder_contents& files) {
    std::istringstream words{line};
    std::string what, name;
    words >> what;
    if (what == "whole") { return true; }
    words >> name;
    auto const at = files.find(std::string{frozen_files::folder} + "/" + name);
    if (at == files.end()) { return false; }
    std::size_t place = 0, more = 0;
    auto const from = [&] { return at->second.begin() + static_cast<std::ptrdiff_t>(place); };
    if (what == "flip" && words >> place >> more && place < at->second.size()) {
        at->second[place] ^= static_cast<std::byte>(more);
    } else if (what == "erase" && words >> place >> more && place + more <= at->second.size()) {
        at->second.erase(from(), from() + static_cast<std::ptrdiff_t>(more));
    } else if (what == "cut" && words >> place && place <= at->second.size()) {
        at->second.erase(from(), at->second.end());
    } else if (what == "drop") {
        files.erase(at);
    } else {
        return false;
    }
    if (std::string semicolon, without; words >> semicolon >> without) {
        while (words >> name) { files.erase(std::string{frozen_files::folder} + "/" + name); }
    }
    return true;
}

folder_contents read_folder(std::filesystem::path const& folder) {
    folder_contents found;
    for (auto const& each : std::filesystem::recursive_directory_iterator{folder}) {
        if (!each.is_regular_file()) { continue; }
        std::ifstream file{each.path(), std::ios::binary};
        std::string const bytes{std::istreambuf_iterator<char>{file}, {}};
        auto const* const first = reinterpret_cast<std::byte const*>(bytes.data());
        std::string const name = std::filesystem::relative(each.path(), folder).generic_string();
        found.emplace(std::string{frozen_files::folder} + "/" + name, contents{first, first + bytes.size()});
    }
    return found;
}

}  // namespace

int main(int count, char** words) {
    if (count < 2) { return 2; }
    frozen_files files;
    folder_contents const whole = files.files = read_folder(words[1]);
    questions asked;
    {
        auto const run = open_trial(frozen_files::folder, files);
        if (!run) { return 1; }
        for (std::string const& each : run->names()) { asked.names.insert(each); }
        for (auto const& reader : run->readers()) {
            for (closed_step const& each : reader->index().steps()) { asked.steps.insert(each.step); }
        }
        asked.attempts = run->attempts();
        asked.workers = run->workers();
    }
    for (std::string line; std::getline(std::cin, line);) {
        files.files = whole;
        if (!mutate(line, files.files)) { return 2; }
        auto const run = open_trial(frozen_files::folder, files);
        if (run) {
            answering{*run, asked}.all();
        } else {
            std::cout << "open\t" << code_of(run.error()) << '\n';
        }
        std::cout << '.' << std::endl;
    }
    return 0;
}
