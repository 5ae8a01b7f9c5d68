import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

/// Claims whose tuple goes back after success: tuples that stand for things which are used one after the other.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct KeptClaimTests {
    let lab: Namespace

    init() throws {
        lab = try SpaceTest.namespace("lab")
        try lab.write("gpu", 0)
    }

    @Test("Each form with a body puts the tuple back, and counts no delivery") func forms() async throws {
        let template: Template = ["gpu", any(Int.self)]
        let id = try await lab.claim(matching: template).id
        try lab.setDeliveryLimit(1)
        #expect(try await lab.claim("gpu", any(Int.self), keeping: true) { $1 } == 0)
        #expect(try await lab.claim("gpu", any(Int.self), keeping: true, timeout: .zero) { $1 } == 0)
        #expect(try await lab.claim(matching: template, keeping: true) { $0[1] } == 0)
        #expect(try await lab.claim(matching: template, keeping: true, timeout: .zero) { $0[1] } == 0)
        func blocking() throws -> Int? { try lab.claim("gpu", any(Int.self), keeping: true, timeout: .zero) { $1 } }
        #expect(try blocking() == 0)
        try await lab.claim(matching: template).complete(keeping: true)
        let held = try await lab.claim(matching: template).detach()
        try lab.complete(held, keeping: true)
        #expect(throws: SpaceError.self) { try lab.complete(held, keeping: true) }
        let last = try await lab.claim(matching: template)
        let facts = (last.id, last.deliveries)
        #expect(facts == (id, 0))
        try last.complete(keeping: false)
        #expect(try lab.count() == 0)
    }

    @Test("A body that throws counts as a delivery; a success forgets earlier ones") func deliveries() async throws {
        struct Failure: Error {}
        try lab.setDeliveryLimit(2)
        func fail() async throws {
            do {
                try await lab.claim("gpu", any(Int.self), keeping: true) { (_, _) async throws -> Void in
                    throw Failure()
                }
                Issue.record("the body has thrown")
            } catch is Failure {}
        }
        try await fail()
        try await lab.claim("gpu", any(Int.self), keeping: true) { _, _ in }
        try await fail()
        #expect(try lab.buried().isEmpty)
        try await fail()
        #expect(try lab.buried().count == 1)
    }

    /// The waiter has to wake up before it can look, so a process that asks at once would nearly always come first.
    @Test("A process that waits comes before the one that has just put the thing back") func fair() async throws {
        let rounds = 20
        var overtaken = 0
        for _ in 0..<rounds {
            let served = Flag()
            let next = try await lab.claim("gpu", any(Int.self), keeping: true) {
                [lab] (_, _) async throws -> Task<Void, any Error> in
                let next = Task {
                    try await onThread {
                        _ = try lab.claim("gpu", any(Int.self), keeping: true, timeout: watchdog) { _, _ in
                            served.value.store(true, ordering: .releasing)
                        }
                    }
                }
                #expect(try await eventually { try !lab.status().waiters.isEmpty })
                return next
            }
            if let claim = try lab.claimIfExists("gpu", any(Int.self)) {
                if !served.value.load(ordering: .acquiring) { overtaken += 1 }
                try claim.complete(keeping: true)
            }
            try await next.value
        }
        // On a busy machine a waiter may not get a processor in time now and then.
        #expect(overtaken <= rounds / 2)
    }

    @Test("Waiters that are stopped or want another thing hold it up for a moment only") func bounded() async throws {
        // For a waiter's slot every integer is the same, so it is granted what it does not want.
        let waiter = Task { [lab] in
            let claim = try await lab.claim("gpu", 1...9)
            return claim.content.1
        }
        #expect(try await eventually { try !lab.status().waiters.isEmpty })
        for _ in 0..<3 { try await lab.claim("gpu", any(Int.self), keeping: true) { _, _ in } }
        try lab.write("gpu", 5)
        #expect(try await waiter.value == 5)
    }
}

private final class Flag: Sendable { let value = Atomic(false) }
