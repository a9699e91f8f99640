"""A headless Chromium, driven over the pipe of its DevTools protocol: the standard library is enough for that."""

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """One page. `messages` are its errors and warnings, `requests` the addresses that it asked for."""

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="ringside-chromium-", ignore_cleanup_errors=True)
        theirs_in, self.out = os.pipe()
        self.into, theirs_out = os.pipe()
        # The protocol's pipe is descriptors 3 and 4.
        command = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self.process = subprocess.Popen(
            ["bash", "-c", command, "chromium", CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", f"--user-data-dir={self.profile.name}", "--remote-debugging-pipe", "about:blank"],
            pass_fds=(theirs_in, theirs_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.numbers = itertools.count(1)
        self.buffer = b""
        self.session = None
        self.messages = []
        self.requests = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        os.close(self.out)
        os.close(self.into)
        self.process.terminate()
        self.process.wait(30)
        self.profile.cleanup()

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.into], [], [], max(0, deadline - time.monotonic()))
            part = os.read(self.into, 1 << 20) if ready else b""
            if not part:
                raise TimeoutError("Chromium says nothing")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        deadline = time.monotonic() + 60
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.note(answer)

    def note(self, event):
        detail = event.get("params", {})
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append(detail["request"]["url"])
        elif event.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
            self.messages.append(json.dumps(detail))
        elif event.get("method") == "Runtime.consoleAPICalled":
            self.messages.append(json.dumps(detail["args"]))

    def run(self, script):
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def open(self, place, fragment=""):
        """A file, or an address."""
        self.call("Page.navigate", url=(place if isinstance(place, str) else place.as_uri()) + fragment)
        deadline = time.monotonic() + 60
        while (self.run("document.readyState === 'complete' && document.documentElement.dataset.ready") or "") == "":
            if time.monotonic() > deadline:
                raise TimeoutError(f"the page is not ready: {self.messages}")
            time.sleep(0.05)

    def look(self, width, scheme="light", height=900, scale=1):
        """A window of this width, and the colours that its user prefers."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        # Charts follow their window at its next frame.
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100))))")

    def picture(self, whole=False):
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"])

    def printed(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def drag(self, selector, start, end):
        """Over an element, from one share of its width to another."""
        box = self.run(f"(() => {{ const e = document.querySelector({selector!r}); e.scrollIntoView({{ block: 'center' }});"
                       "const b = e.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()")
        for kind, share in (("mousePressed", start), ("mouseMoved", (start + end) / 2), ("mouseMoved", end), ("mouseReleased", end)):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0] + share * box[2], y=box[1] + box[3] / 2, button="left",
                      buttons=1, clickCount=1)

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)


def browser_for(case):
    """One that closes when the test case ends; without any the case is skipped."""
    if not CHROMIUM:
        case.skipTest("no Chromium here (Debian package chromium)")
    browser = Browser()
    case.addCleanup(browser.close)
    return browser
