/// The times and sizes by which a daemon works.
///
/// No guarantee depends on a time: a wrong one makes the cluster slow, or makes it give up too early.
package struct ClusterSettings: Sendable {
    /// How long a member lives without word from its daemon, in seconds.
    package var leaseSeconds = 10
    /// How long a machine owns its namespaces without word from its daemon, in seconds.
    package var ownerSeconds = 60

    /// How many entries this machine appends at most while another one waits for the pen.
    package var penTurn = 24
    /// How long this machine keeps the pen at least after its last use while another one waits, if the use before came as
    /// soon.
    package var penKeep: Duration = .milliseconds(10)
    /// How long this machine's turn lasts at most, and how long a process may have the pen beyond that without appending or
    /// releasing it.
    package var penPatience: Duration = .milliseconds(500)
    /// How often in a row another machine's entry may come first before this machine holds the pen for its own.
    package var mostLosses = 2
    /// How many entries in a row a machine has appended that counts as the only one: it keeps the pen.
    package var sharedEntries: UInt64 = 16
    /// How long a process waits for the pen, or for the outcome of its append.
    ///
    /// It is less than the time-out of the gate, under which the process waits.
    package var answerTime: Duration = .seconds(3)

    /// How long the daemon leaves an entry to the process of this machine that has appended it, before it applies it.
    package var ownPatience: Duration = .milliseconds(50)

    /// The pause after a failed request to the store; it doubles with each failure, up to `longestPause`.
    package var shortestPause: Duration = .milliseconds(20)
    package var longestPause: Duration = .seconds(5)
    /// How often the head is read in case a watch is silent, and the members' keys are compared with the replica's.
    package var lookInterval: Duration = .seconds(2)
    /// How often this machine looks whether processes of it have died.
    package var deathInterval: Duration = .milliseconds(500)
    /// How often the store is asked what is wrong with it.
    package var statusInterval: Duration = .seconds(10)
    /// How long a replica that has no room for an entry is tried again and again before its member ends.
    package var fullPatience: Duration = .seconds(10)
    /// How often a replica that has stopped is tried again.
    package var mendInterval: Duration = .seconds(10)

    /// The largest entry; etcd refuses requests above 1.5 MiB.
    package var mostEntryBytes = 1_400_000
    /// The bytes of entries that are kept in memory for one namespace.
    package var mostCachedBytes = 16 << 20
    /// The bytes of entries in one answer to a process, which applies them in one transaction; a larger one reserves far more
    /// room than it needs.
    package var mostAnswerBytes = 16 << 10

    /// A base is made when the log behind the last one has this many entries, or this many bytes.
    package var baseEntries = 1000
    package var baseBytes = 64 << 20
    /// How long a namespace stays without owners before it is deleted.
    package var ownerGrace: Duration = .seconds(60)
    /// How long this machine counts as an owner after its last owner has left, or after a process has said that it is about
    /// to become one.
    package var leaveGrace: Duration = .seconds(5)
    /// How often this machine looks whether a process of it owns a namespace.
    package var ownerInterval: Duration = .seconds(1)

    /// The most connections of processes at once; further ones are closed.
    package var mostConnections = 4096
    /// The most bytes that all connections together may have sent without being served.
    package var mostPendingBytes = 128 << 20
    /// How long a process may leave an answer unread before its connection is closed.
    package var writeTime: Duration = .seconds(10)

    package init() {}

    /// Sets how long a namespace outlives its owners.
    package mutating func setGrace(_ grace: Duration) {
        ownerGrace = grace
        ownerSeconds = max(1, Int(grace.components.seconds))
        leaveGrace = min(leaveGrace, grace)
    }
}
