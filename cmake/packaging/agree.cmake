# SPDX-License-Identifier: Apache-2.0
# version.hpp and components.cmake define the version and the components. Checks that the package managers' recipes,
# which repeat them, agree.
#   cmake -P cmake/packaging/agree.cmake
cmake_minimum_required(VERSION 3.20)
get_filename_component(ROOT "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

include("${ROOT}/cmake/components.cmake")
file(READ "${ROOT}/include/spotter/version.hpp" text)
string(REGEX REPLACE ".*_MAJOR ([0-9]+).*_MINOR ([0-9]+).*_PATCH ([0-9]+).*" "\\1.\\2.\\3" version "${text}")

# Components with a package besides zstd and threads are optional in every package manager; sorted like the manifests.
set(optional "")
foreach(component IN LISTS SPOTTER_COMPONENTS)
    set(needs ${SPOTTER_NEEDS_${component}})
    list(REMOVE_ITEM needs zstd threads)
    if(needs)
        list(APPEND optional ${component})
    endif()
endforeach()
list(SORT optional)

function(spotter_agree file what found wanted)
    list(SORT found)
    if(NOT "${found}" STREQUAL "${wanted}")
        message(SEND_ERROR "${file} has ${what} ${found}; it should be ${wanted}")
    endif()
endfunction()

foreach(manifest IN ITEMS vcpkg.json cmake/packaging/vcpkg/vcpkg.json)
    file(READ "${ROOT}/${manifest}" text)
    string(JSON found GET "${text}" version-semver)
    spotter_agree(${manifest} "the version" "${found}" "${version}")
    string(JSON count LENGTH "${text}" features)
    math(EXPR last "${count} - 1")
    set(features "")
    foreach(index RANGE ${last})
        string(JSON feature MEMBER "${text}" features ${index})
        list(APPEND features ${feature})
    endforeach()
    list(REMOVE_ITEM features tests)
    spotter_agree(${manifest} "the features" "${features}" "${optional}")
endforeach()

# options = {name: [True, False] for name in ("report", ...)}
file(STRINGS "${ROOT}/conanfile.py" options REGEX "^    options = ")
string(REGEX MATCHALL "\"[a-z0-9]+\"" options "${options}")
string(REPLACE "\"" "" options "${options}")
spotter_agree(conanfile.py "the options" "${options}" "${optional}")

file(STRINGS "${ROOT}/conanfile.py" parts REGEX "^    \"[a-z0-9]+\": \\[.*\\],$")
list(TRANSFORM parts REPLACE "^    \"([a-z0-9]+)\".*" "\\1")
set(components ${SPOTTER_COMPONENTS})
list(SORT components)
list(REMOVE_DUPLICATES parts)
spotter_agree(conanfile.py "the parts" "${parts}" "${components}")

file(STRINGS "${ROOT}/cmake/packaging/spack/package.py.in" variants REGEX "^    variant\\(")
list(TRANSFORM variants REPLACE "^    variant\\(\"([a-z0-9]+)\".*" "\\1")
spotter_agree(cmake/packaging/spack/package.py.in "the variants" "${variants}" "${optional}")

file(STRINGS "${ROOT}/cmake/packaging/vcpkg/usage" usage REGEX "^The features ")
string(REGEX REPLACE "^The features (.*) are components:$" "\\1" usage "${usage}")
string(REGEX REPLACE ", | and " ";" usage "${usage}")
spotter_agree(cmake/packaging/vcpkg/usage "the features" "${usage}" "${optional}")
