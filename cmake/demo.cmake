# SPDX-License-Identifier: Apache-2.0
# cmake -P cmake/demo.cmake: on a fresh machine, builds and runs a training that goes well and one that spotter stops.
set(SPOTTER_SETUP_MORE nlohmann-json3-dev libcli11-dev zlib1g-dev) # for the command line, which the demo suggests and does not build
include("${CMAKE_CURRENT_LIST_DIR}/setup.cmake")

set(folder "${SPOTTER_ROOT}/build/demo")
set(SPOTTER_STEPS 4)
spotter_configure("${folder}" -DCMAKE_BUILD_TYPE=Release -DSPOTTER_TESTS=OFF -DSPOTTER_COMPILED=OFF) # a single program builds faster this way
spotter_build("${folder}" --target cartpole)
file(STRINGS "${folder}/CMakeCache.txt" no_tool REGEX "^SPOTTER_TOOL_MISSING:INTERNAL=.")

# Runs cartpole in this folder, so that its record is below runs/, and prints which folder is new.
function(demo title wanted)
    spotter_step_begins("${title}")
    file(GLOB before "${SPOTTER_ROOT}/runs/*")
    execute_process(COMMAND "${folder}/examples/cartpole" ${ARGN} WORKING_DIRECTORY "${SPOTTER_ROOT}"
                    RESULT_VARIABLE result)
    if(NOT result EQUAL wanted)
        message(FATAL_ERROR "cartpole ${ARGN} ended with ${result}, expected ${wanted}.")
    endif()
    spotter_step_ends()
    file(GLOB after "${SPOTTER_ROOT}/runs/*")
    list(REMOVE_ITEM after "" ${before})
    foreach(run IN LISTS after)
        file(RELATIVE_PATH run "${SPOTTER_ROOT}" "${run}")
        message("\nThe record is in ${run}")
    endforeach()
endfunction()

demo("cartpole, as it should go" 0)
demo("cartpole with a NaN in its gradients (--fault=nan)" 3 --fault=nan)
message("\nBoth ended as they should: the first was trained, the second was stopped by spotter before the NaN reached the weights.")
if(NOT no_tool)
    message("To read the records from the shell:\n"
            "  cmake --build build/demo --target spotter_tool && build/demo/bin/spotter info runs/cartpole")
endif()
