import Glibc

/// The folder in which the namespaces of agents are: `$XDG_STATE_HOME/shared-space`, else `~/.local/state/shared-space`.
package enum AgentRoot {
    /// The folder's path.
    ///
    /// - Throws: `AgentError` if the user has no home.
    package static func path() throws(AgentError) -> String {
        if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") { return "\(state)/shared-space" }
        if let usual { return usual }
        throw AgentError("there is no folder for the agents' tasks: set HOME or XDG_STATE_HOME to an absolute path")
    }

    /// The folder that every process of the user finds, whatever `XDG_STATE_HOME` is; `nil` if the user has no home.
    package static var usual: String? {
        guard let home = variable("HOME") ?? homeOfUser, home.hasPrefix("/") else { return nil }
        return "\(home)/.local/state/shared-space"
    }

    /// Makes the folders above the root that are missing, for this user alone; the space makes the root.
    static func makeParents(of root: String) {
        var place = ""
        for name in root.split(separator: "/").dropLast() {
            place += "/\(name)"
            // What can't be made is reported when the root is opened.
            _ = mkdir(place, 0o700)
        }
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name), value[0] != 0 else { return nil }
        return String(cString: value)
    }

    private static var homeOfUser: String? {
        getpwuid(geteuid()).flatMap { $0.pointee.pw_dir.map { String(cString: $0) } }
    }
}
