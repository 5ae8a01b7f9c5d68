package import SpaceEngine
import SpaceMachines
import SpaceSystem
import SystemPackage

/// The end of a root's membership for good: the root is an ordinary one again.
///
/// Guarantees, also if it is killed at any step: nothing that is in a replica is lost, and as long as a replica is in its
/// place, the root counts as one that has joined. So the next try goes on where this one ended.
///
/// The daemon's locks, under which no daemon can begin → each replica set aside, like one that the store has lost → the
/// file `.joined` removed (``JoinedSpace``). The store is not asked: the leases of the last daemon end by themselves.
package enum Departure {
    /// Ends the membership of a root; nothing happens if it has none.
    ///
    /// - Parameter root: The root.
    /// - Returns: The paths of the replicas that were set aside now.
    /// - Throws: `holderBusy` if a daemon serves the root; what a replica throws that can't be set aside.
    package static func leave(_ root: any ReplicaRoot) throws(SpaceError) -> [String] {
        let rootFolder = try system(root.path.quotedForPeople) { () throws(Errno) in
            try OwnedDescriptor.directory(FilePath(root.path))
        }
        let hasJoined = try JoinedSpace.isRemembered(in: rootFolder)
        let names = try root.replicaNames()
        guard hasJoined || !names.isEmpty else { return [] }
        let folder = try ClusterFolder.open(root: root.path)
        // The daemon may have made another one before this process had its locks.
        var places: [String] = []
        for name in try root.replicaNames() {
            let place = try SpaceError.naming("set the replica aside", on: name) { () throws(SpaceError) in
                try root.replica(named: name)?.setAside()
            }
            if let place { places.append(place) }
        }
        try JoinedSpace.forget(inRoot: root.path)
        _ = consume folder
        return places
    }
}
