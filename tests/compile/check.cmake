# SPDX-License-Identifier: Apache-2.0
# Compiles SOURCE unchanged. If it must fail, compiles it again with SPOTTER_CONTROL, which must succeed: so it fails
# for the expected reason, and not for a missing header. `// expect at once: <regex>` must match the first error.
file(STRINGS "${SOURCE}" expect REGEX "^// expect( at once)?: ")
string(REGEX MATCH "^// expect at once: " at_once "${expect}")
string(REGEX REPLACE "^// expect( at once)?: +" "" expect "${expect}")

set(apart "")
if(NOT expect STREQUAL "")
    set(apart -DSPOTTER_SEPARATE) # these errors come from declarations; bodies only take time
endif()

function(compile result output)
    execute_process(COMMAND "${COMPILER}" ${FLAGS} -std=c++20 -fsyntax-only ${apart} "-I${INCLUDE}" ${ARGN} "${SOURCE}"
                    RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
    set(${result} "${code}" PARENT_SCOPE)
    set(${output} "${text}" PARENT_SCOPE)
endfunction()

# Prints the compiler's output unchanged; FATAL_ERROR would wrap it.
compile(result output)
if(expect STREQUAL "")
    if(NOT result EQUAL 0)
        message("${output}")
        message(FATAL_ERROR "must compile")
    endif()
    return()
endif()

set(searched "${output}")
if(at_once)
    string(REGEX MATCH "error: [^\n]*" searched "${output}")
endif()
if(result EQUAL 0)
    message(FATAL_ERROR "compiles, but must not")
elseif(NOT searched MATCHES "${expect}")
    message("${output}")
    message(FATAL_ERROR "fails without saying '${expect}'")
endif()
compile(result output -DSPOTTER_CONTROL)
if(NOT result EQUAL 0)
    message("${output}")
    message(FATAL_ERROR "the control must compile")
endif()
