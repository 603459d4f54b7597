// SPDX-License-Identifier: Apache-2.0
// new: a project that builds and runs, against the source tree.
#include <tests/tools/tool.hpp>

#include <fstream>

using namespace spotter;
using namespace spotter_test;

namespace {

std::string build_project(std::string const& project, std::string const& more = "") {
    std::string const cmake = SPOTTER_CMAKE;
    // Without optimisation: what is asked is whether it builds.
    return run_shell("{ '" + cmake + "' -G '" SPOTTER_GENERATOR "' -S '" + project + "' -B '" + project +
                     "/build' -DCMAKE_BUILD_TYPE=Debug " + "-DSPOTTER_SOURCE='" + SPOTTER_SOURCE_DIR + "' " + more +
                     " && '" + cmake + "' --build '" + project + "/build' --target train; } 2>&1; echo ended with $?")
        .out;
}
tool_output run_project(std::string const& project, std::string const& arguments) {
    return run_shell("cd '" + project + "' && build/train " + arguments + " 2>&1");
}

void builds_and_runs(std::string const& kind) {
    temporary_folder const folder;
    std::string const project = folder / "my-net";
    tool_output const made = ask("new " + project + " --kind " + kind);
    CHECK(made.code == 0);
    CHECK(made.says("a project with a watched loop"));
    std::string const log = build_project(project);
    INFO(log);
    REQUIRE(log.ends_with("ended with 0\n"));
    tool_output const learnt = run_project(project, "");
    INFO(learnt.out);
    CHECK(learnt.code == 0);
    CHECK(learnt.says("/my-net/runs/my-net\n"));
    tool_output const stopped = run_project(project, "50");
    INFO(stopped.out);
    CHECK(stopped.code == 3);
    CHECK(stopped.says("stopped, loss "));
    CHECK(ask("show " + project + "/runs/my-net loss").says("500 points"));
    CHECK(ask("info --check " + project + "/runs/my-net-2").code == 1);
}

}  // namespace

TEST_CASE("new: the plain project builds, runs, and is stopped where its rate is far too large") {
    builds_and_runs("plain");
}

TEST_CASE("new: the project in C builds, runs, and is stopped where its rate is far too large") {
    builds_and_runs("c");
}

TEST_CASE("new: the project of libtorch is written; where libtorch is found it is configured") {
    temporary_folder const folder;
    std::string const project = folder / "net";
    REQUIRE(ask("new --kind torch " + project).code == 0);
    CHECK(text_of(project + "/CMakeLists.txt").find("find_package(Torch REQUIRED)") != std::string::npos);
    std::string const log =
        run_shell("'" + std::string{SPOTTER_CMAKE} + "' -G '" SPOTTER_GENERATOR "' -S '" + project + "' -B '" +
                  project + "/build' -DSPOTTER_SOURCE='" + SPOTTER_SOURCE_DIR + "' 2>&1; echo ended with $?")
            .out;
    INFO(log);
    CHECK((log.ends_with("ended with 0\n") || log.find("Torch") != log.npos));
}

TEST_CASE("new: a folder that is not empty is left alone, and a kind that is none is answered with the nearest") {
    temporary_folder const folder;
    std::filesystem::create_directory(folder / "here");
    std::ofstream{folder / "here/train.cpp"} << "mine";
    tool_output const there = ask("new " + folder / "here");
    CHECK(there.code == 4);
    CHECK(there.complains("is there already, and not empty"));
    CHECK(text_of(folder / "here/train.cpp") == "mine");
    std::string const odd = folder / "a b";
    CHECK(ask("new '" + odd + '\'').says("cmake -S '" + odd + "' -B '" + odd + "/build' && "));
    CHECK(ask("new " + folder / "other --kind torhc").complains("there is no kind \"torhc\": did you mean torch?"));
}
