import Glibc
import SpaceSystem
import Synchronization
import SystemPackage

/// Deleting a namespace.
///
/// Guarantees: a namespace with a living owner is never deleted; one without is, whatever was killed on the way. Under
/// the door: the path still leads to this folder → every session looked at → no living owner, not persistent → the gate →
/// `dead` → renamed to a unique name in the graveyard → all waiters woken, the bell rung → released → deleted. Where it can't be
/// renamed, `dead` is taken back before anybody was woken. Killed after
/// `dead`, the folder stands in place, and every opener, lister and reaper who finds it goes on from there; killed after the
/// rename, the graveyard is emptied by whoever comes by. Opening and enrolling happen under the same door, so an opener
/// enrols before the look, and is seen, or finds `dead`.
enum Reaping {
    static let operation = "delete the namespace"

    private static let counter = Atomic<UInt64>(0)

    /// A folder in the graveyard.
    struct Corpse: ~Copyable {
        let graveyard: OwnedDescriptor
        let name: String

        /// Deletes it.
        ///
        /// What can't be deleted now is left to the next who comes by.
        func delete() { try? Directory.removeTree(at: graveyard.raw, name) }
    }

    /// Marks a namespace dead and takes it out of the root.
    ///
    /// The caller holds the door.
    static func bury(
        _ folder: borrowing NamespaceFolder,
        _ control: ControlFile,
        in rootFolder: borrowing OwnedDescriptor,
        of root: SpaceRoot,
        timeout: Duration
    ) throws(SpaceError) -> Corpse {
        // Before anything is marked: where the graveyard can't be made, the namespace stays as it is.
        let grave = try Grave.open(in: rootFolder, of: root)
        var isGateHeld = false
        do throws(ProcessLock.Failure) {
            if try control.gate.acquire(timeout: timeout, of: folder) { control.gateNeedsRecovery.store(1) }
            isGateHeld = true
        } catch {
            // Held by a thread that doesn't exist, no process is in the middle of a write: that stops no deletion.
            guard error.orphanedBy != 0 else { throw SpaceError(error, operation, namespace: folder.name.text) }
        }
        CrashPoint.reach(.graveGate)
        defer { if isGateHeld { control.gate.release() } }
        let wasDead = control.dead.load()
        control.dead.store(1)
        CrashPoint.reach(.markedDead)
        // Where it stays in place, those who live in it go on.
        let corpse = try grave.bury(folder, from: rootFolder) { control.dead.store(wasDead) }
        CrashPoint.reach(.buried)
        let wakes = WakeList()
        control.slots.wakeEverybody(into: wakes)
        if isGateHeld {
            control.gate.release()
            isGateHeld = false
        }
        wakes.takeAlong().carryOut(control.slots, root.doorbellFile)
        folder.ringBell()
        CrashPoint.reach(.beforeDeleting)
        return corpse
    }

    /// Takes a folder out of the root, whatever state it is in.
    static func rename(
        _ folder: borrowing NamespaceFolder,
        in rootFolder: borrowing OwnedDescriptor,
        of root: SpaceRoot
    ) throws(SpaceError) -> Corpse {
        try Grave.open(in: rootFolder, of: root).bury(folder, from: rootFolder)
    }

    /// A place in the graveyard, not yet taken.
    private struct Grave: ~Copyable {
        let graveyard: OwnedDescriptor
        let process: ProcessIdentity

        static func open(
            in rootFolder: borrowing OwnedDescriptor,
            of root: SpaceRoot
        ) throws(SpaceError) -> Grave {
            let process = try system(operation, "/proc") { () throws(Errno) in try ProcessIdentity.current }
            let graveyard = try root.ownFolder(SpaceRoot.graveyard, in: rootFolder, for: operation)
            return Grave(graveyard: graveyard, process: process)
        }

        consuming func bury(
            _ folder: borrowing NamespaceFolder,
            from rootFolder: borrowing OwnedDescriptor,
            orElse undo: () -> Void = {}
        ) throws(SpaceError) -> Corpse {
            let number = counter.add(1, ordering: .relaxed).newValue
            let name = folder.name
            let corpse = "\(name.encoded).\(process.pid).\(process.startTime).\(number)"
            let (root, yard) = (rootFolder.raw, graveyard.raw)
            do throws(SpaceError) {
                try system(operation, "moving it to the graveyard", namespace: name.text) { () throws(Errno) in
                    try Directory.renameNoReplace(from: root, name.encoded, to: yard, corpse)
                }
            } catch {
                undo()
                throw error
            }
            return Corpse(graveyard: graveyard, name: corpse)
        }
    }

    /// Deletes what others buried and did not get to delete, and what dead creators left.
    ///
    /// `entries`: The names in the root.
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

/// Looks at namespaces from outside, without becoming a user of them: for reapers, listers, and `delete`.
struct Undertaker {
    let root: SpaceRoot
    let timeout: Duration

    enum Verdict: Equatable {
        case stays, deleted, vanished
    }

    /// Deletes a namespace if nobody owns it.
    func reap(_ name: NamespaceName, host: HostIdentity) throws(SpaceError) -> Verdict {
        guard let rootFolder = try root.open(create: false, for: Reaping.operation),
            let folder = try NamespaceFolder.open(name, in: rootFolder, of: root, for: Reaping.operation)
        else { return .vanished }
        let finding = try ControlFinding.look(at: folder, host: host, for: Reaping.operation)
        if case .foreign(let difference) = finding.standing {
            try Adoption(root: root, timeout: timeout, host: host).run(folder, rootFolder, finding, difference)
            return folder.isInPlace(in: rootFolder) ? try reap(name, host: host) : .deleted
        }
        guard try finding.enter(timeout: timeout, Reaping.operation, name.text) else { return .stays }
        let control = try system(Reaping.operation, "the control file", namespace: name.text) { () throws(Errno) in
            try ControlFile(descriptor: finding.descriptor.raw, header: finding.header, identity: finding.info)
        }
        // A look without the door spares it where somebody lives, which is the usual case.
        if control.dead.load() == 0, try isOwned(folder, control) { return .stays }
        return try underDoor(folder, control, rootFolder) { () throws(SpaceError) in
            if control.dead.load() != 0 || !Safeguard.lookUnderDoor.stands { return true }
            return try !isOwned(folder, control)
        }
    }

    /// Deletes a namespace whoever owns it.
    ///
    /// A folder that has anything in it that no namespace has is refused, and so is one that is no namespace's: its files may be
    /// all that there is of something. Only in a folder that a group shares, and whose control file is whole, does a member's
    /// file prevent nothing.
    func delete(_ name: NamespaceName, host: HostIdentity) throws(SpaceError) -> Verdict {
        guard let rootFolder = try root.open(create: false, for: Reaping.operation),
            let folder = try NamespaceFolder.open(name, in: rootFolder, of: root, for: Reaping.operation)
        else { return .vanished }
        let control: ControlFile?
        do throws(SpaceError) {
            let finding = try ControlFinding.look(at: folder, host: host, for: Reaping.operation)
            if finding.standing == .current, try finding.enter(timeout: timeout, Reaping.operation, name.text) {
                let file = finding.descriptor.raw
                control = try? ControlFile(descriptor: file, header: finding.header, identity: finding.info)
            } else {
                control = nil
            }
        } catch  where error.code == .damaged || error.code == .incompatible || error.code == .permissionDenied {
            // Nobody of our kind can use it. Who has it open learns of it when its folder is gone.
            control = nil
        }
        if control == nil || !folder.isShared { try checkContents(folder, rootFolder) }
        guard let control else {
            guard folder.isInPlace(in: rootFolder) else { return .vanished }
            let corpse = try Reaping.rename(folder, in: rootFolder, of: root)
            corpse.delete()
            return .deleted
        }
        return try underDoor(folder, control, rootFolder) { true }
    }

    /// - Throws: `namespaceNotFound` for a folder that is no namespace's, `incompatible` for one with another's files in it.
    private func checkContents(
        _ folder: borrowing NamespaceFolder,
        _ rootFolder: borrowing OwnedDescriptor
    ) throws(SpaceError) {
        let name = folder.name
        let path = "\(root.path)/\(name.encoded)".quotedForPeople
        guard folder.isNamespace else {
            // Another process may be deleting it.
            guard folder.isInPlace(in: rootFolder) else { return }
            throw SpaceError(
                .namespaceNotFound,
                Reaping.operation,
                namespace: name.text,
                reason: "\(path) is a folder without a namespace's files, and stays as it is",
                advice: "look for a typing error in the name and the root; space list shows the namespaces"
            )
        }
        let found = try system(Reaping.operation, path, namespace: name.text) { () throws(Errno) in
            try folder.foreignEntry()
        }
        guard let foreign = found else { return }
        throw SpaceError(
            .incompatible,
            Reaping.operation,
            namespace: name.text,
            reason: "\(path) also holds \(foreign.quotedForPeople), which is no file of a namespace",
            advice: "move it out of the folder, then try again"
        )
    }

    private func isOwned(_ folder: borrowing NamespaceFolder, _ control: ControlFile) throws(SpaceError) -> Bool {
        if control.persistent.load() != 0 { return true }
        let sessions = try folder.sessions(Reaping.operation, makingAnew: true)
        return try system(Reaping.operation, "its sessions", namespace: folder.name.text) { () throws(Errno) in
            try sessions.hasLivingOwner()
        }
    }

    private func underDoor(
        _ folder: borrowing NamespaceFolder,
        _ control: ControlFile,
        _ rootFolder: borrowing OwnedDescriptor,
        if condition: () throws(SpaceError) -> Bool
    ) throws(SpaceError) -> Verdict {
        do throws(ProcessLock.Failure) {
            _ = try control.enterDoor { () throws(ProcessLock.Failure) in
                try control.door.acquire(timeout: timeout, of: folder)
            }
        } catch {
            throw SpaceError(error, Reaping.operation, namespace: folder.name.text)
        }
        var isDoorHeld = true
        defer { if isDoorHeld { control.door.release() } }
        guard folder.isInPlace(in: rootFolder) else { return .vanished }
        guard try condition() else { return .stays }
        let corpse = try Reaping.bury(folder, control, in: rootFolder, of: root, timeout: timeout)
        control.door.release()
        isDoorHeld = false
        corpse.delete()
        return .deleted
    }
}
