// space-fuzz-replay TARGET FOLDER CHANGED: runs a fuzzer's inputs without a fuzzer: those in the folder, and CHANGED inputs
// made of them by a few random changes, the same in every run.
//
// Before each input its name goes to standard output, so that the last line names the input that crashed or hung. What is
// printed is "FILE" or "FILE N": the Nth input that was made of a file.

import FuzzAgents
import FuzzBackup
import FuzzCodable
import FuzzCommands
import FuzzControl
import FuzzEntry
import FuzzJSON
import FuzzMessages
import FuzzRows
import FuzzTemplate
import FuzzTuple
import Glibc
import SeededRandom

/// The seconds after which an input counts as hanging, and SIGALRM ends the process.
///
/// The slowest input takes a tenth of one.
private let longest: UInt32 = 60

@main
struct Main {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let run = fuzzer(arguments[1]), let changed = Int(arguments[3]),
            let names = files(arguments[2]), !names.isEmpty
        else {
            say("usage: space-fuzz-replay TARGET FOLDER CHANGED; the folder holds inputs", to: STDERR_FILENO)
            exit(64)
        }
        let inputs = names.map { contents("\(arguments[2])/\($0)") }
        for (name, input) in zip(names, inputs) { replay(name, input, run) }
        var random = SeededGenerator(seed: 1)
        for number in 0..<changed {
            let index = Int.random(in: 0..<inputs.count, using: &random)
            replay("\(names[index]) \(number)", change(inputs[index], using: &random), run)
        }
    }

    private typealias Fuzzer = (UnsafePointer<UInt8>?, Int) -> CInt

    private static func fuzzer(_ target: String) -> Fuzzer? {
        switch target {
        case "tuple": FuzzTuple.fuzzOneInput
        case "json": FuzzJSON.fuzzOneInput
        case "template": FuzzTemplate.fuzzOneInput
        case "codable": FuzzCodable.fuzzOneInput
        case "rows": FuzzRows.fuzzOneInput
        case "control": FuzzControl.fuzzOneInput
        case "backup": FuzzBackup.fuzzOneInput
        case "entry": FuzzEntry.fuzzOneInput
        case "messages": FuzzMessages.fuzzOneInput
        case "commands": FuzzCommands.fuzzOneInput
        case "agents": FuzzAgents.fuzzOneInput
        default: nil
        }
    }

    private static func replay(_ name: String, _ input: [UInt8], _ run: Fuzzer) {
        say(name, to: STDOUT_FILENO)
        alarm(longest)
        _ = input.withUnsafeBufferPointer { run($0.baseAddress, $0.count) }
    }

    /// Writes a line at once: a crash loses nothing of it.
    private static func say(_ line: String, to descriptor: CInt) {
        _ = Array((line + "\n").utf8).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }

    /// Changes, inserts or removes a byte, or cuts the end off; up to four times.
    private static func change(_ input: [UInt8], using random: inout SeededGenerator) -> [UInt8] {
        var input = input
        for _ in 0..<Int.random(in: 1...4, using: &random) where !input.isEmpty {
            let index = Int.random(in: 0..<input.count, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0: input.insert(.random(in: 0...255, using: &random), at: index)
            case 1: input.remove(at: index)
            case 2: input.removeSubrange(index...)
            case 3: input[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            default: input[index] = .random(in: 0...255, using: &random)
            }
        }
        return input
    }

    /// The names of the files in a folder, sorted, or `nil` if it can't be read.
    private static func files(_ folder: String) -> [String]? {
        guard let stream = opendir(folder) else { return nil }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    private static func contents(_ path: String) -> [UInt8] {
        guard let file = fopen(path, "r") else { fatalError("can't read \(path)") }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while case let count = fread(&piece, 1, piece.count, file), count > 0 { bytes += piece[..<count] }
        return bytes
    }
}
