import SharedSpace

extension Space.Survey {
    /// Says on standard error which namespaces are damaged, and what to do.
    func tellOfDamage() {
        for error in damage { Messages.print("space: \(error)") }
    }
}
