package import LMDB
package import SpaceSystem
package import SystemPackage

// The only place where errors of the targets below become errors of the space.

extension SpaceError {
    /// Makes an error of the space from a system call's error.
    ///
    /// `subject` says in words what the error happened to.
    package init(_ errno: Errno, subject: String) {
        let code: Code
        var advice: String?
        switch errno {
        case _ where errno.isOfFullDisk:
            code = .storageFull
            advice = "free space on the file system, then try again"
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem:
            code = .descriptorsExhausted
            advice = "raise the limit of open files (ulimit -n), or close namespaces that are not needed"
        case .readOnlyFileSystem:
            code = .permissionDenied
            advice =
                "use a root folder that can be written in (SHARED_SPACE_ROOT or --root); 'space dump' reads this one"
        case .permissionDenied, .notPermitted:
            code = .permissionDenied
            advice = "use a root folder that belongs to you (SHARED_SPACE_ROOT or --root)"
        case .tooManySymbolicLinkLevels:
            code = .permissionDenied
            advice = "symbolic links are not followed here; name the real folder"
        case .noMemory:
            code = .inputOutput
            advice = "check the limit of address space (ulimit -v) and the free memory"
        case .fileTooLarge:
            code = .inputOutput
            advice = "raise the limit on the size of files (ulimit -f unlimited)"
        default:
            code = .inputOutput
        }
        self.init(code, reason: "\(subject): \(errno.told)", advice: advice)
    }

    /// Makes an error about a file that is not what the library made in a namespace's folder.
    ///
    /// `subject` names the file, in words.
    package init(_ refusal: TrustedFolder.Refusal, subject: String) {
        let reason: String
        switch refusal {
        case .system(.noSuchFileOrDirectory):
            self = .damaged("\(subject) is missing")
            return
        case .system(let errno):
            self.init(errno, subject: subject)
            return
        case .foreign(let owner):
            self = .permissionDenied(
                "\(subject) belongs to uid \(owner), and not to the folder's owner or group",
                advice: "look who put it there, and remove it"
            )
            return
        case .hardLink: reason = "\(subject) has a second name (a hard link), which may be another user's file"
        case .kind(.symbolicLink): reason = "\(subject) is a symbolic link, which is not followed"
        case .kind(let kind): reason = "\(subject) is no regular file but a \(kind)"
        }
        self = .damaged(
            reason,
            advice: "look who put it there, and remove it; space delete removes the whole namespace"
        )
    }

    /// Makes an error of the space from an error of LMDB.
    package init(_ error: LMDBError) {
        switch error {
        case .mapFull:
            self = .limitReached(
                "the namespace's map is full",
                advice: "take or delete tuples, or create it with a larger limit"
            )
        case .transactionFull:
            self.init(
                .transactionTooLarge,
                reason: "more pages were changed at once than one transaction holds",
                advice: "write in smaller batches"
            )
        case .readersFull:
            self.init(
                .readersExhausted,
                reason: "all reader slots of the namespace are in use",
                advice: "end processes or threads that read at the same time"
            )
        case .corrupted, .invalid, .versionMismatch, .panic, .damagedPage, .pageNotFound, .cursorFull, .pageFull,
            .incompatible:
            self = .damaged("the data file is damaged (\(error))")
        case .badReaderSlot, .damagedLockFile:
            // A process made by fork is refused before it asks LMDB.
            self = .damaged(
                "another program changed the lock file (lock.mdb) while it was in use",
                advice:
                    "end the processes that use the namespace; the next one makes the file again, and the data stays"
            )
        default:
            if error.code > 0 {
                self.init(Errno(rawValue: error.code), subject: "the data file")
            } else {
                self.init(.inputOutput, reason: "LMDB: \(error)")
            }
        }
    }

    /// Makes an error for bytes in the database that don't decode.
    package init(_ error: TupleCodingError, _ operation: String = "", namespace: String? = nil) {
        self.init(.badData, operation, namespace: namespace, reason: "\(error)")
    }

    /// The error for a namespace whose files are damaged.
    package static func damaged(_ reason: String) -> SpaceError {
        damaged(
            reason,
            advice: "see what is damaged with space dump --check, save what is whole with "
                + "space dump --salvage | space load NEW, then delete the namespace"
        )
    }

    /// The error for files that are not as the library made them, with an advice of its own.
    static func damaged(_ reason: String, advice: String) -> SpaceError {
        SpaceError(.damaged, reason: reason, advice: advice)
    }
}

/// Runs LMDB calls, and turns their errors into errors of the space.
@inline(__always)
package func lmdb<R: ~Copyable>(_ body: () throws(LMDBError) -> R) throws(SpaceError) -> R {
    do throws(LMDBError) { return try body() } catch { throw SpaceError(lmdb: error) }
}

/// Encodes or decodes, and turns errors of the coding into errors of the space.
@inline(__always)
package func coding<R: ~Copyable>(_ body: () throws(TupleCodingError) -> R) throws(SpaceError) -> R {
    do throws(TupleCodingError) { return try body() } catch { throw SpaceError(error) }
}

extension SpaceError {
    /// Makes an error of the space from an error of LMDB; out of line, so that the calls stay short.
    @inline(never)
    init(lmdb error: LMDBError) { self.init(error) }
}

/// Runs system calls, and turns their errors into errors that name the subject.
@inline(__always)
package func system<R: ~Copyable>(
    _ subject: @autoclosure () -> String,
    _ body: () throws(Errno) -> R
) throws(SpaceError) -> R {
    do throws(Errno) { return try body() } catch { throw SpaceError(error, subject: subject()) }
}
