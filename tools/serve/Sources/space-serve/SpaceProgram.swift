import Glibc
import Subprocess
import Synchronization
import SystemPackage

/// The command `space`, from which the server has all that it shows.
///
/// Guarantees: the server has no namespace open. So a stopped holder of a lock delays a look and not the server, and a
/// damaged namespace ends the look. Its looks are `top`, `show`, `read`, `get` and `watch`, with owner `none`: none of
/// them changes, owns or creates anything. What comes from a page is never an option: a name that begins with a dash is
/// refused, and a template comes after `--`.
final class SpaceProgram: Sendable {
    private let executable: Executable
    private let common: [String]
    private let children = Mutex<Set<Int32>>([])

    /// - Parameters:
    ///   - path: The program; `nil` means the one beside this one, else the one in PATH.
    ///   - common: The words for every run, such as `--root=…`.
    init(path: String?, common: [String]) {
        let beside = Self.ownFolder.map { "\($0)/space" }.flatMap { (path: String) in
            access(path, X_OK) == 0 ? path : nil
        }
        executable = (path ?? beside).map { .path(FilePath($0)) } ?? .name("space")
        self.common = common
    }

    private static var ownFolder: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        guard readlink("/proc/self/exe", &buffer, buffer.count - 1) > 0 else { return nil }
        let path = buffer.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
        return path.map { $0.split(separator: "/").dropLast().map { "/\($0)" }.joined() }
    }

    /// The processes that look for the server right now; the page leaves them out.
    var pids: [Int32] { children.withLock { $0.sorted() } }

    /// Kills those processes.
    func kill() { for pid in pids { Glibc.kill(pid, SIGKILL) } }

    /// How a run ended.
    struct Ending: Sendable {
        /// The exit status; `nil` if a signal ended the process.
        let status: Int32?
        /// What it wrote to standard error.
        let message: String

        var isDone: Bool { status == 0 }
        /// Nothing matched.
        var isNothing: Bool { status == 1 }
    }

    /// Runs a command, and hands its lines over one by one; a longer line than `longest` bytes is cut.
    ///
    /// If the task is cancelled, the process is ended.
    ///
    /// - Throws: `Failure` if it can't be run.
    func run(
        _ command: String,
        _ words: [String],
        longest: Int,
        _ handle: @Sendable @escaping (String) -> Void
    ) async throws(Failure) -> Ending {
        var options = PlatformOptions()
        options.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: .seconds(1))]
        do {
            let result = try await Subprocess.run(
                executable,
                arguments: Arguments([command] + common + words),
                platformOptions: options,
                input: .none,
                output: .sequence,
                error: .string(limit: 64 << 10)
            ) { execution in
                let pid = execution.processIdentifier.value
                _ = children.withLock { $0.insert(pid) }
                defer { _ = children.withLock { $0.remove(pid) } }
                var splitter = LineSplitter(longest: longest)
                for try await buffer in execution.standardOutput {
                    buffer.withUnsafeBytes { splitter.append($0, handle) }
                }
            }
            guard case .exited(let status) = result.terminationStatus else {
                return Ending(status: nil, message: "the command 'space \(command)' was ended by a signal")
            }
            return Ending(status: status, message: result.standardError)
        } catch {
            throw Failure(Failure.unavailable, "cannot run 'space \(command)': \(error)")
        }
    }

    /// Runs a command, and gathers its lines.
    func lines(_ command: String, _ words: [String], longest: Int = 2000) async throws(Failure) -> (
        lines: [String], ending: Ending
    ) {
        let lines = Mutexed<[String]>([])
        let ending = try await run(command, words, longest: longest) { line in lines.change { $0.append(line) } }
        return (lines.value, ending)
    }
}

/// A value that several tasks share.
final class Mutexed<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: Value) { mutex = Mutex(value) }

    var value: Value { mutex.withLock { $0 } }

    func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result { mutex.withLock { body(&$0) } }
}
