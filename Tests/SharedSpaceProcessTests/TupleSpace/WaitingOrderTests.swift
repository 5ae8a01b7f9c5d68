import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Takers that wait get the tuples in the order in which their waits began, whatever the order in which they are woken.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct WaitingOrderTests {
    let root: TemporaryRoot
    let namespace: Namespace

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("n")
    }

    /// A thousand tasks of one process, and its ticks, which wake all of them.
    @Test(arguments: [false, true]) func aThousandTasksAreServedInOrder(_ isBatch: Bool) throws {
        let count = 1000
        let crowd = try Agent(root, "n")
        for _ in 0..<3 {
            try crowd.send("takers-in-order \(count) [\"job\", \"?int\"]")
            #expect(try crowd.line() == "waiting")
            if isBatch {
                try namespace.write(contentsOf: (0..<count).map { Tuple("job", $0) })
            } else {
                for number in 0..<count { try namespace.write("job", number) }
            }
            let answer = try #require(try crowd.line())
            let got = answer.split(separator: " ").dropFirst().map { Int($0) ?? -1 }
            let moved = zip(got, 0...).count { $0 != $1 }
            #expect(got.count == count && moved == 0, "\(moved) changed places")
        }
    }

    /// A taker that runs first takes the tuple that it was granted, and not the one that an older taker was granted.
    @Test(arguments: ["take-wait 60000", "take-async"])
    func aTakerLeavesWhatAnOlderOneWasGranted(_ wait: String) throws {
        let (older, younger) = (try Agent(root, "n"), try Agent(root, "n"))
        for agent in [older, younger] { try agent.block("\(wait) [\"job\", \"?int\"]", in: namespace) }
        try older.stop()
        for number in 1...2 { try namespace.write("job", number) }
        #expect(try younger.line() == #"ok ["job",2]"#)
        older.resume()
        #expect(try older.line() == #"ok ["job",1]"#)
    }

    /// A taker that was granted what does not fit it takes what a younger one was granted, and not what an older one was.
    @Test(arguments: ["take-wait 60000", "take-async"])
    func aGrantThatDoesNotFitTakesNothingFromTheOlder(_ wait: String) throws {
        let agents = try ["?", "?int", "?"].map { field in
            let agent = try Agent(root, "n")
            try agent.block("\(wait) [\"job\", \"\(field)\"]", in: namespace)
            return agent
        }
        for agent in [agents[0], agents[2]] { try agent.stop() }
        // The first was granted 0, the second "s", and the third 2.
        try namespace.write(contentsOf: [["job", 0], ["job", "s"], ["job", 2]])
        #expect(try agents[1].line() == #"ok ["job",2]"#)
        for (agent, field) in [(agents[0], "0"), (agents[2], #""s""#)] {
            agent.resume()
            #expect(try agent.line() == #"ok ["job",\#(field)]"#)
        }
    }
}
