import SharedSpace
import SpaceAgents
import SpaceSystem

// Claims and transactions, one a command.

extension Agent {
    func performOnClaims(_ command: String, _ words: [String]) throws -> String? {
        switch command {
        case "claim-typed":
            // Announced, unlike claims that last only as long as a line takes to print.
            guard let claim = try namespace().claimIfExists(matching: try template(words, from: 0)) else {
                return "none"
            }
            claims.append(claim.detach())
            return "ok \(claims[claims.count - 1].tuple)"
        case "claim-for":
            // `claim-for <pid> <template>`: held for another process.
            let pid: Int32 = try number(words, 0)
            guard let holder = ProcessIdentity.of(pid: pid) else { throw Failure("no process \(pid)") }
            let claim = try namespace().claim(
                matching: try template(words, from: 1),
                holder: holder,
                deadline: nil,
                .none,
                interruption: nil
            )
            return claim.map { "ok \($0.number)" } ?? "none"
        case "claim-task":
            // `claim-task <pid>`: as the server of a coding agent does.
            let pid: Int32 = try number(words, 0)
            guard let agent = ProcessIdentity.of(pid: pid) else { throw Failure("no process \(pid)") }
            let claimed = try TaskList(try namespace()).claim(
                for: AgentName(agent),
                matching: nil,
                id: nil,
                wait: .seconds(100),
                interruption: nil
            )
            return claimed == nil ? "none" : "ok"
        case "claim-loop": return "ok \(try claimLoop())"
        case "write-claimed":
            // In one transaction, so that no waiter is ever woken for it.
            let tuple = try Tuple(json: rest(words, from: 0))
            let claim = try namespace().transaction { t in
                try t.write(tuple: tuple)
                return try t.claimIfExists(matching: Template(tuple))?.claim
            }
            if let claim { claims.append(claim) }
        case "claim-wait":
            say("waiting")
            let timeout = Duration.milliseconds(try number(words, 0) as Int)
            let claim = try namespace().claim(matching: try template(words, from: 1), timeout: timeout)?.detach()
            if let claim { claims.append(claim) }
            return claim.map { "ok \($0.tuple)" } ?? "none"
        case "late": return "ok \(try namespace().lateFinds)"
        case "listens": return "ok \(namespacesListenedTo)"
        case "transfer-loop": return "ok \(try transferLoop())"
        case "transact":
            // Writes, takes and sets; stops or dies at an armed point.
            try namespace().transaction { t in
                try t.write("a", 1)
                _ = try t.takeIfExists("job", any(Int.self))
                try t.set("cell", 1)
            }
            return "ok"
        default: return nil
        }
        return "ok"
    }

    /// Claims jobs and writes their results, until there was no job for a while.
    private func claimLoop() throws -> Int {
        let namespace = try namespace()
        var count = 0
        while let claim = try namespace.claim("job", any(Int.self), timeout: .seconds(60)) {
            let job = claim.content.1
            try claim.complete { t in try t.write("done", job) }
            count += 1
        }
        return count
    }

    /// Moves money between two accounts, forth and back, until told to stop.
    private func transferLoop() throws -> Int {
        let namespace = try namespace()
        var count = 0
        while try goesOn(namespace) {
            try namespace.transaction { t in
                guard let (_, _, mine) = try t.takeIfExists("account", 0, any(Int.self)),
                    let (_, _, theirs) = try t.takeIfExists("account", 1, any(Int.self))
                else { throw Failure("an account is missing") }
                try t.write("account", 0, mine - 1)
                try t.write("account", 1, theirs + 1)
            }
            count += 1
        }
        return count
    }
}
