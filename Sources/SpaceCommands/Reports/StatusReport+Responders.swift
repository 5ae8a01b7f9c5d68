import SharedSpace
import SpaceInspection

extension StatusReport {
    static func object(_ responder: NamespaceStatus.Responder, in line: JSONObject = JSONObject()) -> JSONObject {
        var object = line
        object.add("name", responder.name)
        object.add("key", responder.key)
        object.add("pid", responder.pid)
        if let elsewhere = responder.elsewhere { object.add("elsewhere", elsewhere) }
        object.add("order", responder.order)
        object.add("base", responder.isBase)
        object.add("leaving", responder.isLeaving)
        object.add("since", responder.since)
        object.add("requests", responder.requests)
        return object
    }

    static func object(_ request: NamespaceStatus.Request, in line: JSONObject = JSONObject()) -> JSONObject {
        var object = line
        object.add("name", request.name)
        object.add("pid", request.pid)
        if let elsewhere = request.elsewhere { object.add("elsewhere", elsewhere) }
        object.add("responder", request.responder)
        object.add("since", request.since)
        return object
    }

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
