import Glibc
import SpaceSystem
import SystemPackage

/// A log that is a file (``LogFile``), kept open between commits.
package final class FileLog: CommitLog {
    package let path: String
    private let life: NamespaceLife
    private let isDurable: Bool
    private var opened: Opened?

    /// Noncopyable things can't be optional properties that are used in place.
    private final class Opened {
        let file: LogFile
        let info: FileInfo

        init(_ file: consuming LogFile, _ info: FileInfo) {
            self.file = file
            self.info = info
        }
    }

    /// - Parameters:
    ///   - path: The file's path, absolute and without links.
    ///   - life: The life of the namespace whose log it is.
    ///   - isDurable: Whether the namespace's commits are on the disk when they return, so that at most one entry is not
    ///     known to it.
    init(path: String, life: NamespaceLife, isDurable: Bool) {
        self.path = path
        self.life = life
        self.isDurable = isDurable
    }

    package var title: String { path.quotedForPeople }

    // MARK: Acquiring

    package var hasMembers: Bool { false }

    package func acquire(behind position: LogPosition) throws(SpaceError) {
        let opened = try current()
        // Another may look at the file for a moment, such as a backup that then finds it to be another namespace's.
        let retry = Retry(for: Self.patience, every: .milliseconds(1))
        while try !opened.file.tryLock() {
            if retry.again() { continue }
            throw SpaceError(
                .holderBusy,
                reason: "another process is adding to its log \(title)",
                advice: "wait until it has ended; a log belongs to one namespace"
            )
        }
    }

    private static let patience = Duration.seconds(1)

    package func release() { opened?.file.unlock() }

    /// The file that is at the path now: it may have been moved away, or another may have taken its place.
    private func current() throws(SpaceError) -> Opened {
        let path = path
        let info: FileInfo
        do throws(SpaceError) {
            info = try system(title) { () throws(Errno) in try Directory.info(at: AT_FDCWD, path) }
        } catch {
            throw unusable("can't be reached (\(error.reason))")
        }
        if let opened, opened.info.device == info.device, opened.info.inode == info.inode { return opened }
        opened = nil
        guard info.kind == .regular || info.kind == .symbolicLink else { throw replaced("what is no regular file") }
        let file = try LogFile.goingOn(path)
        let subject: LogFile.Subject?
        do throws(SpaceError) {
            subject = try file.subject()
        } catch {
            if error.code == .badData { throw replaced("a file that is no log") }
            throw error
        }
        guard let subject else { throw replaced("a file that has no beginning of a log") }
        guard subject.header.life == life else {
            throw replaced("the log of another namespace, \(subject.name.quotedForPeople)")
        }
        let new = Opened(file, info)
        opened = new
        return new
    }

    private func replaced(_ what: String) -> SpaceError { unusable("was replaced by \(what)") }

    private func unusable(_ what: String) -> SpaceError {
        SpaceError(
            .incompatible,
            reason: "its log \(title) \(what), and no commit may be missing there",
            advice: "put the file back, or end the log with space backup NS --no-log; then begin another with "
                + "space backup NS --to FILE --each-commit"
        )
    }

    // MARK: Entries

    package func forEachEntry(
        behind position: LogPosition,
        _ visit: (UnsafeRawBufferPointer, (LogPosition, LogMoment)?) throws(SpaceError) -> Void
    ) throws(SpaceError) -> Bool {
        guard let opened else { return true }
        let size = try opened.file.size
        if size == position.end { return true }
        guard size > position.end else { throw unusable("is shorter than it was") }
        let walk = try opened.file.walk(behind: position) { (entry) throws(SpaceError) in
            try opened.file.forEachChunk(of: entry) { (bytes) throws(SpaceError) in try visit(bytes, nil) }
            try visit(UnsafeRawBufferPointer(start: nil, count: 0), (entry.position, entry.moment))
            return true
        }
        // Entries after the last commit of a durable namespace were never acknowledged.
        if let damage = walk.damage, !isDurable { throw damage }
        try opened.file.cut(at: Int(clamping: walk.position.end))
        return true
    }

    package func append(
        _ entry: LogEntry,
        behind position: LogPosition,
        _ terms: AppendTerms
    ) throws(SpaceError) -> Bool {
        guard let file = opened else { return false }
        do throws(SpaceError) {
            try file.file.write(entry.bytes, at: Int(clamping: position.end))
            if terms.isDurable { try file.file.sync() }
            return true
        } catch {
            try? file.file.cut(at: Int(clamping: position.end))
            throw error
        }
    }
}
