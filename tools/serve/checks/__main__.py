"""The checks of tools/serve/test."""
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import unittest
from urllib.parse import quote

import browser
from serving import SERVE, SPACE, Events, Root, Server, eventually

SCREENSHOTS = os.environ["SCREENSHOTS"]
# What tools/serve/test --quick leaves out.
unhurried = unittest.skipIf(os.environ.get("QUICK"), "left out by --quick")


class Case(unittest.TestCase):
    def setUp(self):
        self.root = Root()
        self.addCleanup(self.root.close)

    def serve(self, *words):
        server = Server(self.root, *words)
        self.addCleanup(server.stop)
        return server

    def events(self, server, query="view=top", **options):
        events = Events(server, query, **options)
        self.addCleanup(events.close)
        return events

    def refused(self, status, *words, program=(SPACE, "serve"), environment=None):
        """Runs a server that does not start; returns what it says."""
        done = subprocess.run(
            [*program, *words], env=environment or self.root.environment, capture_output=True, text=True, timeout=60
        )
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        return done.stderr


class Answers(Case):
    def test_page(self):
        for words in ((), ("--address", "::1")):
            server = self.serve(*words)
            status, headers, body = server.request()
            self.assertEqual(status, 200)
            self.assertEqual(headers["Content-Type"], "text/html; charset=utf-8")
            policy = headers["Content-Security-Policy"]
            self.assertIn("default-src 'none'", policy)
            self.assertNotIn("unsafe", policy)
            nonce = policy.split("'nonce-")[1].split("'")[0]
            self.assertEqual(body.count(f'nonce="{nonce}"'), 2)
            self.assertNotIn("{{", body)
            self.assertNotIn(nonce, server.request()[2])
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertFalse([name for name in headers if name.lower().startswith("access-control")])

    def test_refusals(self):
        server = self.serve()
        port = server.port
        for path in ("/x", "/event", "/page.html", "/%2e%2e/etc/passwd"):
            self.assertEqual(server.request(path)[0], 404, path)
        for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS"):
            status, headers, _ = server.request(method=method)
            self.assertEqual((status, headers["Allow"]), (405, "GET"), method)
        for host in ("", "evil.example", f"evil.example:{port}", "127.0.0.1", "localhost", f"127.0.0.1:{port ^ 1}",
                     f"127.0.0.1.evil.example:{port}", f"localhost.:{port}", f"[::1]:{port}x"):
            for path in ("/", "/events"):
                self.assertEqual(server.request(path, host=host)[0], 403, host)
        for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"):
            self.assertEqual(server.request(host=host)[0], 200, host)
        for query in ("view=x", "view=namespace", "view=namespace&ns=", "view=namespace&ns=--subscription=x",
                      "view=namespace&ns=a%00b", "view=namespace&ns=" + "a" * 5000):
            self.assertEqual(server.request(f"/events?{query}")[0], 400, query)
        for site in ("cross-site", "same-site"):
            self.assertEqual(server.request("/events", headers={"Sec-Fetch-Site": site})[0], 403)
        self.assertEqual(server.children(), {})

    @unittest.skipUnless(os.geteuid() == 0, "it takes root to be another user")
    def test_other_user(self):
        for words in ((), ("--address", "::1")):
            server = self.serve(*words)
            done = subprocess.run(
                ["setpriv", "--reuid", "65534", "--clear-groups", sys.executable, "-c",
                 "import sys, urllib.request as r\n"
                 "try: r.urlopen(sys.argv[1])\n"
                 "except r.HTTPError as error: print(error.code)", server.address],
                capture_output=True, text=True,
            )
            self.assertEqual(done.stdout, "403\n", done.stderr)
            self.assertEqual(server.request()[0], 200)


class Starting(Case):
    def test_refused_addresses(self):
        for program in ((SPACE, "serve"), (SERVE,)):
            for address in ("0.0.0.0", "192.168.0.1", "::", "example.org", "127.0.0.2", ""):
                self.assertIn("127.0.0.1", self.refused(64, f"--address={address}", program=program))
            self.refused(64, "--socket", f"{self.root.folder}/s", "--port", "0", program=program)
            self.refused(64, "--socket", "x" * 108, program=program)
            self.refused(64, "--clients", "0", program=program)
            self.refused(64, "--port", "65536", program=program)
        taken = self.serve().port
        self.assertIn("in use", self.refused(75, "--port", str(taken)))

    def test_missing(self):
        self.assertIn("nowhere", self.refused(69, "--root", f"{self.root.folder}/nowhere"))
        self.assertFalse(os.path.exists(f"{self.root.folder}/nowhere"))
        # Without the server's program beside `space` or in PATH.
        copy = f"{self.root.folder}/space"
        subprocess.run(["cp", SPACE, copy], check=True)
        errors = self.refused(69, program=(copy, "serve"), environment={"PATH": "/nowhere"})
        self.assertIn("tools/build --serve", errors)

    def test_socket(self):
        path = f"{self.root.folder}/page"
        server = self.serve("--socket", path)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        self.assertEqual(server.address, f"unix:{path}")
        self.assertEqual(server.request()[0], 200)
        self.assertEqual(server.request(host="localhost:8080")[0], 200)
        self.assertEqual(server.request(host="evil.example")[0], 403)
        self.events(server).until(lambda name, data: name == "look")
        self.assertIn("another process", self.refused(75, "--socket", path))
        self.assertEqual(server.stop()[0], 0)
        self.assertFalse(os.path.exists(path))
        # One whose server was killed gives way; a file of another kind does not.
        left = socket.socket(socket.AF_UNIX)
        left.bind(path)
        left.close()
        self.assertEqual(self.serve("--socket", path).stop()[0], 0)
        with open(path, "w") as file:
            file.write("mine")
        self.refused(64, "--socket", path)
        with open(path) as file:
            self.assertEqual(file.read(), "mine")

    def test_end(self):
        self.root.space("write", "--persistent", "jobs", "[1]")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            server = self.serve()
            events = [self.events(server, "view=namespace&ns=jobs"), self.events(server, "view=waits")]
            events[0].changes(lambda change: change["event"] == "ready")
            events[1].until(lambda name, data: name == "look")
            children = server.children()
            self.assertTrue(any("watch" in words for words in children.values()))
            self.assertEqual(server.stop(number), (0, ""))
            # On a busy machine they are killed with the server, and go a moment later.
            eventually(lambda: not any(os.path.exists(f"/proc/{child}") for child in children))
            for stream in events:
                # The stream ends, and not in the middle of an event.
                for _ in stream:
                    pass

    def test_pair(self):
        """A second signal while the server ends does not disturb the end."""
        server = self.serve()
        events = self.events(server, "view=waits")
        events.until(lambda name, data: name == "look")
        server.process.send_signal(signal.SIGHUP)
        # The streams end first, and the server about a second later.
        for _ in events:
            pass
        self.assertEqual(server.stop(signal.SIGTERM), (0, ""))

    def test_busy(self):
        """A signal ends a server all of whose threads read requests that are very long."""
        server = self.serve()
        for _ in range(2 * (os.cpu_count() or 1)):
            connection = server.connect()
            self.addCleanup(connection.close)
            connection.settimeout(0.2)
            try:
                connection.sendall(b"GET / HTTP/1.1\r\nX: " + b"y" * 3_000_000)
            except TimeoutError:
                pass
        self.assertIn(server.stop()[0], (0, 128 + signal.SIGTERM))

    def test_hostile_requests(self):
        """Heads without an end and bodies are refused, and take no thread from others; so does one who sends nothing."""
        server = self.serve()
        silent = [server.connect() for _ in range(8)]
        for connection in silent:
            self.addCleanup(connection.close)
        host = f"Host: 127.0.0.1:{server.port}\r\n"
        heads = {
            "GET / HTTP/1.1\r\n" + "X: y\r\n" * 500_000: b"431",
            "GET / HTTP/1.1\r\nX: " + "y" * 3_000_000: b"431",
            f"POST / HTTP/1.1\r\n{host}Content-Length: 3145728\r\n\r\n" + "x" * 3_145_728: b"413",
            f"POST / HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n300000\r\n" + "x" * 3_145_728: b"411",
            f"GET / HTTP/1.1\r\n{host}Origin: http://evil.example\r\n\r\n": b"403",
            f"GET / HTTP/1.1\r\n{host}Host: evil.example\r\n\r\n": b"400",
            "\0\r\n\r\n": b"400",
        }
        for head, status in heads.items():
            for _ in range(4):
                connection = server.connect()
                self.addCleanup(connection.close)
                sender = threading.Thread(target=self.send, args=(connection, head.encode()), daemon=True)
                sender.start()
                self.assertEqual(connection.recv(65536).split()[1], status, head[:60])
            self.assertEqual(server.request()[0], 200)
        for connection in silent:
            self.assertEqual(connection.recv(65536).split()[1], b"408")

    @staticmethod
    def send(connection, data):
        try:
            connection.sendall(data)
        except OSError:
            pass

    @unittest.skipUnless(os.geteuid() == 0, "it takes root to be another user")
    def test_crowd_of_another_user(self):
        """Whatever another user sends, the server answers its own."""
        server = self.serve()
        crowd = subprocess.Popen(
            ["setpriv", "--reuid", "65534", "--clear-groups", sys.executable, "-c",
             "import socket, sys\n"
             "all = []\n"
             "for n in range(200):\n"
             "    s = socket.create_connection((sys.argv[1], int(sys.argv[2])))\n"
             "    s.setblocking(False)\n"
             "    all.append(s)\n"
             "    try: s.send(b'POST / HTTP/1.1\\r\\nContent-Length: 9999999\\r\\n\\r\\n' + b'x' * 1000000)\n"
             "    except OSError: pass\n"
             "print('sent', flush=True)\n"
             "sys.stdin.read()", server.host, str(server.port)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        self.assertEqual(crowd.stdout.readline(), "sent\n")
        self.assertEqual(server.request()[0], 200)
        self.assertEqual(server.stop(), (0, ""))
        crowd.communicate()

    @unhurried
    def test_pages_that_read_nothing(self):
        """Pages that read nothing lose their places, all of them."""
        text = "x" * 1900
        self.root.space("write", "--persistent", "jobs", "-", input=f'["{text}"]\n' * 200)
        server = self.serve("--clients", "16")
        for _ in range(16):
            self.events(server, "view=namespace&ns=jobs", receive_buffer=4096)
        eventually(lambda: sum("watch" in words for words in server.children().values()) == 16)

        def opened():
            self.root.space("write", "jobs", "-", input=f'["{text}"]\n' * 500)
            return server.request("/events")[0] == 200

        eventually(opened, 180)

    def test_kill(self):
        self.root.space("write", "--persistent", "jobs", "[1]")
        server = self.serve()
        self.events(server, "view=namespace&ns=jobs").changes(lambda change: change["event"] == "ready")
        children = server.children()
        self.assertEqual(server.stop(signal.SIGKILL)[0], -signal.SIGKILL)
        eventually(lambda: not any(os.path.exists(f"/proc/{child}") for child in children))


class Live(Case):
    def test_look(self):
        self.root.deadlock()
        server = self.serve()
        look = self.events(server).until(lambda name, data: name == "look")["look"]
        locks = next(one for one in look["namespaces"] if one["name"] == "locks")
        self.assertEqual(len(locks["deadlocks"]), 1)
        self.assertTrue(any(process["holds"] == ["lock a"] for process in look["processes"]))
        self.assertTrue(any(process["waits_for"] == ["lock a"] for process in look["processes"]))
        pictures = self.events(server, "view=waits").until(lambda name, data: name == "graph" and data)
        self.assertEqual([picture["name"] for picture in pictures], ["locks"])
        self.assertTrue(pictures[0]["svg"].startswith("<svg "))

    def test_namespace(self):
        self.root.space("write", "--persistent", "jobs", '["old",1]')
        server = self.serve()
        events = self.events(server, "view=namespace&ns=jobs")
        events.changes(lambda change: change["event"] == "ready")
        self.root.space("write", "jobs", '["new","<b>"]')
        change = events.changes(lambda change: change["event"] == "write")
        self.assertEqual(change["tuple"], ["new", "<b>"])
        events.until(lambda name, data: name == "tuples" and data["lines"] == ['["old",1]', '["new","<b>"]'])
        self.root.space("set", "jobs", "progress", "0.5")
        events.until(lambda name, data: name == "cells" and data["lines"] == ['{"key":"progress","value":0.5}'])
        waiter = self.root.start("space", "take", "jobs", '["none"]', "--wait")
        events.until(lambda name, data: name == "status" and any(one["pid"] == waiter.pid for one in data["waiters"]))

    def test_template(self):
        self.root.space("write", "--persistent", "jobs", *[f'["n",{number}]' for number in range(250)], '["other"]')
        server = self.serve()

        def tuples(template):
            query = f"view=namespace&ns=jobs&template={quote(template)}"
            return self.events(server, query).until(lambda name, data: name == "tuples")

        everything = tuples("")
        self.assertEqual((len(everything["lines"]), everything["isCut"]), (200, True))
        some = tuples('["n",7]')
        self.assertEqual((some["lines"], some["isCut"]), (['["n",7]'], False))
        self.assertEqual(tuples('["none"]')["lines"], [])
        self.assertIn("space: ", tuples('["n"')["problem"])
        self.assertIn("problem", tuples("--all"))

    def test_life(self):
        """A page makes no namespace, keeps none alive, and follows the next one of the name."""
        server = self.serve()
        events = self.events(server, "view=namespace&ns=brief")
        self.assertTrue(events.until(lambda name, data: name == "tuples")["isGone"])
        self.assertEqual(self.root.space("list"), "")
        for _ in range(2):
            owner = self.root.start("sleep", "600")
            self.root.space("write", "brief", "[1]", "--owner", str(owner.pid))
            events.until(lambda name, data: name == "tuples" and data["lines"] == ["[1]"])
            owner.kill()
            owner.wait()
            # The server's own looks delete what no process owns.
            events.until(lambda name, data: name == "tuples" and data["isGone"])
            self.assertEqual(self.root.space("list"), "")

    @unhurried
    def test_slow_page(self):
        """A page that reads nothing costs a bounded amount of memory, and no other page and no writer waits for it."""
        self.root.space("write", "--persistent", "jobs", "[0]")
        server = self.serve()
        # Without its reader the kernel keeps about 200 kB; what is more waits in the server.
        slow = [self.events(server, "view=namespace&ns=jobs", receive_buffer=4096) for _ in range(4)]
        quick = self.events(server, "view=namespace&ns=jobs")
        quick.changes(lambda change: change["event"] == "ready")
        eventually(lambda: sum("watch" in words for words in server.children().values()) == 5)
        before = server.resident()
        text = "x" * 1500
        lines = "".join(f'["{text}",{number}]\n' for number in range(1000))
        told = []
        reader = threading.Thread(
            target=lambda: told.append(quick.changes(lambda change: change.get("tuple") == ["last"])), daemon=True
        )
        reader.start()
        for _ in range(8):
            self.root.space("write", "jobs", "-", input=lines)
            self.root.space("take", "jobs", "--all", '["?","?int"]')
        self.root.space("write", "jobs", '["last"]')
        reader.join(240)
        self.assertEqual(len(told), 1)
        # 16,000 changes of 1.5 kB have passed for each page: 24 MB.
        self.assertLess(server.resident() - before, 24 << 20)
        # The page reads again: it is told how much it missed, and then the newest changes.
        dropped = 0
        for name, data in slow[0]:
            if name == "changes":
                dropped += data["dropped"]
                if '["last"]' in data["lines"][-1]:
                    self.assertGreater(dropped, 10_000)
                    return
        # On a machine so slow that all of this takes half a minute, the page has lost its place.
        self.assertEqual(server.request()[0], 200)

    @unhurried
    def test_stalled_page(self):
        """A page that reads nothing for half a minute loses its place."""
        self.root.space("write", "--persistent", "jobs", "[0]")
        server = self.serve("--clients", "1")
        self.events(server, "view=namespace&ns=jobs", receive_buffer=4096)
        eventually(lambda: any("watch" in words for words in server.children().values()))
        self.assertEqual(server.request("/events")[0], 503)
        text = "x" * 1900

        def opened():
            # More than the kernel keeps for a connection.
            self.root.space("write", "jobs", "-", input=f'["{text}"]\n' * 500)
            return server.request("/events")[0] == 200

        eventually(opened, 90)

    def test_limit(self):
        server = self.serve("--clients", "2")
        first, second = self.events(server), self.events(server)
        for events in (first, second):
            events.until(lambda name, data: name == "look")
        self.assertEqual(server.request("/events")[0], 503)
        self.assertEqual(server.request()[0], 200)
        first.close()

        def opened():
            events = self.events(server)
            return events.begin() == 200

        eventually(opened)

    def test_idle(self):
        """Without a page nothing runs."""
        server = self.serve()
        events = self.events(server)
        events.until(lambda name, data: name == "look")
        self.assertTrue(server.children())
        events.close()
        eventually(lambda: not server.children())


@unhurried
@unittest.skipUnless(browser.program(), "there is no Chromium: apt-get install chromium")
class Page(Case):
    """The page in a browser; the screenshots are for a person to look at."""

    def setUp(self):
        super().setUp()
        profile = tempfile.TemporaryDirectory()
        self.addCleanup(profile.cleanup)
        self.browser = browser.Browser(profile.name)
        self.addCleanup(self.browser.close)

    def shoot(self, name):
        os.makedirs(SCREENSHOTS, exist_ok=True)
        self.browser.screenshot(f"{SCREENSHOTS}/{name}.png")
        self.assertEqual(self.browser.complaints, [])

    def prepare(self):
        self.root.deadlock()
        for number in range(42, 60):
            self.root.space("write", "--persistent", "jobs", f'["resize",{number},"picture-{number}.png"]')
        hostile = "<img src=x onerror=\"document.title='caught'\">"
        self.root.space("write", "jobs", f'["note",{self.text(hostile)}]', '{"kind":"mail","to":["a@example.org"],"tries":3}')
        for key, value in (("progress", "0.5"), ("config.host", '"localhost"'), ("config.port", "8080"),
                           (hostile, '"a key of a cell may be any text"')):
            self.root.space("set", "jobs", key, value)
        self.root.space("write", "--persistent", "mail", "[1]")
        self.root.start("space", "take", "jobs", '["shrink","?int","?string"]', "--wait")
        self.root.start("space", "claim", "jobs", '["resize",42,"?"]', "--", "sleep", "600")
        self.root.start("space", "lock", "jobs", "deploy", "--", "sleep", "600")
        eventually(lambda: "1 claim" in self.root.space("top", "--max", "1"))
        return self.serve()

    @staticmethod
    def text(value):
        return json.dumps(value)

    def test_views(self):
        server = self.prepare()
        page = self.browser
        for dark in (False, True):
            suffix = "dark" if dark else "light"
            page.open(server.address, dark)
            page.wait_for("document.querySelectorAll('#processes tbody tr').length > 4")
            page.wait_for("document.querySelector('#deadlocks').innerText.includes('Deadlock in locks')")
            self.assertNotIn("space watch", page.evaluate("document.body.innerText"))
            self.shoot(f"top-{suffix}")
            page.open(f"{server.address}#waits", dark)
            page.wait_for("document.querySelector('.picture img')?.naturalWidth > 100")
            self.shoot(f"waits-{suffix}")
            page.open(f"{server.address}#ns=jobs", dark)
            page.wait_for("document.querySelector('#tuples').innerText.includes('onerror')")
            page.wait_for("document.querySelector('#live').className === 'on'")
            for number in range(3):
                self.root.space("write", "jobs", f'["resize",{number},"new-{number}.png"]')
                self.root.space("take", "jobs", f'["resize",{number},"?"]')
                self.root.space("set", "jobs", "progress", str(number))
            self.root.space("post", "jobs", "build.done", '{"status":"<b>ok</b>"}')
            page.wait_for("document.querySelector('#changes').innerText.includes('build.done')")
            page.wait_for("document.querySelector('#cells').innerText.includes('onerror')")
            page.wait_for("document.querySelector('#held').innerText.includes('deploy')")
            page.wait_for("document.querySelector('#cells').innerText.trim().endsWith('2')")
            self.shoot(f"namespace-{suffix}")
            self.assertEqual(page.evaluate("document.querySelectorAll('main img, main b').length"), 1)
            self.assertNotEqual(page.evaluate("document.title"), "caught")

    def test_spanning_deadlock(self):
        self.root.spanning_deadlock()
        server = self.serve()
        page = self.browser
        page.open(server.address)
        page.wait_for("document.querySelector('#deadlocks').innerText.includes('Deadlock through several namespaces')")
        text = page.evaluate("document.querySelector('#deadlocks').innerText")
        for name in ("left", "right"):
            self.assertIn(f" in {name}", text)
        self.assertEqual(page.evaluate("document.querySelectorAll('#deadlocks a').length"), 2)
        page.wait_for("document.querySelectorAll('#processes .bad').length >= 2")
        self.shoot("spanning")

    def test_filter(self):
        server = self.prepare()
        page = self.browser
        page.open(f"{server.address}#ns=jobs")
        page.wait_for("document.querySelector('#tuples').innerText.includes('mail')")
        page.evaluate("""{
            const names = document.querySelector('#names');
            document.querySelector('#template').value = '["resize","?int","picture-50.png"]';
            document.querySelector('#filter').requestSubmit();
        }""")
        page.wait_for("document.querySelectorAll('#tuples .row').length === 1")
        self.assertIn("picture-50.png", page.evaluate("document.querySelector('#tuples').innerText"))
        page.evaluate("document.querySelector('#template').value = '[\"resize\"'; document.querySelector('#filter').requestSubmit()")
        page.wait_for("document.querySelector('#tuples .bad') !== null")
        self.shoot("bad-template")
        page.evaluate("document.querySelector('#names').value = 'mail'; document.querySelector('#names').dispatchEvent(new Event('change'))")
        page.wait_for("document.querySelector('#tuples').innerText.includes('[1]')")
        server.stop()
        page.wait_for("document.querySelector('#live').className === 'off'")


if __name__ == "__main__":
    unittest.main(verbosity=2)
