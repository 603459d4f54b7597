# SPDX-License-Identifier: Apache-2.0
# The recipe's behaviour beyond what docs/getting.md shows: with every option each component is a target (PRESENT), and
# a compiler that is too old is refused with a sentence.
set(options "")
file(STRINGS "${TREE}/conanfile.py" names REGEX "^    options = ")
string(REGEX MATCHALL "\"[a-z0-9]+\"" names "${names}")
foreach(name IN LISTS names)
    string(REPLACE "\"" "" name "${name}")
    list(APPEND options -o "spotter/*:${name}=True")
endforeach()

function(conan failing)
    execute_process(COMMAND "${CONAN}" ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(failing AND (result EQUAL 0 OR NOT output MATCHES "${failing}"))
        message(FATAL_ERROR "conan ${ARGN} must fail and say '${failing}':\n${output}")
    elseif(NOT failing AND NOT result EQUAL 0)
        message(FATAL_ERROR "conan ${ARGN} ended with ${result}:\n${output}")
    endif()
endfunction()

conan("spotter is C\\+\\+20 and needs gcc 12 or later; this is 11" create "${TREE}" -s compiler=gcc -s compiler.version=11)

file(REMOVE_RECURSE "${FOLDER}")
conan("" create "${TREE}" ${options} --test-folder=)
conan("" install --requires=spotter/[>0] ${options} "--output-folder=${FOLDER}" -g CMakeDeps -g CMakeToolchain -g PkgConfigDeps)
if(NOT EXISTS "${FOLDER}/spotter.pc")
    message(FATAL_ERROR "there is no spotter.pc")
endif()
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${PROJECT}" -B "${FOLDER}/build" "-DCMAKE_TOOLCHAIN_FILE=${FOLDER}/conan_toolchain.cmake"
                        -DCMAKE_BUILD_TYPE=Release "-DPRESENT=${PRESENT}"
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "cannot configure with what Conan gave:\n${output}")
endif()
