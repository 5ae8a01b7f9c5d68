import SpaceSystem
import SystemPackage

extension NamespaceFolder {
    /// Looks at all sessions; there are none if their folder is missing, as in a copy or after a clean-up.
    package func sightings(_ operation: String) throws(SpaceError) -> [SessionFolder.Sighting] {
        do throws(Errno) {
            _ = try Directory.info(at: descriptor.raw, SessionFolder.name)
        } catch .noSuchFileOrDirectory {
            return []
        } catch {
            throw SpaceError(error, operation, namespace: name.text, subject: "the folder of sessions")
        }
        return try sessions(operation).sightings(operation, name.text)
    }
}

extension SessionFolder {
    package func sightings(_ operation: String, _ name: String) throws(SpaceError) -> [Sighting] {
        try system(operation, "its sessions", namespace: name) { () throws(Errno) in try sightings() }
    }
}
