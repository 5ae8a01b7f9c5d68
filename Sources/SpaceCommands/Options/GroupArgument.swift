import CommandWords
import Glibc

/// A group of the system on the command line, by its number or its name.
struct GroupArgument: ExpressibleByArgument, Sendable {
    let id: UInt32

    init?(argument: String) {
        if let number = UInt32(argument) {
            // chown(2): this number leaves a file's group as it is.
            guard number != .max else { return nil }
            id = number
            return
        }
        var entry = group()
        var found: UnsafeMutablePointer<group>?
        var room = [CChar](repeating: 0, count: 1 << 16)
        guard getgrnam_r(argument, &entry, &room, room.count, &found) == 0, found != nil else { return nil }
        id = entry.gr_gid
    }
}
