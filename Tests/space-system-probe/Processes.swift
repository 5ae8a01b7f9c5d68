import Glibc
import SpaceSystem
import SystemPackage

/// Functions that Swift's Glibc module hides, found by name.
func hidden<Function>(_ name: String, as type: Function.Type) -> Function {
    guard let symbol = dlsym(nil, name) else {
        say("missing \(name)")
        exit(1)
    }
    return unsafeBitCast(symbol, to: type)
}

/// Ends the main thread, as some programs do, while another thread goes on.
func endMainThread() throws(Errno) {
    var thread = pthread_t()
    let error = pthread_create(&thread, nil, survive, nil)
    guard error == 0 else { throw Errno(rawValue: error) }
    pthread_exit(nil)
}

@Sendable
private func survive(_: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    // A process whose main thread has ended shows as a zombie.
    while ProcessIdentity.state(of: getpid()) != "Z" { sched_yield() }
    say("main thread ended")
    _ = order()
    exit(0)
}

/// Prints the fork generation of this process, of a child of fork(3), of one of _Fork(3), and its own once more.
///
/// This process has one thread, so its children may go on running Swift.
func forkInTwoWays() throws(Errno) {
    var generations = [ForkGuard.generation]
    for name in ["fork", "_Fork"] {
        let fork = hidden(name, as: (@convention(c) () -> pid_t).self)
        let child = fork()
        guard child >= 0 else { throw Errno(rawValue: errno) }
        if child == 0 { _exit(CInt(truncatingIfNeeded: ForkGuard.generation & 0x7f)) }
        var status: CInt = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        generations.append(UInt32(status >> 8 & 0xff))
    }
    generations.append(ForkGuard.generation)
    say(generations.map(String.init).joined(separator: " "))
}

/// Starts this program with other arguments; it shares standard input and output.
func start(_ arguments: String...) throws(Errno) -> pid_t {
    var words: [UnsafeMutablePointer<CChar>?] = (["space-system-probe"] + arguments).map { strdup($0) }
    words.append(nil)
    defer { words.forEach { free($0) } }
    var child: pid_t = 0
    let error = posix_spawn(&child, "/proc/self/exe", nil, nil, words, environ)
    guard error == 0 else { throw Errno(rawValue: error) }
    return child
}

func startArmedChild() throws(Errno) {
    _ = try start("armed-child")
    // From the main thread, which stays: the signal is sent when that thread ends.
    while true { pause() }
}

/// Starts a program under a guardian, and prints whether it missed a SIGINT, and its end when that is passed on.
///
/// `raises`: Whether the SIGINT goes to the whole process group just before the program exists.
func startProgram(raising raises: Bool) throws(Errno) {
    setpgid(0, 0)
    signal(SIGINT) { _ in }
    // The tests' threads block signals, and a program inherits that.
    var none = sigset_t()
    sigemptyset(&none)
    sigprocmask(SIG_SETMASK, &none, nil)
    var words: [UnsafeMutablePointer<CChar>?] = [strdup("cat"), nil]
    defer { words.forEach { free($0) } }
    guard let file = words[0] else { throw .noMemory }
    let program = try Guardian.spawn(
        file,
        &words,
        input: STDIN_FILENO,
        resetting: [],
        mayStart: raises ? { kill(0, SIGINT) == 0 ? 1 : 0 } : nil
    )
    let isMissed = program.missedSignals & 1 << UInt64(SIGINT) != 0
    say("missed: \(isMissed)")
    Guardian.passOn(SIGINT, to: program.guardian, isToGroup: !isMissed)
    Guardian.passOn(SIGTERM, to: program.guardian, isToGroup: false)
    var request = pollfd(fd: program.news.raw, events: Int16(POLLIN), revents: 0)
    while poll(&request, 1, -1) < 0 && errno == EINTR {}
    Guardian.leave(program.guardian)
    var status: CInt = 0
    while waitpid(program.guardian, &status, 0) < 0 && errno == EINTR {}
    say("status: \(status >> 8 & 0xff)")
}

/// Starts a child in a PID namespace of its own, but with this one's `/proc`.
func lookFromInnerNamespace() throws(Errno) {
    let unshare = hidden("unshare", as: (@convention(c) (CInt) -> CInt).self)
    let newPIDNamespace: CInt = 0x2000_0000  // CLONE_NEWPID
    guard unshare(newPIDNamespace) == 0 else { throw Errno(rawValue: errno) }
    let child = try start("inner")
    var status: CInt = 0
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
}

/// Prints how a process sees itself if `/proc` is another PID namespace's.
func lookAtOneself() {
    let pid = getpid()
    let mine = try? ProcessIdentity.current
    // The trap itself: under this number /proc shows another process.
    let shown = (try? FileBytes.read(at: AT_FDCWD, "/proc/\(pid)/stat", limit: 4096)).flatMap(ProcFS.parse)
    say("another process shown: \(shown != nil && shown?.startTime != mine?.startTime)")
    say("trusted: \(ProcFS.showsOurNamespace)")
    say("identity: \(ProcessIdentity.of(pid: pid) == nil ? "none" : "some")")
    say("life: \(mine.map { "\($0.life)" } ?? "unknown")")
}
