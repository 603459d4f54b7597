# SPDX-License-Identifier: Apache-2.0
# A Conan home in a new folder, without a network: the profile that Conan detects, no remote, and stand-ins for
# spotter's requirements. CONAN_HOME in the environment names it.
set(home "$ENV{CONAN_HOME}")
file(REMOVE_RECURSE "${home}")

function(conan)
    execute_process(COMMAND "${CONAN}" ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "conan ${ARGN} ended with ${result}:\n${output}")
    endif()
endfunction()

conan(profile detect)
conan(remote remove conancenter)
# Nothing is written beside the recipes, and compiled code need not be fast.
file(WRITE "${home}/global.conf" "tools.cmake.cmake_layout:test_folder=${home}/test\n\
tools.cmake.cmaketoolchain:user_presets=\n\
tools.cmake.cmaketoolchain:extra_variables={\"CMAKE_CXX_FLAGS_RELEASE\": \"-O0\"}\n")
foreach(package IN ITEMS zstd/1.5.4 fmt/12.1.0 xtensor/0.27.1 nlohmann_json/3.12.0 libcurl/7.88.1 openssl/3.0.0 openmpi/4.1.8)
    string(REPLACE "/" ";" words "${package}")
    list(GET words 0 name)
    list(GET words 1 version)
    conan(create "${SYSTEM}" --name=${name} --version=${version})
endforeach()
