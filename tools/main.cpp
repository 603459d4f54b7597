// SPDX-License-Identifier: Apache-2.0
// Command line: the arguments of every verb. Only this file knows CLI11.
#include "command_tree.hpp"
#include "output.hpp"
#include "parser.hpp"
#include "verbs.hpp"

#include <spotter/version.hpp>

#include <CLI/CLI.hpp>

#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace spotter_tool;

constexpr char exit_codes[] =
    "Exit codes:\n"
    "  0  fine: all that was asked for is there, and nothing is wrong with it\n"
    "  1  a finding (check, watch, info --check), a difference (diff), a cache that is damaged (verify)\n"
    "  2  the arguments are wrong\n"
    "  3  no run there, or no such name, step or value in it\n"
    "  4  a file could not be read or written, or is in use\n"
    "  5  the record is not whole: something was lost, and is reported on standard error (every verb)\n"
    "  6  the run died or failed (check, watch, info --check)\n"
    "  7  nothing could be judged (check, info --check), not all be compared (diff), or a run that was asked has\n"
    "     not done it yet (capture, pause, resume, flush, plan, rules)\n"
    "If several of 1, 5, 6 and 7 hold, the first counts.\n"
    "\nData goes to standard output, errors to standard error. With --json the data is one document.";

[[nodiscard]] std::string example_of(std::string_view verb) {
    constexpr std::pair<std::string_view, std::string_view> examples[] = {
        {"info", "spotter info runs/a"},
        {"ls", "spotter ls runs/a 'grad/*' --mode train"},
        {"show", "spotter show runs/a fc1/w --step train:100 --as histogram"},
        {"verify", "spotter verify runs/a"},
        {"recover", "spotter recover runs/a --dry-run"},
        {"compact", "spotter compact runs/a"},
        {"sync", "spotter sync runs/a s3://bucket/runs/a; spotter sync s3://bucket/runs/a runs/copy"},
        {"merge", "mpirun -n 16 sh -c 'spotter check runs/a --shard rank --json > part-$OMPI_COMM_WORLD_RANK.json'; "
                  "spotter merge part-*.json"},
        {"export", "spotter export runs/a tb --format tensorboard --follow"},
        {"check", "spotter check runs/a runs/b --rules supervised --rules rules.json --junit check.xml"},
        {"watch", "spotter watch runs --rules supervised --stop --alerts alerts.jsonl"},
        {"diff", "spotter diff runs/before runs/after\n"
                 "  spotter diff runs/cpp dumps/torch --map 'fc1.weight=fc1/w' --rtol 1e-4\n"
                 "  spotter diff runs/cpp dumps/float32 --reference dumps/float64"},
        {"profile", "spotter profile runs/a"},
        {"who", "spotter who runs/a"},
        {"checkpoints", "spotter checkpoints runs/a"},
        {"run", "spotter run --retry 'warmup=--warmup=200' --retry 'gradient*:clip=--clip=1' -- ./train --seed=1"},
        {"twin", "spotter twin -- ./train --seed=1"},
        {"capture", "spotter capture runs/a --names 'act/*' --steps 100"},
        {"plan", "spotter plan runs/a settings.json"},
        {"rules", "spotter rules runs/a rules.json"},
        {"completion", "source <(spotter completion bash)"},
        {"new", "spotter new digits --kind torch"},
        {"help", "spotter help show"},
        {"version", "spotter version"},
        {"manual", "spotter manual show | man -l -"},
        {"serve", "spotter serve runs"},
        {"report", "spotter report runs/a runs/b -o both.html\n"
                   "  spotter report runs/sweep/* --as csv -o sweep.csv"},
    };
    for (auto const& [name, example] : examples) {
        if (name == verb) { return std::string{example}; }
    }
    return "spotter " + std::string{verb} + " --help";
}

// Adds a verb. Its options must live as long as the arguments are parsed; `run` is set to the call that main makes
// then.
template <class Options>
CLI::App* add_call(CLI::App& app, char const* name, char const* what, Options& options, int (*verb)(Options const&),
                   std::function<int()>& run) {
    CLI::App* const sub = app.add_subcommand(name, what);
    sub->callback([&options, &run, verb] { run = [&options, verb] { return verb(options); }; });
    return sub;
}
// One that reads a run.
template <class Options>
CLI::App* add_verb(CLI::App& app, char const* name, char const* what, Options& options, int (*verb)(Options const&),
                   std::function<int()>& run) {
    CLI::App* const sub = add_call(app, name, what, options, verb, run);
    sub->add_option("run", options.path, "The folder of a run, or of one of its workers")->required();
    sub->add_flag("--json", options.json, "One JSON document instead of text");
    return sub;
}

void add_diff_options(CLI::App& sub, diff_arguments& given) {
    sub.get_option("run")->description("A: the folder of a run, or files of another program");
    sub.add_option("other", given.other, "B: what it is compared with, as A")->required();
    sub.add_option("--ulp", given.ulp, "Values that are at most this many units in the last place apart are equal");
    sub.add_option("--rtol", given.relative, "Values are also equal up to this, times the larger of |a| and |b|");
    sub.add_option("--atol", given.absolute, "Plus this");
    sub.add_flag("--strict", given.strict,
                 "Types, axes of one element, signs of zeros, times, names and steps count, too");
    sub.add_option("--map", given.maps,
                   "NAME_IN_A=NAME_IN_B, or a file of {\"name in A\": \"name in B\"}; may be repeated")
        ->allow_extra_args(false);
    sub.add_option("--transpose", given.transposed, "B has these (a glob of names of A) with the axes reversed")
        ->allow_extra_args(false);
    sub.add_option("--reference", given.reference, "A third one that is right: how far is each from it?");
    sub.add_option("--name", given.names, "Only names that match this glob; may be repeated")->allow_extra_args(false);
    sub.add_option("--step", given.step, "Only this step, such as train:100");
    sub.add_option("--mode", given.mode, "Only train, eval or predict");
}

void add_control_verbs(CLI::App& app, control_options& given, std::function<int()>& run) {
    using spotter::control_verb;
    auto const add = [&](control_verb verb, char const* what) {
        CLI::App* const sub = app.add_subcommand(std::string{name_of(verb)}, what);
        sub->add_option("run", given.path, "The folder of a live run")->required();
        sub->add_option("--by", given.by, "The requester, for the record (the user)");
        sub->add_option("--wait", given.wait, "Seconds until an answer is given up (10)")->check(above_zero());
        sub->add_flag("--json", given.json, "One JSON document instead of text");
        sub->callback([&given, &run, verb] { run = [&given, verb] { return control(given, verb); }; });
        return sub;
    };
    CLI::App* sub = add(control_verb::capture, "Asks a live run for the values of tensors, for some steps");
    sub->add_option("--names", given.names, "Names that match this glob, such as 'act/*'")->required();
    sub->add_option("--steps", given.steps, "The number of steps, from the next one on (100)");
    (void)add(control_verb::pause, "Asks a run to keep nothing of its plan for now; its rules judge on");
    (void)add(control_verb::resume, "Ends a pause");
    (void)add(control_verb::flush, "Asks a run to make visible what it has closed");
    sub = add(control_verb::plan, "Exchanges the plan of a run, if its program has `live(plan)`");
    sub->add_option("file", given.file, "A settings file (.json)")->required();
    sub = add(control_verb::rules, "Exchanges the rules of a run, if its program has `live(rules)`");
    sub->add_option("file", given.file, "A rules file (.json)")->required();
}

// The options of every verb, and of the program before its verb.
void add_terminal_options(CLI::App& app) {
    CLI::callback_t const colour = [](CLI::results_t const& words) {
        terminal_manners& its = manners();
        its.colour = words.back() == "always"  ? colours::always
                     : words.back() == "never" ? colours::never
                                               : colours::automatic;
        return true;
    };
    app.add_flag("--quiet", manners().quiet, "No progress on the terminal");
    app.add_option("--color", colour, "Colours: auto (on a terminal, without NO_COLOR), always, never")
        ->check(one_of("way to colour", {"auto", "always", "never"}))
        ->type_name("TEXT");
}

// Verbs that print what the parser knows: `tree`, which is filled after all verbs are added.
void add_self_describing_verbs(CLI::App& app, command_tree const& tree, self_description_options& given,
                               help_options& for_help, std::function<int()>& run) {
    CLI::App* sub = app.add_subcommand("completion", "Prints what a shell needs to complete verbs and options");
    sub->add_option("shell", given.shell, "The shell")->required()->check(one_of("shell", {"bash", "zsh", "fish"}));
    sub->callback([&] {
        run = [&] {
            say(completion_of(tree, given.shell));
            return fine;
        };
    });
    sub = app.add_subcommand("manual", "Prints a manual page for man: of the program, or of a verb");
    sub->add_option("verb", given.verb, "The verb (without: the program)");
    sub->add_option("--into", given.into, "Writes the pages of the program and of every verb into this folder");
    sub->callback([&] { run = [&] { return describe_self(tree, given, SPOTTER_TOOL_VERSION); }; });
    sub = app.add_subcommand("help", "Says what the program can do, or a verb");
    sub->add_option("verb", for_help.verb, "The verb (without: the program)");
    sub->callback([&] {
        run = [&] {
            return help(for_help, tree, [&](std::string const& verb) {
                // For the program itself this would print the help of the parsed verb `help`.
                return verb.empty() ? app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal)
                                    : app.get_subcommand(verb)->help(app.get_name());
            });
        };
    });
    sub = app.add_subcommand("version", "Says which version this is, and which records it reads");
    sub->callback([&] { run = [] { return version(SPOTTER_TOOL_VERSION); }; });
}

// Parses the arguments, or prints an error; sets `run` to the verb's call.
[[nodiscard]] int parse(CLI::App& app, command_tree const& tree, std::vector<std::string> const& arguments, int count,
                        char** words) {
    // Checked first: for an unknown verb the parser would print help and return success.
    std::size_t const place = place_of_verb(tree, arguments);
    auto const is_verb = [&](verb_words const& each) { return each.name == arguments[place]; };
    bool const unknown = place < arguments.size() && std::none_of(tree.verbs.begin(), tree.verbs.end(), is_verb);
    try {
        if (!unknown) { app.parse(count, words); }
    } catch (CLI::CallForHelp const&) {
        say(app.help());  // of the verb, if there is one
        return -1;
    } catch (CLI::CallForVersion const&) {
        say(SPOTTER_TOOL_VERSION "\n");
        return -1;
    } catch (CLI::ParseError const& why) {
        std::string const meant = misspelt(tree, arguments);
        auto const called = app.get_subcommands();
        say("spotter: " + (meant.empty() ? in_our_words(called.empty() ? app : *called.front(), why) : meant) + '\n',
            stderr);
        return bad_usage;
    }
    if (unknown) { say("spotter: " + misspelt(tree, arguments) + '\n', stderr); }
    return unknown ? bad_usage : fine;
}

int run_tool(int count, char** words) {
    CLI::App app{"Looks into the records of training runs.", "spotter"};
    app.set_version_flag("-V,--version", SPOTTER_TOOL_VERSION);
    app.require_subcommand(1);
    add_terminal_options(app);
    app.footer(std::string{"\n"} + exit_codes);
    std::function<int()> run;
    run_and_json for_one;

    info_options for_info;
    CLI::App* sub =
        add_verb(app, "info", "What is in a run: status, steps, sizes, drops, findings", for_info, info, run);
    sub->add_flag("--check", for_info.check, "The exit code also says what rules found, and how the run ended");

    ls_options for_ls;
    sub = add_verb(app, "ls", "The names in a run, with role, type, shape and steps", for_ls, ls, run);
    sub->add_option("pattern", for_ls.pattern, "Only names that match this glob, such as 'grad/*'");
    sub->add_option("--collection", for_ls.collection, "Only members of this collection");
    sub->add_option("--mode", for_ls.mode, "Only what was seen in train, eval or predict");
    sub->add_option("--step", for_ls.step, "Only what was kept at this step, such as train:100");
    sub->add_flag("--steps", for_ls.steps, "List the steps instead");
    sub->add_flag("--names", for_ls.names, "List the names alone, one a line");

    show_options for_show;
    sub = add_verb(app, "show", "A tensor at a step, or a statistic of it over time", for_show, show, run);
    sub->add_option("name", for_show.name, "The tensor's name")->required();
    sub->add_option("--step", for_show.step,
                    "Its values at this step, such as train:100; its history over a range, such as train:100..200 or "
                    "100..; without: its whole history");
    sub->add_option("--stat", for_show.stat,
                    "The statistic: mean, l2, maximum, mean_abs, ... (history: mean, if it is there)");
    sub->add_option("--as", for_show.as, "How: numbers (usual at a step), sparkline (usual over time), histogram")
        ->check(one_of("way to show it", {"numbers", "sparkline", "histogram"}));
    sub->add_option("--mode", for_show.mode, "Only train, eval or predict");
    sub->add_flag("--all", for_show.all, "All numbers");
    sub->add_flag("--ascii", for_show.ascii, "Draw with ASCII letters only");

    (void)add_verb(app, "verify", "Checks every byte; prints file:offset: what for each damaged place", for_one, verify,
                   run);

    recover_options for_recover;
    sub = add_verb(app, "recover", "Rebuilds the sidecars of a run that nobody writes", for_recover, recover, run);
    sub->add_flag("--cut", for_recover.cut, "Also cut off what a killed writer had not finished");
    sub->add_flag("--dry-run", for_recover.dry_run, "Only prints what would be done");

    (void)add_verb(app, "compact", "Merges the sidecars of a run's workers, so that thousands of them open as one",
                   for_one, compact, run);

    sync_options for_sync;
    sub =
        add_call(app, "sync", "A run's folder into an object store, or from there into a folder", for_sync, sync, run);
    sub->add_option("from", for_sync.from, "A run's folder, or a place as s3://bucket/runs/a")->required();
    sub->add_option("to", for_sync.to, "The other of both")->required();
    sub->add_flag("--remove", for_sync.remove,
                  "Remove local segments that are closed, but for the newest, once the store has them");
    sub->add_flag("--json", for_sync.json, "One JSON document on standard output");

    export_options for_export;
    sub = add_verb(app, "export", "A run in the formats of other programs: TensorBoard, NumPy, CSV, ...", for_export,
                   export_to, run);
    sub->add_option("out", for_export.out,
                    "A file " + export_endings() + " (.json: a trace); a folder; - for standard output")
        ->required();
    sub->add_option("--format", for_export.format, "Where the name of `out` does not say it")
        ->check(one_of("format", export_formats()));
    sub->add_option("--name", for_export.names, "Only names that match this glob; may be repeated")
        ->allow_extra_args(false);
    sub->add_option("--step", for_export.step, "Only this step, such as train:100");
    sub->add_option("--mode", for_export.mode, "Only train, eval or predict");
    sub->add_option("--stat", for_export.stats,
                    "A statistic of tensors; may be repeated (without: mean for CSV, elsewhere those that were kept)")
        ->allow_extra_args(false);
    sub->add_option("--image", for_export.images,
                    "TensorBoard: names to show as pictures, such as 'input' or 'input=28x28'; may be repeated")
        ->allow_extra_args(false);
    sub->add_flag("--follow", for_export.follow, "Continue until the run is over (" + export_followers() + ")");
    sub->add_flag("--widen", for_export.widen, ".npy and .npz: bf16 and f8 as float32 instead of as their bits");
    sub->add_flag("--force", for_export.force, "Replace files that are there");

    check_options for_check;
    sub = add_call(app, "check", "Judges records by rules, many at once; for CI", for_check, check, run);
    sub->add_option("run", for_check.paths, "Folders of runs");
    sub->add_option("--rules", for_check.rules,
                    "A rules file (.json), a pack or a rule; may be repeated (without: supervised)")
        ->allow_extra_args(false);
    sub->add_option("--against", for_check.against, "A healthy run: also reports what it did not have; may be repeated")
        ->allow_extra_args(false);
    sub->add_option("--fail-on", for_check.fail_on, "Exit with 1 from this severity on (warning)")
        ->check(one_of("severity", {"note", "info", "warning", "error"}));
    sub->add_option("--junit", for_check.junit, "Also writes a JUnit report into this file");
    sub->add_option("--shard", for_check.shard,
                    "Only this part of the records, such as 3/16, or `rank` under mpirun or srun; `spotter merge` "
                    "joins the documents");
    sub->add_flag("--side-by-side", for_check.side_by_side, "Judges the workers of a run against each other");
    sub->add_flag("--self-test", for_check.self_test,
                  "Plants faults into what a run's record says: which would the rules have noticed?");
    sub->add_flag("--list", for_check.list, "Lists the packs, and the rules with their parameters");
    sub->add_flag("--json", for_check.json, "One JSON document instead of text");

    merge_options for_merge;
    sub = add_call(app, "merge", "Joins what several `check --json --shard` said", for_merge, merge, run);
    sub->add_option("document", for_merge.paths, "Files with documents of `check --json`; - for standard input")
        ->required();
    sub->add_flag("--json", for_merge.json, "One JSON document instead of text");

    watch_options for_watch;
    sub = add_call(app, "watch", "Follows live runs, judges them beside the training, and stops the bad ones",
                   for_watch, watch, run);
    sub->add_option("run", for_watch.paths, "Folders of runs, or folders with runs in them; may not exist yet")
        ->required();
    sub->add_option("--rules", for_watch.rules,
                    "A rules file (.json), a pack or a rule; may be repeated (without: supervised)")
        ->allow_extra_args(false);
    sub->add_flag("--stop", for_watch.stop, "Stops a run at its first error, and where a rule asks for it");
    sub->add_option("--command", for_watch.command, "A command for each warning and error, which gets it as JSON");
    sub->add_option("--alerts", for_watch.alerts, "A file to append each warning and error to, a line of JSON each");
    sub->add_option("--stalled", for_watch.stalled,
                    "Reports when a running loop closed no step for so many seconds (1800)")
        ->check(above_zero());
    sub->add_option("--time", for_watch.time, "Ends after so many seconds (without: when all runs are over)")
        ->check(above_zero());
    sub->add_flag("--keep", for_watch.keep, "Continues when all runs are over: they may be resumed, others may begin");
    sub->add_flag("--ascii", for_watch.ascii, "Draw with ASCII letters only");
    sub->add_flag("--json", for_watch.json, "Lines of JSON instead of a screen; always where there is no terminal");

    diff_arguments for_diff;
    CLI::App* const diff_verb = add_verb(
        app, "diff", "Where two trainings part ways: the first step and tensor that differ", for_diff, diff, run);
    add_diff_options(*diff_verb, for_diff);

    (void)add_verb(app, "who", "After a hang or a kill: where each rank is, which never began, which was slow", for_one,
                   who, run);
    (void)add_verb(app, "profile", "Where the time of the steps went: sections, slow steps, slow workers", for_one,
                   profile, run);
    (void)add_verb(app, "checkpoints", "Which of the run's checkpoints are good, and why another is not", for_one,
                   list_checkpoints, run);

    run_options for_run;
    sub = add_call(app, "run", "Runs a training, and again with the next setting while it goes wrong", for_run,
                   run_training, run);
    sub->add_option("--retry", for_run.retries,
                    "What to try next: NAME (adds --NAME), NAME='--warmup=200 --lr=0.01', CAUSE:NAME=... for a glob of "
                    "rules; several by commas, or repeated")
        ->delimiter(',')
        ->allow_extra_args(false);
    sub->add_option("--rules", for_run.rules,
                    "Judges beside the training, too, and stops it: a rules file, a pack or a rule; may be repeated")
        ->allow_extra_args(false);
    sub->add_option("--attempts", for_run.attempts, "Attempts at most (4)")->check(above_zero());
    sub->add_option("--folder", for_run.folder, "The records go to FOLDER/01, 02, ... (runs/heal)");
    sub->add_option("--patience", for_run.patience, "Seconds until an attempt is killed (without: no limit)")
        ->check(above_zero());
    sub->add_option("--sweep", for_run.sweep, "A file: a training for each line, with the settings of the line");
    sub->add_option("--slots", for_run.slots, "How many trainings of a sweep run at once (1)")->check(above_zero());
    sub->add_flag("--json", for_run.json, "One JSON document instead of text");
    sub->add_option("command", for_run.command, "Behind --: the program that trains, and its arguments")->required();

    twin_options for_twin;
    sub = add_call(app, "twin", "Runs a training twice at once: the first step, tensor and bit at which the two part",
                   for_twin, twin, run);
    sub->add_option("--folder", for_twin.folder, "The records go to FOLDER/a and FOLDER/b (runs/twin)");
    sub->add_option("--patience", for_twin.patience, "Seconds until the two are killed (without: no limit)")
        ->check(above_zero());
    sub->add_flag("--json", for_twin.json, "One JSON document instead of text");
    sub->add_option("command", for_twin.command, "Behind --: the program that trains, and its arguments")->required();

    control_options for_control;
    add_control_verbs(app, for_control, run);

    report_options for_report;
    sub = add_call(app, "report", "One page of HTML: findings, curves, layers, histograms, mistakes", for_report,
                   report, run);
    sub->add_option("run", for_report.paths, "Folders of runs; several are shown side by side")->required();
    sub->add_option("-o,--out", for_report.out, "The file, or - for standard output (report.html; of --as csv -)");
    sub->add_option("--section", for_report.sections,
                    "Only this section of the page, such as runs or classes; may be repeated")
        ->allow_extra_args(false);
    sub->add_flag("--self-test", for_report.self_test, "Also reports which faults the rules would not have noticed");
    sub->add_option("--rules", for_report.rules,
                    "Judges the record anew by these: a rules file (.json), a pack or a rule; may be repeated "
                    "(without: what was found in the loop)")
        ->allow_extra_args(false);
    sub->add_option("--as", for_report.as, "page, or csv: the table of the runs, hyperparameters beside outcome")
        ->check(one_of("way to report", {"page", "csv"}))
        ->capture_default_str();
    sub->add_flag("--force", for_report.force, "Replace a file that is there");
    sub->add_flag("--json", for_report.json, "One JSON document instead of text");

    serve_options for_serve;
    sub = add_call(app, "serve", "The runs of a folder in a browser, while they are written", for_serve, serve, run);
    sub->add_option("folder", for_serve.folder, "A folder of runs, or a run")->capture_default_str();
    sub->add_option("--port", for_serve.port, "The port; 0: any that is free")
        ->check(CLI::Range(0, 65535))
        ->capture_default_str();
    sub->add_option("--host", for_serve.host, "The address to listen at; any but this machine's own asks for a token")
        ->capture_default_str();
    sub->add_flag("--token", for_serve.token, "Asks for a token here, too: on a machine that others use");
    sub->add_flag("--json", for_serve.json, "The address as one line of JSON");
    new_options for_new;
    sub =
        add_call(app, "new", "Writes a CMake project with a training loop that is watched", for_new, new_project, run);
    sub->add_option("folder", for_new.folder, "The project's folder, which is made")->required();
    sub->add_option("--kind", for_new.kind, "Of what the loop is made: plain C++, libtorch (torch) or C (c)")
        ->check(one_of("kind", {"plain", "torch", "c"}))
        ->capture_default_str();

    command_tree tree;
    self_description_options for_self;
    help_options for_help;
    add_self_describing_verbs(app, tree, for_self, for_help, run);

    tree.program = words_of(app);
    tree.exit_codes = exit_codes;
    for (CLI::App* const each : app.get_subcommands({})) {
        add_terminal_options(*each);
        each->footer("\nExample:\n  " + example_of(each->get_name()) + "\n\n" + exit_codes);
        tree.verbs.push_back(words_of(*each));
        add_offers(tree.verbs.back());
    }
    std::vector<std::string> const arguments{words + (std::min)(1, count), words + count};
    if (arguments.empty()) {
        say(app.help());
        return fine;
    }
    int const code = parse(app, tree, arguments, count, words);
    return code == fine ? run() : code == -1 ? fine : code;
}

}  // namespace

spotter_tool::verb_words spotter_tool::words_of(CLI::App const& verb) {
    verb_words it{verb.get_parent() == nullptr ? std::string{} : verb.get_name(), verb.get_description(), {}, {}};
    if (!it.name.empty()) { it.example = example_of(it.name); }
    for (CLI::Option const* const each : verb.get_options()) {
        option_words one;
        for (std::string const& name : each->get_snames()) { one.names.push_back('-' + name); }
        for (std::string const& name : each->get_lnames()) { one.names.push_back("--" + name); }
        if (one.names.empty()) { one.place = each->get_name(true); }
        one.what = each->get_description();
        one.takes_value = each->get_items_expected_max() > 0;
        one.repeats = each->get_items_expected_max() > 1;
        one.required = each->get_required();
        // The parser shows choices as TEXT:{a,b}.
        std::string const type = each->get_type_name();
        std::size_t at = type.find('{');
        while (at != type.npos && type[at] != '}') {
            std::size_t const end = type.find_first_of(",}", at + 1);
            if (end == type.npos) { break; }
            one.choices.push_back(type.substr(at + 1, end - at - 1));
            at = end;
        }
        it.options.push_back(std::move(one));
    }
    return it;
}

int main(int count, char** words) {
    int code = failed;
    try {
        code = run_tool(count, words);
    } catch (std::bad_alloc const&) {
        say("spotter: no memory for all that was asked for: name fewer tensors or steps\n", stderr);
    } catch (std::exception const& why) { say(fmt::format("spotter: {}\n", why.what()), stderr); }
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        say("spotter: standard output could not be written\n", stderr);
        return failed;
    }
    return code;
}
