import Glibc

/// Nanoseconds of the monotonic clock, the same in all processes.
func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// Prints a result: a name and a number, nanoseconds unless the name says otherwise.
func tell(_ name: String, _ value: Double) {
    print(name, Double(Int(value * 10)) / 10)
    fflush(nil)
}

/// Times an operation, numbered from 0, in 20 parts, and returns the median part, which leaves out disturbances by
/// other work of the machine.
///
/// `times`: How much an operation counts for, such as the tuples of a batch.
func measure(_ name: String, _ count: Int, times: Int = 1, _ operation: (Int) throws -> Void) rethrows {
    let parts = 20
    let each = max(1, count / parts / times)
    var number = 0
    var results: [Double] = []
    for _ in 0..<parts {
        let start = now()
        for _ in 0..<each {
            try operation(number)
            number += 1
        }
        results.append(Double(now() - start) / Double(each * times))
    }
    tell(name, median(results))
}

/// Lets the process that is to be found asleep rest for a millisecond: until then an idle virtual processor polls
/// (haltpoll), and waking it costs nothing.
func letSleep() {
    let end = now() + 1_000_000
    while now() < end {}
}

/// Prints a message to standard error.
func complain(_ message: String) {
    let line = message + "\n"
    _ = line.withCString { write(2, $0, strlen($0)) }
}

/// Stops the program: readers would believe a number that was measured past an error.
struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// A child that runs this program with other words, and the pipe on which it answers.
struct Child {
    let pid: pid_t
    let output: Int32

    init(_ words: [String]) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Failure("pipe: errno \(errno)") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        var arguments = ([CommandLine.arguments[0]] + words).map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child: pid_t = 0
        let code = posix_spawn(&child, "/proc/self/exe", &actions, nil, &arguments, environ)
        close(ends[1])
        guard code == 0 else { throw Failure("posix_spawn: errno \(code)") }
        pid = child
        output = ends[0]
    }

    /// Waits for a number that the child sent.
    func receive() throws -> UInt64 {
        var number: UInt64 = 0
        guard read(output, &number, 8) == 8 else { throw Failure("a child ended early") }
        return number
    }

    func wait() throws {
        var status: Int32 = 0
        guard waitpid(pid, &status, 0) == pid, status == 0 else { throw Failure("a child failed, status \(status)") }
        close(output)
    }

    /// Ends a child that would go on for ever.
    func end() throws {
        kill(pid, SIGKILL)
        var status: Int32 = 0
        guard waitpid(pid, &status, 0) == pid else { throw Failure("waitpid: errno \(errno)") }
        close(output)
    }
}

/// Sends a number to the parent.
func send(_ number: UInt64) {
    var number = number
    _ = write(1, &number, 8)
}
