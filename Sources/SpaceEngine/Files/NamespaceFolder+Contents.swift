import Glibc
package import SpaceSystem
package import SystemPackage

/// Whether a folder of the root is a namespace, damaged or not, or only shares the root with namespaces.
///
/// A namespace's folder has five entries: `control`, `bell`, `data.mdb`, `lock.mdb` and `sessions`. A folder is a
/// namespace's if its control file starts with this library's mark, or if at least three of the five names exist.
/// LMDB's two files alone could be any program's database. Damage can remove one or two of the names; a folder that was
/// never a namespace has none of them.
extension NamespaceFolder {
    private static let names: Set<String> = [control, changeSignal, data, lock, SessionFolder.name]
    private static let fewestNames = 3
    /// Further files that a namespace may have; they show nothing about the folder.
    private static let furtherNames: Set<String> = [LatencyFile.name, LatencyFile.draft]

    /// Whether a folder of the root is a namespace's; one that can't be read counts as one.
    ///
    /// - Returns: `nil` if no folder has this name.
    package static func isNamespace(_ name: String, in rootFolder: borrowing OwnedDescriptor) -> Bool? {
        do throws(Errno) {
            let folder = try OwnedDescriptor.directory(at: rootFolder.raw, name)
            return try isNamespace(folder.raw)
        } catch .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels {
            return nil
        } catch {
            return true
        }
    }

    /// Whether this folder is a namespace's; one that can't be read counts as one.
    package var isNamespace: Bool { (try? Self.isNamespace(descriptor.raw)) ?? true }

    private static func isNamespace(_ folder: CInt) throws(Errno) -> Bool {
        let found = try Directory.allNames(folder)
        if names.intersection(found).count >= fewestNames { return true }
        guard found.contains(control) else { return false }
        let files = TrustedFolder(folder, try FileInfo.of(folder))
        guard let file = try? files.open(control, flags: O_RDONLY) else { return false }
        return ControlHeader.isMarked(try FileBytes.readPrefix(file.raw, count: ControlHeader.size))
    }

    /// The path within the folder of an entry that no namespace has, or `nil` if all entries belong to a namespace.
    package func foreignEntry() throws(Errno) -> String? {
        for name in try Directory.allNames(descriptor.raw) {
            if name == LatencyFile.name, !LatencyFile.isOwn(in: self) { return name }
            let isSessions = name == SessionFolder.name
            // A killed process can leave a folder `sessions` under a draft's name.
            guard
                Self.names.contains(name) || Self.furtherNames.contains(name)
                    || name.hasPrefix(".\(SessionFolder.name).")
            else { return name }
            let entries: [String]
            do throws(Errno) {
                let inner = try OwnedDescriptor.directory(at: descriptor.raw, name)
                entries = try Directory.allNames(inner.raw)
            } catch .notDirectory, .noSuchFileOrDirectory, .tooManySymbolicLinkLevels {
                // The entry is a file or a link, or has gone.
                continue
            }
            // A folder with the name of a file belongs to a namespace only if it is empty.
            if let foreign = entries.first(where: { !isSessions || !SessionFile.isName($0) }) {
                return "\(name)/\(foreign)"
            }
        }
        return nil
    }
}

extension NamespaceFolder {
    /// Runs a body that reserves blocks for the folder's files; if the file system can't reserve any, the error says
    /// so.
    ///
    /// `subject` says in words what the blocks are for.
    package func reserving<R: ~Copyable>(
        _ subject: String,
        _ body: () throws(Errno) -> R
    ) throws(SpaceError) -> R {
        do throws(Errno) {
            return try body()
        } catch  where error.rawValue == EOPNOTSUPP {
            // fallocate(2): the file system does not support the operation.
            throw SpaceError(
                .inputOutput,
                reason: "\(subject): fallocate(2) reserves no blocks on the root's file system "
                    + "(\(FileSystemKind.name(of: descriptor.raw))): \(error.told)",
                advice: "use a root on another file system: tmpfs, ext4, xfs or btrfs, say"
            )
        } catch {
            throw SpaceError(error, subject: subject)
        }
    }
}
