package import TupleCoding

extension Value {
    var text: String? { if case .string(let text) = self { text } else { nil } }
    var number: Int? { if case .int(let number) = self { number } else { nil } }
    var flag: Bool? { if case .bool(let flag) = self { flag } else { nil } }
    var list: [Value]? { if case .array(let list) = self { list } else { nil } }
    package var members: Record? { if case .object(let record) = self { record } else { nil } }
}
