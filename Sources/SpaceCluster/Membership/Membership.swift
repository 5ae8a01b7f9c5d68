package import ClusterStore
import Glibc
package import SpaceEngine
import SpaceSystem
import SystemPackage

/// This machine as a member, as long as its lease lasts.
package struct Membership: Sendable {
    package let number: UInt32
    package let lease: StoreLease
    /// The lease of `owners/…`, which lasts longer: a namespace survives a restart of the daemon.
    package let ownerLease: StoreLease
    package let machine: String
}

/// Makes members.
///
/// A member's number is never used before: one transaction puts the next number and the member's key. If another program
/// has set the next number back, those of living members are passed over. A daemon that has
/// lost its lease, or was started again, is a new member, so an old request of it never counts as one of the new member.
package struct Registrar: Sendable {
    package let store: any Store
    package let keys: ClusterKeys
    package let settings: ClusterSettings
    package let value: MemberValue
    /// Since when the store answers.
    package let contact = Contact()

    /// Sessions and holders name their member in 24 bits.
    package static let mostMembers = UInt64(SessionNumber.lastMember)

    /// What is said from 80 % of the numbers on: they last for years, unless daemons start again and again.
    ///
    /// - Parameter number: The last number that was given out, as far as is known.
    /// - Returns: One text, or none.
    package static func troubles(ofLast number: UInt32) -> [String] {
        guard UInt64(number) * 5 >= mostMembers * 4 else { return [] }
        return [
            "\(number) of \(mostMembers) numbers of members are used, one for each start of a daemon: before they end, carry the "
                + "namespaces to another prefix, with space dump, space join --prefix and space load --replicated"
        ]
    }

    package enum Failure: Error {
        case store(StoreError)
        case value(ValueError)
        case noNumberLeft

        package var told: String {
            switch self {
            case .store(let error): error.told
            case .value(let error): "the number of the next member \(error.told)"
            case .noNumberLeft:
                "all \(Registrar.mostMembers) numbers of members were used; make the namespaces again under another prefix"
            }
        }
    }

    /// Makes a member with leases of its own.
    package func register() async throws(Failure) -> Membership {
        let lease = try await lease(seconds: settings.leaseSeconds)
        do throws(Failure) {
            let number = try await number(on: lease)
            let ownerLease = try await self.lease(seconds: max(settings.ownerSeconds, settings.leaseSeconds))
            return Membership(number: number, lease: lease, ownerLease: ownerLease, machine: value.machine)
        } catch {
            // A key of a member that never was must not stay until the lease has passed.
            try? await store.end(lease)
            throw error
        }
    }

    private func lease(seconds: Int) async throws(Failure) -> StoreLease {
        do { return try await store.makeLease(seconds: seconds) } catch { throw .store(error) }
    }

    /// Makes a member's number, whose key is attached to a lease.
    ///
    /// - Throws: `store` also if the outcome is unknown: then a number may be lost, and its key goes with the lease.
    package func number(on lease: StoreLease) async throws(Failure) -> UInt32 {
        while true {
            let row: StoreRow?
            let number: UInt64
            do { row = try await store.row(keys.nextMember) } catch { throw .store(error) }
            do throws(ValueError) {
                number = try row.map { row throws(ValueError) in try NumberValue(decoding: row.value).number } ?? 1
            } catch { throw .value(error) }
            guard number <= Self.mostMembers, let member = UInt32(exactly: number) else { throw .noNumberLeft }
            let isNext = StoreCompare.modified(keys.nextMember, row?.modified ?? 0)
            let next = StoreOperation.put(keys.nextMember, NumberValue(number + 1).encoded, .none)
            let key = keys.member(member)
            do throws(StoreError) {
                let outcome = try await store.transact(
                    if: [isNext, .absent(.key(key))],
                    then: [next, .put(key, value.encoded, lease)],
                    else: [.read(.key(key))]
                )
                if outcome.held { return member }
                if outcome.readings.first?.isEmpty == false {
                    _ = try await store.transact(if: [isNext], then: [next])
                }
            } catch { throw .store(error) }
        }
    }

    /// Ends the members that earlier daemons of this root were.
    ///
    /// Only one daemon serves a root at a time (``ClusterFolder``), so they are dead; their pens would stay for a lease's
    /// time.
    package func endPredecessors(of membership: Membership) async throws(StoreError) {
        for row in try await store.read(keys.members, limit: nil, keysOnly: false).rows {
            guard let other = try? MemberValue(decoding: row.value), other.place == value.place,
                row.lease != membership.lease, row.lease != .none
            else { continue }
            try await store.end(row.lease)
        }
    }

    /// Keeps a lease alive until it is lost or the task is cancelled.
    ///
    /// A store that does not answer proves nothing: the lease counts as lost when it must have ended.
    package func keep(_ lease: StoreLease, seconds: Int) async throws {
        var heard = MonotonicInstant.now
        var pause = Pause(settings)
        while true {
            try Task.checkCancellation()
            let sent = MonotonicInstant.now
            let left: Int?
            do throws(StoreError) { left = try await store.keepAlive(lease) } catch { left = nil }
            if let left {
                guard left > 0 else { throw LeaseLost(isOfSilence: false) }
                heard = sent
                contact.noteAnswer()
                pause.reset()
                try await Task.sleep(for: .milliseconds(seconds * 1000 / 3))
            } else {
                contact.noteSilence()
                guard !heard.advanced(by: .seconds(seconds)).hasPassed else { throw LeaseLost(isOfSilence: true) }
                await pause.wait()
            }
        }
    }

    package struct LeaseLost: Error {
        /// Whether the store has not answered for as long as the lease lasts, instead of saying that it has ended.
        let isOfSilence: Bool

        var told: String {
            isOfSilence ? "its lease has ended, because the store (etcd) did not answer it" : "its lease has ended"
        }
    }

    /// What tells this root from all others in the store, until the next boot of this machine.
    package static func place(of root: String) throws(SpaceError) -> [UInt8] {
        let info = try system(root.quotedForPeople) { () throws(Errno) in
            try Directory.info(at: AT_FDCWD, root)
        }
        let bootID = try HostIdentity.current().bootID
        return ValueWriter(.member).adding(bootID).adding(info.device).adding(info.inode).finished()
    }
}
