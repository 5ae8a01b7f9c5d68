"""Real processes for the checks: a temporary root, commands of `space`, a server, and a client of server-sent events."""
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

SPACE = os.environ["SPACE"]
SERVE = os.environ["SPACE_SERVE"]


def eventually(condition, patience=30):
    """Waits until a condition holds, and returns its value."""
    end = time.monotonic() + patience
    while not (value := condition()):
        if time.monotonic() > end:
            raise TimeoutError("it never came to that")
        time.sleep(0.05)
    return value


class Root:
    """A root of its own, with the processes that use it; all of them end with it."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="space-serve-", dir="/dev/shm")
        self.path = f"{self.folder}/root"
        os.mkdir(self.path, 0o700)
        self.processes = []
        self.environment = {
            **os.environ, "SHARED_SPACE_ROOT": self.path, "SHARED_SPACE_OWNER": str(os.getpid()),
            "PATH": f"{os.path.dirname(SPACE)}:{os.path.dirname(SERVE)}:/usr/bin:/bin",
        }

    def space(self, *words, status=0, **options):
        """Runs a command of `space` and returns what it prints."""
        done = subprocess.run(
            [SPACE, *words], env=self.environment, capture_output=True, text=True, timeout=120, **options
        )
        if done.returncode != status:
            raise AssertionError(f"space {words}: {done.returncode}, {done.stderr}")
        return done.stdout

    def start(self, *words):
        """Starts a command that goes on; it and its children are a process group."""
        process = subprocess.Popen(
            words, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    def deadlock(self):
        """Three processes that each hold a lock and wait for the next one's."""
        for first, second in ("ab", "bc", "ca"):
            script = f"touch {self.folder}/{first}; while [ ! -e {self.folder}/go ]; do sleep 0.05; done; exec space lock locks {second} -- true"
            self.start("space", "lock", "locks", first, "--persistent", "--", "sh", "-c", script)
        eventually(lambda: all(os.path.exists(f"{self.folder}/{name}") for name in "abc"))
        open(f"{self.folder}/go", "w").close()
        eventually(lambda: "deadlock" in self.space("show", "locks", "--graph"))

    def spanning_deadlock(self):
        """Two processes that each hold a lock in one namespace and wait for the other's, in the other namespace."""
        for first, second in (("left", "right"), ("right", "left")):
            script = f"touch {self.folder}/{first}; while [ ! -e {self.folder}/cross ]; do sleep 0.05; done; exec space lock {second} key -- true"
            self.start("space", "lock", first, "key", "--persistent", "--", "sh", "-c", script)
        eventually(lambda: all(os.path.exists(f"{self.folder}/{name}") for name in ("left", "right")))
        open(f"{self.folder}/cross", "w").close()
        eventually(lambda: "deadlock" in self.space("top", "--max", "1"))

    def close(self):
        for process in self.processes:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Server:
    """A running `space serve`."""

    def __init__(self, root, *words, space=SPACE):
        self.process = subprocess.Popen(
            [space, "serve", *words], env=root.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            raise AssertionError(f"the server has ended: {self.process.wait()}, {self.process.stderr.read()}")
        self.path = self.address.removeprefix("unix:") if self.address.startswith("unix:") else None
        self.port = None if self.path else int(self.address.rstrip("/").rsplit(":", 1)[1])
        self.host = "::1" if "[::1]" in self.address else "127.0.0.1"

    @property
    def pid(self):
        return self.process.pid

    def connect(self, receive_buffer=None):
        connection = socket.socket(
            socket.AF_UNIX if self.path else socket.AF_INET6 if ":" in self.host else socket.AF_INET
        )
        if receive_buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        connection.settimeout(60)
        connection.connect(self.path or (self.host, self.port))
        return connection

    def request(self, path="/", method="GET", host=None, headers=()):
        """The status, headers and body of an answer."""
        client = http.client.HTTPConnection(self.host, self.port or 80)
        client.sock = self.connect()
        client.putrequest(method, path, skip_host=True)
        names = f"[{self.host}]" if ":" in self.host else self.host
        host = host if host is not None else f"{names}:{self.port}" if self.port else "localhost"
        if host:
            client.putheader("Host", host)
        for name, value in dict(headers).items():
            client.putheader(name, value)
        client.endheaders()
        answer = client.getresponse()
        # A stream of events has no end.
        body = "" if answer.headers["Content-Type"] == "text/event-stream" else answer.read().decode()
        client.close()
        return answer.status, answer.headers, body

    def children(self):
        """The processes that the server has started, with their command lines."""
        found = {}
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                with open(f"/proc/{entry}/stat") as file:
                    parent = int(file.read().rsplit(")", 1)[1].split()[1])
                if parent == self.pid:
                    with open(f"/proc/{entry}/cmdline") as file:
                        found[int(entry)] = file.read().split("\0")
            except (FileNotFoundError, ProcessLookupError):
                continue
        return found

    def resident(self):
        """The bytes of memory that the server has for itself."""
        with open(f"/proc/{self.pid}/status") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("RssAnon"))

    def stop(self, number=signal.SIGTERM):
        """Ends the server; returns its exit status and what it wrote to standard error, at the first call."""
        if self.process.stderr.closed:
            return None
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(30)
        errors = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return status, errors


class Events:
    """A page's events, read one by one."""

    def __init__(self, server, query="view=top", receive_buffer=None):
        self.socket = server.connect(receive_buffer)
        host = f"localhost:{server.port}" if server.port else "localhost"
        self.socket.sendall(f"GET /events?{query} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        self.file = None

    def begin(self):
        """Reads the head of the answer; returns the status."""
        self.file = self.socket.makefile("rb")
        status = int(self.file.readline().split()[1])
        while self.file.readline().strip():
            pass
        return status

    def __iter__(self):
        if not self.file:
            assert self.begin() == 200
        text = b""
        while size := int(self.file.readline() or b"0", 16):
            text += self.file.read(size)
            self.file.readline()
            while b"\n\n" in text:
                event, text = text.split(b"\n\n", 1)
                lines = event.decode().split("\n")
                if lines[0].startswith("event: "):
                    yield lines[0].removeprefix("event: "), json.loads(lines[1].removeprefix("data: "))

    def until(self, condition):
        """Reads until an event for which the condition holds, and returns it."""
        end = time.monotonic() + 240
        for name, data in self:
            if condition(name, data):
                return data
            if time.monotonic() > end:
                raise TimeoutError(f"not told; the last event: {name} {data}")
        raise AssertionError("the events have ended")

    def changes(self, condition):
        """Reads until a change for which the condition holds, and returns it."""
        end = time.monotonic() + 240
        for name, data in self:
            if time.monotonic() > end:
                raise TimeoutError(f"not told; the last event: {name} {data}")
            if name == "changes":
                for line in data["lines"]:
                    change = json.loads(line)
                    if condition(change):
                        return change
        raise AssertionError("the events have ended")

    def close(self):
        if self.file:
            self.file.close()
        self.socket.close()
