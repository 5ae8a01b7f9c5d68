import Glibc
package import SpaceSystem
import SystemPackage

/// The file `latency` of a namespace's folder, in which the processes count how long their waits last.
///
/// Guarantees: if the namespace's latencies are measured, no wait fails or ends a process because of it. The file's one
/// page is reserved before the file has its name, so a full disk is an error at the switch and raises no SIGBUS later. A
/// file that the library did not make is neither used, replaced nor removed.
///
/// The switch is a word in the control file (`ControlFile.latency`): odd while latencies are measured, and raised at
/// each switch. It is changed under the door, in an order in which a kill between any two steps does no harm:
/// - On: make the file under a draft's name, with the word that is to come; rename it; raise the word. A process killed
///   before the last step leaves a draft or a file that no process uses. The next switch replaces them.
/// - Off: raise the word, remove the file. A process killed between the two leaves a file that no process uses.
///
/// A process reads the word at each wait that finds nothing at once. So a process that opened the namespace before the
/// switch learns of it then. It maps the file when its first measured wait ends, and again when the word has changed; it
/// uses only a file that carries the word. A process that still counts in a removed file loses what it counts there.
///
/// All numbers are added to by one atomic operation each: a process that is killed between two of them leaves a sum
/// without the last duration.
package enum LatencyFile {
    package static let name = "latency"
    /// One process makes a file at a time, because it holds the door.
    static let draft = ".latency.new"
    static let size = 4096
    private static let headerSize = 64
    private static let magic: UInt64 = 0x544C_4150_5344_4853  // "SHDSPALT", read as little-endian
    private static let version: UInt32 = 1
    private static let histogramSize = 256

    /// What is measured.
    package enum Kind: Int, CaseIterable, Sendable {
        /// From the beginning of a wait to its end with a tuple.
        case waiting
        /// From the grant of a tuple, right after the commit, to the taker's return.
        case handOff
    }

    // MARK: The switch, under the door

    /// Makes the file for a value of the switch's word, and replaces an earlier one.
    package static func make(
        in folder: borrowing NamespaceFolder,
        for word: UInt32,
        of life: NamespaceLife
    ) throws(SpaceError) {
        try checkReplaceable(in: folder)
        let (directory, mode) = (folder.descriptor.raw, folder.fileMode)
        try folder.reserving(subject) { () throws(Errno) in
            // A draft is a killed process's.
            try Directory.unlink(at: directory, draft)
            let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
            let file = try OwnedDescriptor.openat(directory: directory, draft, flags: flags, mode: mode)
            do throws(Errno) {
                try Directory.setMode(file.raw, mode)
                try Blocks.reserve(file.raw, from: 0, to: size, keepSize: false)
                try FileBytes.write(header(word, life), to: file.raw)
                try Directory.sync(file.raw)
                CrashPoint.reach(.latencyDrafted)
                try Directory.rename(from: directory, draft, to: directory, name)
                try Directory.sync(directory)
            } catch {
                _ = try? Directory.unlink(at: directory, draft)
                throw error
            }
        }
        CrashPoint.reach(.latencyMade)
    }

    /// Removes the file, if there is one.
    package static func remove(in folder: borrowing NamespaceFolder) throws(SpaceError) {
        try checkReplaceable(in: folder)
        let directory = folder.descriptor.raw
        try system(subject) { () throws(Errno) in _ = try Directory.unlink(at: directory, name) }
    }

    /// - Throws: `damaged` if another program made what has the file's name.
    private static func checkReplaceable(in folder: borrowing NamespaceFolder) throws(SpaceError) {
        guard let file = try find(in: folder, flags: O_RDONLY) else { return }
        let start = try system(subject) { () throws(Errno) in try FileBytes.readPrefix(file.raw, count: 8) }
        guard isMark(start) else { throw foreign }
    }

    /// Whether a file's first bytes are the library's mark, perhaps with one changed byte: a damaged file is not used,
    /// but the library must be able to replace it, and to remove it with its namespace.
    private static func isMark(_ start: [UInt8]) -> Bool {
        let mark = bytes(of: magic)
        return start.count == mark.count && zip(start, mark).count { $0 == $1 } >= mark.count - 1
    }

    /// Whether what has the file's name is this library's, or there is nothing.
    static func isOwn(in folder: borrowing NamespaceFolder) -> Bool {
        do throws(SpaceError) { try checkReplaceable(in: folder) } catch { return false }
        return true
    }

    // MARK: Its contents

    /// Opens the file for a value of the switch's word.
    ///
    /// - Throws: `damaged` if it is missing, or is not the one that was made for this word.
    package static func open(
        in folder: borrowing NamespaceFolder,
        for word: UInt32,
        of life: NamespaceLife,
        flags: CInt
    ) throws(SpaceError) -> OwnedDescriptor {
        guard let file = try find(in: folder, flags: flags) else {
            throw .damaged("latencies are measured, and the file \(name) is missing", advice: advice)
        }
        let (length, start) = try system(subject) { () throws(Errno) in
            (try FileInfo.of(file.raw).size, try FileBytes.readPrefix(file.raw, count: headerSize))
        }
        guard isMark(Array(start.prefix(8))) else { throw foreign }
        guard length == size, start == header(word, life) else {
            throw .damaged("the file \(name) is damaged, or another namespace's", advice: advice)
        }
        return file
    }

    /// What the processes have counted; `nil` if nothing is measured.
    package static func read(
        in folder: borrowing NamespaceFolder,
        _ control: ControlFile
    ) throws(SpaceError) -> [LatencyHistogram]? {
        let word = control.latency.load()
        guard isOn(word) else { return nil }
        let file = try open(in: folder, for: word, of: control.header.life, flags: O_RDONLY)
        let page = try system(subject) { () throws(Errno) in try FileBytes.readPrefix(file.raw, count: size) }
        return Kind.allCases.map { kind in
            page.withUnsafeBytes { page in
                func number(_ index: Int) -> UInt64 {
                    page.loadUnaligned(fromByteOffset: offset(of: kind) + index * 8, as: UInt64.self)
                }
                return LatencyHistogram(
                    counts: (0...LatencyHistogram.nanoseconds.count).map { Int(clamping: number($0 + 1)) },
                    total: .nanoseconds(Int64(clamping: number(0)))
                )
            }
        }
    }

    /// Whether latencies are measured while the switch's word has a value.
    @inline(__always)
    package static func isOn(_ word: UInt32) -> Bool { word & 1 != 0 }

    /// Maps the file; `nil` if that is not possible.
    static func map(_ file: borrowing OwnedDescriptor) -> MappedFile? {
        // A copied file may have a hole, or share its block.
        try? Blocks.reserve(file.raw, from: 0, to: size, keepSize: true)
        try? Blocks.unshare(file.raw, to: size)
        guard let info = try? FileInfo.of(file.raw), info.allocated >= size else { return nil }
        return try? MappedFile(file, length: size)
    }

    /// Counts one duration.
    static func add(_ duration: UInt64, to kind: Kind, in map: MappedFile) {
        let sum = map.base + offset(of: kind)
        SharedWord64(at: sum + 8 + 8 * LatencyHistogram.bucket(of: duration)).add(1)
        SharedWord64(at: sum).add(duration)
    }

    private static func offset(of kind: Kind) -> Int { headerSize + kind.rawValue * histogramSize }

    private static func header(_ word: UInt32, _ life: NamespaceLife) -> [UInt8] {
        var header = bytes(of: magic) + bytes(of: version) + bytes(of: word) + bytes(of: life.number)
        header += bytes(of: UInt32(Kind.allCases.count)) + bytes(of: UInt32(LatencyHistogram.nanoseconds.count))
        header += [UInt8](repeating: 0, count: headerSize - 8 - header.count)
        return header + bytes(of: hash64(header))
    }

    private static func bytes(of value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }

    private static let subject = "the file \(name)"
    private static let advice = "switch it off and on again: space metrics NS --latency off"

    private static var foreign: SpaceError {
        .damaged(
            "another program made the file \(name) in the namespace's folder",
            advice: "look who made it, and move it out of the folder"
        )
    }

    /// Opens what has the file's name; `nil` if there is nothing.
    private static func find(
        in folder: borrowing NamespaceFolder,
        flags: CInt
    ) throws(SpaceError) -> OwnedDescriptor? {
        do throws(TrustedFolder.Refusal) {
            return try folder.files.open(name, flags: flags)
        } catch .system(.noSuchFileOrDirectory) {
            return nil
        } catch {
            throw SpaceError(error, subject: subject)
        }
    }
}
