import SharedSpace

/// What `--version` prints.
enum Version {
    /// A program's name, its version, and that of the format on disk.
    static func text(_ program: String) -> String {
        "\(program) \(Space.version) (format \(ControlHeader.currentVersion))"
    }
}
