import Glibc
import SeededRandom
import SpaceSystem
import Testing
import TupleCoding

@testable import SpaceAgents

/// Which ports an agent gets that asks for several ranges.
@Suite("The choice of ports")
struct PortChoiceTests {
    private let me: AgentName
    private let other: AgentName

    init() throws {
        let process = try #require(ProcessIdentity.of(pid: getpid()))
        (me, other) = (AgentName(process), AgentName(process, "other"))
    }

    private func rules(mine: [Int] = [], others: [Int] = []) throws -> HoldRules {
        let rows =
            mine.map { HoldRow(name: HoldName(ofPort: $0), who: me, why: "", since: 0).tuple }
            + others.map { HoldRow(name: HoldName(ofPort: $0), who: other, why: "", since: 0).tuple }
        return try HoldRules { template in rows.filter { template.matches($0) } }
    }

    @Test("A range leaves a port to a name that can have no other one; the answer keeps the order of the names")
    func narrowFirst() throws {
        let names = ["port:41000-41001", "gpu", "port:41000"].map { HoldName(stored: $0) }
        let verdict = try rules().verdict(on: names, for: me, turn: nil) { _ in true }
        #expect(verdict.granted.map(\.text) == ["port:41001", "gpu", "port:41000"], "\(verdict)")
    }

    @Test("What an agent has is kept, unless that leaves another of its names without a port")
    func kept() throws {
        let wide = try rules(mine: [2]).verdict(on: [HoldName(stored: "port:1-3")], for: me, turn: nil) { _ in true }
        #expect(wide.granted.map(\.text) == ["port:2"] && wide.kept.count == 1)
        let names = ["port:1-3", "port:3-4"].map { HoldName(stored: $0) }
        let verdict = try rules(mine: [3], others: [4]).verdict(on: names, for: me, turn: nil) { _ in true }
        #expect(verdict.granted.map(\.text) == ["port:1", "port:3"], "\(verdict)")
        #expect(verdict.kept == [HoldName(ofPort: 3)])
    }

    @Test("All names get a port whenever there is a way to give each its own", arguments: [2026 as UInt64])
    func optimal(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for round in 0..<3000 {
            // A name that is said twice counts once.
            var ranges: [ClosedRange<Int>] = []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let first = Int.random(in: 1...5, using: &random)
                let range = first...Int.random(in: first...5, using: &random)
                if !ranges.contains(range) { ranges.append(range) }
            }
            let names = ranges.map { HoldName(stored: "port:\($0.lowerBound)-\($0.upperBound)") }
            let holders = (1...5).map { _ in Int.random(in: 0..<6, using: &random) }
            let mine = (1...5).filter { holders[$0 - 1] == 0 }
            let others = (1...5).filter { holders[$0 - 1] == 1 }
            let used = (1...5).filter { holders[$0 - 1] == 2 }
            let verdict = try rules(mine: mine, others: others).verdict(on: names, for: me, turn: nil) {
                !used.contains($0)
            }
            let what = "seed \(seed), round \(round): \(names.map(\.text)), \(holders): \(verdict)"
            #expect(verdict.obstacles.isEmpty == hasWay(ranges[...], Set(others + used)), "\(what)")
            guard verdict.obstacles.isEmpty else { continue }
            #expect(Set(verdict.granted).count == names.count, "\(what)")
            #expect(zip(verdict.granted, names).allSatisfy { $0.overlaps($1) }, "\(what)")
            #expect(verdict.kept == Set(verdict.granted).intersection(mine.map { HoldName(ofPort: $0) }), "\(what)")
        }
    }

    /// Whether each range can have a port of its own, found by trying all.
    private func hasWay(_ ranges: ArraySlice<ClosedRange<Int>>, _ taken: Set<Int>) -> Bool {
        guard let range = ranges.first else { return true }
        return range.contains { !taken.contains($0) && hasWay(ranges.dropFirst(), taken.union([$0])) }
    }
}
