package import SpaceSystem
import Synchronization
import SystemPackage

/// The nursery's folders, named after their makers: `<pid>.<start>.<pid namespace>.<number>`.
package enum Nursery {
    private static let counter = Atomic<UInt64>(0)

    /// A name that no other folder of the nursery has.
    package static func newName(_ host: HostIdentity) throws(SpaceError) -> String {
        name(
            for: try system("/proc") { () throws(Errno) in try ProcessIdentity.current },
            pidNamespace: host.pidNamespace,
            number: counter.add(1, ordering: .relaxed).newValue
        )
    }

    private static func name(for process: ProcessIdentity, pidNamespace: UInt64, number: UInt64) -> String {
        "\(process.pid).\(process.startTime).\(pidNamespace).\(number)"
    }

    /// Removes the folders of makers that died before they had finished.
    ///
    /// Removing a folder twice is harmless.
    package static func clean(_ nursery: borrowing OwnedDescriptor, host: HostIdentity) {
        for name in (try? Directory.list(nursery.raw)) ?? [] where isLeft(name[...], host) {
            try? Directory.removeTree(at: nursery.raw, name)
        }
    }

    /// The name of a folder of the root while it is being made.
    static func draft(of name: String, number: UInt64) throws(Errno) -> String {
        let maker = try self.name(for: .current, pidNamespace: SystemIdentity.pidNamespace(), number: number)
        return "\(name).\(maker)"
    }

    /// Removes drafts of folders that dead makers left in the root.
    package static func cleanDrafts(_ rootFolder: borrowing OwnedDescriptor, _ entries: [String], host: HostIdentity) {
        for entry in entries {
            for name in [SpaceRoot.nursery, SpaceRoot.graveyard]
            where entry.hasPrefix("\(name).") && isLeft(entry.dropFirst(name.count + 1), host) {
                try? Directory.removeEmpty(at: rootFolder.raw, entry)
            }
        }
    }

    /// Whether a name names a maker that is known to be dead.
    private static func isLeft(_ name: Substring, _ host: HostIdentity) -> Bool {
        let parts = name.split(separator: ".")
        guard parts.count == 4, let pid = Int32(parts[0]), let start = UInt64(parts[1]), let space = UInt64(parts[2])
        else { return false }
        return space == host.pidNamespace && ProcessIdentity.life(pid: pid, startTime: start) == .dead
    }
}
