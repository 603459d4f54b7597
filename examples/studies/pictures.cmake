# SPDX-License-Identifier: Apache-2.0
# For cmake/studies.cmake: the pictures of docs/studies. take_picture(<study> <name> <width> <height> <section> <run>...).
take_picture(traffic_signs overhead 1000 420 curves overhead)
take_picture(traffic_signs balance 1000 1100 classes original-0)
