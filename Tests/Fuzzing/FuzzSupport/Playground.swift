import Glibc
import SharedSpace

@testable package import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable package import TupleSpace

/// A root of the fuzzer's own, in memory, and the operations on a namespace in it, in any state of that namespace.
package struct Playground: Sendable {
    package let path: String
    package let space: Space

    /// Makes the root, in memory or in the folder that `FUZZ_FOLDER` names; ends the process if that fails, because there
    /// is nothing to fuzz then.
    package init(_ name: String) {
        let folder = getenv("FUZZ_FOLDER").map { String(cString: $0) } ?? "/dev/shm"
        path = "\(folder)/shared-space-fuzz-\(name)-\(getpid())"
        mkdir(path, 0o700)
        do throws(SpaceError) {
            // The time that a damaged lock costs at most; the fuzzer's own limit for one input is far above.
            space = try Space(root: path, timeout: .milliseconds(20))
        } catch {
            fatalError("\(error)")
        }
    }

    /// A namespace with something in each of its tables.
    ///
    /// Persistent, so that it can be left and opened again.
    package func filled() throws(SpaceError) -> Namespace {
        let namespace = try space.namespace("n", options: NamespaceOptions(isPersistent: true))
        _ = try? namespace.changes(from: .subscription("kept"))
        for number in 0..<4 { try namespace.write("job", number, "text") }
        try namespace.write(tuple: Tuple(record: ["kind": "job", "size": 7]))
        try namespace.write("soon", 1, expires: .seconds(3600))
        try namespace.set("cell", ["name": "value", "list": [1, 2, 3]] as Value)
        try namespace.set("count", 1)
        _ = try namespace.claimBriefly(matching: ["job", 3, .any])
        try namespace.post("news", 1)
        return namespace
    }

    /// Everything that a user can do; each call may fail with an error, and none may do worse.
    package func useAll(of namespace: Namespace) {
        let templates: [Template] = [
            .any, ["job", .any, .any], ["job", 2, .any], ["soon"], ["kind": "job"], [.any, 1...3, "text"],
        ]
        for template in templates {
            _ = try? namespace.readIfExists(matching: template)
            _ = try? namespace.readAll(matching: template)
            _ = try? namespace.count(matching: template)
        }
        _ = try? namespace.get("cell")
        _ = try? namespace.cells()
        _ = try? namespace.increment("count")
        _ = try? namespace.status()
        _ = try? namespace.verify()
        for start in [nil, 0] as [UInt64?] {
            guard let changes = try? namespace.changes(.everything, from: start.map { .after($0) } ?? .now) else {
                continue
            }
            // The existing changes are read, without waiting. Every look takes a change, or a step towards the end.
            while let change = try? changes.nextBlocking(timeout: .zero, interruption: nil), change.kind != .gone {}
        }
        try? namespace.write("job", 9, "text")
        try? namespace.write("job", 10, "text", expires: .milliseconds(1))
        _ = try? namespace.set("cell", "new")
        _ = try? namespace.takeIfExists(matching: ["job", .any, .any])
        _ = try? namespace.takeIfExists(matching: ["kind": "job"])
        _ = try? namespace.unset("cell")
        _ = try? namespace.takeAll(matching: .any)
        _ = try? namespace.endSubscription("kept")
    }

    /// Opens the namespace again, if that is possible, and does everything with it.
    package func useAgain() {
        guard let again = try? space.namespace("n") else { return }
        useAll(of: again)
        try? again.leave()
        inspect()
    }

    /// Everything that the inspector can do, of a namespace that this process does not have open.
    package func inspect() {
        guard let inspection = try? Inspection(.name("n", root: path), checking: true) else { return }
        try? inspection.forEachTuple { _ = inspection.expiry(of: $0) }
    }

    /// Removes the namespace, if there is one.
    package func clear() {
        do throws(SpaceError) {
            try space.delete("n")
        } catch  where error.code == .namespaceNotFound {
        } catch {
            fatalError("what is damaged can't even be deleted: \(error)")
        }
    }
}
