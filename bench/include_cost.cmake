# SPDX-License-Identifier: Apache-2.0
# T16: what an include costs a translation unit, against the standard headers that it brings along by themselves. And what one
# whole file costs: a hook with few and many rules, beside files that do the least with libraries known to everybody.
#     cmake [-D CXX=<compiler>] [-D INCLUDE=<folder>] [-D FOLDER=<scratch folder>] [-D ROUNDS=5] -P include_cost.cmake
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
if("$ENV{SPOTTER_BENCH_QUICK}")
    set(ROUNDS 1)
endif()

# Standard and system headers behind a header of spotter, found by following its includes of spotter.
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

# Milliseconds of the processor, the system's for it included, as the shell tells them (its own, nearly none, are in the sum): a busy neighbour is not in them. Behind `into` are
# flags; -O0 -fsyntax-only where there are none.
set(ENV{LC_ALL} C)
function(compile_once file into)
    set(flags ${ARGN})
    if(NOT flags)
        set(flags -O0 -fsyntax-only)
    endif()
    execute_process(COMMAND sh -c "\"$@\"; result=$?; times; exit $result" sh "${CXX}" -std=c++20 "-I${INCLUDE}" ${flags} "${file}"
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
endfunction()

function(median into)
    list(SORT ARGN COMPARE NATURAL)
    list(LENGTH ARGN count)
    math(EXPR middle "${count} / 2")
    list(GET ARGN ${middle} value)
    set(${into} ${value} PARENT_SCOPE)
endfunction()

# With and without turn by turn, so that a busy neighbour slows both.
function(measure header limit)
    foreign_headers("${header}" foreign)
    string(MAKE_C_IDENTIFIER "${header}" name)
    list(TRANSFORM foreign REPLACE "(.+)" "#include <\\1>" OUTPUT_VARIABLE lines)
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

measure(spotter/hook.hpp 100)
measure(spotter/spotter.hpp 250)

# A file with a hook and so many composed rules, each of its own pattern and limit, in packs of ten.
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
    file(WRITE "${FOLDER}/rules_${count}.cpp" "#include <spotter/spotter.hpp>
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

# The controls: as little as a program can do with them.
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

# All in turn, so that a busy neighbour slows each of them.
set(again ${ROUNDS})
if(again GREATER 3)
    set(again 3)
endif()
foreach(round RANGE 1 ${again})
    foreach(case IN LISTS cases)
        foreach(level 0 2)
            if("$ENV{SPOTTER_BENCH_QUICK}" AND (level EQUAL 2 OR NOT case MATCHES "^(rules_1|nlohmann_json)$"))
                continue() # the quick run sees that it works
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
