package import SpaceSystem
import Synchronization

extension NamespaceCore {
    /// The processes other than this one that have claimed something, or for which another process has claimed
    /// something.
    package func claimants() -> Set<ProcessIdentity> {
        var processes: Set<ProcessIdentity> = []
        let folder = (try? engine.openFolder()) ?? nil
        for sighting in (try? folder?.sightings()) ?? [] {
            guard let record = sighting.record, record.isClaimant, sighting.name != session.name else { continue }
            processes.insert(record.process)
        }
        for case .process(let process, let member) in (try? claimHolders()) ?? [] where !isElsewhere(member: member) {
            // Of a process of a member, only a part of the start time is known.
            if member == 0 {
                processes.insert(process)
            } else if let whole = ProcessIdentity.of(pid: process.pid) {
                processes.insert(whole)
            }
        }
        return processes
    }

    package func returnClaimsOfTheDead(patience: Duration) { returnClaimsOfTheDead(timeout: patience) }

    /// Called before a session's first claim: marks the session, and makes the waiting processes listen for its end.
    ///
    /// If it fails, and this process dies with a claim, the waiting processes get the tuple a tick later.
    package func announceClaimant() {
        guard !isClaimant.load(ordering: .relaxed),
            !isClaimant.exchange(true, ordering: .acquiringAndReleasing)
        else { return }
        if let folder = (try? engine.openFolder()) ?? nil, let sessions = try? folder.sessions() {
            try? session.setClaimant(in: sessions, mode: folder.fileMode)
        }
        ringForClaimants()
    }

    /// Makes waiting processes look for new claimants; it wakes one waiter of each process, which is enough.
    package func ringForClaimants() {
        control.claimants.add(1)
        SharedWord64.fence()
        guard slots.isAnybodyWaiting else { return }
        let wakes = WakeList()
        var rung: Set<UInt64> = [session.number]
        for index in slots.range {
            let slot = slots.slot(index)
            guard slot.current.state == .active || slot.current.state == .granted,
                slot.interest.form != .cell, rung.insert(slot.session.load()).inserted
            else { continue }
            wakes.add(slot)
        }
        wakes.addOverflow(of: slots)
        wakes.takeAlong().carryOut(slots, root.wakeupFile)
    }
}
