import Glibc
package import SpaceSystem
import SystemPackage

/// What an opener learns from a control file before it takes any lock.
package struct ControlFinding: ~Copyable {
    package enum Standing: Equatable {
        /// Made in this boot, on this file, for this PID namespace.
        case current
        /// Made by another system or on another file, as far as identifiers can tell.
        ///
        /// Only the kernel's locks show whether the file's mutexes and sessions mean anything.
        case foreign(Difference)
    }

    /// The identifier in the header that is not ours.
    package enum Difference: Equatable { case boot, pidNamespace, timeNamespace, cLibrary, file }

    package let descriptor: OwnedDescriptor
    package let header: ControlHeader
    package let info: FileInfo
    package let standing: Standing

    /// Reads and checks the header.
    ///
    /// `flags` says how the file is opened. A file opened only for reading can be neither locked nor shared.
    ///
    /// - Throws: `damaged`, `incompatible`, or an error of the system; `namespaceNotFound` if the file has gone with
    ///   its folder.
    package static func look(
        at folder: borrowing NamespaceFolder,
        host: HostIdentity,
        flags: CInt = O_RDWR
    ) throws(SpaceError) -> ControlFinding {
        let descriptor = try folder.openControl(flags: flags)
        let (header, info) = try Self.header(in: descriptor.raw)
        guard info.size >= ControlFile.size else {
            throw .damaged("the control file is truncated to \(info.size) bytes")
        }
        let standing = Self.difference(header, info, host).map(Standing.foreign) ?? .current
        return ControlFinding(descriptor: descriptor, header: header, info: info, standing: standing)
    }

    /// Maps the control file.
    package func map(isPrivate: Bool = false, endsUse: Bool = false) throws(SpaceError) -> ControlFile {
        try system("the control file") { () throws(Errno) in
            try ControlFile(
                descriptor: descriptor.raw,
                header: header,
                identity: info,
                isPrivate: isPrivate,
                endsUse: endsUse
            )
        }
    }

    package static func header(in file: CInt) throws(SpaceError) -> (ControlHeader, FileInfo) {
        let (bytes, info) = try system("the control file") { () throws(Errno) in
            (try FileBytes.readPrefix(file, count: ControlHeader.size), try FileInfo.of(file))
        }
        do throws(ControlHeader.Refusal) {
            return (try ControlHeader(decoding: bytes), info)
        } catch {
            throw SpaceError(error)
        }
    }

    private static func difference(_ header: ControlHeader, _ info: FileInfo, _ host: HostIdentity) -> Difference? {
        if header.bootID != host.bootID { return .boot }
        if header.pidNamespace != host.pidNamespace { return .pidNamespace }
        if header.timeNamespace != host.timeNamespace { return .timeNamespace }
        if header.mutexABI != SharedMutex.abi { return .cLibrary }
        return header.inode == info.inode && header.device == info.device ? nil : .file
    }

    /// Locks the file against an `Adoption`, until the last descriptor that stems from this one is closed, or until a
    /// `ControlFile` ends that was mapped to end the use.
    ///
    /// An opener does this before it maps the file.
    ///
    /// - Returns: `false` if the header is no longer the one that was found.
    /// - Throws: `holderStopped` or `holderBusy` if an adoption takes longer than the time-out.
    package func enter(timeout: Duration) throws(SpaceError) -> Bool {
        let file = descriptor.raw
        let deadline = MonotonicInstant.now.advanced(by: timeout)
        while try !system(
            "the control file",
            { () throws(Errno) in try FileLock.tryShared(file, byte: ControlFile.useByte) }
        ) {
            guard !deadline.hasPassed else { throw Self.adopterError(file) }
            // This is rare, and the deadline bounds it: a lock of the kernel has no time-out.
            usleep(10_000)
        }
        return try Self.header(in: file).0 == header
    }

    /// The error of a process that waited for another process to make the file usable, and whose time has passed.
    package static func adopterError(_ file: CInt) -> SpaceError {
        let pid = ControlFile.reinitialiserPID(in: file)
        let halt = ProcessIdentity.halt(of: pid)
        return SpaceError(
            halt == nil ? .holderBusy : .holderStopped,
            holder: pid,
            reason: "process \(pid) is making it usable here\(halt.map { ", and is \($0.phrase)" } ?? "")",
            advice: halt?.advice(for: pid) ?? "try again"
        )
    }
}

extension ControlFinding.Difference {
    /// Why a namespace that is in use can't be used from here, and what to do about it.
    package func explained(_ header: ControlHeader, _ host: HostIdentity) -> (reason: String, advice: String) {
        switch self {
        case .boot:
            (
                "processes use it under another boot id than the one seen here (/proc/sys/kernel/random/boot_id), "
                    + "which a container may have replaced",
                "show the machine's own boot id here (bind-mount it), or use a root of its own"
            )
        case .pidNamespace:
            (
                "it is used from another PID namespace (\(header.pidNamespace), not \(host.pidNamespace))",
                "run both in one PID namespace (--pid=host, --pid=container:…), or give each a root of its own"
            )
        case .timeNamespace:
            (
                "it is used from another time namespace (\(header.timeNamespace), not \(host.timeNamespace)), where the "
                    + "living could be taken for dead",
                "run both in one time namespace, or give each a root of its own"
            )
        case .cLibrary:
            (
                "it is used by a program with another C library, whose mutexes differ",
                "link all programs that share a namespace with the same C library"
            )
        case .file:
            (
                "processes use it, and its control file has another device or inode number here than for them",
                "use the root through one mount, or give each its own"
            )
        }
    }
}

extension ControlFile {
    /// Refuses a namespace if its folder holds another LMDB lock file than its users have open; called under the door.
    ///
    /// Two lock files would be two reader tables and two counts of commits, and the users of one would overwrite the
    /// commits of the other's users.
    ///
    /// - Returns: Whether another process has the namespace open.
    /// - Throws: `damaged` if the lock file was removed or replaced while other processes use it.
    @discardableResult
    package func checkLockFile(_ folder: borrowing NamespaceFolder) throws(SpaceError) -> Bool {
        let (directory, known) = (folder.descriptor.raw, lockFile.load())
        let isUsed = try system("the control file") { () throws(Errno) in
            try isUsedByOthers()
        }
        guard isUsed, known != 0, (try? Directory.info(at: directory, NamespaceFolder.lock))?.inode != known else {
            return isUsed
        }
        let users = (try? folder.sessions().sightings()) ?? []
        let pids = Set(users.filter(\.isLocked).compactMap(\.record?.process.pid)).subtracting([getpid()]).sorted()
        throw .damaged(
            "its lock file (lock.mdb) was removed or replaced while other processes use it"
                + (pids.isEmpty ? "" : " (\(pids.map(String.init).joined(separator: ", ")))"),
            advice: "they go on and lose nothing; it opens again once they have ended"
        )
    }
}

extension SpaceError {
    package init(_ refusal: ControlHeader.Refusal) {
        switch refusal {
        case .notAControlFile:
            self = .damaged("the control file is none of ours")
        case .damaged(let reason):
            self = .damaged(reason)
        case .version(let version):
            self.init(
                .incompatible,
                reason:
                    "it has the format version \(version); this program knows version \(ControlHeader.currentVersion)",
                advice:
                    "carry it over: with the programs of the release that made it, space-dump NS --format json > FILE "
                    + "and space delete NS; with these, space load NS < FILE"
            )
        }
    }
}
