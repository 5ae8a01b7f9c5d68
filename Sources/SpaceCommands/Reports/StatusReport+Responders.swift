import SharedSpace
import SpaceInspection

extension StatusReport {
    static let responderTitles = ["NAME", "ORDER", "KEY", "PID", "SINCE", "REQUESTS", "STATE"]

    /// A row for each responder, in the order in which they are asked.
    func responderRows(now: Int64) -> [[String]] {
        status.responders.map { responder in
            [
                responder.name, "\(responder.order)", responder.key,
                responder.elsewhere ?? PeopleText.cell(responder.pid),
                PeopleText.relative(responder.since, to: now), "\(responder.requests)",
                responder.isLeaving ? "leaving" : responder.isBase ? "base" : "responds",
            ]
        }
    }

    static let requestTitles = ["NAME", "PID", "SINCE", "WITH"]

    /// A row for each request, in the order in which they were made.
    func requestRows(now: Int64) -> [[String]] {
        status.requests.map { request in
            [
                request.name, request.elsewhere ?? PeopleText.cell(request.pid),
                PeopleText.relative(request.since, to: now),
                PeopleText.cell(request.responder),
            ]
        }
    }
}
