import Glibc
import LMDB
import SpaceSystem
import SystemPackage

/// A namespace's data file, opened for reading page by page, even while processes write in it.
package final class PageReading {
    private let file: OwnedDescriptor

    /// Opens the data file; `nil` if there is none, or if another kind of file is in its place.
    package init?(_ folder: borrowing NamespaceFolder) throws(SpaceError) {
        do throws(Errno) {
            let info = try Directory.info(at: folder.descriptor.raw, NamespaceFolder.data)
            guard info.kind == .regular else { return nil }
            // O_NONBLOCK: the file may be replaced by a FIFO at any moment.
            let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
            file = try OwnedDescriptor.openat(directory: folder.descriptor.raw, NamespaceFolder.data, flags: flags)
        } catch .noSuchFileOrDirectory {
            return nil
        } catch .tooManySymbolicLinkLevels {
            return nil
        } catch {
            throw SpaceError(error, subject: "the data file")
        }
    }

    private func pages() throws(SpaceError) -> PageFile {
        try lmdb { () throws(LMDBError) in try PageFile(file.raw) }
    }

    /// Reads, and says whether the pages that were read are of one commit.
    package func whileUnchanged() throws(SpaceError) -> (SalvagedRows, isOfOneCommit: Bool) {
        let before = try pages()
        let result = SalvagedRows(before)
        let after = try pages()
        guard let first = before.metas.first?.transaction, let last = after.metas.first?.transaction else {
            return (result, true)
        }
        return (result, last <= first &+ 1)
    }

    /// Reads under the gate if it can be acquired; otherwise reads without the gate, and says why.
    package func underGate(
        _ folder: borrowing NamespaceFolder,
        _ timeout: Duration
    ) throws(SpaceError) -> (SalvagedRows, obstacle: String?) {
        var gate: ProcessLock?
        var obstacle: String?
        do throws(SpaceError) {
            let finding = try ControlFinding.look(at: folder, host: HostIdentity.current())
            guard finding.standing == .current, try finding.enter(timeout: timeout) else {
                throw SpaceError(.incompatible, reason: "its locks are another system's, or it is a copy")
            }
            let control = try finding.map()
            do throws(ProcessLock.Failure) {
                if try control.gate.acquire(timeout: timeout) { control.gateNeedsRecovery.store(1) }
                gate = control.gate
            } catch {
                obstacle = SpaceError(error).reason
            }
            defer { gate?.release() }
            return (SalvagedRows(try pages()), obstacle)
        } catch {
            return (SalvagedRows(try pages()), obstacle ?? error.reason)
        }
    }

    /// Whether the file goes beyond its pages as far as a file with a writable map does; `nil` if no meta page can be read.
    package var hasMargin: Bool? {
        guard let pages = try? pages(), let last = pages.metas.first?.lastPage, let info = try? FileInfo.of(file.raw)
        else { return nil }
        return info.size / pages.pageSize - DiskReserve.margin / pages.pageSize > Int(clamping: last)
    }
}
