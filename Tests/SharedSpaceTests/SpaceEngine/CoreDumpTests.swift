import Glibc
import SharedSpace
import SpaceTestSupport
import Testing

/// A core dump leaves out a namespace's map, which the kernel would read whole once the namespace is deleted.
struct CoreDumpTests {
    /// The flags of a file's mappings, proc(5): VmFlags in smaps.
    private func flags(of path: String) throws -> [String] {
        guard let file = fopen("/proc/self/smaps", "r") else { throw TestFailure("no smaps: errno \(errno)") }
        defer { fclose(file) }
        var flags: [String] = []
        var line = [CChar](repeating: 0, count: 4096)
        var isIt = false
        while fgets(&line, CInt(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            // A mapping's first line begins with its addresses, in lower case; its other lines begin with a word.
            if text.first?.isLowercase ?? false || text.first?.isNumber ?? false { isIt = text.contains(path) }
            if isIt, text.hasPrefix("VmFlags:") { flags.append(text) }
        }
        return flags
    }

    @Test(arguments: StorageMode.allCases)
    func theMapIsLeftOut(_ mode: StorageMode) throws {
        let root = try TemporaryRoot()
        let namespace = try root.namespace(mode)
        try namespace.write("kept", 1)
        let data = "\(root.path)/n/data.mdb"
        let found = try flags(of: data)
        #expect(!found.isEmpty)
        // dd: do not include the area into a core dump.
        #expect(found.allSatisfy { $0.split(separator: " ").contains { $0.hasPrefix("dd") } }, "\(found)")
        #expect(try namespace.verify() == [])
    }
}
