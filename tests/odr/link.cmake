# SPDX-License-Identifier: Apache-2.0
# Two files that share no object of spotter's. Files of one mode link. Files of different modes do not, nor do separate
# files without bodies, and the linker's message says why.
#     cmake -D COMPILER=... -D "FLAGS=..." -D INCLUDE=... -D FOLDER=... -P link.cmake
file(MAKE_DIRECTORY "${FOLDER}")
file(WRITE "${FOLDER}/one.cpp" "#include <spotter/hook.hpp>\nint two();\nint main() { return two(); }\n")
file(WRITE "${FOLDER}/two.cpp" "#include <spotter/hook.hpp>\nint two();\nint two() { return 0; }\n")
# Only the bodies that these files can need: all of them would take long to compile, and the test odr.separate links
# all.
file(WRITE "${FOLDER}/bodies.cpp" "#include <spotter/config.hpp>\n#undef SPOTTER_BODIES\n#define SPOTTER_BODIES 1\n#define SPOTTER_BODY\n#include <spotter/core/link.hpp>\n")

function(must_pass step)
    execute_process(COMMAND "${COMPILER}" ${FLAGS} -std=c++20 "-I${INCLUDE}" ${ARGN}
                    RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(NOT code EQUAL 0)
        message("${text}")
        message(FATAL_ERROR "${step} must pass")
    endif()
endfunction()
function(must_not_link step words)
    execute_process(COMMAND "${COMPILER}" ${FLAGS} ${ARGN} -o "${FOLDER}/program"
                    RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(code EQUAL 0)
        message(FATAL_ERROR "${step}: links, but must not")
    elseif(NOT text MATCHES "${words}")
        message("${text}")
        message(FATAL_ERROR "${step}: fails without saying '${words}'")
    endif()
endfunction()

foreach(name one two)
    must_pass("compiling ${name}.cpp" -c "${FOLDER}/${name}.cpp" -o "${FOLDER}/${name}.o")
endforeach()
foreach(name one two bodies)
    must_pass("compiling ${name}.cpp apart" -DSPOTTER_SEPARATE -c "${FOLDER}/${name}.cpp" -o "${FOLDER}/${name}_separate.o")
endforeach()
must_pass("linking header-only files" "${FOLDER}/one.o" "${FOLDER}/two.o" -o "${FOLDER}/program")
must_pass("linking separate files" "${FOLDER}/one_separate.o" "${FOLDER}/two_separate.o" "${FOLDER}/bodies_separate.o" -o "${FOLDER}/program")
must_not_link("separate files without bodies" "link_spotter_compiled_or_include_spotter_implementation_hpp_in_one_file"
              "${FOLDER}/one_separate.o" "${FOLDER}/two_separate.o")
foreach(order "one.o;two_separate.o" "one_separate.o;two.o")
    list(TRANSFORM order PREPEND "${FOLDER}/")
    must_not_link("files of both modes" "files_with_and_without_SPOTTER_SEPARATE_cannot_be_linked_together"
                  ${order} "${FOLDER}/bodies_separate.o")
endforeach()

# Modes of libstdc++ that only the program uses, and that change the layout of containers or strings.
if(NOT FLAGS MATCHES "libc\\+\\+")
    foreach(mode IN ITEMS _GLIBCXX_DEBUG:glibcxx_debug _GLIBCXX_USE_CXX11_ABI=0:old_strings)
        string(REPLACE ":" ";" mode "${mode}")
        list(GET mode 0 macro)
        list(GET mode 1 word)
        foreach(name IN ITEMS one two)
            must_pass("compiling ${name}.cpp with ${macro}" -DSPOTTER_SEPARATE -D${macro} -c "${FOLDER}/${name}.cpp" -o "${FOLDER}/${name}_${word}.o")
        endforeach()
        must_not_link("files with ${macro} and bodies without" "separate_[a-z_]*${word}" "${FOLDER}/one_${word}.o" "${FOLDER}/two_${word}.o"
                      "${FOLDER}/bodies_separate.o")
    endforeach()
endif()
