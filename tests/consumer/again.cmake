# SPDX-License-Identifier: Apache-2.0
# A release made again in FOLDER has the checksums of FIRST, with any time zone, umask and Git settings.
file(WRITE "${FOLDER}.gitconfig" "[tar]\n\tumask = 0077\n")
execute_process(COMMAND "${CMAKE_COMMAND}" -E env "GIT_CONFIG_GLOBAL=${FOLDER}.gitconfig" sh -c "umask 077; exec \"$0\" \"$@\"" "${CMAKE_COMMAND}"
                        -D HOMEPAGE=https://example.com/other/spotter -D "FOLDER=${FOLDER}" -D EXAMPLES=OFF -P "${RELEASE}"
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "${output}")
endif()
file(READ "${FIRST}/SHA512SUMS" first)
file(READ "${FOLDER}/SHA512SUMS" again)
if(NOT first STREQUAL again)
    message(FATAL_ERROR "made again it is other bytes:\n${first}${again}")
endif()
