# SPDX-License-Identifier: Apache-2.0
# Overlay ports in FOLDER for the dependencies of spotter's features, without a network: they are empty, so that the
# system's packages are found.
file(REMOVE_RECURSE "${FOLDER}")
foreach(port IN ITEMS zstd fmt xtensor nlohmann-json curl openssl mpi)
    set(features "")
    if(port STREQUAL "curl")
        set(features ", \"features\": { \"openssl\": { \"description\": \"the system's\" } }")
    endif()
    file(WRITE "${FOLDER}/${port}/vcpkg.json" "{ \"name\": \"${port}\", \"version-string\": \"system\", \"license\": null${features} }\n")
    file(WRITE "${FOLDER}/${port}/portfile.cmake" "set(VCPKG_POLICY_EMPTY_PACKAGE enabled)\n")
endforeach()
