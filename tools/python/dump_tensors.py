# SPDX-License-Identifier: Apache-2.0
"""Writes the tensors of a PyTorch or NumPy training loop for `spotter diff`: one .npz a step. Copy it next to your program.

    from dump_tensors import dump, tensors_of
    for i, (x, y) in enumerate(batches):
        loss = criterion(model(x), y)
        loss.backward()
        dump("dumps/torch", i, {"input": x, **tensors_of(model), "loss": loss})    # in the order in which they are computed
        optimizer.step()
"""
import os
import pathlib
import zipfile

import numpy


def tensors_of(model):
    """All parameters of a torch module by name, and their gradients as grad/<name>."""
    parameters = dict(model.named_parameters())
    gradients = {"grad/" + name: each.grad for name, each in parameters.items() if each.grad is not None}
    return {**parameters, **gradients}


def to_array(value):
    """A NumPy array of anything like one. A torch tensor is copied from its device; bfloat16 becomes float32."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()
    return numpy.asarray(value)


def dump(folder, index, tensors, mode="train"):
    """Writes tensors, a dictionary of names, to <folder>/<mode>-<index>.npz, whole or not at all."""
    path = pathlib.Path(folder) / f"{mode}-{index}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    with zipfile.ZipFile(part, "w") as archive:
        for name, value in tensors.items():
            with archive.open(name + ".npy", "w", force_zip64=True) as file:
                numpy.lib.format.write_array(file, to_array(value), allow_pickle=False)
    os.replace(part, path)
