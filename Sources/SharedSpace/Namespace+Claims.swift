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
        let claims = try core.takeAll("claim", template, order, max: max, isMoving: true) {
            (match) throws(SpaceError) in
            try match.tuple()
        } _: { (scope, id, row) throws(SpaceError) in
            try scope.claim(id, row, session: core.session.number, deadline: 0)
        }
        return claims.map(HeldClaim.init)
    }

    /// Claims a match as soon as there is one; `nil` when the time has passed.
    ///
    /// `timeout`: `nil`: no limit but the interruption.
    package func claim(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        timeout: Duration?,
        interruption: Interruption?
    ) throws(SpaceError) -> HeldClaim? {
        let core = try usableCore("claim")
        return try core.block(
            "claim",
            Interest(template, isTaking: true),
            text: template.json,
            until: MonotonicInstant.deadline(after: timeout),
            interruption: interruption
        ) { () throws(SpaceError) in
            try core.claimIfExists(template, order).map { Found(result: $0, removed: $0.id.rawValue) }
        }
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
}

extension NamespaceCore {
    func claimIfExists(_ template: Template, _ order: MatchOrder) throws(SpaceError) -> HeldClaim? {
        try takeIfExists("claim", template, order, isMoving: true) { (match) throws(SpaceError) in
            try match.tuple()
        } _: { (scope, id, row) throws(SpaceError) in
            try scope.claim(id, row, session: session.number, deadline: 0)
        }.map(HeldClaim.init)
    }
}

extension HeldClaim {
    init(_ taken: Taken<Tuple, UInt64>) {
        self.init(id: taken.id, number: taken.result, tuple: taken.content)
    }
}
