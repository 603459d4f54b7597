// SPDX-License-Identifier: Apache-2.0
// Help, wrong arguments and wrong paths: which exit code, and what is said where.
#include <tests/tools/tool.hpp>

#include <spotter/core/utf8.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {
constexpr char const* verbs[] = {"info", "ls", "show", "verify", "recover", "export", "report"};
std::string with_rest(std::string const& verb, std::string const& path) {
    return verb + " '" + path + '\'' + (verb == "show" ? " x" : verb == "export" ? " out.csv" : "");
}
}  // namespace

TEST_CASE("help and version are no error, and the exit codes are in the help of every verb") {
    tool_output const help = ask("--help");
    CHECK(help.code == 0);
    CHECK(help.says("Exit codes:"));
    for (std::string const verb : verbs) {
        INFO(verb);
        CHECK(help.says("  " + verb + ' '));
        tool_output const of_verb = ask(verb + " --help");
        CHECK(of_verb.code == 0);
        CHECK(of_verb.says("Exit codes:"));
        CHECK(of_verb.says("  5  the record is not whole"));
        CHECK(of_verb.says("  6  the run died or failed"));
        CHECK(of_verb.says("  7  nothing could be judged"));
        CHECK(of_verb.says("--json"));
    }
    CHECK(ask("--version").says("."));
}

TEST_CASE("wrong arguments end with 2 and one complaint on standard error") {
    temporary_folder const folder;
    record_small(folder / "run");
    std::string const run = folder / "run";
    for (std::string const& each :
         {std::string{"frobnicate"}, std::string{"info"}, "info " + run + " --nonsense", "show " + run,
          "show " + run + " loss --as picture", "show " + run + " loss --step train:x",
          "show " + run + " loss --step 3:train", "show " + run + " loss --stat average",
          "show " + run + " loss --mode training", "ls " + run + " --mode test",
          "show " + run + " loss --step 1 --stat l2 --as histogram", "export " + run,
          "export " + run + " - --format npz", "export " + run + " " + folder / "x.npy"}) {
        tool_output const it = ask(each);
        INFO(each);
        CHECK(it.code == 2);
        CHECK(it.out.empty());
        CHECK(!it.err.empty());
    }
    CHECK(ask("show " + run + " loss --stat average").complains("mean_abs"));
}

TEST_CASE("a path that is no run ends with 3 and says what is there instead") {
    temporary_folder const folder;
    std::filesystem::create_directory(folder / "empty");
    write_file(folder / "file", {'a'});
    record_small(folder / "runs/a");
    record_small(folder / "runs/b");
    for (std::string const verb : verbs) {
        INFO(verb);
        tool_output it = ask(with_rest(verb, folder / "missing"));
        CHECK(it.code == 3);
        CHECK(it.out.empty());
        CHECK(it.complains("does not exist"));
        CHECK(ask(with_rest(verb, folder / "file")).complains("is a file"));
        CHECK(ask(with_rest(verb, folder / "empty")).complains("000000.spot"));
        it = ask(with_rest(verb, folder / "runs"));
        CHECK(it.code == 3);
        CHECK(it.complains(folder / "runs/a, "));
        it = ask(with_rest(verb, folder / "missing") + " --json");
        CHECK(it.code == 3);
        CHECK(it.document().at("verb") == verb);
        CHECK(it.document().at("error").at("code") == "not_a_run");
        CHECK(!it.err.empty());
    }
    CHECK(!std::filesystem::exists("out.csv"));
}

TEST_CASE("a name, a step or a value that is not there ends with 3 and says where to look") {
    temporary_folder const folder;
    record_small(folder / "run");
    std::string const run = folder / "run";
    CHECK(ask("show " + run + " nobody").complains("spotter ls"));
    for (std::string const& each :
         {"show " + run + " nobody", "show " + run + " loss --step train:99", "show " + run + " fc1/w --step train:1",
          "show " + run + " grad/fc1/w --step 2", "export " + run + " " + folder / "x.npz --name 'grad/*'",
          "export " + run + " " + folder / "x.csv --name 'nobody*'"}) {
        tool_output const it = ask(each);
        INFO(each);
        CHECK(it.code == 3);
        CHECK(it.out.empty());
        CHECK(!it.err.empty());
    }
    CHECK(!std::filesystem::exists(folder / "x.npz"));
}

TEST_CASE("a name that would move the cursor is printed as what it is") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        (void)watch.step(train(0), "red \x1b[31m name"_t = 1.0);
    }
    tool_output const it = ask("ls " + folder / "run");
    CHECK(it.says("red \\x1b[31m name"));
    CHECK(it.out.find('\x1b') == std::string::npos);
    CHECK(ask("ls --json " + folder / "run").document().at("names").at(0).at("name") == "red \x1b[31m name");
}

TEST_CASE("what cannot be written ends with 4") {
    temporary_folder const folder;
    record_small(folder / "run");
    write_file(folder / "file", {'a'});
    CHECK(ask("export " + folder / "run " + folder / "file/below.csv").code == 4);
    CHECK(ask("export " + folder / "run " + folder / "file --format csv").code == 4);
    CHECK(read_file(folder / "file") == std::vector<char>{'a'});
    CHECK(ask("info " + folder / "run >/dev/full").code == 4);
}

namespace {

// What moves a cursor, changes colours or turns the order of letters: C0 but for line ends and tabs, DEL, C1 and marks
// of direction; and what is no UTF-8, which a terminal may take for C1.
bool has_controls(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        std::size_t const size = spotter::detail::letter_size(text, i);
        auto const byte = [&](std::size_t at) { return static_cast<unsigned char>(text[i + at]); };
        if (size == 0 || (size == 1 && (byte(0) < 0x20 || byte(0) == 0x7F) && text[i] != '\n' && text[i] != '\t')) {
            return true;
        }
        if (size == 2 && ((byte(0) == 0xC2 && byte(1) < 0xA0) || (byte(0) == 0xD8 && byte(1) == 0x9C))) { return true; }
        bool const general = size == 3 && byte(0) == 0xE2 && byte(1) == 0x80 &&
                             (byte(2) == 0x8E || byte(2) == 0x8F || (byte(2) >= 0xA8 && byte(2) <= 0xAE));
        bool const isolates = size == 3 && byte(0) == 0xE2 && byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9;
        if (general || isolates) { return true; }
        i += size;
    }
    return false;
}

}  // namespace

TEST_CASE("nothing that a record, a file's name or an argument says reaches the terminal but as letters, whichever the "
          "verb") {
    temporary_folder const folder;
    std::string const evil = "a\x1b[31m\xC2\x9B"
                             "2J\xE2\x80\xAE\xE2\x81\xA6\x7F\x9B\xD8\x9C\xE2\x80\x8F\rb";
    std::string const path = folder / ("run " + evil), again = folder / "again";
    for (std::string const& each : {path, again}) {
        hook watch{each, plan{collection{"all", "*", always{}, payload}},
                   any("*", maximum > 0.9) | named{"x\x1b[2J\xC2\x9By"}};
        for (std::uint64_t i = 0; i < 3; ++i) {
            std::vector<float> const values{1, 2, 3};
            (void)watch.step(train(i), named_tensor{evil, offer(values)}, "loss"_t = each == path ? 1.0 : 2.0);
        }
        watch.scalar("checkpoint", "train(1) refused: " + evil);
        watch.scalar(evil, "a text: " + evil);
        watch.fail(evil);
    }
    std::string const shown = '\'' + path + '\'', other = '\'' + again + '\'', name = '\'' + evil + '\'';
    for (std::string const& each : {"info " + shown,
                                    "ls " + shown,
                                    "show " + shown + ' ' + name,
                                    "show " + shown + ' ' + name + " --step 1",
                                    "check " + shown,
                                    "check --rules large_loss " + shown,
                                    "verify " + shown,
                                    "diff " + shown + ' ' + other,
                                    "checkpoints " + shown,
                                    "who " + shown,
                                    "profile " + shown,
                                    "recover " + shown,
                                    "export " + shown + " --out '" + path + ".csv'",
                                    "show " + shown + " 'none" + evil + '\'',
                                    evil.substr(0, 1) + name,
                                    "info --what" + name + ' ' + shown,
                                    "info " + name,
                                    "report " + shown + " -o '" + path + ".html'",
                                    "compact " + shown,
                                    "capture " + shown + " --names " + name}) {
        for (char const* const form : {"", " --json"}) {
            INFO(each << form);
            tool_output const it = ask(each + form);
            CHECK_FALSE(has_controls(it.out));
            CHECK_FALSE(has_controls(it.err));
            CHECK(it.out.size() + it.err.size() > 0);
        }
    }
    CHECK(ask("ls --json " + shown).document().at("names").size() == 3);
}
