import SpaceSystem
import SystemPackage

/// Inspects and removes namespaces from outside, without becoming a user of them, for reapers, listers and `delete`.
package struct NamespaceRemover {
    let root: SpaceRoot
    let timeout: Duration

    package init(root: SpaceRoot, timeout: Duration) {
        self.root = root
        self.timeout = timeout
    }

    package enum Verdict: Equatable {
        case stays, deleted, vanished
    }

    /// Deletes a namespace if it has no owner.
    func reap(_ name: NamespaceName, host: HostIdentity) throws(SpaceError) -> Verdict {
        try SpaceError.naming(Reaping.operation, on: name.text) { () throws(SpaceError) in
            try reapIfUnowned(name, host: host)
        }
    }

    private func reapIfUnowned(_ name: NamespaceName, host: HostIdentity) throws(SpaceError) -> Verdict {
        guard let rootFolder = try root.open(create: false),
            let folder = try NamespaceFolder.open(name, in: rootFolder, of: root)
        else { return .vanished }
        let finding = try ControlFinding.look(at: folder, host: host)
        if case .foreign(let difference) = finding.standing {
            try Adoption(root: root, timeout: timeout, host: host).run(folder, rootFolder, finding, difference)
            return folder.isInPlace(in: rootFolder) ? try reapIfUnowned(name, host: host) : .deleted
        }
        guard let control = try enter(finding) else { return .stays }
        // A check without the door avoids taking it in the usual case, in which an owner lives.
        if control.dead.load() == 0, try isOwned(folder, control) { return .stays }
        return try underDoor(folder, control, rootFolder) { () throws(SpaceError) in
            if control.dead.load() != 0 || !Safeguard.lookUnderDoor.stands { return true }
            return try !isOwned(folder, control)
        }
    }

    /// Deletes a namespace even if it has owners.
    ///
    /// A folder that contains any file that no namespace has is refused, and so is a folder that is not a namespace's:
    /// its files may be the only copy of something. One exception: in a folder that a group shares, and whose control
    /// file is intact, a group member's file does not prevent the deletion.
    ///
    /// - Parameters:
    ///   - name: The namespace.
    ///   - life: The only life of the name that is deleted; `nil`: any.
    ///   - onlyUnused: Whether it stays if a process has changed something in it.
    ///   - host: This machine.
    /// - Returns: `stays` if the name has another life than the one that is meant, or is in use.
    /// - Throws: `namespaceNotFound`, `incompatible`, `holderStopped`, `holderBusy`.
    package func delete(
        _ name: NamespaceName,
        of life: NamespaceLife? = nil,
        onlyUnused: Bool = false,
        host: HostIdentity
    ) throws(SpaceError) -> Verdict {
        try SpaceError.naming(Reaping.operation, on: name.text) { () throws(SpaceError) in
            try deleteEvenIfOwned(name, life, onlyUnused: onlyUnused, host: host)
        }
    }

    private func deleteEvenIfOwned(
        _ name: NamespaceName,
        _ life: NamespaceLife?,
        onlyUnused: Bool,
        host: HostIdentity
    ) throws(SpaceError) -> Verdict {
        guard let rootFolder = try root.open(create: false),
            let folder = try NamespaceFolder.open(name, in: rootFolder, of: root)
        else { return .vanished }
        let control: ControlFile?
        var isDamaged = false
        do throws(SpaceError) {
            let finding = try ControlFinding.look(at: folder, host: host)
            control = finding.standing == .current ? try enter(finding) : nil
        } catch  where error.code == .damaged || error.code == .incompatible || error.code == .permissionDenied {
            // No process with this library can open it.
            control = nil
            isDamaged = error.code == .damaged
        }
        if let life, control?.header.life != life { return .stays }
        if control == nil || !folder.isShared { try checkContents(folder, rootFolder) }
        guard let control else {
            if onlyUnused { return .stays }
            guard folder.isInPlace(in: rootFolder) else { return .vanished }
            let removed = try Reaping.rename(folder, in: rootFolder, of: root)
            // Processes that had mapped the file before it was damaged learn that their namespace is gone.
            if isDamaged, let file = try? folder.openControl() { ControlFile.markDead(file.raw) }
            removed.delete()
            return .deleted
        }
        return try underDoor(folder, control, rootFolder, onlyUnused: onlyUnused) { true }
    }

    /// Moves a namespace into another folder of the root, as it is, and ends it here.
    ///
    /// - Parameters:
    ///   - name: The namespace.
    ///   - life: Its life; another one of the name stays.
    ///   - place: The other folder's name in the root.
    ///   - host: This machine.
    /// - Returns: The path to which it was moved; `nil` if there is no such namespace.
    /// - Throws: `holderStopped` and `holderBusy` if its locks can't be acquired.
    package func setAside(
        _ name: NamespaceName,
        of life: NamespaceLife,
        into place: String,
        host: HostIdentity
    ) throws(SpaceError) -> String? {
        try SpaceError.naming("set the namespace aside", on: name.text) { () throws(SpaceError) -> String? in
            guard let rootFolder = try root.open(create: false),
                let folder = try NamespaceFolder.open(name, in: rootFolder, of: root)
            else { return nil }
            let finding = try ControlFinding.look(at: folder, host: host)
            guard finding.header.life == life, let control = try enter(finding) else { return nil }
            let door = try control.takeDoor(timeout: timeout, of: folder)
            guard folder.isInPlace(in: rootFolder) else { return nil }
            let path = try Reaping.setAside(folder, control, into: place, in: rootFolder, of: root, timeout: timeout)
            door.release()
            return path
        }
    }

    /// - Throws: `namespaceNotFound` for a folder that is not a namespace's, `incompatible` for one with foreign
    ///   files in it.
    private func checkContents(
        _ folder: borrowing NamespaceFolder,
        _ rootFolder: borrowing OwnedDescriptor
    ) throws(SpaceError) {
        let name = folder.name
        let path = "\(root.path)/\(name.encoded)".quotedForPeople
        guard folder.isNamespace else {
            // Another process may be deleting it.
            guard folder.isInPlace(in: rootFolder) else { return }
            let reason = "\(path) is a folder without a namespace's files, and stays as it is"
            let advice = "look for a typing error in the name and the root; space list shows the namespaces"
            throw SpaceError(.namespaceNotFound, reason: reason, advice: advice)
        }
        let found = try system(path) { () throws(Errno) in
            try folder.foreignEntry()
        }
        guard let foreign = found else { return }
        let reason = "\(path) also holds \(foreign.quotedForPeople), which is no file of a namespace"
        throw .incompatible(reason, advice: "move it out of the folder, then try again")
    }

    /// Keeps adoptions away, and maps the control file; `nil` if it is no longer the one that was found.
    private func enter(_ finding: borrowing ControlFinding) throws(SpaceError) -> ControlFile? {
        try finding.enter(timeout: timeout) ? try finding.map() : nil
    }

    private func isOwned(_ folder: borrowing NamespaceFolder, _ control: ControlFile) throws(SpaceError) -> Bool {
        if control.staying.stays { return true }
        let sessions = try folder.sessions(makingAnew: true)
        return try system("its sessions") { () throws(Errno) in
            try sessions.hasLivingOwner()
        }
    }

    private func underDoor(
        _ folder: borrowing NamespaceFolder,
        _ control: ControlFile,
        _ rootFolder: borrowing OwnedDescriptor,
        onlyUnused: Bool = false,
        if condition: () throws(SpaceError) -> Bool
    ) throws(SpaceError) -> Verdict {
        let door = try control.takeDoor(timeout: timeout, of: folder)
        guard folder.isInPlace(in: rootFolder) else { return .vanished }
        guard try condition() else { return .stays }
        let away =
            onlyUnused
            ? try Reaping.moveAwayUnused(folder, control, in: rootFolder, of: root, timeout: timeout)
            : try Reaping.moveAway(folder, control, in: rootFolder, of: root, timeout: timeout)
        guard let removed = away else { return .stays }
        door.release()
        removed.delete()
        return .deleted
    }
}
