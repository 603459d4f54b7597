# SPDX-License-Identifier: Apache-2.0
# Uses the registry of a release (REGISTRY) in a project in manifest mode, as a user would. vcpkg finds the port's
# version by its git-tree, downloads and checks the tarball, installs every feature, and reports no problem.
set(root "$ENV{VCPKG_ROOT}")
function(commit folder variable)
    execute_process(COMMAND git -C "${folder}" rev-parse HEAD OUTPUT_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    set(${variable} "${output}" PARENT_SCOPE)
endfunction()
commit("${root}" baseline)
commit("${REGISTRY}" registry_baseline)

file(REMOVE_RECURSE "${FOLDER}")
file(WRITE "${FOLDER}/vcpkg.json" "{ \"dependencies\": [{ \"name\": \"someone-spotter\", \"features\": [\"report\", \"xtensor\", \"json\", \"s3\", \"mpi\"] }] }\n")
file(WRITE "${FOLDER}/vcpkg-configuration.json" "{\n  \"default-registry\": { \"kind\": \"builtin\", \"baseline\": \"${baseline}\" },\n  \
\"registries\": [{ \"kind\": \"git\", \"repository\": \"file://${REGISTRY}\", \"baseline\": \"${registry_baseline}\", \"packages\": [\"someone-spotter\"] }]\n}\n")
file(MAKE_DIRECTORY "${FOLDER}/downloads" "${FOLDER}/registries")
set(ENV{VCPKG_DOWNLOADS} "${FOLDER}/downloads")
set(ENV{X_VCPKG_REGISTRIES_CACHE} "${FOLDER}/registries")
execute_process(COMMAND "${root}/vcpkg" install "--x-buildtrees-root=${FOLDER}/trees" "--x-packages-root=${FOLDER}/packages"
                WORKING_DIRECTORY "${FOLDER}" RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0 OR output MATCHES "warning:" OR NOT output MATCHES "target_link_libraries\\(main PRIVATE spotter::spotter\\)")
    message(FATAL_ERROR "vcpkg ended with ${result}, or complained, or did not tell the usage:\n${output}")
endif()
file(GLOB config "${FOLDER}/vcpkg_installed/*/share/spotter/spotter-config.cmake")
if(NOT config)
    message(FATAL_ERROR "there is no package config:\n${output}")
endif()
