# SPDX-License-Identifier: Apache-2.0
# For cmake/studies.cmake: the pictures of docs/studies. take_picture(<study> <name> <width> <height> <section> <run>...).
take_picture(traffic_signs overhead 760 360 curves "overhead/all tensors" overhead/weights "overhead/inputs and outputs")
take_picture(traffic_signs classes 1000 1400 classes original-0)
take_picture(traffic_signs saliency 1000 560 saliency explained-0)
take_picture(pruning figure 760 360 curves "figure/by worth 0" "figure/by worth 1" "figure/by worth 2" "figure/at random 0" "figure/at random 1" "figure/at random 2")
take_picture(autoencoder original 1000 760 embeddings original-0)
take_picture(autoencoder changed 1000 760 embeddings changed-0)
