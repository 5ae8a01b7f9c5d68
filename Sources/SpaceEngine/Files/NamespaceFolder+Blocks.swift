import Glibc
import SpaceSystem
import SystemPackage

extension NamespaceFolder {
    /// Runs what reserves blocks for the folder's files; where the file system can't reserve any, the error says so.
    ///
    /// `subject` is what is reserved for, in words.
    func reserving<R: ~Copyable>(
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
