import SpaceInspection

extension Space {
    /// Looks at namespaces one after another, without owning any; calls `visit` with each one's status, or with the
    /// error that the look ended with.
    ///
    /// A namespace that was deleted after the listing is left out.
    ///
    /// - Throws: `Terminated` if a signal has come, and what `visit` throws.
    func look(at names: [String], _ visit: (String, Result<NamespaceStatus, SpaceError>) throws -> Void) throws {
        for name in names {
            try Signals.check()
            let result: Result<NamespaceStatus, SpaceError>
            do throws(SpaceError) {
                let namespace = try existingNamespace(name, owning: false)
                defer { try? namespace.leave() }
                result = .success(try namespace.status())
            } catch  where error.isOfMissingNamespace {
                continue
            } catch {
                result = .failure(error)
            }
            try visit(name, result)
        }
    }
}
