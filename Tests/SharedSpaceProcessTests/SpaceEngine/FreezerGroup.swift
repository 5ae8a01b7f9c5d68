import Glibc
import SpaceTestSupport

/// A test's own control group with a freezer.
final class FreezerGroup {
    enum Version: CaseIterable {
        case first, second
    }

    /// The versions whose groups this process may make.
    static let versions = Version.allCases.filter { version in
        guard let group = try? FreezerGroup(version) else { return false }
        return access("\(group.path)/\(group.control)", W_OK) == 0
    }

    static var isPermitted: Bool { !versions.isEmpty }

    let path: String
    private let version: Version
    private let home: String

    private var control: String { version == .first ? "freezer.state" : "cgroup.freeze" }

    init(_ version: Version) throws {
        self.version = version
        guard let mount = Self.mount(of: version), let own = Self.group(in: version) else {
            throw TestFailure("there is no such file system")
        }
        home = own == "/" ? mount : mount + own
        path = "\(home)/shared-space-test-\(getpid())"
        guard mkdir(path, 0o755) == 0 else { throw TestFailure("mkdir \(path): errno \(errno)") }
    }

    deinit { rmdir(path) }

    func add(_ pid: Int32) throws { try Self.write("\(pid)", to: "\(path)/cgroup.procs") }

    func freeze() throws {
        try Self.write(version == .first ? "FROZEN" : "1", to: "\(path)/\(control)")
    }

    func thaw() throws {
        try Self.write(version == .first ? "THAWED" : "0", to: "\(path)/\(control)")
    }

    /// The letter of a process's state, as in proc(5).
    func state(of pid: Int32) throws -> String {
        guard let stat = Self.read("/proc/\(pid)/stat"), let end = stat.lastIndex(of: ")") else {
            throw TestFailure("process \(pid) has gone")
        }
        return String(stat[end...].dropFirst(2).prefix(1))
    }

    private static func mount(of version: Version) -> String? {
        for line in (read("/proc/self/mountinfo") ?? "").split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 9, let dash = fields.firstIndex(of: "-"), fields[3] == "/" else { continue }
            switch version {
            case .first
            where fields[dash + 1] == "cgroup" && fields[dash + 3].split(separator: ",").contains("freezer"):
                return String(fields[4])
            case .second where fields[dash + 1] == "cgroup2": return String(fields[4])
            default: continue
            }
        }
        return nil
    }

    private static func group(in version: Version) -> String? {
        for line in (read("/proc/self/cgroup") ?? "").split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            if parts.count == 3,
                version == .second ? parts[0] == "0" : parts[1].split(separator: ",").contains("freezer")
            {
                return String(parts[2])
            }
        }
        return nil
    }

    private static func read(_ path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
    }

    private static func write(_ text: String, to path: String) throws {
        let file = open(path, O_WRONLY)
        guard file >= 0 else { throw TestFailure("open \(path): errno \(errno)") }
        defer { close(file) }
        guard Glibc.write(file, text, text.utf8.count) == text.utf8.count else {
            throw TestFailure("write \(path): errno \(errno)")
        }
    }
}
