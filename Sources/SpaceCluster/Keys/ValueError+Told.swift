extension ValueError {
    /// The error in words, to follow the name of a value.
    package var told: String {
        switch self {
        case .unknownFormat(let format):
            "has format \(format), which this version does not know: install the newer version on this machine"
        case .damaged: "is damaged"
        case .foreign: "belongs to another life of the namespace"
        }
    }
}
