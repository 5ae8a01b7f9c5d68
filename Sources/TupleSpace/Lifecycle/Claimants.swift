package import SpaceSystem
import Synchronization

/// The processes whose claims return when they end, so that the waiting processes listen for their ends.
package struct Claimants {
    let core: NamespaceCore

    /// The processes other than this one that have claimed something, or for which another process has claimed
    /// something.
    package func processes() -> Set<ProcessIdentity> {
        var processes: Set<ProcessIdentity> = []
        let folder = (try? core.engine.openFolder()) ?? nil
        for sighting in (try? folder?.sightings()) ?? [] {
            guard let record = sighting.record, record.isClaimant, sighting.name != core.session.name else { continue }
            processes.insert(record.process)
        }
        for case .process(let process, let member) in (try? core.endedHolders.claimHolders()) ?? []
        where !core.liveness.isElsewhere(member: member) {
            // For a process of a member, only a part of the start time is known.
            if member == 0 {
                processes.insert(process)
            } else if let whole = ProcessIdentity.of(pid: process.pid) {
                processes.insert(whole)
            }
        }
        return processes
    }

    /// Called before a session's first claim: marks the session, and makes the waiting processes listen for its end.
    ///
    /// If it fails, and this process dies with a claim, the waiting processes get the tuple a tick later.
    package func announce() {
        guard !core.upkeepState.isClaimant.load(ordering: .relaxed),
            !core.upkeepState.isClaimant.exchange(true, ordering: .acquiringAndReleasing)
        else { return }
        if let folder = (try? core.engine.openFolder()) ?? nil, let sessions = try? folder.sessions() {
            try? core.session.setClaimant(in: sessions, mode: folder.fileMode)
        }
        ring()
    }

    /// Makes waiting processes look for new claimants; it wakes one waiter of each process, which is enough.
    package func ring() {
        core.control.claimants.add(1)
        SharedWord64.fence()
        guard core.slots.isAnybodyWaiting else { return }
        let wakes = WakeList()
        var rung: Set<UInt64> = [core.session.number]
        for index in core.slots.range {
            let slot = core.slots.slot(index)
            guard slot.current.state == .active || slot.current.state == .granted,
                slot.interest.mayComeFromTheDead, rung.insert(slot.session.load()).inserted
            else { continue }
            wakes.add(slot)
        }
        wakes.addOverflow(of: core.slots)
        wakes.takeAlong().carryOut(core.slots, core.root.wakeupFile)
    }
}

extension NamespaceCore {
    /// The processes that claim.
    package var claimants: Claimants { Claimants(core: self) }
}
