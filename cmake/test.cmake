# SPDX-License-Identifier: Apache-2.0
# cmake -P cmake/test.cmake: on a fresh machine, builds and runs all tests, in build/default. With -D
# SPOTTER_SETUP_ALONE=ON before -P it only installs packages.
set(SPOTTER_SETUP_MORE catch2 ccache gzip python3 nlohmann-json3-dev libcli11-dev zlib1g-dev)
include("${CMAKE_CURRENT_LIST_DIR}/setup.cmake")
if(SPOTTER_SETUP_ALONE)
    return()
endif()

set(folder "${SPOTTER_ROOT}/build/default")
set(more "")
foreach(option IN ITEMS SPOTTER_TEST_FOREIGN SPOTTER_TEST_LONG) # in the environment .ci/run sets them
    if("$ENV{${option}}")
        list(APPEND more -D${option}=ON)
    else()
        list(APPEND more -D${option}=OFF)
    endif()
endforeach()
set(SPOTTER_STEPS 3)
if(EXISTS "$ENV{SPOTTER_TEST_PASSED}")
    set(SPOTTER_STEPS 4)
endif()
spotter_configure("${folder}" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -DSPOTTER_TEST_QUICK=-O0
                  -DSPOTTER_WERROR=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=0 ${more}) # 0: all files of a folder as one
spotter_build("${folder}")

set(report "")
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.21)
    set(report --output-junit "${folder}/junit.xml")
endif()
get_filename_component(bin "${CMAKE_COMMAND}" DIRECTORY)
set(left "")
if(EXISTS "$ENV{SPOTTER_TEST_PASSED}") # .ci/run's report from another machine: tests that passed there are not repeated
    find_program(python python3)
    set(left -I "${folder}/tests_left")
    spotter_step("Choosing the tests" "${python}" "${SPOTTER_ROOT}/.ci/tests_left.py" "${bin}/ctest" "${folder}"
                 "$ENV{SPOTTER_TEST_PASSED}" "${folder}/tests_left")
endif()
spotter_step("Testing" "${bin}/ctest" --test-dir "${folder}" --output-on-failure --no-tests=error -j 4 ${left} ${report}) # many tests mostly wait
