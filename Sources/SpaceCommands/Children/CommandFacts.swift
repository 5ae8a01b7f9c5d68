import Glibc

/// What a command learns of the item or tuple that it works on, from its environment.
struct CommandFacts {
    private let variables: [(name: String, value: String)]

    init(_ namespace: String, id: UInt64, deliveries: Int, fencing: UInt64) {
        variables = [
            ("SHARED_SPACE_NAMESPACE", namespace), ("SHARED_SPACE_ID", "\(id)"),
            ("SHARED_SPACE_DELIVERIES", "\(deliveries)"), ("SHARED_SPACE_FENCING", "\(fencing)"),
        ]
    }

    /// Sets the variables for the commands that this process starts from now on.
    func publish() {
        for (name, value) in variables { setenv(name, value, 1) }
    }
}
