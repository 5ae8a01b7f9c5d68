"""A headless Chromium, driven over its DevTools pipe: JSON messages that end with a null byte, on descriptors 3 and 4."""
import base64
import json
import os
import select
import shutil
import subprocess
import time


def program():
    """The path of Chromium; None if there is none."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    return None


class Browser:
    """One page of a browser of its own."""

    def __init__(self, profile, width=1200, height=900):
        to_browser, self.sending = os.pipe()
        self.receiving, from_browser = os.pipe()
        words = [
            program(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
            f"--window-size={width},{height}", f"--user-data-dir={profile}", "about:blank",
        ]

        def prepare():
            os.setsid()
            # Out of the way of 3 and 4 first.
            high = [os.dup2(number, 20 + at) for at, number in enumerate((to_browser, from_browser))]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            words, preexec_fn=prepare, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.number = 0
        self.buffer = b""
        # What the page complained about: script errors, and loads that its policy forbids.
        self.complaints = []
        targets = self.call("Target.getTargets", session=None)["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def call(self, method, session=..., **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        session = getattr(self, "session", None) if session is ... else session
        if session:
            message["sessionId"] = session
        os.write(self.sending, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + 60
        while True:
            answer = self.receive(end)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def receive(self, end):
        while b"\0" not in self.buffer:
            if not select.select([self.receiving], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.receiving, 1 << 20)
            if not part:
                raise RuntimeError("the browser has ended")
            self.buffer += part
        line, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(line)
        match message.get("method"):
            case "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(message["params"]["exceptionDetails"]))
            case "Log.entryAdded" if message["params"]["entry"]["level"] == "error":
                self.complaints.append(json.dumps(message["params"]["entry"]))
            case "Runtime.consoleAPICalled" if message["params"]["type"] == "error":
                self.complaints.append(json.dumps(message["params"]["args"]))
        return message

    def open(self, address, dark=False):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
        ])
        # The page sees another part after # without being loaded; here it is always loaded.
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)

    def evaluate(self, script):
        """The value of an expression of JavaScript."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def wait_for(self, script, patience=30):
        """Waits until an expression is true; an error, as before the page is there, counts as false."""
        end = time.monotonic() + patience
        while not self.evaluate(f"(() => {{ try {{ return {script} }} catch {{ return false }} }})()"):
            if time.monotonic() > end:
                raise TimeoutError(f"never true: {script}\n{self.evaluate('document.body.innerText')}")
            time.sleep(0.1)

    def screenshot(self, path):
        picture = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture))

    def close(self):
        try:
            self.call("Browser.close", session=None)
        except (RuntimeError, TimeoutError, BrokenPipeError):
            self.process.kill()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.sending)
        os.close(self.receiving)
