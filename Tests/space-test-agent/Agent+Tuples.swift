import Glibc
import SharedSpace
import SpaceInspection
import SpaceSystem

// One operation a command.

extension Agent {
    func performOnTuples(_ command: String, _ words: [String]) throws -> String? {
        switch command {
        case "write": return "ok " + (try namespace().write(tuple: try Tuple(json: rest(words, from: 0))).description)
        case "take": return answer(try namespace().takeIfExists(matching: try template(words, from: 0)))
        case "read": return answer(try namespace().readIfExists(matching: try template(words, from: 0)))
        // How many records of the near end all processes use from now on.
        case "near": try namespace().useNearEnd(of: try number(words, 0))
        case "count":
            return "ok \(try namespace().count(matching: words.isEmpty ? .any : try template(words, from: 0)))"
        case "take-wait":
            // The handshake comes first; the namespace's status shows when the slot is published.
            say("waiting")
            let timeout = Duration.milliseconds(try number(words, 0) as Int)
            return answer(try namespace().take(matching: try template(words, from: 1), timeout: timeout))
        case "read-wait":
            say("waiting")
            let timeout = Duration.milliseconds(try number(words, 0) as Int)
            return answer(try namespace().read(matching: try template(words, from: 1), timeout: timeout))
        case "increment": return "ok \(try namespace().increment(try word(words, 0)))"
        case "set": try namespace().set(try word(words, 0), try Value(json: rest(words, from: 1)))
        case "set-session":
            try namespace().set(try word(words, 0), try Value(json: rest(words, from: 1)), lifetime: .session)
        case "write-session":
            let tuple = try Tuple(json: rest(words, from: 0))
            return "ok " + (try namespace().write(tuple: tuple, lifetime: .session).description)
        case "unset": return try namespace().unset(try word(words, 0)).map { "ok \($0.json)" } ?? "none"
        case "get": return try namespace().get(try word(words, 0)).map { "ok \($0.json)" } ?? "none"
        case "verify": return "ok " + (try namespace().verify().joined(separator: "; "))
        case "claim":
            let claimed = try namespace().claimBriefly(matching: try template(words, from: 0))
            claims += claimed
            return claimed.first.map { "ok \($0.tuple)" } ?? "none"
        case "claim-batch":
            let claimed = try namespace().claimBriefly(matching: .any, max: .max)
            claims += claimed
            return "ok \(claimed.count)"
        case "claim-each":
            while let claim = try namespace().claimIfExists(matching: .any) { claims.append(claim.detach()) }
            return "ok \(claims.count)"
        case "claim-all":
            let before = claims.count
            // As many at once as one transaction moves easily.
            while true {
                let claimed = try namespace().claimBriefly(matching: .any, max: .max)
                if claimed.isEmpty { return "ok \(claims.count - before)" }
                claims += claimed
            }
        case "complete":
            try namespace().complete(claims)
            claims = []
        case "release":
            // One by one: in a full namespace not all can be moved at once.
            for claim in claims { try namespace().release([claim]) }
            claims = []
        default: return nil
        }
        return "ok"
    }

    func suspending(_ command: String, _ words: [String]) async throws -> String? {
        switch command {
        case "take-async":
            say("waiting")
            return "ok " + (try await namespace().take(matching: try template(words, from: 0))).json
        case "read-async":
            say("waiting")
            return "ok " + (try await namespace().read(matching: try template(words, from: 0))).json
        case "takers-async":
            return try await takers(try number(words, 0), try template(words, from: 1))
        default:
            if let answer = try await performOnResponders(command, words) { return answer }
            if let answer = try await performOnCollections(command, words) { return answer }
            if let answer = try await performOnDictionaries(command, words) { return answer }
            if let answer = try await performOnObservers(command, words) { return answer }
            if let answer = try await performOnWatchers(command, words) { return answer }
            if let answer = try await performWithTasks(command, words) { return answer }
            return try await performOnReplicas(command, words)
        }
    }

    /// Runs a number of tasks that take once each, and reports how many tuples they got.
    private func takers(_ count: Int, _ template: Template) async throws -> String {
        let namespace = try namespace()
        say("waiting")
        let taken = try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask { _ = try await namespace.take(matching: template) } }
            var taken = 0
            while try await group.next() != nil { taken += 1 }
            return taken
        }
        return "ok \(taken)"
    }

    private func answer(_ tuple: Tuple?) -> String { tuple.map { "ok \($0)" } ?? "none" }
}
