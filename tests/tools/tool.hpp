// SPDX-License-Identifier: Apache-2.0
// Runs the built program `spotter` (SPOTTER_TOOL is its path) on recorded runs.
#pragma once

#include <tests/trial/runs.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

namespace spotter_test {

struct tool_output {
    int code = -1;
    std::string out{};
    std::string err{};

    [[nodiscard]] bool says(std::string_view words) const { return out.find(words) != std::string::npos; }
    [[nodiscard]] bool complains(std::string_view words) const { return err.find(words) != std::string::npos; }
    // Of a program that was asked with --json; a document must be all that there is.
    [[nodiscard]] nlohmann::json document() const { return nlohmann::json::parse(out); }
};

// Runs a command of the shell; what it says on standard output, and how it ends.
inline tool_output run_shell(std::string const& command) {
    tool_output it;
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    std::array<char, 4096> piece{};
    for (std::size_t got = 1; got > 0;) {
        got = std::fread(piece.data(), 1, piece.size(), pipe);
        it.out.append(piece.data(), got);
    }
    int const status = ::pclose(pipe);
    it.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return it;
}

// `arguments` as a shell takes them; standard input is empty, and no stream is a terminal.
inline tool_output ask(std::string const& arguments) {
    temporary_folder const folder;
    std::string const err = folder / "err";
    tool_output it = run_shell(std::string{SPOTTER_TOOL} + ' ' + arguments + " </dev/null 2>'" + err + '\'');
    std::vector<char> const text = read_file(err);
    it.err.assign(text.begin(), text.end());
    return it;
}

// A Python that has a module, or an empty text; SPOTTER_PYTHON_VENV names it at build time.
inline std::string python_with(std::string const& module) {
    std::string const python = SPOTTER_PYTHON_VENV;
    bool const has =
        !python.empty() && std::system((python + " -c 'import " + module + "' >/dev/null 2>&1").c_str()) == 0;
    return has ? python : std::string{};
}

inline std::string text_of(std::string const& path) {
    std::vector<char> const bytes = read_file(path);
    return {bytes.begin(), bytes.end()};
}

inline constexpr auto large_loss = spotter::any("loss", spotter::maximum > 0.9) | spotter::named{"large_loss"};

inline constexpr std::size_t height = 40, width = 50;

inline std::vector<float> weights_at(std::uint64_t step) {
    std::vector<float> values(height * width);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>((i * 37 + step * 11) % 1000) * 0.001F - 0.25F;
    }
    return values;
}

// Ten steps of train and two of eval: a loss, a weight of 40 x 50 at every second one, and statistics of a gradient.
template <class... More>
void record_small(std::string const& path, More const&... more) {
    using namespace spotter;
    plan const keep{collection{"losses", "loss", always{}, payload}, collection{"weights", "fc1/w", every{2}, payload},
                    collection{"gradients", "grad/*", always{}, stats(l2) | histogram | quantiles}};
    hook watch{path, keep, more...};
    for (std::uint64_t i = 0; i < 10; ++i) {
        std::vector<float> const values = weights_at(i);
        auto const weights = view_of(values.data(), {height, width});
        (void)watch.step(train(i), "loss"_t = 1.0 / static_cast<double>(i + 1), "fc1/w"_t = weights,
                         "grad/fc1/w"_t = weights);
        if (i % 5 == 4) { (void)watch.step(eval(i), "loss"_t = 0.5); }
    }
    watch.finish();
}

inline void flip(std::string const& path, std::size_t place) {
    std::vector<char> bytes = read_file(path);
    REQUIRE(place < bytes.size());
    bytes[place] = static_cast<char>(bytes[place] ^ 0x20);
    write_file(path, bytes);
}

// More than padding could hide.
inline void spoil(std::string const& path) {
    std::vector<char> bytes = read_file(path);
    REQUIRE(bytes.size() > 200);
    for (std::size_t i = 0; i < 100; ++i) {
        bytes[bytes.size() / 2 + i] = static_cast<char>(~bytes[bytes.size() / 2 + i]);
    }
    write_file(path, bytes);
}

}  // namespace spotter_test
