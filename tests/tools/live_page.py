# SPDX-License-Identifier: Apache-2.0
"""Looks at `spotter serve` through Chromium without a screen, in every state that a user may meet.

    python3 tests/tools/live_page.py SPOTTER RUNS [--pictures FOLDER] [--only WORD]

SPOTTER is the command line, RUNS the program that makes runs (tests/live_page). Ends with 1 if something is wrong, with 77 where
there is no Chromium. With --pictures a PNG of each state is kept.
"""
import argparse
import base64
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from browser import Browser, chromium  # noqa: E402

OVERFLOW = """(() => {
  const seen = document.documentElement.clientWidth;
  const wide = [...document.querySelectorAll('body *')].filter(it => it.checkVisibility() && !it.closest('.wide') && !it.closest('svg') && !it.closest('thead')
      && it.getBoundingClientRect().right > seen + 1).map(it => it.tagName + '.' + it.className + ' ' + it.textContent.slice(0, 30));
  return JSON.stringify({over: document.documentElement.scrollWidth - seen, wide: wide.slice(0, 5), broken: window.broken === 1});
})()"""


class Served:
    """The server, on a port that was free."""

    def __init__(self, tool, folder, *more):
        self.process = subprocess.Popen([tool, "serve", str(folder), "--port", "0", "--json", *more], stdout=subprocess.PIPE, text=True)
        self.url = json.loads(self.process.stdout.readline())["url"]

    def close(self):
        self.process.terminate()
        return self.process.wait(30)


class Page:
    """A tab."""

    def __init__(self, browser, pictures):
        self.browser = browser
        self.pictures = pictures
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            browser.call(f"{domain}.enable", self.session)
        self.wrong = []
        self.name = ""

    def call(self, method, **values):
        return self.browser.call(method, self.session, **values)

    def size(self, width, dark=False):
        self.width, self.dark = width, dark
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=844 if width < 600 else 900, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, url):
        self.call("Page.navigate", url="about:blank")  # an address that differs behind its # alone loads nothing
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && document.getElementById('view')")

    def value(self, expression):
        reported = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in reported:
            self.wrong.append(f"{self.name}: {expression[:60]}: {reported['exceptionDetails'].get('exception', {}).get('description')}")
        return reported["result"].get("value")

    def wait(self, expression, seconds=20):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.value(f"!!({expression})"):
                return True
            time.sleep(0.1)
        self.wrong.append(f"{self.name}: never was true: {expression}; the page says {self.value('document.body.innerText')!r:.400}")
        return False

    def key(self, key, code=None, text=None):
        for kind in ("keyDown", "keyUp"):
            values = {"type": kind, "key": key, "code": code or key}
            if text and kind == "keyDown":
                values["text"] = text
            self.call("Input.dispatchKeyEvent", **values)

    def mouse(self, kind, x, y, buttons=0):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left" if kind != "mouseMoved" else "none", buttons=buttons, clickCount=1)

    def box(self, selector):
        return json.loads(self.value(f"JSON.stringify(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"))

    def check(self, what, truth):
        if not truth:
            self.wrong.append(f"{self.name}: not so: {what}")

    def look(self, name, allowed=()):
        """Nothing may be said on the console, reach over the edge, or have run."""
        self.name = name
        found = json.loads(self.value(OVERFLOW))
        if found["over"] > 0 or found["wide"]:
            self.wrong.append(f"{name} at {self.width}: reaches {found['over']} px over the edge: {found['wide']}")
        self.check("no text of a record ran", not found["broken"])
        for each in self.browser.events:
            if each["method"] in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
                reported = json.dumps(each["params"])
                if not any(it in reported for it in allowed):
                    self.wrong.append(f"{name}: {each['method']}: {reported[:400]}")
        self.browser.events.clear()
        self.picture(name)

    def picture(self, name):
        if self.pictures:
            taken = self.call("Page.captureScreenshot", format="png")
            (pathlib.Path(self.pictures) / f"{name}-{self.width}{'-dark' if self.dark else ''}.png").write_bytes(base64.b64decode(taken["data"]))


def address(url, names, tab=""):
    return url + "#/view/" + ",".join(urllib.parse.quote(it, safe="") for it in names) + ("/" + tab if tab else "")


LINES = "typeof shown !== 'undefined' && shown && shown.part.charts && [...shown.part.charts.values()].some(it => it.lines && it.lines.size >= {})"


def sweep(page, tool, runs, folder):
    """A sweep of fifty: the list, sorted, filtered, grouped; all compared; one by itself."""
    subprocess.run([runs, "sweep", folder, "50", "300"], check=True)
    served = Served(tool, folder)
    try:
        for width, dark in ((1280, False), (390, False), (1280, True)):
            page.size(width, dark)
            page.open(served.url)
            page.name = "sweep"
            page.wait("document.querySelectorAll('.runs tbody tr').length === 50 && state.unread === 0")
            page.look("sweep-list")
        page.size(1280)
        page.check("columns of hyperparameters", page.value("[...document.querySelectorAll('.runs thead button')].map(it => it.textContent).join()").find("lr") >= 0)
        page.check("five were stopped", page.value("[...document.querySelectorAll('.status.stopped')].length") == 5)
        # By the keyboard alone: to the box, a filter, to a button of the head, which sorts.
        page.value("document.getElementById('search').focus()")
        for letter in "lr=0.003":
            page.key(letter, text=letter)
        page.wait("document.querySelectorAll('.runs tbody tr').length === 7")
        page.value("document.querySelector('[data-key=\"sort name\"]').focus()")
        page.key("Enter", text="\r")
        page.wait("document.querySelector('th[aria-sort]') && document.querySelector('.runs tbody th').textContent === 'sweep/run-2'")
        page.check("the focus stays on the button", page.value("document.activeElement.dataset.key") == "sort name")
        page.value("(() => { const it = document.getElementById('search'); it.value = ''; it.dispatchEvent(new Event('input')); })()")
        page.value("(() => { const it = document.querySelector('select[aria-label=\"Group by\"]'); it.value = 'lr'; it.dispatchEvent(new Event('change')); })()")
        page.wait("document.querySelectorAll('.runs .group').length === 7")
        page.look("sweep-grouped")
        page.value("localStorage.clear()")
        names = [f"sweep/run-{i}" for i in range(50)]
        for width, dark in ((1280, False), (390, True)):
            page.size(width, dark)
            page.open(address(served.url, names))
            page.name = "sweep-compared"
            page.wait(LINES.format(50))
            time.sleep(0.5)
            page.look("sweep-compared")
        page.size(1280)
        page.open(address(served.url, names[:4]))
        page.wait(LINES.format(4))
        time.sleep(0.5)
        box = page.box(".plot")
        page.mouse("mouseMoved", box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.5)
        page.wait("!document.querySelector('.tip').hidden && document.querySelectorAll('.tip output').length >= 4")
        page.look("four-compared")
        # A part of the axis, by dragging, and all again by a key.
        page.mouse("mousePressed", box["x"] + box["width"] * 0.3, box["y"] + 60, 1)
        page.mouse("mouseMoved", box["x"] + box["width"] * 0.5, box["y"] + 60, 1)
        page.mouse("mouseReleased", box["x"] + box["width"] * 0.5, box["y"] + 60)
        page.wait("document.querySelector('.plot').parentNode.textContent.includes('a part')")
        time.sleep(0.5)
        page.look("four-zoomed")
        page.value("document.querySelector('.plot').focus()")
        page.key("Escape")
        page.wait("!document.querySelector('.plot').parentNode.textContent.includes('a part')")
        page.key("ArrowRight")
        page.wait("!document.querySelector('.tip').hidden")
        for width, dark in ((1280, False), (390, True)):
            page.size(width, dark)
            page.open(address(served.url, ["sweep/run-9"]))
            page.wait(LINES.format(1))
            time.sleep(0.5)
            page.look("one-stopped")
        page.open(address(served.url, ["sweep/run-9"], "findings"))
        page.wait("document.querySelectorAll('.finding').length > 0")
        page.look("findings")
        page.open(address(served.url, ["sweep/run-9"], "times"))
        page.wait("document.querySelector('.fragment') && document.querySelector('.fragment').shadowRoot")
        time.sleep(0.3)
        page.look("times")
        page.size(1280)
        page.open(address(served.url, ["sweep/run-9"], "tensors"))
        page.wait("document.querySelectorAll('.plain button').length > 2")
        page.value("[...document.querySelectorAll('.plain button')].find(it => it.textContent === 'loss').click()")
        page.wait("document.querySelector('.slider')")
        time.sleep(0.5)
        page.look("tensors")
    finally:
        page.name = "sweep"
        page.check("it ends with 0", served.close() == 0)


def growing(page, tool, runs, folder):
    """A run that grows is drawn within a second; one that dies is reported; one that is deleted while it is shown, too."""
    alive = subprocess.Popen([runs, "grow", str(folder / "alive"), "60"])
    dying = subprocess.Popen([runs, "die", str(folder / "dying"), "4"])
    served = Served(tool, folder)
    try:
        page.size(1280)
        page.open(address(served.url, ["alive"]))
        page.name = "growing"
        page.wait(LINES.format(1))
        page.wait("(shown.part.charts.get('loss') || {lines: {size: 0}}).lines.size >= 1")
        first = page.value("[...shown.part.charts.get('loss').lines.values()][0].step")
        time.sleep(2)
        page.check("steps come by themselves", page.value("[...shown.part.charts.get('loss').lines.values()][0].step") >= first + 20)
        page.look("growing")
        page.open(served.url)
        page.wait("[...document.querySelectorAll('.status.died')].length === 1", 30)
        page.wait("[...document.querySelectorAll('.status.running')].length === 1")
        page.look("one-died")
        alive.kill()
        alive.wait()
        page.open(address(served.url, ["alive"]))
        page.wait("document.querySelector('.status.died')", 30)
        shutil.rmtree(folder / "alive")
        page.wait("(document.body ? document.body.innerText : '').includes('is not there any more')", 30)
        page.look("deleted", allowed=("404", "409"))
        shutil.rmtree(folder / "dying")
        page.open(served.url)
        page.wait("(document.body ? document.body.innerText : '').includes('There is no run in')", 30)
        page.look("nothing-left")
        subprocess.run([runs, "sweep", folder, "1", "10"], check=True)
        page.wait("document.querySelectorAll('.runs tbody tr').length === 1", 30)
        shutil.rmtree(folder)
        page.wait("!document.getElementById('trouble').hidden", 30)
        page.look("folder-gone", allowed=("404", "409"))
    finally:
        alive.kill()
        dying.kill()
        page.name = "growing"
        page.check("it ends with 0", served.close() == 0)


def hostile(page, tool, runs, folder):
    """A hostile name in every field, and records that are damaged."""
    subprocess.run([runs, "hostile", folder], check=True)
    subprocess.run([runs, "sweep", folder, "3", "3000"], check=True)
    for number, make in enumerate((lambda it: it[:len(it) // 2] + bytes(1000) + it[len(it) // 2 + 1000:], lambda it: it[:len(it) // 3], lambda it: b"")):
        segment = folder / "sweep" / f"run-{number}" / "000000.spot"
        segment.write_bytes(make(segment.read_bytes()))
    served = Served(tool, folder)
    evil = next(it.name for it in folder.iterdir() if "img" in it.name)
    try:
        for width in (1280, 390):
            page.size(width)
            page.open(served.url)
            page.name = "hostile"
            page.wait("document.querySelectorAll('.runs tbody tr').length === 4 && state.unread === 0")
            page.look("hostile-list")
            page.check("damage is reported", page.value("(document.body ? document.body.innerText : '').includes('damaged') || document.querySelectorAll('.status.unreadable').length > 0"))
            for tab in ("curves", "findings", "tensors", "times", "more"):
                page.open(address(served.url, [evil], tab))
                page.wait("document.querySelector('h1') && document.querySelector('.body').children.length > 0")
                time.sleep(0.7)
                page.look("hostile-" + tab)
            for number in range(3):
                page.open(address(served.url, [f"sweep/run-{number}"]))
                page.wait("document.querySelector('h1')")
                time.sleep(0.7)
                page.look(f"damaged-{number}", allowed=("409",))
    finally:
        page.name = "hostile"
        page.check("it ends with 0", served.close() == 0)


def main():
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("tool")
    asked.add_argument("runs")
    asked.add_argument("--pictures")
    asked.add_argument("--only", default="")
    asked = asked.parse_args()
    program = chromium()
    if not program:
        print("no Chromium was found")
        sys.exit(77)
    wrong = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            for each in (sweep, growing, hostile):
                if asked.only and asked.only != each.__name__:
                    continue
                with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                    page = Page(browser, asked.pictures)
                    try:
                        each(page, asked.tool, asked.runs, pathlib.Path(folder))
                    except Exception as why:  # the others are looked at all the same
                        page.wrong.append(f"{each.__name__}: {type(why).__name__}: {why}")
                    wrong += page.wrong
                    browser.call("Target.closeTarget", targetId=page.target)
        finally:
            browser.close()
    print("\n".join(wrong) if wrong else "nothing wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
