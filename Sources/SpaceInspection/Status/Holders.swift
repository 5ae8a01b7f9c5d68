import SpaceSystem

/// A holder's process: on this machine, on another one, or not known.
package struct HolderProcess: Sendable, Hashable {
    var pid: Int32?
    var elsewhere: String?
}

/// An entry with its process.
package protocol ProcessEntry: NamespaceStatus.Entry {
    var process: HolderProcess { get }
}

extension ProcessEntry {
    /// The process id.
    public var pid: Int32? { process.pid }
    /// The process on another machine.
    public var elsewhere: String? { process.elsewhere }
}

/// The processes behind the holders in a namespace's rows, as far as they can be told.
struct Holders {
    /// The processes of the living sessions of this machine.
    var pids: [UInt64: Int32]
    /// The member as which this machine takes part; 0 in a namespace of one machine.
    let member: UInt32
    /// The members' names.
    let names: [UInt32: String]

    init(_ pids: [UInt64: Int32], _ control: ControlFile, _ snapshot: Snapshot) {
        self.pids = pids
        member = control.staying.isReplica ? control.member.load() : 0
        let members = (try? snapshot.members()) ?? []
        names = Dictionary(members, uniquingKeysWith: { first, _ in first })
    }

    /// The holder's process; `pid` is that of a session that runs on another machine, if it is known.
    func process(of holder: ClaimHolder, pid: Int32? = nil) -> HolderProcess {
        HolderProcess(pid: self.pid(of: holder), elsewhere: elsewhere(holder, pid: pid))
    }

    /// The holder's process, if it runs on this machine and lives.
    func pid(of holder: ClaimHolder) -> Int32? {
        switch holder {
        case .session(let number): pids[number]
        case .process(let process, member: 0): process.life == .alive ? process.pid : nil
        case .process(let process, let member):
            member == self.member && process.life(ofLowBits: ClaimHolder.lowStartBits) == .alive ? process.pid : nil
        case .nobody: nil
        }
    }

    /// The holder's process if it runs on another machine: `PID@MACHINE`, or `MACHINE` if `pid` is not known.
    private func elsewhere(_ holder: ClaimHolder, pid: Int32?) -> String? {
        guard let member = holder.member, member != 0, member != self.member else { return nil }
        var pid = pid
        if case .process(let process, _) = holder { pid = process.pid }
        let name = names[member] ?? "member \(member)"
        return pid.map { "\($0)@\(name)" } ?? name
    }
}
