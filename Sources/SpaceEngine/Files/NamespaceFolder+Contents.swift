import Glibc
package import SpaceSystem
package import SystemPackage

/// What lies in a folder of the root: a namespace, damaged or not, or something that only shares the root with namespaces.
///
/// A namespace's folder has five entries: `control`, `bell`, `data.mdb`, `lock.mdb` and `sessions`. A folder is a namespace's if
/// its control file begins with this library's mark, or if at least three of the five names are there: LMDB's two files alone
/// are any program's database. Damage can take one or two names away; a folder that was never a namespace has none of them.
extension NamespaceFolder {
    private static let names: Set<String> = [control, bell, data, lock, SessionFolder.name]
    private static let fewestNames = 3

    /// Whether a folder of the root is a namespace's; one that can't be looked into counts as one.
    ///
    /// - Returns: `nil` when no folder has this name.
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

    /// Whether this folder is a namespace's; one that can't be looked into counts as one.
    package var isNamespace: Bool { (try? Self.isNamespace(descriptor.raw)) ?? true }

    private static func isNamespace(_ folder: CInt) throws(Errno) -> Bool {
        let found = try Directory.allNames(folder)
        if names.intersection(found).count >= fewestNames { return true }
        guard found.contains(control) else { return false }
        let files = TrustedFolder(folder, try FileInfo.of(folder))
        guard let file = try? files.open(control, flags: O_RDONLY) else { return false }
        return ControlHeader.isMarked(try FileBytes.readPrefix(file.raw, count: ControlHeader.size))
    }

    /// An entry of the folder that no namespace has, as a path within the folder; `nil` when all of them are a namespace's.
    package func foreignEntry() throws(Errno) -> String? {
        for name in try Directory.allNames(descriptor.raw) {
            let isSessions = name == SessionFolder.name
            // A folder `sessions` that a killed process had not renamed yet.
            guard Self.names.contains(name) || name.hasPrefix(".\(SessionFolder.name).") else { return name }
            let entries: [String]
            do throws(Errno) {
                let inner = try OwnedDescriptor.directory(at: descriptor.raw, name)
                entries = try Directory.allNames(inner.raw)
            } catch .notDirectory, .noSuchFileOrDirectory, .tooManySymbolicLinkLevels {
                // A file, a link, or gone.
                continue
            }
            // In the place of a file a folder is a namespace's only if it is empty.
            if let foreign = entries.first(where: { !isSessions || !SessionFile.isName($0) }) {
                return "\(name)/\(foreign)"
            }
        }
        return nil
    }
}

extension NamespaceFolder {
    /// Runs what reserves blocks for the folder's files; where the file system can't reserve any, the error says so.
    ///
    /// `subject` is what is reserved for, in words.
    package func reserving<R: ~Copyable>(
        _ operation: String,
        _ subject: String,
        _ body: () throws(Errno) -> R
    ) throws(SpaceError) -> R {
        do throws(Errno) {
            return try body()
        } catch  where error.rawValue == EOPNOTSUPP {
            // fallocate(2): the file system does not support the operation.
            throw SpaceError(
                .inputOutput,
                operation,
                namespace: name.text,
                reason: "\(subject): fallocate(2) reserves no blocks on the root's file system "
                    + "(\(FileSystemKind.name(of: descriptor.raw))): \(error.told)",
                advice: "use a root on another file system: tmpfs, ext4, xfs or btrfs, say"
            )
        } catch {
            throw SpaceError(error, operation, namespace: name.text, subject: subject)
        }
    }
}
