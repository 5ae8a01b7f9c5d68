import ClusterStore
import ClusterStoreRemote
import Glibc
import SharedSpace
import SpaceSystem
import Synchronization
import SystemPackage

/// How `space join` is connected with its store: each call of ``connect()`` makes another connection.
///
/// A program that has ended, or hangs, is replaced by another one. The errors of calls have the program's last words. If
/// its arguments and files were not the reason, people are told its last words, unless they are the same as before.
final class StoreConnector: Sendable {
    private enum Way {
        case socket(String)
        case program(String, [String])
    }

    private struct State {
        var process: StoreProcess?
        var toldWords = ""
        /// Whether the program has ever answered.
        var hasWorked = false
        /// Why the program can't work; `nil` if it may.
        var refusal: SpaceError?
    }

    private let way: Way
    /// What a program must not forget when it is replaced, such as which etcd it serves.
    private let memory = Result { () throws(Errno) in try MemoryFile("store") }
    private let state = Mutex(State())

    private init(_ way: Way) { self.way = way }

    /// Connects to a store's Unix socket.
    static func socket(_ path: String) -> StoreConnector { StoreConnector(.socket(path)) }

    /// Starts a program that connects with the store.
    static func program(_ path: String, _ arguments: [String]) -> StoreConnector {
        StoreConnector(.program(path, arguments))
    }

    /// Connects.
    ///
    /// - Throws: `SpaceError` if the program has just ended because of its arguments or their files; a later call tries
    ///   again if it has ever worked with them. `StoreError` if it can't be started, and the errors of connect(2).
    func connect() throws -> RemoteStore {
        switch way {
        case .socket(let path):
            let socket = try LocalSocket.connected(path).release()
            return try RemoteStore(input: socket, output: socket)
        case .program(let path, let arguments):
            if let refusal = state.withLock({ $0.refusal }) { throw refusal }
            if let old = state.withLock({ $0.process.take() }) { try endAndTell(old) }
            let process: StoreProcess
            do throws(Errno) { process = try StoreProcess(path, arguments, memory: memory.get()) } catch {
                throw StoreError.unavailable("the program \(PeopleText.escaped(path)) can't be started: \(error.told)")
            }
            state.withLock { $0.process = process }
            return process.store
        }
    }

    /// Ends the program, also one that is stopped.
    func end() { state.withLock { $0.process.take() }?.end() }

    private func endAndTell(_ process: StoreProcess) throws(SpaceError) {
        if process.store.hasAnswered { state.withLock { $0.hasWorked = true } }
        let status = process.end()
        let words = process.lastWords
        // sysexits.h: 64 is a wrong argument, 66 a file that can't be read.
        if status == 64 || status == 66 {
            let refusal = SpaceError(
                .invalidArgument,
                reason: words.isEmpty ? "space-etcd can't work with these arguments" : words,
                advice: "look at: space help join"
            )
            state.withLock { if !$0.hasWorked { $0.refusal = refusal } }
            throw refusal
        }
        let isNew = state.withLock { state in
            defer { state.toldWords = words }
            return state.toldWords != words
        }
        if isNew, !words.isEmpty, Messages.hasRoom(STDERR_FILENO) { Messages.print("space: \(words)") }
    }
}
