// A look for a match, and the wait for one.

extension Looking {
    /// Looks for a match, on the calling thread.
    @inline(__always)
    package func find<Result>(
        _ template: TemplateForm,
        isTaking: Bool,
        _ wait: Wait,
        interruption: Interruption? = nil,
        _ look: (inout Aim) throws(SpaceError) -> Found<Result>?
    ) throws(SpaceError) -> Result? {
        if case .none = wait {
            var aim = Aim()
            return try look(&aim)?.result
        }
        return try core.waits.block(
            Interest(template, isTaking: isTaking),
            text: template.json,
            until: wait.deadline,
            interruption: interruption,
            look
        )
    }

    /// Looks for a match until there is one; the task is suspended between two looks.
    @inline(__always)
    func suspend<Result>(
        for template: TemplateForm,
        isTaking: Bool,
        after first: FirstLook,
        _ look: (inout Aim) throws(SpaceError) -> Found<Result>?
    ) async throws(SpaceError) -> Result? {
        try await core.waits.suspend(
            Interest(template, isTaking: isTaking),
            text: { template.json },
            after: first,
            look
        )
    }
}
