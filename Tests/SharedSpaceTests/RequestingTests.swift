import Glibc
import SpaceTestSupport
import Testing

@testable import SharedSpace

/// The steps of a request, one by one: what happens between two of them comes too seldom to wait for.
@Suite struct RequestingTests {
    let root: TemporaryRoot
    let namespace: Namespace
    let core: NamespaceCore

    init() throws {
        root = try TemporaryRoot()
        namespace = try root.space.namespace("n")
        core = namespace.core
    }

    private func requesting(_ absent: AbsentResponder, timeout: Duration? = nil) -> Requesting {
        let request = OutgoingRequest(name: "f", argument: Value.int(1).encodedElement)
        return Requesting(core, request, absent, timeout: timeout)
    }

    /// Nobody is left, and before the request is ended somebody comes below: it is his then, and no time has passed.
    @Test(arguments: [AbsentResponder.fails, .waits])
    func whoComesInTimeIsAsked(_ absent: AbsentResponder) throws {
        let requesting = requesting(absent)
        let first = try core.enrolResponder("f", key: "first", isBase: false)
        let ticket = try #require(try core.ask(requesting.request))
        try core.removeResponder(first, of: "f")
        guard case .nobody = try core.standing(of: ticket) else { throw TestFailure("somebody is left") }
        let base = try core.enrolResponder("f", key: "base", isBase: true)
        #expect(try requesting.end(ticket) == nil)
        let incoming = try #require(try core.begin(Asking(ticket: ticket, work: ticket), at: base))
        try core.answer(incoming, .success(Value.int(2).encodedElement))
        guard case .reply(let reply)? = try requesting.end(ticket) else { throw TestFailure("there is no reply") }
        #expect(reply.value == Value.int(2).encodedElement)
        try core.removeResponder(base, of: "f")
        #expect(try namespace.status().requests == [] && namespace.verify() == [])
    }

    /// The same, and then its time has passed.
    @Test func whoComesTooLateIsNamed() throws {
        let requesting = requesting(.fails, timeout: .zero)
        let base = try core.enrolResponder("f", key: "base", isBase: true)
        let ticket = try #require(try core.ask(requesting.request))
        let error = #expect(throws: SpaceError.self) { try requesting.end(ticket) }
        #expect(error?.code == .timedOut && error?.holder == getpid())
        try core.removeResponder(base, of: "f")
        #expect(try namespace.status().requests == [] && namespace.verify() == [])
    }

    /// What was asked with `next` has reached somebody once it is begun: until then he may still be asked from above.
    @Test(arguments: [false, true]) func whoHasNotBegunIsAskedFromAbove(_ hasBegun: Bool) throws {
        let base = try core.enrolResponder("f", key: "base", isBase: true)
        let top = try core.enrolResponder("f", key: "top", isBase: false)
        let outer = try #require(try core.ask(requesting(.fails).request))
        let asking = Asking(ticket: outer, work: outer)
        #expect(try core.begin(asking, at: top) != nil)
        var below = requesting(.fails).request
        (below.below, below.within) = (top, asking)
        let inner = try #require(try core.ask(below))
        if hasBegun { #expect(try core.begin(Asking(ticket: inner, work: inner), at: base) != nil) }
        try core.takeBack(inner)
        try core.removeResponder(top, of: "f")
        #expect(try (core.begin(asking, at: base) == nil) == hasBegun)
        try core.takeBack(outer)
        try core.removeResponder(base, of: "f")
        #expect(try namespace.status().requests == [] && namespace.verify() == [])
    }
}
