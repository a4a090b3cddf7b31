"""Chromium without a window, driven over the W3C WebDriver protocol with the standard library."""

import base64
import ctypes
import json
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request


def end_with_parent():
    """A test that is killed, as after a timeout, leaves no browser behind."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


class Browser:
    """One chromedriver and one page of one Chromium. A context manager: leaving it ends both."""

    def __init__(self, downloads):
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, preexec_fn=end_with_parent)
        self._base = f"http://127.0.0.1:{self._port()}"
        # By a pipe Chromium notices when its driver ends.
        arguments = ["--remote-debugging-pipe", "--headless=new", "--no-sandbox", "--disable-gpu",
                     "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
                     "--force-device-scale-factor=1", f"--user-data-dir={self._profile.name}"]
        options = {
            "args": arguments,
            "prefs": {"download.default_directory": downloads,
                      "download.prompt_for_download": False,
                      # Several from one page, without asking.
                      "profile.default_content_setting_values.automatic_downloads": 1},
        }
        capabilities = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self._session = f"/session/{answer['sessionId']}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._call("DELETE", self._session)
        finally:
            self._driver.terminate()
            self._driver.wait(10)
            self._profile.cleanup()

    def _port(self):
        for line in self._driver.stdout:
            if "started successfully on port" in line:
                return int(line.rstrip(".\n").rsplit(" ", 1)[1])
        raise RuntimeError("chromedriver did not start")

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._base + path, data, method=method)
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def command(self, name, **parameters):
        """A command of the DevTools protocol."""
        return self._call("POST", f"{self._session}/goog/cdp/execute",
                          {"cmd": name, "params": parameters})

    def open(self, path, width=1440, height=900, scheme="light"):
        """Loads the file at that size of window and colour scheme; forgets earlier log entries."""
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height,
                     deviceScaleFactor=1, mobile=width < 600)
        self.command("Emulation.setEmulatedMedia",
                     features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.log("browser")
        self.log("performance")
        self._call("POST", f"{self._session}/url", {"url": f"file://{path}"})

    def run(self, script, *arguments):
        """What the body of a JavaScript function returns."""
        return self._call("POST", f"{self._session}/execute/sync",
                          {"script": script, "args": list(arguments)})

    def log(self, kind):
        """What was logged since the last call: "browser" (the console) or "performance"."""
        return self._call("POST", f"{self._session}/se/log", {"type": kind})

    def requests(self):
        """The addresses asked for since the last call."""
        messages = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        return [message["params"]["request"]["url"] for message in messages
                if message["method"] == "Network.requestWillBeSent"]

    def choose(self, name, value):
        """Sets the control of that name, as a user does."""
        self.run("""
            const control = document.getElementsByName(arguments[0])[0];
            if (control.type === 'checkbox') {
              if (control.checked !== arguments[1]) control.click();
            } else {
              control.value = arguments[1];
              if (control.value !== String(arguments[1])) throw new Error('no such choice');
              control.dispatchEvent(new Event('input'));
              control.dispatchEvent(new Event('change'));
            }""", name, value)

    def hover(self, identifier, x, y):
        """Moves the pointer to that place within the element."""
        left, top = self.run("""
            const {left, top} = document.getElementById(arguments[0]).getBoundingClientRect();
            return [left, top];""", identifier)
        self.command("Input.dispatchMouseEvent", type="mouseMoved", x=left + x, y=top + y)
        self.run("return new Promise((done) => requestAnimationFrame(() => done()));")

    def printed(self):
        """The page as PDF."""
        return base64.b64decode(self.command("Page.printToPDF", printBackground=True)["data"])


def wait_until(condition, seconds=10):
    """Whether the condition became true in that time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True
