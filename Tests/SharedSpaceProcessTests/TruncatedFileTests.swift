import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Processes of their own read data files that are cut short: a signal would end them, and must not come.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct TruncatedFileTests {
    @Test(arguments: StorageMode.allCases)
    func aTruncatedDataFileIsDamage(_ mode: StorageMode) throws {
        var lengths = [0, 1, 4095, 4096, 8191, 8192]
        // In the other modes the file is only as long as it is used, so these lengths cut nothing off.
        if mode == .fast { lengths += [12288, 1 << 20, Limits.mapBytes - 1] }
        for length in lengths {
            let root = try TemporaryRoot(for: mode)
            let maker = try Agent(root, "n", "mode=\(mode) persistent=1")
            try maker.run("write-loop 0 200")
            try maker.exit()
            try root.overwrite("n/data.mdb", [], length: length)
            let opener = try Agent()
            let answer = try opener.ask("open \(root.path) n")
            #expect(answer.hasPrefix("error damaged"), "cut to \(length): \(answer)")
            #expect(root.entries(of: "n/sessions") == [])
            // A look does not delete the namespace; an explicit deletion does.
            #expect(try opener.run("names") == "n")
            try opener.exit()
            try root.space.delete("n")
            #expect(try root.space.namespaceNames() == [])
        }
    }
}
