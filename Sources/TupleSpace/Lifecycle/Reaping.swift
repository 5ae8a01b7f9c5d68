import SpaceSystem
import Synchronization
import SystemPackage

/// Deletes a namespace.
///
/// Guarantees: a namespace with a living owner is never deleted; a namespace without one is deleted, whichever process
/// is killed during the deletion. Under the door: the path still leads to this folder → every session checked → no
/// living owner, not persistent → the gate → `dead` → renamed to a unique name in the graveyard → all waiters woken,
/// the change signalled → released → deleted. If the rename fails, `dead` is taken back before any waiter is woken.
///
/// After a kill that follows `dead`, the folder is still in place, and every opener, lister and reaper that finds it
/// continues from there. After a kill that follows the rename, any process that visits the graveyard empties it.
/// Opening and enrolling happen under the same door, so an opener enrols before the check, and is seen, or it finds
/// `dead`.
enum Reaping {
    static let operation = "delete the namespace"

    private static let counter = Atomic<UInt64>(0)

    /// A folder in the graveyard.
    struct RemovedFolder: ~Copyable {
        let graveyard: OwnedDescriptor
        let name: String

        /// Deletes the folder.
        ///
        /// Whatever can't be deleted now is left to the next process that visits the graveyard.
        func delete() { try? Directory.removeTree(at: graveyard.raw, name) }
    }

    /// Marks a namespace dead and moves it out of the root.
    ///
    /// The caller holds the door.
    static func moveAway(
        _ folder: borrowing NamespaceFolder,
        _ control: ControlFile,
        in rootFolder: borrowing OwnedDescriptor,
        of root: SpaceRoot,
        timeout: Duration
    ) throws(SpaceError) -> RemovedFolder {
        try SpaceError.naming(operation, on: folder.name.text) { () throws(SpaceError) in
            let gate = try takeGate(of: folder, control, timeout: timeout)
            return try moveOut(folder, control, in: rootFolder, of: root, under: gate)
        }
    }

    /// The same, unless a process has changed something in the namespace; `nil` if one has.
    ///
    /// No process writes between the look and the mark, because both are under the gate.
    static func moveAwayUnused(
        _ folder: borrowing NamespaceFolder,
        _ control: ControlFile,
        in rootFolder: borrowing OwnedDescriptor,
        of root: SpaceRoot,
        timeout: Duration
    ) throws(SpaceError) -> RemovedFolder? {
        try SpaceError.naming(operation, on: folder.name.text) { () throws(SpaceError) in
            let gate = try takeGate(of: folder, control, timeout: timeout)
            // A killed holder of the gate may have committed without counting the changes.
            guard gate.isHeld, control.gateNeedsRecovery.load() == 0, control.sequence.load() == 0 else { return nil }
            return try moveOut(folder, control, in: rootFolder, of: root, under: gate)
        }
    }

    /// Marks a namespace dead and moves it into another folder of the root, where it stays.
    ///
    /// The caller holds the door.
    ///
    /// - Returns: The path to which it was moved.
    static func setAside(
        _ folder: borrowing NamespaceFolder,
        _ control: ControlFile,
        into place: String,
        in rootFolder: borrowing OwnedDescriptor,
        of root: SpaceRoot,
        timeout: Duration
    ) throws(SpaceError) -> String {
        let gate = try takeGate(of: folder, control, timeout: timeout)
        let moved = try moveOut(folder, control, in: rootFolder, of: root, place: place, under: gate)
        return "\(root.path)/\(place)/\(moved.name)"
    }

    /// The gate of a namespace, until it is released or this value's life ends.
    private struct HeldGate: ~Copyable {
        let gate: ProcessLock
        private(set) var isHeld: Bool

        init(_ gate: ProcessLock, isHeld: Bool) { (self.gate, self.isHeld) = (gate, isHeld) }

        mutating func release() {
            if isHeld { gate.release() }
            isHeld = false
        }

        deinit { if isHeld { gate.release() } }
    }

    private static func takeGate(
        of folder: borrowing NamespaceFolder,
        _ control: ControlFile,
        timeout: Duration
    ) throws(SpaceError) -> HeldGate {
        do throws(ProcessLock.Failure) {
            if try control.gate.acquire(timeout: timeout, of: folder) { control.gateNeedsRecovery.store(1) }
            return HeldGate(control.gate, isHeld: true)
        } catch {
            // If the gate's holder is a thread that no longer exists, no process is in the middle of a write, and the
            // deletion can go on.
            guard error.orphanedBy != 0 else { throw SpaceError(error) }
            return HeldGate(control.gate, isHeld: false)
        }
    }

    private static func moveOut(
        _ folder: borrowing NamespaceFolder,
        _ control: ControlFile,
        in rootFolder: borrowing OwnedDescriptor,
        of root: SpaceRoot,
        place: String = SpaceRoot.graveyard,
        under gate: consuming HeldGate
    ) throws(SpaceError) -> RemovedFolder {
        CrashPoint.reach(.graveGate)
        // Opened before anything is marked: if the graveyard can't be made, the namespace stays as it is.
        let graveyard = try Graveyard.open(place, in: rootFolder, of: root)
        let wasDead = control.dead.load()
        control.dead.store(1)
        CrashPoint.reach(.markedDead)
        // If the rename fails, the namespace stays in place and its users continue.
        let removed = try graveyard.receive(folder, from: rootFolder) { control.dead.store(wasDead) }
        CrashPoint.reach(.buried)
        let wakes = WakeList()
        control.slots.wakeEverybody(into: wakes)
        gate.release()
        wakes.takeAlong().carryOut(control.slots, root.wakeupFile)
        folder.signalChange()
        CrashPoint.reach(.beforeDeleting)
        return removed
    }

    /// Moves a folder out of the root, whatever state it is in.
    static func rename(
        _ folder: borrowing NamespaceFolder,
        in rootFolder: borrowing OwnedDescriptor,
        of root: SpaceRoot
    ) throws(SpaceError) -> RemovedFolder {
        try SpaceError.naming(operation, on: folder.name.text) { () throws(SpaceError) in
            try Graveyard.open(in: rootFolder, of: root).receive(folder, from: rootFolder)
        }
    }

    /// The folder that deleted namespaces are moved into.
    private struct Graveyard: ~Copyable {
        let folder: OwnedDescriptor
        let process: ProcessIdentity

        static func open(
            _ place: String = SpaceRoot.graveyard,
            in rootFolder: borrowing OwnedDescriptor,
            of root: SpaceRoot
        ) throws(SpaceError) -> Graveyard {
            let process = try system("/proc") { () throws(Errno) in try ProcessIdentity.current }
            let graveyard = try root.ownFolder(place, in: rootFolder)
            return Graveyard(folder: graveyard, process: process)
        }

        consuming func receive(
            _ folder: borrowing NamespaceFolder,
            from rootFolder: borrowing OwnedDescriptor,
            orElse undo: () -> Void = {}
        ) throws(SpaceError) -> RemovedFolder {
            let number = counter.add(1, ordering: .relaxed).newValue
            let name = folder.name
            let removed = "\(name.encoded).\(process.pid).\(process.startTime).\(number)"
            let (root, graveyard) = (rootFolder.raw, self.folder.raw)
            do throws(SpaceError) {
                try system("moving it to the graveyard") { () throws(Errno) in
                    try Directory.renameNoReplace(from: root, name.encoded, to: graveyard, removed)
                }
            } catch {
                undo()
                throw error
            }
            return RemovedFolder(graveyard: self.folder, name: removed)
        }
    }

    /// Deletes removed folders that other processes did not get to delete, and the drafts of dead creators.
    ///
    /// `entries` are the names in the root.
    static func tidy(_ rootFolder: borrowing OwnedDescriptor, _ entries: [String], host: HostIdentity) {
        if let graveyard = try? OwnedDescriptor.directory(at: rootFolder.raw, SpaceRoot.graveyard) {
            for name in (try? Directory.list(graveyard.raw)) ?? [] {
                try? Directory.removeTree(at: graveyard.raw, name)
            }
        }
        if let nursery = try? OwnedDescriptor.directory(at: rootFolder.raw, SpaceRoot.nursery) {
            Nursery.clean(nursery, host: host)
        }
        Nursery.cleanDrafts(rootFolder, entries, host: host)
    }
}
