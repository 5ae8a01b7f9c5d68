// The child process of SpaceSystemTests: it does one action that a test then watches, interrupts or kills.
//
// It reports its progress on standard output, a line each, and takes orders from standard input; when that ends, so
// does the process, so no child outlives its test.

import Glibc
import SpaceSystem
import SystemPackage

func say(_ line: String) {
    print(line)
    fflush(nil)
}

/// Whether the test has given an order; `false` once it is gone.
func order() -> Bool { readLine() != nil }

func usage() -> Never {
    say("space-system-probe: unknown or incomplete command")
    exit(64)
}

func argument(_ position: Int) -> String {
    guard CommandLine.arguments.count > position else { usage() }
    return CommandLine.arguments[position]
}

func map(_ path: String) throws(Errno) -> MappedFile {
    let file = try OwnedDescriptor.open(path, flags: O_RDWR)
    return try MappedFile(file, length: 4096)
}

do throws(Errno) {
    switch argument(1) {
    case "idle":
        say("ready")
        _ = order()

    case "hold-mutex":
        let file = try map(argument(2))
        let mutex = SharedMutex(at: file.base)
        say("\(try mutex.lock(until: .now.advanced(by: .seconds(20))))")
        if order() {
            try mutex.unlock()
            say("unlocked")
            _ = order()
        }

    case "wait-mutex":
        let file = try map(argument(2))
        let mutex = SharedMutex(at: file.base)
        say("waiting")
        say("\(try mutex.lock(until: .now.advanced(by: .seconds(20))))")
        _ = order()

    case "hold-plain-mutex":
        // Shows how a mutex that isn't robust behaves when its holder is killed.
        let file = try map(argument(2))
        let mutex = file.base.assumingMemoryBound(to: pthread_mutex_t.self)
        say(pthread_mutex_lock(mutex) == 0 ? "acquired" : "failed")
        _ = order()

    case "hold-lock":
        let file = try OwnedDescriptor.open(argument(2), flags: O_RDWR)
        say(try FileLock.tryExclusive(file.raw) ? "acquired" : "refused")
        _ = order()
        try FileLock.unlock(file.raw)

    case "wait-futex":
        let file = try map(argument(2))
        let futex = Futex(at: file.base.assumingMemoryBound(to: UInt32.self))
        say("ready")
        say(try futex.wait(while: 0, for: .seconds(20)) ? "woken" : "timed out")

    case "end-main-thread":
        try endMainThread()

    case "fork":
        try forkInTwoWays()

    case "parent":
        try startArmedChild()

    case "armed-child":
        try ParentDeath.arm(signal: SIGKILL, parent: getppid())
        say("armed \(getpid())")
        // Standard input stays open beyond the parent: only the signal ends this.
        while true { pause() }

    case "missed-signal":
        try startProgram(raising: argument(2) == "before")

    case "thread-signals":
        try startThreadsInStorm()

    case "tmpfs":
        try useSmallFileSystem(argument(2), argument(3))

    case "foreign-proc":
        try lookFromInnerNamespace()

    case "inner":
        lookAtOneself()

    default:
        usage()
    }
} catch {
    say("error \(error.rawValue)")
    exit(1)
}
