# SPDX-License-Identifier: Apache-2.0
"""Reads an exported run back with TensorBoard's own loaders, and compares it with the record.

    python3 read_tensorboard.py SPOTTER RUN FOLDER [PICTURE.png]

SPOTTER is the command line, FOLDER one to write into. With PICTURE the server is asked, too, and headless Chromium draws its page.
Ends with 77 and a reason where something that it needs is not here.
"""
import io
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

try:
    import numpy as np
    from PIL import Image
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    from tensorboard.util import tensor_util
except ImportError as why:
    print(f"this Python has no TensorBoard ({why}): pip install tensorboard")
    sys.exit(77)


def ask(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def expected_of(tool, run):
    """What the record says: {(mode, tag): [(step, time, value)]} of scalars with a step, {tag: [(step, value)]} of those between
    steps of train, texts. Where a step was closed again, it and what came after it are void."""
    scalars, loose, texts, closed = {}, {}, [], 0
    for line in ask(tool, "export", run, "-", "--format", "jsonl").splitlines():
        it = json.loads(line)
        tag = it["name"] + (":" + it["statistic"] if "statistic" in it else "")
        if "text" in it:
            texts.append((tag, it["text"]))
        elif "index" in it:
            again = it["mode"] == "train" and it["index"] < closed
            for series in [scalars.setdefault((it["mode"], tag), [])] + (list(loose.values()) if again else []):
                while series and series[-1][0] >= it["index"]:
                    series.pop()
            scalars[it["mode"], tag].append((it["index"], it["time"], np.float32(it["value"])))
            closed = it["index"] if it["mode"] == "train" else closed
        else:
            series = loose.setdefault(tag, [])
            series.append((max(closed, series[-1][0] + 1 if series else 0), np.float32(it["value"])))
    return scalars, loose, texts


def same(a, b):
    return np.float32(a).tobytes() == np.float32(b).tobytes() or (np.isnan(a) and np.isnan(b))


def compare_scalars(boards, scalars, loose):
    count = 0
    for (mode, tag), series in scalars.items():
        read = boards[mode].Scalars(tag)
        assert [each.step for each in read] == [step for step, _, _ in series], (mode, tag)
        for each, (_, when, value) in zip(read, series):
            assert same(each.value, value), (mode, tag, each, value)
            assert each.wall_time == when, (mode, tag, each, when)
            count += 1
    for tag, values in loose.items():
        read = boards["train"].Scalars(tag)
        assert [each.step for each in read] == [step for step, _ in values], (tag, read, values)
        assert all(same(each.value, value) for each, (_, value) in zip(read, values)), (tag, read, values)
        count += len(values)
    read = sum(len(board.Scalars(tag)) for board in boards.values() for tag in board.Tags()["scalars"])
    assert read == count, f"TensorBoard has {read} scalars, the record {count}"
    return count


def compare_histograms(board, arrays):
    """Those of tensors whose values were kept, with NumPy's own."""
    count = 0
    for tag in board.Tags()["histograms"]:
        for each in board.Histograms(tag):
            it = each.histogram_value
            values = arrays.get(f"{tag}@train:{each.step}")
            if values is None:
                continue
            finite = values[np.isfinite(values)].astype(np.float64)
            assert it.num == finite.size and (it.min, it.max) == (finite.min(), finite.max()), (tag, each.step)
            assert np.isclose(it.sum, finite.sum()) and np.isclose(it.sum_squares, (finite**2).sum()), (tag, each.step)
            bins, _ = np.histogram(finite, bins=len(it.bucket), range=(it.min, it.max))
            assert np.abs(np.array(it.bucket) - bins).sum() <= 4, (tag, each.step)  # a value on an edge
            count += 1
    return count


def arrays_of_pictures(board):
    return [tag[: -len(":images")] for tag in board.Tags()["tensors"] if tag.endswith(":images")]


def compare_pictures(board, arrays, tag, size):
    """The first pictures of a tensor with values from 0 to 1."""
    count = 0
    latest = {each.step: each for each in board.Tensors(tag + ":images")}  # this loader keeps what is void
    for each in latest.values():
        width, height, *files = tensor_util.make_ndarray(each.tensor_proto)
        assert (int(width), int(height)) == (size[1], size[0])
        values = np.floor(arrays[f"{tag}@train:{each.step}"].astype(np.float64) * 255 + 0.5).reshape((-1, *size))
        for file, wanted in zip(files, values, strict=False):
            picture = np.asarray(Image.open(io.BytesIO(file)))
            assert np.array_equal(picture.reshape(size), wanted.astype(np.uint8)), (tag, each.step)
            count += 1
    return count


def refuses_a_flipped_byte(path):
    whole = path.read_bytes()
    list(EventFileLoader(str(path)).Load())
    for place in range(12, len(whole), max(1, len(whole) // 37)):
        bad = path.with_name("damaged.tfevents")
        bad.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1:])
        events = [each.SerializeToString() for each in EventFileLoader(str(bad)).Load()]
        all_events = [each.SerializeToString() for each in EventFileLoader(str(path)).Load()]
        bad.unlink()
        assert len(events) < len(all_events), f"the flipped byte {place} went unseen"


def compare_points(base, arrays):
    """The embedding projector serves the rows of a layer."""
    question = f"{base}/data/plugin/projector"
    for _ in range(50):
        if json.loads(fetch(f"{question}/runs")) == ["."]:
            break
        time.sleep(0.2)
    (embedding,) = json.loads(fetch(f"{question}/info?run=."))["embeddings"]
    name = embedding["tensorName"]
    points = np.frombuffer(fetch(f"{question}/tensor?run=.&name=" + urllib.parse.quote(name)), dtype=np.float32)
    assert embedding["tensorShape"] == [40, 50] and np.array_equal(points, arrays[name].reshape(-1)), name


def fetch(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read()


def draws_a_curve(chromium, url, picture):
    picture.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as profile:  # without WebGL lines are SVG, which is in the picture
        subprocess.run([chromium, "--headless=new", "--no-sandbox", "--disable-3d-apis", "--hide-scrollbars",
                        "--window-size=1500,1100", f"--user-data-dir={profile}", "--virtual-time-budget=15000",
                        f"--screenshot={picture}", url], check=True, timeout=100, capture_output=True)
    chart = np.asarray(Image.open(picture).convert("RGB")).astype(int)[221:443, 387:749]  # of the first card
    return sum((np.abs(chart - colour).max(axis=2) < 24).sum() for colour in ((66, 80, 102), (18, 181, 203))) > 150


def look_at_the_page(logdir, scalars, picture, arrays):
    """The server answers with the same scalars, and Chromium draws them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, "-m", "tensorboard.main", "--logdir", logdir, "--host", "127.0.0.1",
                               "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    base = f"http://127.0.0.1:{port}"
    try:
        (mode, tag), series = max(scalars.items(), key=lambda it: len(it[1]))
        question = f"{base}/data/plugin/scalars/scalars?" + urllib.parse.urlencode({"run": mode, "tag": tag})
        read = []
        for _ in range(150):
            time.sleep(0.2)
            try:
                read = json.loads(fetch(question))
            except (OSError, ValueError):
                continue
            if len(read) == len(series):
                break
        assert [step for _, step, _ in read] == [step for step, _, _ in series], (tag, read)
        assert all(same(float(value), wanted) for (_, _, value), (_, _, wanted) in zip(read, series)), tag
        compare_points(base, arrays)
        chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if chromium is None:
            print("chromium was not found (chromium on Debian): the page was not drawn")
            sys.exit(77)
        # The page draws a card once it sees it on the screen, which the picture may come before: then once more.
        for _ in range(6):
            if draws_a_curve(chromium, f"{base}/?tagFilter={urllib.parse.quote(tag)}#timeseries", picture):
                return
        raise AssertionError(f"the page shows no curve: {picture}")
    finally:
        server.terminate()
        server.wait()


def main():
    tool, run, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    logdir = folder / "board"
    ask(tool, "export", run, logdir, "--format", "tensorboard", "--force")
    ask(tool, "export", run, folder / "values.npz", "--widen", "--force")
    arrays = np.load(folder / "values.npz")
    scalars, loose, texts = expected_of(tool, run)
    boards = {}
    for each in sorted(logdir.iterdir()):
        boards[each.name] = EventAccumulator(str(each), size_guidance=dict.fromkeys(
            ("scalars", "histograms", "images", "tensors", "compressedHistograms"), 0)).Reload()
    count = compare_scalars(boards, scalars, loose)
    histograms = compare_histograms(boards["train"], arrays)
    pictures = sum(compare_pictures(boards["train"], arrays, tag, arrays[f"{tag}@train:0"].shape[1:])
                   for tag in arrays_of_pictures(boards["train"]))
    read = [(tag, tensor_util.make_ndarray(each.tensor_proto).item().decode())
            for board in boards.values() for tag in board.Tags()["tensors"] if not tag.endswith(":images")
            for each in board.Tensors(tag)]
    for tag, words in texts:
        assert any(tag == its and words in text for its, text in read), (tag, words, read)
    refuses_a_flipped_byte(next((logdir / "eval").iterdir()))
    if len(sys.argv) > 4:
        ask(tool, "export", run, logdir, "--format", "projector", "--name", "fc1/w", "--force")
        look_at_the_page(str(logdir), scalars, pathlib.Path(sys.argv[4]).absolute(), arrays)
    print(f"{count} scalars, {histograms} histograms, {pictures} pictures, {len(texts)} texts")


if __name__ == "__main__":
    main()
