import SpaceTestSupport
import SpaceTesting
import Testing

/// Names and values with characters that would act on a terminal.
@Suite("Control characters", .blocking, .timeLimit(.minutes(5)))
struct ControlCharacterTests {
    private static let name = "a\u{7f}\u{9b}2J\u{202e}\u{1b}"
    private static let escaped = #"a\u007f\u009b2J\u202e\u001b"#

    @Test("They are escaped in JSON and in the labels of metrics")
    func escaped() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", Self.name, "[\"\(Self.escaped)\"]")
            #expect(try runner.space("read", Self.name, "\"?\"").output == "[\"\(Self.escaped)\"]\n")
            #expect(try runner.space("read", Self.name, "\"?\"", "--field", "0", "-r").output == "\(Self.name)\n")
            #expect(try runner.space("list", "--json").output.contains("{\"name\":\"\(Self.escaped)\","))
            let metrics = try runner.space("metrics").output
            let label = Self.escaped.split(separator: "\\", omittingEmptySubsequences: false).joined(separator: #"\\"#)
            #expect(metrics.contains("shared_space_tuples{namespace=\"\(label)\"} 1"), "\(metrics)")
            #expect(!metrics.unicodeScalars.contains { (0x7f...0x9f).contains($0.value) || $0 == "\u{1b}" })
            try runner.space("delete", Self.name)
        }
    }
}
