/// What a page shows besides the look at everything.
enum View: Sendable {
    case top
    case waits
    /// A namespace, and the tuples that match a template.
    case namespace(String, template: String)

    /// The template of all tuples.
    private static let anything = #""?""#
    private static let longest = 4096

    /// `nil` if the query asks for no such view.
    init?(_ query: [String: String]) {
        switch query["view"] {
        case nil, "top": self = .top
        case "waits": self = .waits
        case "namespace":
            let template = query["template"] ?? ""
            guard let name = query["ns"], Self.isWord(name), !name.hasPrefix("-"),
                template.isEmpty || Self.isWord(template)
            else { return nil }
            self = .namespace(name, template: template.isEmpty ? Self.anything : template)
        default: return nil
        }
    }

    /// Whether a text can be a word of a command line; its meaning is for the command to judge.
    private static func isWord(_ text: String) -> Bool {
        (1...longest).contains(text.utf8.count) && !text.utf8.contains(0)
    }
}
