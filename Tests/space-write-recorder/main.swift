// A process that works in a durable namespace while all writes to its data file are recorded.
//
//   space-write-recorder ROOT LOG COUNT
//
// Says "ready" once the namespace is there and waits for a line; then does COUNT operations, a mark in the log after each
// that was acknowledged, says "done", and waits for the end of its input.

import CWriteRecorder
import Glibc
import SharedSpace

func say(_ line: String) {
    print(line)
    fflush(nil)
}

let words = CommandLine.arguments
guard words.count == 4, let count = Int(words[3]) else {
    say("usage: space-write-recorder ROOT LOG COUNT")
    exit(64)
}

do {
    let space = try Space(root: words[1])
    let namespace = try space.namespace("n", options: NamespaceOptions(mode: .durable, isPersistent: true))
    let error = write_recorder_begin("\(words[1])/n/data.mdb", words[2])
    guard error == 0 else {
        say("can't record: errno \(error)")
        exit(1)
    }
    say("ready")
    guard readLine() != nil else { exit(1) }
    for number in 1...count {
        switch number % 4 {
        case 3:
            // The oldest goes.
            guard try namespace.takeIfExists("job", any(Int.self), any(String.self)) != nil else {
                say("nothing to take at \(number)")
                exit(1)
            }
        default:
            // Now and then one that takes pages of its own.
            let text = String(repeating: "x", count: number % 5 == 0 ? 9_000 : 30)
            try namespace.write("job", number, text)
        }
        try namespace.set("last", number)
        write_recorder_mark(UInt64(number))
    }
    say("done \(write_recorder_calls())")
    while readLine() != nil {}
} catch {
    say("failed: \(error)")
    exit(1)
}
