import Glibc
import SpaceSystem
import SystemPackage
import Testing

@Suite(.timeLimit(.minutes(5)))
struct INotifyTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func tellsOfWrites() throws {
        let file = try folder.file("bell")
        let notify = try INotify()
        #expect(try notify.readEvents().events.isEmpty)
        let watch = try notify.add(folder.path("bell"), .modified)
        try FileBytes.write([1], to: file.raw)
        let events = try notify.readEvents().events
        #expect(events.map(\.watch) == [watch])
        #expect(events.map(\.mask) == [.modified])
        #expect(events.map(\.name) == [nil])
        try FileBytes.write([1], to: file.raw)
        #expect(try notify.readEvents().events.count == 1, "the same byte again is news too")
        try notify.remove(watch)
        #expect(try notify.readEvents().events.map(\.mask) == [.ignored])
        try notify.remove(watch)
    }

    @Test func watchesAnOpenFileWhateverItsName() throws {
        let file = try folder.file("bell")
        try Directory.rename(from: folder.directory, "bell", to: folder.directory, "moved")
        let other = try folder.file("bell")
        let notify = try INotify()
        let watch = try notify.add(file.procPath, [.modified, .attributes])
        try FileBytes.write([1], to: other.raw)
        #expect(try notify.readEvents().events.isEmpty)
        try FileBytes.write([1], to: file.raw)
        #expect(try notify.readEvents().events.map(\.watch) == [watch])
        try Directory.unlink(at: folder.directory, "moved")
        #expect(try notify.readEvents().events.map(\.mask) == [.attributes])
        #expect(throws: Errno.fileExists) { try notify.add(file.procPath, [.modified, .createOnly]) }
    }

    @Test func namesWhatHappensInADirectory() throws {
        let notify = try INotify()
        let watch = try notify.add(folder.path, [.created, .deleted, .movedFrom, .movedTo, .onlyDirectory])
        _ = try folder.file("a")
        try Directory.makeDirectory(at: folder.directory, "b", mode: 0o700)
        try Directory.rename(from: folder.directory, "a", to: folder.directory, "c")
        try Directory.removeTree(at: folder.directory, "b")
        let events = try notify.readEvents().events
        #expect(events.map(\.name) == ["a", "b", "a", "c", "b"])
        #expect(
            events.map(\.mask)
                == [.created, [.created, .isDirectory], .movedFrom, .movedTo, [.deleted, .isDirectory]]
        )
        #expect(events.allSatisfy { $0.watch == watch })
        try #require(events.count == 5)
        #expect(events[2].cookie == events[3].cookie)
        #expect(events[2].cookie != 0)
        _ = try folder.file("file")
        #expect(throws: Errno.notDirectory) { try notify.add(folder.path("file"), [.modified, .onlyDirectory]) }
    }

    @Test func saysThatItLostEvents() throws {
        let limit = try FileBytes.read(at: AT_FDCWD, "/proc/sys/fs/inotify/max_queued_events", limit: 32)
        let most = try #require(Int(String(decoding: limit.filter { $0 != UInt8(ascii: "\n") }, as: UTF8.self)))
        try #require(most <= 1 << 17, "filling this queue would take too long")
        let files = (try folder.file("a").release(), try folder.file("b").release())
        defer {
            close(files.0)
            close(files.1)
        }
        let notify = try INotify()
        _ = try notify.add(folder.path, .modified)
        // inotify(7): only an event equal to the one before it is merged with it.
        for _ in 0...(most / 2) {
            try FileBytes.write([1], to: files.0)
            try FileBytes.write([1], to: files.1)
        }
        var read = 0
        var overflows = 0
        while true {
            let events = try notify.readEvents().events
            if events.isEmpty { break }
            read += events.count
            overflows += events.count { $0.isOverflow && $0.watch == -1 }
        }
        #expect(overflows == 1)
        #expect(read == most + 1)
    }

    @Test func parsesOnlyWhatIsThere() {
        func event(_ watch: Int32, _ mask: UInt32, length: UInt32, _ name: [UInt8]) -> [UInt8] {
            var bytes: [UInt8] = []
            for word in [UInt32(bitPattern: watch), mask, 0, length] {
                bytes += withUnsafeBytes(of: word) { Array($0) }
            }
            return bytes + name
        }
        func parse(_ bytes: [UInt8]) -> [INotify.Event] { bytes.withUnsafeBytes(INotify.parse) }

        let first = event(1, 2, length: 4, [97, 98, 0, 0])
        #expect(parse(first).map(\.name) == ["ab"])
        #expect(parse(first + event(2, 2, length: 0, [])).map(\.watch) == [1, 2])
        for cut in 0..<first.count { #expect(parse(Array(first[..<cut])).isEmpty) }
        #expect(parse(first + event(2, 2, length: .max, [1, 2, 3])).map(\.watch) == [1])
        #expect(parse(event(1, 2, length: 2, [97, 98])).map(\.name) == ["ab"], "a name without its NUL")
    }
}

@Suite(.timeLimit(.minutes(5)))
struct EpollTests {
    @Test func tellsWhoIsReady() throws {
        let epoll = try Epoll()
        let first = try EventFD()
        let second = try EventFD()
        try epoll.add(first.raw, .readable, token: 1 << 63)
        try epoll.add(second.raw, .readable, token: 2)
        #expect(throws: Errno.fileExists) { try epoll.add(first.raw, .readable, token: 3) }
        #expect(try epoll.wait(timeout: .zero).isEmpty)
        #expect(try epoll.wait(timeout: .nanoseconds(1)).isEmpty)
        try first.signal()
        let ready = try epoll.wait(timeout: nil)
        #expect(ready.map(\.token) == [1 << 63])
        #expect(ready.map(\.events) == [.readable])
        try second.signal()
        #expect(try Set(epoll.wait(timeout: nil).map(\.token)) == [1 << 63, 2])
        try first.drain()
        #expect(try epoll.wait(timeout: .zero).map(\.token) == [2])
        try epoll.modify(second.raw, .readable, token: 7)
        #expect(try epoll.wait(timeout: .zero).map(\.token) == [7])
        try epoll.remove(second.raw)
        #expect(try epoll.wait(timeout: .zero).isEmpty)
        #expect(throws: Errno.noSuchFileOrDirectory) { try epoll.remove(second.raw) }
    }

    @Test func addsSignalsUp() throws {
        let event = try EventFD()
        #expect(try event.drain() == 0)
        for _ in 0..<3 { try event.signal() }
        #expect(try event.drain() == 3)
        #expect(try event.drain() == 0)
    }

    @Test func seesAProcessExit() throws {
        let epoll = try Epoll()
        let child = try Probe("idle")
        #expect(try child.line() == "ready")
        let descriptor = try PIDFD(pid: child.pid)
        try epoll.add(descriptor.raw, .readable, token: UInt64(child.pid))
        #expect(try epoll.wait(timeout: .zero).isEmpty)
        #expect(kill(child.pid, SIGKILL) == 0)
        #expect(try epoll.wait(timeout: Probe.watchdog).map(\.token) == [UInt64(child.pid)])
        #expect(child.reap() == .killed(by: SIGKILL))
    }
}
