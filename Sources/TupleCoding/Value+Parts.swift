// What a value holds, if it is of that kind.

extension Value {
    package var text: String? { if case .string(let text) = self { text } else { nil } }
    package var number: Int? { if case .int(let number) = self { number } else { nil } }
    package var flag: Bool? { if case .bool(let flag) = self { flag } else { nil } }
    package var list: [Value]? { if case .array(let list) = self { list } else { nil } }
    package var members: Record? { if case .object(let record) = self { record } else { nil } }
}
