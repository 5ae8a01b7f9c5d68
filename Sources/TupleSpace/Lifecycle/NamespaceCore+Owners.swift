package import SpaceSystem
import SystemPackage

// Joining, enrolling and leaving a namespace that this process has open. All of this happens under the door, so that
// a reaper's check for owners and its deletion are one step for every process that joins or leaves.

extension NamespaceCore {
    /// Runs `body` under the door, with the namespace's folder opened again.
    ///
    /// Returns `nil` if the namespace is dead.
    ///
    /// `body` returns whether the namespace may have lost its last owner; if so, the owners are checked, and the
    /// namespace is reaped if there are none.
    func underDoor(
        timeout: Duration,
        _ body: (borrowing SessionFolder, UInt32) throws(SpaceError) -> Bool
    ) throws(SpaceError) -> Void? {
        // A child made by fork must not act for its parent's session.
        if isInherited { try engine.checkUsable() }
        let door = try control.takeDoor(timeout: timeout) { engine.openControl() }
        CrashPoint.reach(.doorTaken)
        guard control.dead.load() == 0,
            let rootFolder = try root.open(create: false),
            let folder = try NamespaceFolder.open(name, in: rootFolder, of: root),
            folder.id == folderID
        else { return nil }
        let sessions = try folder.sessions(makingAnew: true)
        try? session.restore(in: sessions, mode: folder.fileMode)
        guard try body(sessions, folder.fileMode), !control.staying.stays else { return () }
        let hasOwner = try system("its sessions") { () throws(Errno) in
            try sessions.hasLivingOwner()
        }
        guard !hasOwner else { return () }
        let removed = try Reaping.moveAway(folder, control, in: rootFolder, of: root, timeout: timeout)
        door.release()
        removed.delete()
        return ()
    }

    /// Adds another handle of this process, or another owner.
    ///
    /// - Returns: `false` if the namespace was deleted in the meantime.
    package func join(_ owner: OwnerRequest) throws(SpaceError) -> Bool {
        if !owner.isOwningSession || session.isOwning, owner.enrolled == nil { return control.dead.load() == 0 }
        return try underDoor(timeout: timeout) { (sessions, mode) throws(SpaceError) in
            if owner.isOwningSession { try setOwning(true, in: sessions, mode) }
            if let process = owner.enrolled {
                try Enrolment(process: process).run(in: sessions, mode: mode)
            }
            return false
        } != nil
    }

    private func setOwning(
        _ isOwning: Bool,
        in sessions: borrowing SessionFolder,
        _ mode: UInt32
    ) throws(SpaceError) {
        try system("its session file") { () throws(Errno) in
            try session.setOwning(isOwning, in: sessions, mode: mode)
        }
    }

    /// Ends the ownership of this process's session, and reaps the namespace if it has no other owner.
    func stopOwning() throws(SpaceError) {
        guard session.isOwning else { return }
        _ = try underDoor(timeout: timeout) { (sessions, mode) throws(SpaceError) in
            try setOwning(false, in: sessions, mode)
            return true
        }
    }

    package func enrol(_ process: ProcessIdentity) throws(SpaceError) {
        try checkUsable()
        let done: Void? = try underDoor(timeout: timeout) { (sessions, mode) throws(SpaceError) in
            try Enrolment(process: process).run(in: sessions, mode: mode)
            return false
        }
        if done == nil { try checkUsable() }
    }

    /// - Returns: Whether the process was enrolled.
    package func disenrol(pid: Int32) throws(SpaceError) -> Bool {
        try checkUsable()
        // The claims that were made for the process return with its enrolment.
        try endedHolders.endAll { holder in
            if case .process(let process, let member) = holder {
                process.pid == pid && !liveness.isElsewhere(member: member)
            } else {
                false
            }
        }
        var found = false
        _ = try underDoor(timeout: timeout) { (sessions, _) throws(SpaceError) in
            try system("its sessions") { () throws(Errno) in
                for sighting in try sessions.sightings()
                where sighting.isEnrolled && sighting.record?.process.pid == pid {
                    try sessions.remove(sighting.name)
                    found = true
                }
            }
            return found
        }
        return found
    }

    package func setPersistent(_ isPersistent: Bool) throws(SpaceError) {
        try checkUsable()
        if control.staying.isReplica {
            // It is so on all machines, and the daemon deletes what no machine owns.
            return try write(.removing) { (scope) throws(SpaceError) in scope.set(isPersistent: isPersistent) }
        }
        let done: Void? = try underDoor(timeout: timeout) { (_, _) throws(SpaceError) in
            control.staying.set(isPersistent: isPersistent)
            return !isPersistent
        }
        if done == nil { try checkUsable() }
        if mode == .durable {
            try system("the control file") { () throws(Errno) in try control.sync() }
        }
    }

    /// Closes the namespace's files as soon as no thread uses them, though handles are kept.
    ///
    /// A thread that waits has a slot in the control file, and frees it when it has woken.
    private func endUse() {
        Leaving(engine).endUse { [attendance, control] in attendance.whenLeft { control.endUse() } }
    }

    /// Leaves: claims return, the session file is removed, and so is the namespace if this was its last owner.
    ///
    /// If the door is not acquired in time, the process's exit releases the session's lock, and a reaper does the rest.
    /// The environment is closed as soon as no thread uses it; the exit of the process closes it in any case.
    package func leave(timeout: Duration, isExiting: Bool = false) throws(SpaceError) {
        guard !isLeft, !isInherited else { return }
        engine.beginLeaving()
        try? endedHolders.endAll(timeout: engine.cleanUpPatience(timeout)) { $0 == .session(session.number) }
        for part in parts.all { part.endAll(of: self) }
        dropRegistrations(of: .thisProcess, timeout: timeout)
        guard engine.markLeft() else { return }
        defer {
            folderLock?.release()
            if !isExiting { endUse() }
        }
        upkeep.leaveSeat()
        deferred.forget()
        upkeep.wakeOwnWaiters()
        EventLoop.wake(self)
        _ = try underDoor(timeout: timeout) { (sessions, _) throws(SpaceError) in
            try system("its session file") { () throws(Errno) in
                try session.end(in: sessions)
            }
            CrashPoint.reach(.sessionRemoved)
            return true
        }
    }
}
