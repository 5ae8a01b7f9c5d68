import Glibc
import SharedSpaceObjects
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// The steps of a request, made one by one, because events between two of them are too rare to wait for.
@Suite(.spaceTest) struct RequestingTests {
    let namespace: Namespace
    let core: NamespaceCore

    init() throws {
        namespace = try SpaceTest.namespace("n")
        core = namespace.core
    }

    private func requesting(_ absent: AbsentResponder, timeout: Duration? = nil) -> Requesting {
        let request = OutgoingRequest(name: "f", argument: Value.int(1).knownElement)
        return Requesting(core, request, absent, timeout: timeout)
    }

    /// Makes a request, and has a responder begin it.
    ///
    /// Returns: That request, and the request that its handler would make below.
    private func beginning(at top: ResponderPosition) throws -> (asking: Asking, below: OutgoingRequest) {
        let ticket = try #require(try core.requests.ask(requesting(.fails).request))
        let asking = Asking(ticket: ticket, work: ticket)
        try #require(try core.requests.begin(asking, at: top) != nil)
        var below = requesting(.fails).request
        (below.below, below.within) = (top, asking)
        return (asking, below)
    }

    /// If no responder is left, and one comes before the request is ended, that one gets the request; no time has
    /// passed.
    @Test(arguments: [AbsentResponder.fails, .waits])
    func whoComesInTimeIsAsked(_ absent: AbsentResponder) throws {
        let requesting = requesting(absent)
        let first = try core.responders.enrol("f", key: "first", isBase: false)
        let ticket = try #require(try core.requests.ask(requesting.request))
        try core.responders.remove(first, of: "f")
        guard case .nobody = try core.requests.standing(of: ticket) else { throw TestFailure("somebody is left") }
        let base = try core.responders.enrol("f", key: "base", isBase: true)
        #expect(try requesting.end(ticket) == nil)
        let incoming = try #require(try core.requests.begin(Asking(ticket: ticket, work: ticket), at: base))
        try core.requests.answer(incoming, .success(Value.int(2).knownElement))
        guard case .reply(let reply)? = try requesting.end(ticket) else { throw TestFailure("there is no reply") }
        #expect(reply.value == Value.int(2).knownElement)
        try core.responders.remove(base, of: "f")
        #expect(try namespace.status().requests == [])
    }

    /// The same, if its time has passed: the error names the responder's process.
    @Test func whoComesTooLateIsNamed() throws {
        let requesting = requesting(.fails, timeout: .zero)
        let base = try core.responders.enrol("f", key: "base", isBase: true)
        let ticket = try #require(try core.requests.ask(requesting.request))
        let error = #expect(throws: SpaceError.self) { try requesting.end(ticket) }
        #expect(error?.code == .timedOut && error?.holder == getpid())
        try core.responders.remove(base, of: "f")
        #expect(try namespace.status().requests == [])
    }

    /// A handler whose responder has left the stack, because its process leaves, asks no responder below: its request
    /// has gone to the next one.
    @Test func whoHasGoneAsksNobodyBelow() throws {
        let base = try core.responders.enrol("f", key: "base", isBase: true)
        let top = try core.responders.enrol("f", key: "top", isBase: false)
        let (asking, below) = try beginning(at: top)
        try core.responders.remove(top, of: "f")
        #expect(try core.requests.ask(below) == nil)
        #expect(try core.requests.begin(asking, at: base) != nil)
        #expect(try core.requests.ask(below) == nil)
        try core.requests.takeBack(asking.ticket)
        try core.responders.remove(base, of: "f")
        #expect(try namespace.status().requests == [])
    }

    /// A leaving process's handler asks below after the process's requests were dropped and before its responder was:
    /// the request is taken over.
    @Test func whatIsAskedWhileAProcessLeavesIsTakenOver() throws {
        let base = try core.responders.enrol("f", key: "base", isBase: true)
        let leaving = core.session.number + 1
        let top = try core.write(.adding) { scope throws(SpaceError) in
            try scope.responders.enrol("f", key: "top", isBase: false, session: leaving)
        }
        let (asking, below) = try beginning(at: top)
        var inner: UInt64?
        try PlacesPart().drop(of: core, timeout: nil) { holder, _ in
            // What the process has is listed already; the transaction that removes the responder finds this request.
            if inner == nil {
                inner = try? core.write(.adding) { scope throws(SpaceError) in
                    try scope.requests.ask(below, session: leaving)
                }
            }
            return holder == .session(leaving)
        }
        #expect(try namespace.responders(to: "f").map(\.key) == ["base"])
        #expect(try core.requests.begin(asking, at: base) == nil)
        #expect(try core.requests.begin(Asking(ticket: asking.ticket, work: try #require(inner)), at: base) != nil)
        try core.requests.takeBack(asking.ticket)
        try core.responders.remove(base, of: "f")
        #expect(try namespace.status().requests == [])
    }

    /// A responder that is removed while a request that it made with `next` is answered: the outer request gets the answer.
    @Test func whatARemovedResponderHasAskedIsTakenOver() throws {
        let base = try core.responders.enrol("f", key: "base", isBase: true)
        let top = try core.responders.enrol("f", key: "top", isBase: false)
        let (asking, below) = try beginning(at: top)
        let inner = try #require(try core.requests.ask(below))
        let incoming = try #require(try core.requests.begin(Asking(ticket: inner, work: inner), at: base))
        try core.responders.remove(top, of: "f")
        #expect(try namespace.status().requests.count == 1)
        guard case .pending = try core.requests.standing(of: asking.ticket) else { throw TestFailure("nobody answers") }
        try core.requests.answer(incoming, .success(Value.int(2).knownElement))
        guard case .reply(let reply)? = try requesting(.fails).end(asking.ticket) else {
            throw TestFailure("there is no reply")
        }
        #expect(reply.value == Value.int(2).knownElement)
        try core.responders.remove(base, of: "f")
        #expect(try namespace.status().requests == [])
    }

    /// A request made with `next` has reached a responder once that responder has begun it; until then the responder
    /// may still be asked from above.
    @Test(arguments: [false, true]) func whoHasNotBegunIsAskedFromAbove(_ hasBegun: Bool) throws {
        let base = try core.responders.enrol("f", key: "base", isBase: true)
        let top = try core.responders.enrol("f", key: "top", isBase: false)
        let (asking, below) = try beginning(at: top)
        let inner = try #require(try core.requests.ask(below))
        if hasBegun { #expect(try core.requests.begin(Asking(ticket: inner, work: inner), at: base) != nil) }
        try core.requests.takeBack(inner)
        try core.responders.remove(top, of: "f")
        #expect(try (core.requests.begin(asking, at: base) == nil) == hasBegun)
        try core.requests.takeBack(asking.ticket)
        try core.responders.remove(base, of: "f")
        #expect(try namespace.status().requests == [])
    }

    /// A request that a look has seen is passed on if its responder begins to end before the look is acted on.
    @Test func whatIsSeenBeforeTheEndIsPassedOn() async throws {
        let below = try namespace.respond(to: "f", key: "below") { (_: Int) in "below" }
        var forced = 0
        for _ in 0..<20 {
            let (gate, began) = (Slot<Bool>(), Count())
            let top = try namespace.respond(to: "f", key: "top") { (_: Int) -> String in
                began.add()
                try await gate.filled()
                return "top"
            }
            let first = try #require(try core.requests.ask(requesting(.fails).request))
            #expect(try await eventually { began.value == 1 })
            let second = try #require(try core.requests.ask(requesting(.fails).request))
            let news = try core.responderHub.look(core)
            top.cancel()
            // Nothing is seen if the listener was quicker.
            if let news {
                core.responderHub.act(on: news, in: core)
                forced += 1
            }
            #expect(try await eventually { try core.answer(to: second) == "below" })
            gate.value = true
            #expect(try await eventually { try core.answer(to: first) == "top" })
            for ticket in [first, second] { _ = try core.requests.takeBack(ticket, unlessPending: false) }
        }
        #expect(forced > 0)
        below.cancel()
    }

    // MARK: A responder that comes between

    /// A request that was lost to a responder that came between, and came back, is answered and not cancelled.
    ///
    /// Made with `next` and not begun, it goes to a base handler that registers, until that one is removed.
    @Test func whoGetsItsRequestBackAnswersIt() async throws {
        let cancelled = Count()
        let base = try namespace.respond(to: "f", key: "base", base: true) { (n: Int, _) -> Int in
            if Task.isCancelled { cancelled.add() }
            return n
        }
        let top = try namespace.respond(to: "f", key: "top") { (_: Int, next) -> Int in try await next() }
        let coming = Task.detached {
            while !Task.isCancelled {
                // It is not known to the hub, so it begins nothing.
                let between = try core.responders.enrol("f", key: "between", isBase: true)
                try core.responders.remove(between, of: "f")
            }
        }
        for n in 0..<20 {
            let reply = try await namespace.request("f", n, as: Int.self, timeout: .seconds(20))
            #expect(reply == n)
        }
        coming.cancel()
        try await coming.value
        #expect(cancelled.value == 0)
        for token in [base, top] { token.cancel() }
    }
}

extension NamespaceCore {
    /// The answer to a request; `nil` while there is none.
    fileprivate func answer(to ticket: UInt64) throws -> String? {
        guard case .answered(_, let value) = try requests.standing(of: ticket) else { return nil }
        return try value.withBytes { bytes in try Value(encodedElement: bytes).decode(String.self) }
    }
}
