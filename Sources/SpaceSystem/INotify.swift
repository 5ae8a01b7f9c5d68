import CSpaceShims
package import SystemPackage

/// The kernel's events about files (inotify(7)): hints that something happened, no proof of what happened.
///
/// A user may have few instances (128 by default, for all programs together), so make one per process.
package struct INotify: ~Copyable, Sendable {
    /// The events to report in a request, or what happened in an event.
    package struct Mask: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// The file was written or truncated, even if the bytes are the same; writes through a mapping are not
        /// reported.
        package static let modified = Mask(rawValue: space_in_modify)
        /// The attributes changed; the link count is one of them, so the loss of a name is reported too.
        package static let attributes = Mask(rawValue: space_in_attributes)
        package static let movedFrom = Mask(rawValue: space_in_moved_from)
        package static let movedTo = Mask(rawValue: space_in_moved_to)
        package static let created = Mask(rawValue: space_in_created)
        package static let deleted = Mask(rawValue: space_in_deleted)
        package static let deletedItself = Mask(rawValue: space_in_deleted_itself)
        package static let movedItself = Mask(rawValue: space_in_moved_itself)

        /// Only in events: the kernel dropped events, so every watched file must be checked again; the watch is −1.
        package static let overflow = Mask(rawValue: space_in_overflow)
        /// Only in events: the watch has ended, and its number may be reused.
        package static let ignored = Mask(rawValue: space_in_ignored)
        /// Only in events: the event is about a directory.
        package static let isDirectory = Mask(rawValue: space_in_is_directory)

        /// Only in requests: `ENOTDIR` for anything but a directory.
        package static let onlyDirectory = Mask(rawValue: space_in_only_directory)
        /// Only in requests: `EEXIST` if this inode is already watched, instead of replacing its mask.
        package static let createOnly = Mask(rawValue: space_in_create_only)
        /// Only in requests: don't follow a symbolic link.
        package static let noFollow = Mask(rawValue: space_in_dont_follow)
    }

    package struct Event: Hashable, Sendable {
        package let watch: Int32
        package let mask: Mask
        /// Ties `movedFrom` to its `movedTo`.
        package let cookie: UInt32
        /// The name inside a watched directory; bytes that aren't UTF-8 are replaced.
        package let name: String?
        package var isOverflow: Bool { mask.contains(.overflow) }
    }

    package let descriptor: OwnedDescriptor

    /// - Throws: `EMFILE` if the user has no instance left, or the process no descriptor.
    package init() throws(Errno) {
        descriptor = OwnedDescriptor(adopting: try checked(space_inotify_open()))
    }

    /// The descriptor for poll and epoll: readable while there are events.
    package var raw: CInt { descriptor.raw }

    /// Watches an inode; `/proc/self/fd/N` watches an open file, whatever its name refers to now.
    ///
    /// - Returns: the watch; for an inode that is already watched, the same watch with its mask replaced.
    /// - Throws: `ENOSPC` if the user has no watch left.
    package func add(_ path: String, _ mask: Mask) throws(Errno) -> Int32 {
        try checkedPath(path)
        return try checked(space_inotify_add(raw, path, mask.rawValue))
    }

    /// Ends a watch; succeeds if the kernel has ended it already.
    package func remove(_ watch: Int32) throws(Errno) {
        let result = space_inotify_remove(raw, watch)
        // inotify_rm_watch(2): EINVAL means that the watch isn't valid; the watch of a deleted file ends by itself.
        guard Errno(rawValue: -result) != .invalidArgument else { return }
        try checked(result)
    }

    /// Reads events that have arrived, without waiting.
    ///
    /// - Returns: The events, and whether more may have arrived before this read: then call it again.
    package func readEvents() throws(Errno) -> (events: [Event], mayBeMore: Bool) {
        // inotify(7): a buffer of sizeof(struct inotify_event) + NAME_MAX + 1 takes any event. It is on the stack and
        // not cleared: a watcher that the change signal wakes waits for this code.
        let (got, events) = withUnsafeTemporaryAllocation(byteCount: Self.bufferSize, alignment: 8) { bytes in
            let got = bytes.baseAddress.map { space_read(raw, $0, UInt64(bytes.count)) } ?? 0
            return (got, got > 0 ? Self.parse(UnsafeRawBufferPointer(rebasing: bytes[..<Int(got)])) : [])
        }
        if Errno(rawValue: CInt(truncatingIfNeeded: -got)) == .resourceTemporarilyUnavailable { return ([], false) }
        // Where another event would have found room, there was none.
        let mayBeMore = try checked(count: got) > Self.bufferSize - Self.largestEvent
        return (events, mayBeMore)
    }

    /// The largest number of bytes that one call reads.
    private static let bufferSize = 8192
    /// inotify(7): the size of an event with the longest name.
    private static let largestEvent = 16 + 256

    /// Splits a buffer into events; an incomplete event at its end is left out.
    package static func parse(_ bytes: UnsafeRawBufferPointer) -> [Event] {
        // inotify(7): int wd; uint32_t mask, cookie, len; char name[len], padded with NULs.
        let header = 16
        var events: [Event] = []
        var offset = 0
        while bytes.count - offset >= header {
            let length = Int(bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
            guard length <= bytes.count - offset - header else { break }
            let name = bytes[(offset + header)..<(offset + header + length)].prefix { $0 != 0 }
            events.append(
                Event(
                    watch: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self),
                    mask: Mask(rawValue: bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)),
                    cookie: bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt32.self),
                    name: name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
                )
            )
            offset += header + length
        }
        return events
    }
}
