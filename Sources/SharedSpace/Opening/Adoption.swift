import Glibc
import SpaceSystem
import SystemPackage

/// A namespace from before a reboot, or a copy of one: its owners are gone, and the mutexes in its control file may be
/// locked by threads that no longer exist.
///
/// Guarantees: of any number of openers one does it, the others wait for it with a time-out, and a kill at any step
/// leaves it to the next. No mutex in the file can be used for that, so the right is an OFD write lock on `control`, with
/// the PID written beside it. `.fast` and `.guarded` are discarded: they were not synced, and nobody owns them. `.durable` is
/// made current: sessions and LMDB's lock file removed, everything volatile made anew, the header last.
struct Adoption {
    let root: SpaceRoot
    let folderName: NamespaceName
    let timeout: Duration
    let host: HostIdentity

    func run(
        _ folder: borrowing NamespaceFolder,
        _ rootFolder: borrowing OwnedDescriptor,
        _ finding: borrowing ControlFinding
    ) throws(SpaceError) {
        let operation = Opening.operation
        let name = folder.name.text
        let control = finding.descriptor.raw
        try waitForRight(control, name)
        // The right goes with the descriptor, at the latest when the finding's owner closes it.
        defer { try? FileLock.unlock(control) }
        try system(operation, "the control file", namespace: name) { () throws(Errno) in
            try ControlFile.announceReinitialiser(pid: getpid(), in: control)
        }
        guard folder.isInPlace(in: rootFolder) else { return }
        let again = try ControlFinding.look(at: folder, host: host, for: operation)
        guard again.standing == .stale, again.info.inode == finding.info.inode else { return }
        guard finding.header.mode == .durable else {
            let corpse = try Reaping.rename(folder, in: rootFolder, of: root)
            corpse.delete()
            return
        }
        try adopt(folder, control, finding.header, finding.info)
    }

    private func waitForRight(_ control: CInt, _ name: String) throws(SpaceError) {
        let deadline = MonotonicInstant.now.advanced(by: timeout)
        let operation = Opening.operation
        while true {
            let hasRight = try system(operation, "the control file", namespace: name) { () throws(Errno) in
                try FileLock.tryExclusive(control)
            }
            if hasRight { return }
            guard !deadline.hasPassed else {
                let pid = ControlFile.reinitialiserPID(in: control)
                let isStopped = ProcessIdentity.state(of: pid) == "T"
                throw SpaceError(
                    isStopped ? .holderStopped : .holderBusy,
                    operation,
                    namespace: name,
                    holder: pid,
                    reason: "process \(pid) is making it usable after a reboot\(isStopped ? ", and is stopped" : "")",
                    advice: isStopped ? "let it go on (kill -CONT \(pid)) or end it" : "try again"
                )
            }
            // Rare, and bounded: there is no lock with a time-out that survives a reboot.
            usleep(10_000)
        }
    }

    private func adopt(_ folder: borrowing NamespaceFolder, _ control: CInt, _ old: ControlHeader, _ info: FileInfo)
        throws(SpaceError)
    {
        let directory = folder.descriptor.raw
        let mode = folder.fileMode
        let host = host
        let sessions = try folder.sessions(Opening.operation)
        try system(Opening.operation, "making it usable after a reboot", namespace: folder.name.text) {
            () throws(Errno) in
            for name in try sessions.names() { try sessions.remove(name) }
            _ = try Directory.unlink(at: directory, NamespaceFolder.lock)
            let lock = try OwnedDescriptor.openat(
                directory: directory,
                NamespaceFolder.lock,
                flags: O_RDWR | O_CREAT,
                mode: mode
            )
            try Blocks.reserve(lock.raw, from: 0, to: DataFile.lockFileSize, keepSize: false)
            try Blocks.reserve(control, from: 0, to: ControlFile.size, keepSize: false)
            var header = old
            header.bootID = host.bootID
            header.pidNamespace = host.pidNamespace
            header.timeNamespace = host.timeNamespace
            header.mutexABI = SharedMutex.abi
            header.device = info.device
            header.inode = info.inode
            let file = try ControlFile(descriptor: control, header: header, identity: info)
            try file.initialiseVolatilePart()
            file.isAdopted.store(1)
            // The header last: a kill before leaves it stale, and the next opener begins anew.
            try FileBytes.write(header.encoded(), to: control)
            try Directory.sync(control)
        }
    }
}
