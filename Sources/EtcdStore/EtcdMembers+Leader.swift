import EtcdMessages

/// The leader, which is asked first.
///
/// Another member passes each write on to the leader, and answers when the leader has told it that the write counts: later than
/// the leader itself. Only the speed depends on it: every member can be asked, and a call that fails goes on to the next one.
extension EtcdMembers {
    private static let pause = Duration.seconds(10)

    /// Goes to the leader, and looks again and again, because the members choose another one at times; it does not return.
    func followLeader() async {
        while !Task.isCancelled {
            await goToLeader()
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// Lets all calls that begin from now on ask the leader, if a majority of the members names it and it answers itself.
    ///
    /// A member that is cut off from the others may still take itself for the leader.
    private func goToLeader() async {
        var names: [UInt64: Int] = [:]
        var members: [UInt64: EtcdMember] = [:]
        for (member, answer) in await statuses() {
            guard case .success(let status) = answer else { continue }
            names[status.leader, default: 0] += 1
            members[status.header.memberID] = member
        }
        for (leader, count) in names where count > all.count / 2 {
            if let member = members[leader] { go(to: member) }
        }
    }
}
