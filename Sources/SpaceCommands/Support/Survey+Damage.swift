import SharedSpace

extension Space.Survey {
    /// Prints on standard error which namespaces are damaged, and what the user can do.
    func tellOfDamage() {
        for error in damage { Messages.print("space: \(error)") }
    }
}
