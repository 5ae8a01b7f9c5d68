import SharedSpace

/// The id of a request: a string or an integer.
enum RequestID: Hashable, JSONConvertible {
    case number(Int)
    case text(Name)

    init?(_ value: Value) {
        switch value {
        case .int(let number): self = .number(number)
        // 1.0 is an integer to JSON, and is answered as 1.
        case .double(let number):
            guard let whole = Int(exactly: number) else { return nil }
            self = .number(whole)
        case .string(let text): self = .text(Name(text))
        default: return nil
        }
    }

    var json: String {
        switch self {
        case .number(let number): "\(number)"
        case .text(let name): name.text.json
        }
    }
}

/// An error of JSON-RPC.
struct ProtocolError: Error {
    let code: Int
    let message: String
    /// More on it.
    var data: JSONObject?

    static func parse(_ reason: String) -> ProtocolError {
        ProtocolError(code: -32700, message: "Parse error: \(reason)")
    }
    static func invalid(_ reason: String) -> ProtocolError {
        ProtocolError(code: -32600, message: "Invalid request: \(reason)")
    }
    static func unknownMethod(_ method: String) -> ProtocolError {
        ProtocolError(code: -32601, message: "Method not found: \(method.shortenedForPeople)")
    }
    static func parameters(_ reason: String) -> ProtocolError {
        ProtocolError(code: -32602, message: "Invalid params: \(reason)")
    }

    /// The answer to a request.
    ///
    /// - Parameters:
    ///   - id: The request's id; `nil` if that could not be read.
    ///   - hasNull: Whether a missing id is null, as JSON-RPC says; the protocol leaves it out from 2025-11-25 on.
    /// - Returns: The answer as JSON.
    func response(to id: RequestID?, hasNull: Bool = false) -> String {
        let error: JSONObject = ["code": code, "message": message, "data": data.orLeftOut]
        let response: JSONObject = ["jsonrpc": "2.0", "id": hasNull ? id : id.orLeftOut, "error": error]
        return response.json
    }
}

/// A message of the client.
struct IncomingMessage {
    let method: String
    /// `nil` for a notification.
    let id: RequestID?
    let parameters: Record

    /// Reads a message.
    ///
    /// - Returns: `nil` for a response: the server has asked nothing.
    /// - Throws: `ProtocolError`, and the id if that could be read.
    init?(_ value: Value) throws(IncomingFailure) {
        guard let members = value.members else { throw IncomingFailure(.invalid("a message is an object"), nil) }
        let given = members["id"]
        let id = given.flatMap { RequestID($0) }
        guard members["jsonrpc"]?.text == "2.0" else {
            throw IncomingFailure(.invalid("\"jsonrpc\" is not \"2.0\""), id)
        }
        guard let method = members["method"] else {
            if members["result"] != nil || members["error"] != nil { return nil }
            throw IncomingFailure(.invalid("there is no \"method\""), id)
        }
        guard let method = method.text else { throw IncomingFailure(.invalid("\"method\" is not a string"), id) }
        guard given == nil || id != nil else {
            throw IncomingFailure(.invalid("\"id\" is neither a string nor an integer"), nil)
        }
        var parameters = Record()
        if let value = members["params"] {
            guard let given = value.members else {
                throw IncomingFailure(.parameters("\"params\" is not an object"), id)
            }
            parameters = given
        }
        (self.method, self.id, self.parameters) = (method, id, parameters)
    }
}

/// A message that can't be understood, with its id if that can.
struct IncomingFailure: Error {
    let error: ProtocolError
    let id: RequestID?

    init(_ error: ProtocolError, _ id: RequestID?) { (self.error, self.id) = (error, id) }
}
