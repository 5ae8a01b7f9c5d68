import ClusterStore
import SpaceEngine

/// A namespace as the store has it at one revision.
struct Picture {
    let revision: Int64
    let isSameLife: Bool
    let head: UInt64?
    let pen: StoreRow?
    let wants: [UInt32: StoreRow]
    let joined: [UInt32: StoreRow]
    let owners: [UInt32: StoreRow]
    let manifest: ManifestValue?
    /// The log's entry at the replica's last one, and the next.
    private let entries: [[UInt8]?]

    /// Reads everything at one revision.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - keys: The namespace's keys.
    ///   - entry: The number of the replica's last entry.
    /// - Throws: `again` if the store does not answer; `stopped` if a value can't be used.
    init(_ store: any Store, _ keys: NamespaceKeys, at entry: UInt64) async throws(Leaving) {
        let outcome: StoreOutcome
        do throws(StoreError) {
            outcome = try await store.transact(then: [
                .read(.key(keys.id)), .read(.key(keys.key(.head))), .read(.key(keys.key(.pen))),
                .read(.key(keys.key(.manifest))), .read(.key(keys.key(.log(entry)))),
                .read(.key(keys.key(.log(entry + 1)))), .read(keys.wants), .read(keys.joined), .read(keys.owners),
            ])
        } catch {
            throw .again(error.told)
        }
        guard outcome.readings.count == 9 else { throw .again("the store's answer is incomplete") }
        let rows = outcome.readings
        func members(_ rows: [StoreRow]) -> [UInt32: StoreRow] {
            var found: [UInt32: StoreRow] = [:]
            for row in rows {
                switch keys.key(of: row.key) {
                case .want(let member), .joined(let member), .owner(let member): found[member] = row
                default: break
                }
            }
            return found
        }
        do throws(ValueError) {
            head = try rows[1].first.map { row throws(ValueError) in try NumberValue(decoding: row.value).number }
        } catch {
            throw .stopped("the head of the log in the store \(error.told)")
        }
        do throws(ValueError) {
            revision = outcome.revision
            isSameLife =
                try rows[0].first.map { row throws(ValueError) in
                    try NumberValue(decoding: row.value).number == keys.life.number
                } ?? false
            pen = rows[2].first
            manifest = try rows[3].first.map { row throws(ValueError) in
                try ManifestValue(decoding: row.value, of: keys.life)
            }
            entries = try rows[4...5].map { rows throws(ValueError) in
                try rows.first.map { row throws(ValueError) in
                    try LogValue(decoding: row.value, of: keys.life).entry
                }
            }
            wants = members(rows[6])
            joined = members(rows[7])
            owners = members(rows[8])
        } catch {
            throw .stopped("what the store says of the namespace \(error.told)")
        }
    }

    /// How the store's keys contradict each other; `nil` if they don't.
    ///
    /// One transaction puts the keys together. If one of them is missing or does not fit, another program has changed it,
    /// and a replica that followed it would drop valid entries.
    var damage: String? {
        guard let head else { return "the head of the log is missing in the store" }
        guard let base = manifest?.position.entry, base > head else { return nil }
        return "the head of the log in the store is entry \(head), and its base goes up to entry \(base)"
    }

    /// How a replica stands to the log.
    enum Fit {
        case fits
        /// An entry up to the head is neither in the log nor in the base.
        case isOfDamagedLog(String)
        /// The log no longer has the entries behind the replica's last one.
        case isBehindTheLog
        /// The replica has what the log has not.
        case isAnother(String)
    }

    /// Compares the log with a replica's position, by the identity of its last entry, not by its number alone.
    func fit(_ position: ReplicaPosition, _ replica: any Replica) -> Fit {
        let head = head ?? 0
        let base = manifest?.position.entry ?? 0
        if position.entry > head {
            if let entry = entries[0], replica.links(of: entry)?.behind == position.link {
                return .isOfDamagedLog(
                    "the head of the log in the store is entry \(head), and the log has entry \(position.entry)"
                )
            }
            return .isAnother("the replica goes up to entry \(position.entry), and the log up to \(head)")
        }
        let other = "entry \(position.entry) of the log is another one than the replica's"
        // What contradicts an entry that the replica and the log both have is damage, no other log.
        let isLastThere = entries[0] != nil
        if let entry = entries[0] {
            guard replica.links(of: entry)?.behind == position.link else { return .isAnother(other) }
        }
        if let manifest, manifest.position.entry == position.entry, manifest.position.link != position.link {
            guard isLastThere else { return .isAnother(other) }
            return .isOfDamagedLog("the base does not go up to the log's entry \(position.entry), but to another one")
        }
        if position.entry < head {
            guard let next = entries[1] else {
                guard position.entry < base else { return .isOfDamagedLog(lack(of: position.entry + 1)) }
                return .isBehindTheLog
            }
            guard replica.links(of: next)?.before == position.link else {
                guard isLastThere else { return .isAnother(other) }
                return .isOfDamagedLog(Self.breach(behind: position.entry))
            }
        } else if entries[0] == nil, position.entry != base {
            return .isOfDamagedLog(lack(of: position.entry))
        }
        return .fits
    }

    /// Says that an entry is not the one that its key says.
    static func breach(behind entry: UInt64) -> String {
        "entry \(entry + 1) of the log is not the one that follows entry \(entry)"
    }

    private func lack(of entry: UInt64) -> String {
        "the store has lost entry \(entry) of the log, or its head, which says entry \(head ?? 0), is too high"
    }
}

/// Why a machine no longer takes part in a namespace.
enum Leaving: Error {
    /// The namespace's life has ended.
    case gone
    /// The replica can't be used until it is repaired.
    case stopped(String)
    /// The replica has no room for an entry now.
    case full(String)
    /// The next try may succeed.
    case again(String)

    /// What an error of the replica means: it stops it, unless a process has only held the gate for long, or deleted the
    /// namespace of this name, or there is no room.
    init(_ error: SpaceError) {
        let why = "the replica: \(error.reason)"
        self =
            switch error.code {
            case .holderStopped, .holderBusy, .namespaceDeleted, .namespaceNotFound: .again(why)
            case .limitReached, .storageFull: .full(why)
            default: .stopped(why)
            }
    }
}
