# SPDX-License-Identifier: Apache-2.0
# For cmake/studies.cmake: the pictures of docs/studies. take_picture(<study> <name> <width> <height> <section> <run>...).
take_picture(traffic_signs overhead 1000 420 curves overhead)
take_picture(traffic_signs balance 1000 1100 classes original-0)
set(sweep "")
foreach(number RANGE 15)
    string(REGEX REPLACE "^([0-9])$" "0\\1" number "${number}")
    list(APPEND sweep "watched-0/${number}")
endforeach()
take_picture(sweep runs 1200 660 runs ${sweep})
take_picture(sweep curves 1000 800 curves ${sweep})
