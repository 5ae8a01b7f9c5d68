import SpaceSystem
import TupleCoding

// Claims, as far as a shell needs them: take = claim, print, complete, so that what could not be printed stays.

extension Namespace {
    /// Claims the first matches.
    package func claimIfExists(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        max: Int = 1
    ) throws(SpaceError) -> [HeldClaim] {
        let core = try usableCore("claim")
        let claims = try core.takeAll("claim", template, order, max: max, isMoving: true) { (scope, id, row) throws(SpaceError) in
            try scope.claim(id, row, session: core.session.number, deadline: 0)
        }
        var held: [HeldClaim] = []
        for (match, number) in claims {
            held.append(HeldClaim(id: match.id, number: number, tuple: try match.tuple()))
        }
        if held.isEmpty, max > 0, let one = try claimOne(template, order, core) { held.append(one) }
        return held
    }

    /// Claims a match as soon as there is one; `nil` when the time has passed.
    ///
    /// - Parameter timeout: `nil`: no limit but the interruption.
    package func claim(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        timeout: Duration?,
        interruption: Interruption?
    ) throws(SpaceError) -> HeldClaim? {
        let core = try usableCore("claim")
        let taken = try takeBlocking(template, order, timeout: timeout, interruption: interruption, isMoving: true) {
            (scope, id, row) throws(SpaceError) in
            try scope.claim(id, row, session: core.session.number, deadline: 0)
        }
        guard let taken else { return nil }
        return HeldClaim(id: taken.match.id, number: taken.result, tuple: try taken.match.tuple())
    }

    /// Ends claims: the tuples are gone for good.
    ///
    /// - Throws: `claimLost` when one of them had returned already; then none is completed.
    package func complete(_ claims: [HeldClaim]) throws(SpaceError) {
        try usableCore("complete a claim").complete(claims)
    }

    /// Puts claimed tuples back where they were.
    package func release(_ claims: [HeldClaim]) throws(SpaceError) {
        try usableCore("release a claim").release(claims)
    }

    /// When others took what a snapshot showed, look as takes do.
    private func claimOne(_ template: Template, _ order: MatchOrder, _ core: NamespaceCore) throws(SpaceError) -> HeldClaim? {
        let taken = try core.takeIfExists("claim", template, order, isMoving: true) { (scope, id, row) throws(SpaceError) in
            try scope.claim(id, row, session: core.session.number, deadline: 0)
        }
        guard let taken else { return nil }
        return HeldClaim(id: taken.match.id, number: taken.result, tuple: try taken.match.tuple())
    }
}
