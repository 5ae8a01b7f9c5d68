import Glibc
import SharedSpace
import SpaceTestSupport

/// Processes stopped in the gate, in the door, in a snapshot, with a claim, in a wait and while they delete: the other
/// processes are not affected, or are told within their time-out which process stands in the way; and all go on when it
/// does.
struct StopPart {
    let options: Options

    func run() -> Report {
        Rounds(part: .stop, options: options).report([
            .init("gate", gate), .init("door", door), .init("reader", reader), .init("claimer", claimer),
            .init("waiter", waiter), .init("reaper", reaper), .init("anywhere", anywhere),
        ])
    }

    private var impatient: String { "timeout=\(Round.patience)" }

    private func gate(_ round: Round) throws {
        let point = round.one(of: [
            CrashPoint.lockUnnamed, .gateTaken, .begun, .beforeCommit, .afterCommit, .granted, .lockForgotten,
            .nearFilled,
            .nearWritten,
        ])
        let writer = try round.player(impatient)
        let taker = try round.player(impatient)
        // The near end is used, or a transaction is.
        let isNear =
            [.nearFilled, .nearWritten].contains(point)
            || ![.begun, .beforeCommit, .afterCommit].contains(point) && round.coin()
        try writer.run("near \(isNear ? 256 : 0)")
        try writer.run("write [\"kept\", 1]")
        let holder = try round.player()
        let opener = try round.newcomer()
        try holder.run("arm stop \(point)")
        try holder.send("write [\"half\", 1]")
        try holder.waitUntilStopped()

        let asked = [
            (writer, "write [\"other\", 1]"), (taker, "take [\"kept\", \"?int\"]"), (opener, round.opening()),
        ]
        try round.refused(asked, by: holder, while: "\(point)")
        try round.expect(taker, "read [\"kept\", \"?int\"]", #"ok ["kept",1]"#)
        try round.expect(
            taker,
            "count",
            [.afterCommit, .granted, .lockForgotten, .nearWritten].contains(point) ? "ok 2" : "ok 1"
        )

        if round.coin() {
            holder.resume()
            round.check(try holder.line()?.hasPrefix("ok ") == true, "the stopped writer has not written")
            try round.goOn(writer, "take [\"half\", 1]")
            try holder.exit()
        } else {
            try holder.kill()
        }
        for (agent, command) in asked { try round.goOn(agent, command) }
        try round.expect(opener, "verify", "ok ")
    }

    private func door(_ round: Round) throws {
        let point = round.one(of: [CrashPoint.lockUnnamed, .doorTaken, .joined, .dataOpened, .firstReader])
        let user = try round.player(impatient)
        let opener = try round.newcomer()
        let holder = try round.newcomer()
        try holder.run("arm stop \(point)")
        try holder.send("open \(round.root.path) n")
        try holder.waitUntilStopped()

        let asked = [(user, "enrol \(opener.pid)"), (opener, round.opening())]
        try round.refused(asked, by: holder, while: "\(point)")
        // The first reader takes its slot under the gate; apart from that, processes that have the namespace open work
        // on.
        if point != .firstReader {
            try user.run("write [\"job\", 1]")
            try round.expect(user, "take [\"job\", 1]", #"ok ["job",1]"#)
        }
        round.check(try round.root.space.namespaceNames() == ["n"], "a list leaves out what is there")

        let isKilled = round.coin()
        if isKilled {
            try holder.kill()
        } else {
            holder.resume()
            try round.expect(holder, says: "ok")
        }
        try round.goOn(user, "write [\"job\", 2]")
        for (agent, command) in asked { try round.goOn(agent, command) }
        if !isKilled { try round.expect(holder, "take [\"job\", 2]", #"ok ["job",2]"#) }
        try round.expect(opener, "verify", "ok ")
    }

    /// A stopped snapshot pins the pages that are freed after it: the file grows to its limit and not beyond, and the
    /// error says why.
    private func reader(_ round: Round) throws {
        let writer = try round.player("limit=\(Limits.smallestByteLimit)")
        let reader = try round.player()
        try writer.run("write [\"kept\", 1]")
        try reader.run("count")
        try reader.run("arm stop snapshotTaken")
        try reader.send("count")
        try reader.waitUntilStopped()

        let answer = try writer.ask("turn-over \(round.random(3000..<12_000)) 20000")
        round.check(answer.contains(" error limitReached \(reader.pid) "), "a stopped reader: \(answer)")
        let bytes = Int(try writer.run("bytes")) ?? .max
        round.check(bytes <= Limits.smallestByteLimit, "grown to \(bytes), beyond its limit")
        // The written tuples can be taken all the same.
        try round.expect(writer, "take [\"kept\", 1]", #"ok ["kept",1]"#)

        if round.coin() {
            reader.resume()
            try round.expect(reader, says: "ok 1")
        } else {
            try reader.kill()
        }
        try writer.run("drain")
        try round.expect(writer, "turn-over 4000 300", "ok 300")
        try round.expect(writer, "verify", "ok ")
    }

    private func claimer(_ round: Round) throws {
        let other = try round.player(impatient)
        let claimer = try round.player()
        try other.run("write [\"job\", 1]")
        try claimer.run("claim-typed [\"job\", \"?int\"]")
        try claimer.stop()

        // A stopped process is not dead: it keeps its claim, and blocks nothing else.
        try round.expect(other, "take-wait 1 [\"job\", \"?int\"]", "waiting")
        try round.expect(other, says: "none")
        try round.expect(other, "turn-over 100 20", "ok 20")
        try round.expect(other, "reap", "ok ")
        let late = try round.player(impatient)
        try round.expect(late, "take [\"job\", \"?int\"]", "none")

        if round.coin() {
            claimer.resume()
            try round.expect(claimer, "complete", "ok")
        } else {
            try late.send("take-wait 60000 [\"job\", \"?int\"]")
            try round.expect(late, says: "waiting")
            try claimer.kill()
            try round.expect(late, says: #"ok ["job",1]"#)
        }
        try round.expect(other, "count", "ok 0")
        try round.expect(other, "verify", "ok ")
    }

    /// A tuple granted to a sleeping process that is stopped reaches the next one.
    private func waiter(_ round: Round) throws {
        let writer = try round.player(impatient)
        let first = try round.player()
        let second = try round.player()
        try first.run("arm stop slotPublished")
        try first.send("take-wait 60000 [\"job\", \"?int\"]")
        try round.expect(first, says: "waiting")
        try first.waitUntilStopped()
        let form = round.coin() ? "take-wait 60000" : "take-async"
        try second.send("\(form) [\"job\", \"?int\"]")
        try round.expect(second, says: "waiting")
        if round.coin() {
            round.check(try eventually { try writer.run("waiters") == "2" }, "there are no two waiters")
        }
        try writer.run("write [\"job\", 1]")
        try round.expect(second, says: #"ok ["job",1]"#)
        first.resume()
        try writer.run("write [\"job\", 2]")
        try round.expect(first, says: #"ok ["job",2]"#)
        try round.expect(writer, "count", "ok 0")
        try round.expect(writer, "verify", "ok ")
    }

    /// A reaper that goes on deletes the namespace that it has set out to delete, and not a newer one of that name.
    private func reaper(_ round: Round) throws {
        let point = round.one(of: [CrashPoint.graveGate, .markedDead, .buried, .beforeDeleting])
        let other = try round.player(impatient, in: "other")
        let reaper = try round.player("", in: "other")
        let owner = try round.player()
        try owner.run("write [\"old\", 1]")
        let visitor = try round.player("owning=0")
        try visitor.send("read-wait 60000 [\"never\"]")
        try round.expect(visitor, says: "waiting")
        try owner.kill()
        try reaper.run("arm stop \(point)")
        try reaper.send("reap")
        try reaper.waitUntilStopped()

        let opener = try round.newcomer()
        let answer = try opener.ask(round.opening())
        let isOpen = answer == "ok"
        if isOpen {
            try round.expect(opener, "count", "ok 0", "in a namespace made anew")
            try opener.run("write [\"mine\", 1]")
        } else {
            round.check(answer.hasPrefix("error holderStopped \(reaper.pid) "), "opening at \(point): \(answer)")
        }
        try other.run("write [\"job\", 1]")
        try round.expect(other, "take [\"job\", 1]", #"ok ["job",1]"#)

        if round.coin() {
            reaper.resume()
            round.check(try reaper.line()?.hasPrefix("ok") == true, "the stopped reaper failed")
        } else {
            try reaper.kill()
        }
        if !isOpen {
            try round.goOn(opener, round.opening())
            try opener.run("write [\"mine\", 1]")
        }
        try round.expect(opener, "count", "ok 1", "after the reaper at \(point) has gone on")
        round.check(try visitor.line()?.hasPrefix("error namespaceDeleted") == true, "a visitor was not told")
        try round.expect(opener, "verify", "ok ")
    }

    /// The process is stopped at random moments, again and again.
    private func anywhere(_ round: Round) throws {
        let users = [try round.player(impatient), try round.player(impatient)]
        let opener = try round.newcomer()
        for turn in 0..<10 {
            let holder = try round.newcomer()
            let work = round.one(of: [
                "open-loop \(round.root.path) n 400 0", "write-loop 0 2000", "turn-over 2000 1000",
            ])
            if !work.hasPrefix("open") { try holder.open(round.root, "n") }
            try holder.send(work)
            usleep(UInt32(round.random(0..<20_000)))
            try holder.stop()
            let asked = [
                (users[0], "write [\"ours\", \(turn)]"), (users[1], "take [\"ours\", \"?int\"]"),
                (opener, round.opening()),
            ]
            for (agent, command) in asked { try agent.send(command) }
            for (agent, command) in asked {
                let said = try agent.line() ?? "nothing more"
                round.check(
                    said.hasPrefix("ok") || said == "none" || said.hasPrefix("error holderStopped \(holder.pid) "),
                    "\(command), while \(holder.pid) stands in \(work), said \(said)"
                )
            }
            if round.coin() {
                holder.resume()
                let said = try holder.line() ?? "nothing more"
                round.check(said.hasPrefix("ok "), "\(work), after it was stopped, said \(said)")
            } else {
                try holder.kill()
            }
            for user in users { try round.goOn(user, "write [\"more\", \(turn)]") }
            try round.goOn(opener, round.opening())
        }
        try round.expect(users[0], "verify", "ok ")
    }
}
