# SPDX-License-Identifier: Apache-2.0
# T16: the cost of an include in a translation unit, compared with the standard headers that it includes. The cost of a
# whole file, header-only and with linked bodies: the README's loop, a hook with few and many rules, compared with
# minimal files that use well-known libraries. And the cost for an engine that includes the hook in each of its files.
#     cmake [-D CXX=<compiler>] [-D INCLUDE=<folder>] [-D FOLDER=<scratch folder>] [-D ROUNDS=5] [-D ENGINE_FILES=200]
#           [-D ONLY="doors;loops;files;engine"] -P include_cost.cmake
# C is the time of a file that parses and dumps with nlohmann_json, at the same flags in the same run.
cmake_minimum_required(VERSION 3.20)

if(NOT CXX)
    set(CXX c++)
endif()
if(NOT INCLUDE)
    get_filename_component(INCLUDE "${CMAKE_CURRENT_LIST_DIR}/../include" ABSOLUTE)
endif()
if(NOT FOLDER)
    set(FOLDER "${CMAKE_CURRENT_BINARY_DIR}/include_cost")
endif()
if(NOT ROUNDS)
    set(ROUNDS 5)
endif()
if(NOT ENGINE_FILES)
    set(ENGINE_FILES 200)
endif()
if("$ENV{SPOTTER_BENCH_QUICK}")
    set(ROUNDS 1)
    set(ENGINE_FILES 8)
    if(NOT ONLY)
        set(ONLY doors loops files) # an engine's implementation compiles half a minute
    endif()
endif()
if(NOT ONLY)
    set(ONLY doors loops files engine)
endif()

# The foreign headers behind a header of spotter, found by following its includes of spotter's headers; those of other
# systems, too.
function(foreign_headers header into)
    set(waiting "${header}")
    set(seen "")
    set(found "")
    while(waiting)
        list(POP_FRONT waiting next)
        if(next IN_LIST seen)
            continue()
        endif()
        list(APPEND seen "${next}")
        file(STRINGS "${INCLUDE}/${next}" lines REGEX "^ *# *include *<")
        foreach(line IN LISTS lines)
            string(REGEX REPLACE "^ *# *include *<([^>]*)>.*" "\\1" name "${line}")
            if(name MATCHES "^spotter/")
                list(APPEND waiting "${name}")
            else()
                list(APPEND found "${name}")
            endif()
        endforeach()
    endwhile()
    list(REMOVE_DUPLICATES found)
    set(${into} "${found}" PARENT_SCOPE)
endfunction()

# Processor milliseconds, system calls included, as the shell reports them; its own share is negligible, and a busy
# neighbour does not count. `into` is followed by flags, by default -O0 -fsyntax-only. `into`_memory is the compiler's
# peak memory in MB, where GNU time is installed.
set(ENV{LC_ALL} C)
file(MAKE_DIRECTORY "${FOLDER}")
find_program(TIME time)
set(memory_of "")
if(TIME)
    set(memory_of "${TIME}" -f %M -o "${FOLDER}/memory")
    execute_process(COMMAND ${memory_of} true RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
    if(NOT result EQUAL 0)
        set(memory_of "") # it is not GNU time
    endif()
endif()
function(compile_once file into)
    set(flags ${ARGN})
    if(NOT flags)
        set(flags -O0 -fsyntax-only)
    endif()
    execute_process(COMMAND sh -c "\"$@\"; result=$?; times; exit $result" sh ${memory_of} "${CXX}" -std=c++20 "-I${INCLUDE}" ${flags} "${file}"
                    RESULT_VARIABLE result OUTPUT_VARIABLE times ERROR_VARIABLE errors)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "${file} does not compile:\n${errors}")
    endif()
    string(REGEX MATCHALL "[0-9]+m[0-9]+\\.[0-9][0-9]" times "${times}")
    set(sum 0)
    foreach(each IN LISTS times)
        string(REGEX MATCH "([0-9]+)m([0-9]+)\\.([0-9][0-9])" ignored "${each}")
        math(EXPR sum "${sum} + 60000 * ${CMAKE_MATCH_1} + 1000 * ${CMAKE_MATCH_2} + 10 * (1${CMAKE_MATCH_3} - 100)")
    endforeach()
    set(${into} ${sum} PARENT_SCOPE)
    set(${into}_memory "" PARENT_SCOPE)
    if(memory_of)
        file(READ "${FOLDER}/memory" kilobytes)
        string(STRIP "${kilobytes}" kilobytes)
        math(EXPR megabytes "(${kilobytes} + 500) / 1000")
        set(${into}_memory ${megabytes} PARENT_SCOPE)
    endif()
endfunction()

# (2951, 1002) gives 2.95
function(ratio part of into)
    math(EXPR hundredths "(100 * ${part} + ${of} / 2) / ${of}")
    math(EXPR whole "${hundredths} / 100")
    math(EXPR rest "100 + ${hundredths} % 100")
    string(SUBSTRING "${rest}" 1 2 rest)
    set(${into} "${whole}.${rest}" PARENT_SCOPE)
endfunction()

function(median into)
    list(SORT ARGN COMPARE NATURAL)
    list(LENGTH ARGN count)
    math(EXPR middle "${count} / 2")
    list(GET ARGN ${middle} value)
    set(${into} ${value} PARENT_SCOPE)
endfunction()

# With and without the header in turn, so that a busy neighbour slows both.
function(measure header limit)
    foreign_headers("${header}" foreign)
    string(MAKE_C_IDENTIFIER "${header}" name)
    list(TRANSFORM foreign REPLACE "(.+)" "#if __has_include(<\\1>)\n#include <\\1>\n#endif" OUTPUT_VARIABLE lines)
    list(JOIN lines "\n" lines)
    file(WRITE "${FOLDER}/${name}_alone.cpp" "${lines}\n")
    file(WRITE "${FOLDER}/${name}.cpp" "#include <${header}>\n")
    compile_once("${FOLDER}/${name}.cpp" ignored) # warms the file cache
    set(with "")
    set(without "")
    foreach(round RANGE 1 ${ROUNDS})
        compile_once("${FOLDER}/${name}_alone.cpp" time)
        list(APPEND without ${time})
        compile_once("${FOLDER}/${name}.cpp" time)
        list(APPEND with ${time})
    endforeach()
    median(control ${without})
    median(all ${with})
    math(EXPR cost "${all} - ${control}")
    set(verdict short)
    if(cost LESS_EQUAL limit)
        set(verdict met)
    endif()
    message("T16 include <${header}>: ${cost} ms, target ${limit}, its standard headers alone ${control} ms: ${verdict}")
endfunction()

if("doors" IN_LIST ONLY)
    measure(spotter/hook.hpp 100)
    measure(spotter/spotter.hpp 250)
endif()

# Writes a file with a hook and `count` composed rules, each with its own pattern and limit, in packs of ten.
function(write_rules count)
    set(packs "")
    set(rules "")
    foreach(i RANGE 1 ${count})
        math(EXPR shape "${i} % 5")
        set(name "\"block${i}/*\"")
        if(shape EQUAL 0)
            set(rule "any(${name}, l2 > ${i}e3) || any(${name}, nonfinite > 0)")
        elseif(shape EQUAL 1)
            set(rule "all(${name}, mean_abs < ${i}e-9) | for_steps{${i}}")
        elseif(shape EQUAL 2)
            set(rule "(fraction(${name}, zero_fraction > 0.9) > 0.${i}) | rearm{${i}}")
        elseif(shape EQUAL 3)
            set(rule "any(${name}, stddev < ${i}e-9) | cooldown{${i}}")
        else()
            set(rule "any(${name}, maximum > ${i}e6) && !all(${name}, zero_fraction > 0.5)")
        endif()
        list(APPEND rules "    ${rule}")
        math(EXPR full "${i} % 10")
        if(full EQUAL 0 OR i EQUAL count)
            list(JOIN rules ",\n" text)
            list(APPEND packs "together(\n${text})")
            set(rules "")
        endif()
    endforeach()
    list(JOIN packs ", " text)
    file(WRITE "${FOLDER}/rules_${count}.cpp" "#include <spotter/rule/rule_pack.hpp>
#include <spotter/spotter.hpp>
using namespace spotter;
constexpr plan keep{collection{\"weights\", role::weight, every{10}, payload}};
constexpr auto rules = together(${text});
int main() {
    hook watch{\"runs/a\", keep, rules};
    float const loss = 1;
    return watch.step(train(0), \"loss\"_t = loss) ? 1 : 0;
}
")
endfunction()

# The first loop shown in the README.
file(WRITE "${FOLDER}/loop.cpp" "#include <spotter/packs.hpp>
#include <spotter/print.hpp>
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/spotter.hpp>
#include <vector>
using namespace spotter;
constexpr plan keep{
    collection{\"losses\",    \"loss\",       always{},            payload},
    collection{\"gradients\", \"grad/*\",     during{mode::train}, stats(l2, maximum)},
    collection{\"weights\",   role::weight, every{100},          payload}};
struct my_net {
    std::vector<float> w = std::vector<float>(200704), gradient = std::vector<float>(200704), hidden = std::vector<float>(8192);
    float forward_backward();
    float validate();
    void update();
};
template <class Visit>
void visit_tensors(my_net const& net, Visit visit) {
    visit(\"fc1/w\", view_of(net.w, {256, 784}));
    visit(\"grad/fc1/w\", view_of(net.gradient, {256, 784}));
    visit(\"act/fc1\", view_of(net.hidden, {32, 256}));
}
void train_it(my_net& net);
void train_it(my_net& net) {
    hook watch{\"runs/a\", keep, on(non_finite{}, stop), packs::supervised};
    for (std::uint64_t i = 0; i < 10'000; ++i) {
        float const loss = net.forward_backward();
        auto found = watch.step(train(i), net, \"loss\"_t = loss);
        if (i % 100 == 0) { found.add(watch.step(eval(i), \"loss\"_t = net.validate())); }
        if (found) { print(found); }
        if (found.decision() == decision::stop) { break; }
        if (found.decision() == decision::skip_update) { continue; }
        net.update();
    }
    watch.finish();
}
")

# The controls: the least that a program can do with each library.
file(WRITE "${FOLDER}/spdlog.cpp" "#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>
int main() {
    auto const log = spdlog::basic_logger_mt<spdlog::async_factory>(\"run\", \"run.log\");
    log->info(\"step {} loss {}\", 1, 0.5);
}
")
file(WRITE "${FOLDER}/nlohmann_json.cpp" "#include <nlohmann/json.hpp>
#include <cstdio>
int main(int, char** arguments) {
    std::puts(nlohmann::json::parse(arguments[0]).dump().c_str());
}
")
file(WRITE "${FOLDER}/hdf5.cpp" "#include <hdf5.h>
int main() {
    hsize_t const size = 4;
    float const values[4] = {1, 2, 3, 4};
    hid_t const file = H5Fcreate(\"run.h5\", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t const space = H5Screate_simple(1, &size, nullptr);
    hid_t const set = H5Dcreate(file, \"w\", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(set), H5Sclose(space), H5Fclose(file);
}
")
# Compiles the two target files in each way, and C, in turn. Targets are in hundredths of C.
function(loops)
    write_rules(10)
    set(again ${ROUNDS})
    if(again GREATER 3)
        set(again 3)
    endif()
    set(levels 2 0)
    if("$ENV{SPOTTER_BENCH_QUICK}")
        set(levels 0)
    endif()
    foreach(level IN LISTS levels)
        set(files nlohmann_json loop loop_linked rules_10 rules_10_linked)
        foreach(name IN LISTS files)
            set(times_${name} "")
        endforeach()
        foreach(round RANGE 1 ${again})
            foreach(name IN LISTS files)
                set(flags -O${level})
                string(REPLACE "_linked" "" source "${name}")
                if(NOT source STREQUAL name)
                    list(APPEND flags -DSPOTTER_SEPARATE)
                endif()
                compile_once("${FOLDER}/${source}.cpp" time ${flags} -c -o "${FOLDER}/${name}.o")
                list(APPEND times_${name} ${time})
                set(memory_${name} "${time_memory}")
            endforeach()
        endforeach()
        median(control ${times_nlohmann_json})
        set(memory_words "")
        if(memory_nlohmann_json)
            set(memory_words ", ${memory_nlohmann_json} MB")
        endif()
        message("  C, -O${level}: ${control} ms${memory_words}")
        foreach(row "loop;the README's loop, header-only;300;350" "loop_linked;the README's loop, linked;80;200"
                    "rules_10;a hook, a plan and ten composed rules, header-only;120;0"
                    "rules_10_linked;a hook, a plan and ten composed rules, linked;50;0")
            list(POP_FRONT row name what limit memory_limit)
            median(time ${times_${name}})
            ratio(${time} ${control} share)
            math(EXPR hundredths "100 * ${time} / ${control}")
            set(verdict "")
            set(memory "")
            if(memory_${name})
                set(memory ", ${memory_${name}} MB")
            endif()
            if(level EQUAL 2)
                ratio(${limit} 100 allowed)
                set(verdict ", target ${allowed}: short")
                if(NOT hundredths GREATER limit)
                    set(verdict ", target ${allowed}: met")
                endif()
                if(memory_limit AND memory_${name})
                    set(reached short)
                    if(NOT memory_${name} GREATER memory_limit)
                        set(reached met)
                    endif()
                    string(APPEND memory ", target ${memory_limit}: ${reached}")
                endif()
            endif()
            message("T16 ${what}, -O${level}: ${time} ms, ${share} C${verdict}${memory}")
        endforeach()
    endforeach()
endfunction()
execute_process(COMMAND "${CXX}" -std=c++20 -E "${FOLDER}/nlohmann_json.cpp" RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
if("loops" IN_LIST ONLY AND result EQUAL 0)
    loops()
endif()

# An engine of many files that all include the hook: one observes, and one has the implementation. It is compared with
# the same files without the hook.
function(write_engine folder)
    file(WRITE "${folder}/watch.hpp" "#pragma once
#if defined(WATCHED)
#include <spotter/hook.hpp>
#endif
")
    foreach(i RANGE 1 ${ENGINE_FILES})
        file(WRITE "${folder}/file_${i}.cpp" "#include \"watch.hpp\"
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
namespace engine_${i} {
struct vector3 { float x = 0, y = 0, z = 0; };
struct component {
    virtual ~component() = default;
    virtual void tick(float seconds) = 0;
    [[nodiscard]] virtual std::string describe() const = 0;
};
struct body : component {
    vector3 place, speed;
    float mass = 1;
    std::vector<vector3> forces;
    void tick(float seconds) override {
        vector3 sum;
        for (vector3 const& each : forces) { sum.x += each.x, sum.y += each.y, sum.z += each.z; }
        speed.x += sum.x / mass * seconds, speed.y += sum.y / mass * seconds, speed.z += sum.z / mass * seconds;
        place.x += speed.x * seconds, place.y += speed.y * seconds, place.z += speed.z * seconds;
        forces.clear();
    }
    [[nodiscard]] std::string describe() const override {
        std::ostringstream out;
        out << \"body at \" << place.x << ' ' << place.y << ' ' << place.z << \" of \" << mass;
        return out.str();
    }
};
struct timer : component {
    float left = 0;
    std::function<void(timer&)> ring;
    void tick(float seconds) override {
        left -= seconds;
        if (left <= 0 && ring) { ring(*this); }
    }
    [[nodiscard]] std::string describe() const override { return \"timer of \" + std::to_string(left); }
};
struct entity {
    std::string name;
    std::vector<std::unique_ptr<component>> parts;
    std::map<std::string, std::string> tags;
};
class world {
public:
    entity& add(std::string name) {
        auto fresh = std::make_unique<entity>();
        fresh->name = std::move(name);
        entity& it = *fresh;
        by_name_[it.name] = &it;
        all_.push_back(std::move(fresh));
        return it;
    }
    [[nodiscard]] entity* find(std::string const& name) const {
        auto const at = by_name_.find(name);
        return at == by_name_.end() ? nullptr : at->second;
    }
    void tick(float seconds) {
        for (auto const& each : all_) {
            for (auto const& part : each->parts) { part->tick(seconds); }
        }
    }
    [[nodiscard]] std::vector<std::string> sorted_names() const {
        std::vector<std::string> names;
        for (auto const& each : all_) { names.push_back(each->name); }
        std::sort(names.begin(), names.end());
        names.erase(std::unique(names.begin(), names.end()), names.end());
        return names;
    }
    [[nodiscard]] std::string describe() const {
        std::ostringstream out;
        for (auto const& each : all_) {
            out << each->name << ':';
            for (auto const& [key, value] : each->tags) { out << ' ' << key << '=' << value; }
            for (auto const& part : each->parts) { out << \" [\" << part->describe() << ']'; }
        }
        return out.str();
    }
    void remove_if(std::function<bool(entity const&)> const& gone) {
        for (auto const& each : all_) {
            if (gone(*each)) { by_name_.erase(each->name); }
        }
        all_.erase(std::remove_if(all_.begin(), all_.end(), [&](auto const& each) { return gone(*each); }), all_.end());
    }

private:
    std::vector<std::unique_ptr<entity>> all_;
    std::unordered_map<std::string, entity*> by_name_;
};
}  // namespace engine_${i}
std::string run_${i}();
std::string run_${i}() {
    engine_${i}::world all;
    auto& it = all.add(\"entity ${i}\");
    auto fresh = std::make_unique<engine_${i}::body>();
    fresh->forces.push_back({1, 2, ${i}});
    it.parts.push_back(std::move(fresh));
    it.tags[\"kind\"] = \"body\";
    all.tick(0.016F);
    all.remove_if([](auto const& each) { return each.name.empty(); });
    return all.describe() + std::to_string(all.sorted_names().size());
}
")
    endforeach()
    file(APPEND "${folder}/file_1.cpp" "#if defined(WATCHED)
void watch_frame(spotter::observer watch, std::vector<float> const& values);
void watch_frame(spotter::observer watch, std::vector<float> const& values) { watch.observe(\"frame\", values); }
#endif
")
    file(WRITE "${folder}/implementation.cpp" "#include <spotter/implementation.hpp>\n")
endfunction()
if("engine" IN_LIST ONLY)
    set(folder "${FOLDER}/engine")
    write_engine("${folder}")
    set(without 0)
    set(with 0)
    compile_once("${folder}/file_1.cpp" ignored -O2 -DWATCHED -DSPOTTER_SEPARATE -c -o "${folder}/out.o") # warms the file cache
    foreach(i RANGE 1 ${ENGINE_FILES})
        compile_once("${folder}/file_${i}.cpp" time -O2 -c -o "${folder}/out.o")
        math(EXPR without "${without} + ${time}")
        compile_once("${folder}/file_${i}.cpp" time -O2 -DWATCHED -DSPOTTER_SEPARATE -c -o "${folder}/out.o")
        math(EXPR with "${with} + ${time}")
    endforeach()
    compile_once("${folder}/implementation.cpp" implementation -O2 -DSPOTTER_SEPARATE -c -o "${folder}/out.o")
    # With fewer files, as in a quick run, each takes 1/200 of the implementation's cost.
    math(EXPR implementation_share "${implementation} * ${ENGINE_FILES} / 200")
    if(ENGINE_FILES GREATER 200)
        set(implementation_share ${implementation})
    endif()
    math(EXPR all "${with} + ${implementation_share}")
    ratio(${all} ${without} share)
    ratio(${with} ${without} share_of_files)
    set(verdict short)
    math(EXPR limit "${without} * 110 / 100")
    if(NOT all GREATER limit)
        set(verdict met)
    endif()
    math(EXPR each "${without} / ${ENGINE_FILES}")
    message("T16 an engine of ${ENGINE_FILES} files (${each} ms each, -O2) with the hook in each and the implementation in one "
            "(${implementation} ms, as one of 200): ${share} of its time without, target 1.10: ${verdict} (its files alone ${share_of_files})")
endif()

if(NOT "files" IN_LIST ONLY)
    return()
endif()
find_program(WC wc)
find_program(SIZE size)
find_path(HDF5_FOLDER hdf5.h PATHS /usr/include /usr/local/include PATH_SUFFIXES hdf5/serial)

set(cases "")
foreach(count 1 10 100)
    write_rules(${count})
    list(APPEND cases rules_${count})
endforeach()
set(what_rules_1 "a hook and 1 rule")
set(what_rules_10 "a hook and 10 rules")
set(what_rules_100 "a hook and 100 rules in packs of ten (64 are the most that a hook or a pack takes itself)")
set(what_spdlog "control: spdlog, an asynchronous logger and one line")
set(what_nlohmann_json "control: nlohmann_json, parse and dump")
set(what_hdf5 "control: the C API of HDF5, one data set written")
foreach(case spdlog nlohmann_json hdf5)
    set(folder_${case} "")
    if(case STREQUAL "hdf5" AND HDF5_FOLDER)
        set(folder_${case} "-isystem" "${HDF5_FOLDER}")
    endif()
    execute_process(COMMAND "${CXX}" -std=c++20 ${folder_${case}} -E "${FOLDER}/${case}.cpp" RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
    if(result EQUAL 0)
        list(APPEND cases ${case})
    else()
        message("  ${what_${case}}: its header was not found")
    endif()
endforeach()

# All in turn, so that a busy neighbour slows each alike.
set(again ${ROUNDS})
if(again GREATER 3)
    set(again 3)
endif()
foreach(round RANGE 1 ${again})
    foreach(case IN LISTS cases)
        foreach(level 0 2)
            if("$ENV{SPOTTER_BENCH_QUICK}" AND (level EQUAL 2 OR NOT case MATCHES "^(rules_1|nlohmann_json)$"))
                continue() # the quick run only shows that it works
            endif()
            compile_once("${FOLDER}/${case}.cpp" time ${folder_${case}} -O${level} -c -o "${FOLDER}/${case}.o${level}")
            list(APPEND times_${case}_${level} ${time})
        endforeach()
    endforeach()
endforeach()
foreach(case IN LISTS cases)
    if(NOT times_${case}_0)
        continue()
    endif()
    set(line "  ${what_${case}}:")
    if(WC)
        execute_process(COMMAND "${CXX}" -std=c++20 "-I${INCLUDE}" ${folder_${case}} -E -P "${FOLDER}/${case}.cpp" COMMAND "${WC}" -l
                        OUTPUT_VARIABLE count OUTPUT_STRIP_TRAILING_WHITESPACE)
        string(STRIP "${count}" count)
        string(APPEND line " ${count} preprocessed lines,")
    endif()
    median(time ${times_${case}_0})
    string(APPEND line " -O0 ${time} ms")
    if(times_${case}_2)
        median(time ${times_${case}_2})
        string(APPEND line ", -O2 ${time} ms")
        set(object "${FOLDER}/${case}.o2")
        if(SIZE)
            execute_process(COMMAND "${SIZE}" "${object}" OUTPUT_VARIABLE table)
            string(REGEX MATCH "\n *([0-9]+)" ignored "${table}")
            math(EXPR bytes "(${CMAKE_MATCH_1} + 512) / 1024")
            string(APPEND line ", ${bytes} KiB of code")
        else()
            file(SIZE "${object}" bytes)
            math(EXPR bytes "(${bytes} + 512) / 1024")
            string(APPEND line ", object of ${bytes} KiB")
        endif()
    endif()
    message("${line}")
endforeach()
