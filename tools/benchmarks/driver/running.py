"""Programs and servers in a temporary folder: started, listened to, and ended with the run, however it ends."""

import atexit
import contextlib
import ctypes
import glob
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG = 1

# Beside a row's number, which is the median for single operations, a program may tell these, each in a line that ends with
# its name.
QUANTILES = ("p50", "p99", "p99.9", "mean")
# The same, but counts instead of times.
COUNTS = ("commits", "messages until the last commit")


def say(message):
    print(f"benchmark: {message}", file=sys.stderr, flush=True)


def end_with_parent():
    """In the child: a group of its own, and it dies with the driver, also when the driver is killed."""
    os.setpgid(0, 0)
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


# A process that keeps a processor busy, and ends by itself after so many seconds.
HOG = "import sys, time\nend = time.monotonic() + float(sys.argv[1])\nwhile time.monotonic() < end: pass"


class Bench:
    """The folders of a run and the processes that it started."""

    def __init__(self, programs):
        self.programs = programs
        self.folder = tempfile.mkdtemp(prefix="shared-space-bench-", dir="/dev/shm")
        # /tmp may be a memory file system; files that must wait for a disk can't lie there.
        self.disk = tempfile.mkdtemp(prefix="shared-space-bench-", dir="/var/tmp")
        self.started = []
        self.servers = {}
        atexit.register(self.end)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._interrupted)

    def _interrupted(self, number, _):
        self.end()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def end(self):
        for process in self.started:
            self.stop(process)
        self.started = []
        for folder in (self.folder, self.disk):
            shutil.rmtree(folder, ignore_errors=True)
        # What a peer that was killed has left there.
        for path in glob.glob(f"/dev/shm{self.queue_name()}-*"):
            os.unlink(path)

    def queue_name(self):
        return f"/shared-space-bench-{os.getpid()}"

    def start(self, command, **options):
        """Starts a process in a group of its own, so that its children can be ended with it.

        All are in the driver's session, and so compete as the processes of one service do: the kernel gives each session
        its own share of the processors (sched(7), autogroup)."""
        process = subprocess.Popen(command, preexec_fn=end_with_parent, **options)
        self.started.append(process)
        return process

    def stop(self, process):
        # The group outlives its leader if the leader has left children; its id can't have been reused meanwhile.
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()

    @contextlib.contextmanager
    def busy(self, limit):
        """Meanwhile, two processes a processor that never sleep; they end by themselves after `limit` seconds."""
        number = 2 * len(os.sched_getaffinity(0))
        hogs = [self.start([sys.executable, "-c", HOG, str(limit)]) for _ in range(number)]
        try:
            yield
            if any(hog.poll() is not None for hog in hogs):
                raise RuntimeError(f"a hog has ended within {limit} s: what was measured beside it counts for nothing")
        finally:
            for hog in hogs:
                self.stop(hog)
                self.started.remove(hog)

    def run(self, command, timeout=120):
        """Runs a program and reads its lines of a name and a number."""
        process = self.start(command, stdout=subprocess.PIPE, text=True)
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"{' '.join(command)}: no result within {timeout} s") from None
        finally:
            self.stop(process)
            self.started.remove(process)
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: status {process.returncode}")
        results = {}
        for line in output.splitlines():
            name, _, number = line.rpartition(" ")
            results[name] = float(number)
        return results

    # The library, the floor, the ring and the peers, each with a fresh place of its own.

    def space(self, program, *words, disk=False):
        root = os.path.join(self.disk if disk else self.folder, "root")
        try:
            return self.run([self.programs[program], root, *map(str, words)])
        finally:
            shutil.rmtree(root, ignore_errors=True)

    def peer(self, name, *words):
        folder = os.path.join(self.folder, name)
        if name in ("sqlite", "zmq"):
            os.mkdir(folder)
            address = os.path.join(folder, "queue")
        else:
            # Queues of the system are found by a name instead.
            address = self.servers.get(name, self.queue_name())
        try:
            return self.run([*self.programs[name], address, *map(str, words)])
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def calibrate(self):
        """Nanoseconds an addition, by processor."""
        return self.run([self.programs["additions"]])

    def serve(self, name):
        """Starts a peer's server on a Unix socket, and waits until it answers."""
        path = os.path.join(self.folder, f"{name}.socket")
        address = path
        if name == "redis":
            config = ["--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no", "--dir", self.folder]
            command = ["redis-server", *config]
        elif name == "beanstalkd":
            command = ["beanstalkd", "-l", f"unix:{path}"]
        elif name == "rinda":
            address = f"drbunix:{path}"
            command = [*self.programs[name], address, "serve"]
        else:
            return
        process = self.start(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while True:
            with socket.socket(socket.AF_UNIX) as probe:
                try:
                    probe.connect(path)
                    break
                except OSError:
                    if process.poll() is not None or time.monotonic() > deadline:
                        raise RuntimeError(f"{command[0]} does not serve {path}") from None
            time.sleep(0.02)
        self.servers[name] = address
