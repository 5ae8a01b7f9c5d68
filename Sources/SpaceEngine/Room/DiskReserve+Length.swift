import LMDB
import SpaceSystem
import SystemPackage

// The length of the data file.
//
// With a writable map LMDB makes it as long as the map, 64 GiB. The library cuts it to the reserved blocks plus a
// margin without blocks. So a program that copies the file and knows nothing of holes writes little more than there is.
// And if a bound has missed a page, there is no SIGBUS as long as there is disk space.

extension DiskReserve {
    /// How much longer than its blocks the file is, with a writable map.
    package static let margin = 16 << 20

    /// How long a file is that has a number of bytes of blocks; `nil` without a writable map: the file then ends where
    /// something was last written.
    func length(beyond blocks: Int) -> Int? {
        guard control.header.mode == .fast else { return nil }
        return min(blocks + Self.margin, Int(clamping: control.header.mapSize))
    }

    /// Gives the file of a new namespace its first blocks.
    package func reserveFirst() throws(SpaceError) {
        try system("the data file") { () throws(Errno) in
            try reserve(from: 0, to: Limits.reserveAtBirth)
        }
        try cutFile()
    }

    /// Cuts the file, which LMDB has just made as long as the map, to its blocks and the margin; under the gate.
    ///
    /// If blocks are missing, because another program has cut the file or copied it with holes, the next writer reserves
    /// them again.
    package func cutFile() throws(SpaceError) {
        try system("the data file") { () throws(Errno) in
            let file = try FileInfo.of(environment.descriptor)
            let reserved = Int(clamping: control.reserved.load())
            let blocks = max(reserved, file.allocated, (environment.info.lastPage + 1) * pageSize)
            guard let length = length(beyond: blocks) else { return }
            if file.allocated < reserved { control.reserved.store(0) }
            if file.size > length { try FileBytes.truncate(environment.descriptor, to: length) }
        }
    }
}
