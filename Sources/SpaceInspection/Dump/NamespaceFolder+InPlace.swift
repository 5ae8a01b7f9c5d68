extension NamespaceFolder {
    /// Throws `namespaceNotFound` if the folder is no longer a namespace's: then what was found in it is not damage.
    func checkInPlace() throws(SpaceError) {
        guard let rootFolder = try root.open(create: false), isInPlace(in: rootFolder) else {
            throw .noNamespace(in: root.path, advice: "it was deleted while it was looked at")
        }
    }

    /// The error of a look at the folder, with the operation's name.
    func named(_ error: SpaceError, _ operation: String) -> SpaceError {
        var error = error
        if error.code == .damaged {
            do throws(SpaceError) { try checkInPlace() } catch let other { error = other }
        }
        return error.named(operation, name.text)
    }
}
