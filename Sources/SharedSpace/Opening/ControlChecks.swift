import SpaceSystem
import SystemPackage

/// What an opener learns from a control file before it takes any lock.
struct ControlFinding: ~Copyable {
    enum Standing {
        /// Made by this boot, on this file, for this PID namespace.
        case current
        /// From before a reboot, or a copy: its locks and sessions mean nothing any more.
        case stale
    }

    let descriptor: OwnedDescriptor
    let header: ControlHeader
    let info: FileInfo
    let standing: Standing

    /// Reads and checks the header.
    ///
    /// - Throws: `damaged`, `incompatible`, or an error of the system. `namespaceNotFound` when the file has gone with its
    ///   folder.
    static func look(
        at folder: borrowing NamespaceFolder,
        host: HostIdentity,
        for operation: String
    ) throws(SpaceError) -> ControlFinding {
        let name = folder.name.text
        let descriptor = try Self.open(folder, operation)
        let file = descriptor.raw
        let (bytes, info) = try system(operation, "the control file", namespace: name) { () throws(Errno) in
            (try FileBytes.readPrefix(file, count: ControlHeader.size), try FileInfo.of(file))
        }
        let header: ControlHeader
        do throws(ControlHeader.Refusal) {
            header = try ControlHeader(decoding: bytes)
        } catch {
            throw SpaceError(error, operation, namespace: name)
        }
        guard info.size >= ControlFile.size else {
            throw .damaged(operation, namespace: name, "the control file is truncated to \(info.size) bytes")
        }
        guard header.bootID == host.bootID, header.inode == info.inode, header.device == info.device else {
            return ControlFinding(descriptor: descriptor, header: header, info: info, standing: .stale)
        }
        guard header.pidNamespace == host.pidNamespace else {
            throw SpaceError(
                .incompatible,
                operation,
                namespace: name,
                reason: "it is used from another PID namespace (\(header.pidNamespace), not \(host.pidNamespace))",
                advice: "run both in one PID namespace (--pid=host, --pid=container:…), or give each a root of its own"
            )
        }
        guard header.timeNamespace == host.timeNamespace else {
            throw SpaceError(
                .incompatible,
                operation,
                namespace: name,
                reason:
                    "it is used from another time namespace (\(header.timeNamespace), not \(host.timeNamespace)), where the "
                    + "living could be taken for dead",
                advice: "run both in one time namespace, or give each a root of its own"
            )
        }
        guard header.mutexABI == SharedMutex.abi else {
            throw SpaceError(
                .incompatible,
                operation,
                namespace: name,
                reason: "it was made by a program with another C library, whose mutexes differ",
                advice: "link all programs that share a namespace with the same C library"
            )
        }
        return ControlFinding(descriptor: descriptor, header: header, info: info, standing: .current)
    }

    private static func open(_ folder: borrowing NamespaceFolder, _ operation: String) throws(SpaceError)
        -> OwnedDescriptor
    {
        do throws(Errno) {
            return try folder.openControl()
        } catch .noSuchFileOrDirectory {
            throw .damaged(operation, namespace: folder.name.text, "it has no control file")
        } catch {
            throw SpaceError(error, operation, namespace: folder.name.text, subject: "the control file")
        }
    }

    /// Checks what an opener asked for against what the namespace is.
    static func check(_ header: ControlHeader, suits options: NamespaceOptions, _ name: String, _ operation: String)
        throws(SpaceError)
    {
        guard let mode = options.mode, mode != header.mode else { return }
        throw SpaceError(
            .incompatible,
            operation,
            namespace: name,
            reason: "it was created in the mode \(header.mode.rawValue), not \(mode.rawValue)",
            advice: "open it without naming a mode, or delete it first"
        )
    }
}

extension SpaceError {
    init(_ refusal: ControlHeader.Refusal, _ operation: String, namespace: String) {
        switch refusal {
        case .notAControlFile:
            self = .damaged(operation, namespace: namespace, "the control file is none of ours")
        case .damaged(let reason):
            self = .damaged(operation, namespace: namespace, reason)
        case .version(let version):
            self.init(
                .incompatible,
                operation,
                namespace: namespace,
                reason:
                    "it has the format version \(version); this program knows version \(ControlHeader.currentVersion)",
                advice: "use programs of one release, or delete the namespace"
            )
        }
    }
}
