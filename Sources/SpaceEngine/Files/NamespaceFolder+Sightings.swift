import SpaceSystem
import SystemPackage

extension NamespaceFolder {
    /// Looks at all sessions; there are none if their folder is missing, as in a copy or after a clean-up.
    package func sightings() throws(SpaceError) -> [SessionFolder.Sighting] {
        do throws(Errno) {
            _ = try Directory.info(at: descriptor.raw, SessionFolder.name)
        } catch .noSuchFileOrDirectory {
            return []
        } catch {
            throw SpaceError(error, subject: "the folder of sessions")
        }
        return try sessions().allSightings()
    }
}

extension SessionFolder {
    package func allSightings() throws(SpaceError) -> [Sighting] {
        try system("its sessions") { () throws(Errno) in try sightings() }
    }
}
