import ClusterStore
import EtcdMessages

extension EtcdMembers {
    private static let statusLimit = Duration.milliseconds(1500)

    /// What the members say of themselves, and which can't be reached.
    func status() async throws(StoreError) -> StoreStatus {
        var troubles: [String] = []
        var versions: [EtcdVersion] = []
        for (member, answer) in await statuses() {
            let url = member.url
            switch answer {
            case .success(let status):
                if let version = EtcdVersion(status.version), !versions.contains(version) { versions.append(version) }
                if status.leader == 0 { troubles.append("\(url) has no leader") }
                for error in status.errors where !error.contains("NO LEADER") && !error.contains("alarm:") {
                    troubles.append("\(url): \(error)")
                }
            case .failure(let failure):
                troubles.append(failure.message.contains("\(url)") ? failure.message : "\(url): \(failure.message)")
            }
        }
        if let trouble { troubles.append(trouble) }
        guard let oldest = versions.min() else {
            throw .unavailable(troubles.first ?? "no member of etcd says its version")
        }
        troubles += await alarms()
        troubles += versions.sorted().compactMap(\.trouble)
        return StoreStatus(version: oldest.description, troubles: troubles)
    }

    /// What each member says of itself, in the order of the members.
    func statuses() async -> [(EtcdMember, Result<EtcdStatusResponse, EtcdFailure>)] {
        let answers = await withTaskGroup(of: (Int, Result<EtcdStatusResponse, EtcdFailure>).self) { group in
            for (place, member) in all.enumerated() {
                group.addTask { (place, await self.status(of: member)) }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }
        }
        return answers.map { (all[$0.0], $0.1) }
    }

    /// What a member says of itself.
    func status(of member: EtcdMember) async -> Result<EtcdStatusResponse, EtcdFailure> {
        let answer: Result<EtcdStatusResponse, EtcdFailure>
        do throws(EtcdFailure) {
            let token = try await token(from: member)
            let status = try await member.call(
                EtcdMethods.status,
                EtcdStatusRequest(),
                token: token,
                timeLimit: Self.statusLimit
            )
            answer = .success(status)
        } catch {
            answer = .failure(error)
        }
        if answer.isAnswer { learn(member.url, (try? answer.get())?.header.clusterID) }
        return answer
    }

    /// The cluster's alarms; none if the user may not ask for them.
    private func alarms() async -> [String] {
        var request = EtcdAlarmRequest()
        request.action = .get
        guard let answer = try? await call(EtcdMethods.alarm, request) else { return [] }
        return answer.alarms.map { alarm in
            let member = "member \(String(alarm.memberID, radix: 16))"
            return switch alarm.alarm {
            case .nospace:
                "the alarm NOSPACE of \(member): etcd takes no more data; compact and defragment it, then disarm the alarm"
            case .corrupt: "the alarm CORRUPT of \(member): its data differ from the others'; replace the member"
            case .none, .UNRECOGNIZED: "the alarm \(alarm.alarm.rawValue) of \(member)"
            }
        }
    }
}

/// A version of etcd, such as 3.5.13.
struct EtcdVersion: Comparable, CustomStringConvertible {
    let numbers: [Int]
    let description: String

    /// - Parameter text: Three numbers with dots, and perhaps more behind a `-` or a `+`.
    init?(_ text: String) {
        let numbers = text.prefix { $0 != "-" && $0 != "+" }.split(separator: ".").map { Int($0) }
        guard numbers.count == 3, !numbers.contains(nil) else { return nil }
        self.numbers = numbers.compactMap(\.self)
        description = text
    }

    static func < (one: EtcdVersion, other: EtcdVersion) -> Bool {
        one.numbers.lexicographicallyPrecedes(other.numbers)
    }

    private var losesData: Bool { (0...2).map { [3, 5, $0] }.contains(numbers) }

    /// What is wrong with the version, if anything is.
    var trouble: String? {
        numbers.lexicographicallyPrecedes([3, 5, 13])
            ? "etcd \(self): use 3.5.13 or later\(losesData ? "; 3.5.0 to 3.5.2 lose data when killed" : "")" : nil
    }
}

extension Result<EtcdStatusResponse, EtcdFailure> {
    /// Whether the member has answered, be it that the user may not ask this.
    var isAnswer: Bool {
        switch self {
        case .success: true
        case .failure(let failure): failure.isAnswer
        }
    }
}
