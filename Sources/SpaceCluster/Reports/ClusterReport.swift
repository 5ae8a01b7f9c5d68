package import SpaceEngine

/// What a daemon knows of its machines and of the replicated namespaces, for people and for scripts.
///
/// It is what this machine has seen. Only `store` and `members`, and with a namespace's name its `head`, are asked for
/// again.
package struct ClusterReport: Codable, Equatable, Sendable {
    /// A member: a machine's daemon, as long as its lease lasts.
    package struct Member: Codable, Equatable, Sendable {
        package let number: UInt32
        package let machine: String
        /// The number that the daemon got when it joined; it gets another one for a namespace whose replica had stopped.
        package let first: UInt32
    }

    /// What the store says of itself.
    package struct StoreState: Codable, Equatable, Sendable {
        package let version: String
        /// What is wrong with it, in words.
        package let troubles: [String]
    }

    /// A namespace that this machine has a replica of.
    package struct Namespace: Codable, Equatable, Sendable {
        package let name: String
        /// The number of the log's last entry, as the store has just said; `nil` if it was not asked, or did not answer.
        package var head: UInt64?
        /// The number of the last entry that this machine knows to be in the log, and so on a majority's disks.
        package let durable: UInt64
        /// The number of the last entry that this machine's replica has.
        package let applied: UInt64
        /// The member that alone may append now; `nil` if the pen is free, or none has asked since the last one gave it up.
        package let pen: UInt32?
        /// The members that take part.
        package let joined: [UInt32]
        /// The members on whose machines a process owns the namespace.
        package let owners: [UInt32]
        /// The last entry that the namespace's base has.
        package let base: UInt64
        /// What is wrong now, in words.
        package let troubles: [String]
        /// What was set aside, and why.
        package let events: [String]

        /// The trouble that a namespace of this machine alone has the name, and so the replica can't be made.
        package static let notShared = "not shared: the machines share another namespace of this name"

        /// How many entries this machine's replica lacks.
        package var behind: UInt64 {
            let end = max(head ?? 0, durable)
            return end > applied ? end - applied : 0
        }
    }

    /// This machine's name.
    package let machine: String
    /// The number of this machine as a member; `nil` while it is none.
    package let member: UInt32?
    package let pid: Int32
    /// What all keys in the store begin with.
    package let prefix: String
    /// Since when the store has answered without a pause, in milliseconds since 1970; `nil` if it does not answer.
    package let since: Int64?
    /// Why this machine is no member, in words.
    package let trouble: String?
    /// `nil` if the store does not answer.
    package let store: StoreState?
    /// The present members; `nil` if the store does not answer.
    package let members: [Member]?
    /// The replicas that were set aside, and where they are; `nil` while this machine is no member.
    package let aside: [String]?
    package let namespaces: [Namespace]
}

extension ClusterReport {
    /// Reads a report that a daemon has sent.
    ///
    /// - Throws: `damaged` if it does not decode.
    package init(json: String) throws(SpaceError) {
        do {
            self = try Value(json: json).decode()
        } catch {
            throw .damaged("the daemon's report does not decode: \(error)")
        }
    }

    /// The present machines, each under the number that its daemon got when it joined.
    package var machines: [Member] { (members ?? []).filter { $0.number == $0.first } }

    /// The name of a member's machine, or its number if it is no longer a member.
    package func machine(of number: UInt32) -> String {
        members?.first { $0.number == number }?.machine ?? "member \(number)"
    }

    /// The report as JSON.
    package var json: String { (try? Value(encoding: self))?.json ?? "{}" }
}
