import Glibc
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

@testable import TupleSpace

/// A folder that the event loop watches for a thread.
@Suite(.spaceTest, .timeLimit(.minutes(5))) struct PathWatchTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    /// What was heard; the first change waits until it may go on.
    private final class Heard: Sendable {
        let names = Mutex<Set<String>>([])
        let mayGoOn = Atomic<Bool>(false)

        func hear(_ cause: PathSignal.Cause) {
            guard case .change(let event) = cause, let name = event.name else { return }
            let isFirst = names.withLock { names in
                names.insert(name)
                return names.count == 1
            }
            while isFirst, !mayGoOn.load(ordering: .acquiring) { Retry.rest(.milliseconds(1)) }
        }
    }

    private func makeFile(_ name: String, in folder: String) throws {
        let file = creat("\(folder)/\(name)", 0o600)
        try #require(file >= 0)
        close(file)
    }

    /// The descriptor is edge-triggered, and one read has room for some hundred names, so what is left would stay unread.
    @Test func aBurstOfNamesIsHeardToItsEnd() throws {
        let heard = Heard()
        let watch = PathWatch(root.path) { heard.hear($0) }
        let padding = String(repeating: "x", count: 100)
        let names = (0..<500).map { "\($0)-\(padding)" }
        try makeFile(names[0], in: root.path)
        #expect(try eventually { heard.names.withLock { $0.count == 1 } })
        for name in names.dropFirst() { try makeFile(name, in: root.path) }
        heard.mayGoOn.store(true, ordering: .releasing)
        #expect(try eventually { heard.names.withLock { $0 == Set(names) } })
        #expect(watch.isHeard)
    }

    /// A folder that was renamed lives, and so does the watch on it, until the path is looked at again.
    @Test func aFolderThatIsMadeAnewIsHeard() throws {
        let folder = "\(root.path)/watched"
        try #require(mkdir(folder, 0o700) == 0)
        let heard = Heard()
        heard.mayGoOn.store(true, ordering: .releasing)
        let watch = PathWatch(folder) { heard.hear($0) }
        try #require(rename(folder, "\(folder)-before") == 0 && mkdir(folder, 0o700) == 0)
        watch.renew()
        try makeFile("new", in: folder)
        #expect(try eventually { heard.names.withLock { $0.contains("new") } })
        // The watch on the former folder has ended.
        try makeFile("old", in: "\(folder)-before")
        try makeFile("newer", in: folder)
        #expect(try eventually { heard.names.withLock { $0.contains("newer") } })
        #expect(heard.names.withLock { !$0.contains("old") })
    }
}
