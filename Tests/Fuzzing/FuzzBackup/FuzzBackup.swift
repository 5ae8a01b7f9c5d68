// A backup that is damaged, with its checksums made right again: whatever the file holds, making a namespace of it ends,
// with a namespace that can be used or with a `SpaceError`.

import FuzzSupport
import Glibc
import SharedSpace

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

private let playground = Playground("backup")
private let path = "\(playground.path)/.backup"

/// The bytes of a backup with two moments.
private let whole: [UInt8] = {
    do throws(SpaceError) {
        let namespace = try playground.filled()
        _ = try namespace.backUp(to: path)
        try namespace.write("late", 1)
        _ = try namespace.unset("count")
        _ = try namespace.takeAll(matching: ["job", 1, .any])
        _ = try namespace.backUp(to: path)
        try namespace.leave()
    } catch {
        fatalError("an undamaged namespace: \(error)")
    }
    let file = open(path, O_RDONLY)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = read(file, &bytes, bytes.count)
    return Array(bytes[..<max(0, count)])
}()

/// Runs one input: pieces of the file, each an offset and bytes.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(start, count)
    var bytes = whole
    while !input.isEmpty {
        let offset = input.number(below: bytes.count)
        for (index, byte) in input.bytes(atMost: 64).enumerated() where offset + index < bytes.count {
            bytes[offset + index] = byte
        }
    }
    mend(&bytes)
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard bytes.withUnsafeBytes({ write(file, $0.baseAddress, $0.count) }) == bytes.count else {
        fatalError("no space for the backup")
    }
    close(file)
    playground.clear()
    guard let (namespace, _) = try? playground.space.replay(path, as: "n", owner: .session) else { return 0 }
    playground.useAll(of: namespace)
    try? namespace.leave()
    playground.inspect()
    return 0
}

/// Makes the checksums right, as far as the file's parts can be told.
private func mend(_ bytes: inout [UInt8]) {
    func store(_ hash: UInt64, at offset: Int) {
        withUnsafeBytes(of: hash.littleEndian) { bytes.replaceSubrange(offset..<offset + 8, with: $0) }
    }
    let controlEnd = 16 + ControlHeader.size
    store(hash64(Array(bytes[16..<controlEnd - 8])), at: controlEnd - 8)
    store(hash64(Array(bytes[..<(LogFile.headerSize - 8)])), at: LogFile.headerSize - 8)
    var position = LogFile.headerSize
    var link = position - 8
    let chunkHeader = LogChunk.headerSize
    while position + chunkHeader <= bytes.count {
        let count = bytes[(position + 32)..<(position + 40)].withUnsafeBytes {
            Int(clamping: UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)))
        }
        let start = position + chunkHeader
        guard count <= bytes.count - start else { return }
        store(hash64(Array(bytes[start..<start + count])), at: position + 40)
        bytes.replaceSubrange(position + 48..<position + 56, with: Array(bytes[link..<link + 8]))
        let hash = position + LogChunk.hashOffset
        store(hash64(Array(bytes[position..<hash])), at: hash)
        link = hash
        position = start + count
    }
}
