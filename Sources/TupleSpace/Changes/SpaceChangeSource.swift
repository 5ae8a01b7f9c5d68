package import SpaceSystem
import Synchronization
import SystemPackage

/// A watcher's knowledge of a root folder.
///
/// Guarantees: whatever inotify loses (its queue overflows, no instance is left, or the root itself is removed and made
/// again), the next tick finds the difference. An event only says that there may be a difference; the changes come from
/// comparing the folder with what was known of it, by name and by inode.
package final class SpaceChangeSource: Sendable {
    private static let operation = "watch the namespaces"

    private let root: SpaceRoot
    private let signal = PathSignal()
    private let state: Mutex<State>

    /// The identity of a namespace's folder and control file: a new namespace may get one inode of an old one, but
    /// not both.
    private struct Identity: Equatable {
        let device: UInt64
        let folder: UInt64
        let control: UInt64
    }

    private struct State {
        var known: [NamespaceName: Identity] = [:]
        var pending: ArraySlice<SpaceChange> = []
        /// The root's folder that inotify watches, and the watch on it.
        var folder: NamespaceFolder.ID?
        var watch: Int32?
    }

    init(_ root: SpaceRoot, isInitial: Bool) throws(SpaceError) {
        self.root = root
        state = Mutex(State())
        // This refuses a root that belongs to another user. If the root does not exist, or is removed before the first
        // look, the ticks look for it.
        try SpaceError.naming(Self.operation, on: nil) { () throws(SpaceError) in
            _ = try root.open(create: false)
        }
        let watch = EventLoop.shared.begin(signal, path: root.path)
        do throws(SpaceError) {
            try state.withLock { (state) throws(SpaceError) in
                state.watch = watch
                try look(&state)
                if !isInitial { state.pending = [] }
            }
        } catch {
            end()
            throw error
        }
    }

    deinit { end() }

    private func end() {
        EventLoop.end(signal, watch: state.withLock { $0.watch })
    }

    package func next() async throws(SpaceError) -> SpaceChange? {
        while !Task.isCancelled {
            let count = signal.count
            if let change = try take() { return change }
            await EventLoop.shared.wait(for: signal, since: count)
        }
        return nil
    }

    package func nextBlocking(until deadline: MonotonicInstant?, interruption: Interruption?) throws(SpaceError)
        -> SpaceChange?
    {
        while true {
            let count = signal.count
            if let change = try take() { return change }
            if interruption?.isTriggered ?? false {
                throw SpaceError(.cancelled, Self.operation, reason: "the wait was cancelled")
            }
            if deadline?.hasPassed ?? false { return nil }
            EventLoop.shared.block(for: signal, since: count, until: deadline, interruption: interruption)
        }
    }

    private func take() throws(SpaceError) -> SpaceChange? {
        try state.withLock { (state) throws(SpaceError) in
            if state.pending.isEmpty { try look(&state) }
            return state.pending.popFirst()
        }
    }

    /// Compares the root with what was known of it.
    private func look(_ state: inout State) throws(SpaceError) {
        let found = try SpaceError.naming(Self.operation, on: nil) { () throws(SpaceError) in
            try identities(listening: &state)
        }
        var changes: [SpaceChange] = []
        for (name, identity) in state.known where found[name] != identity { changes.append(.disappeared(name.text)) }
        for (name, identity) in found where state.known[name] != identity { changes.append(.appeared(name.text)) }
        state.known = found
        state.pending = changes.sorted(by: Self.precedes)[...]
    }

    /// The namespaces in the root, which inotify watches from now on.
    private func identities(listening state: inout State) throws(SpaceError) -> [NamespaceName: Identity] {
        var found: [NamespaceName: Identity] = [:]
        if let folder = try root.open(create: false) {
            // Watched before the look, so that every later event signals.
            try listen(folder, &state)
            let entries = try system(root.path.quotedForPeople) { () throws(Errno) in try Directory.list(folder.raw) }
            for entry in entries {
                guard let name = NamespaceName(folder: entry), let identity = Self.identity(entry, folder) else {
                    continue
                }
                found[name] = identity
            }
        }
        return found
    }

    /// The order of the changes: disappearances first, then by name.
    private static func precedes(_ a: SpaceChange, _ b: SpaceChange) -> Bool {
        switch (a, b) {
        case (.disappeared, .appeared): true
        case (.appeared, .disappeared): false
        case (.appeared(let a), .appeared(let b)), (.disappeared(let a), .disappeared(let b)): Name(a) < Name(b)
        }
    }

    /// The identity of a namespace's folder; `nil` if the entry is not one, or has gone.
    private static func identity(_ entry: String, _ root: borrowing OwnedDescriptor) -> Identity? {
        guard let folder = try? Directory.info(at: root.raw, entry), folder.kind == .directory else { return nil }
        let control = try? Directory.info(at: root.raw, "\(entry)/\(NamespaceFolder.control)").inode
        // A namespace without a control file is damaged but exists; any other folder without one is not a namespace.
        guard control != nil || NamespaceFolder.isNamespace(entry, in: root) ?? false else { return nil }
        return Identity(device: folder.device, folder: folder.inode, control: control ?? 0)
    }

    /// Makes inotify watch the root, even if a new folder has replaced the old one.
    private func listen(_ folder: borrowing OwnedDescriptor, _ state: inout State) throws(SpaceError) {
        let raw = folder.raw
        let info = try system(root.path.quotedForPeople) { () throws(Errno) in try FileInfo.of(raw) }
        let id = NamespaceFolder.ID(info)
        if let watch = state.watch, state.folder == id, EventLoop.isHeard(signal, watch: watch) { return }
        EventLoop.end(signal, watch: state.watch)
        state.watch = EventLoop.shared.begin(signal, path: folder.procPath)
        state.folder = id
    }
}
