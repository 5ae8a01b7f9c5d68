import TupleCoding

/// Changes JSON text in one place, and leaves everything else as it is: the order, the spaces, unknown members.
struct JSONEdit {
    private(set) var text: [UInt8]

    /// Begins with an object without members.
    init() { text = Array("{}\n".utf8) }

    /// Begins with a text; an empty one counts as an object without members.
    ///
    /// - Throws: `AgentError` if it is no JSON object: with comments in it, for example.
    init(_ text: [UInt8]) throws(AgentError) {
        let isBlank = text.allSatisfy { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
        self.text = isBlank ? Array("{}\n".utf8) : text
        do {
            guard try Value(foreignJSON: self.text).members != nil else { throw AgentError("it is no JSON object") }
        } catch let error as AgentError {
            throw error
        } catch {
            throw AgentError("it is not plain JSON (\(error))")
        }
    }

    /// A member of an object or an element of an array: where it begins, with its name, and where its value is.
    private struct Part {
        let name: String
        let start: Int
        let value: Range<Int>
    }

    // MARK: Changing

    /// Sets a member, and makes the objects around it that are missing.
    ///
    /// - Parameters:
    ///   - path: The names from the outermost object on.
    ///   - value: The member's value, as JSON.
    /// - Throws: `AgentError` if something on the path is no object.
    mutating func set(_ path: [String], to value: String) throws(AgentError) {
        var place = start
        for (depth, name) in path.enumerated() {
            guard text[place] == UInt8(ascii: "{") else {
                throw AgentError("\"\(path[max(0, depth - 1)])\" is no object")
            }
            if let part = parts(at: place).last(where: { $0.name == name }) {
                guard depth + 1 < path.count else { return text.replaceSubrange(part.value, with: value.utf8) }
                place = part.value.lowerBound
                continue
            }
            var inner = value
            for name in path[(depth + 1)...].reversed() { inner = "{ \(Value.string(name).json): \(inner) }" }
            return insert("\(Value.string(name).json): \(inner)", into: place, depth: depth + 1)
        }
    }

    /// Adds an element to an array, unless an element has a mark in its text; the array is made if it is missing.
    ///
    /// - Throws: `AgentError` if something on the path is no object, or its end no array.
    mutating func add(_ element: String, to path: [String], unlessOneHas mark: String) throws(AgentError) {
        guard let array = value(at: path) else { return try set(path, to: "[\(element)]") }
        guard text[array.lowerBound] == UInt8(ascii: "[") else {
            throw AgentError("\"\(path.last ?? "")\" is no array")
        }
        guard !parts(at: array.lowerBound).contains(where: { contains(mark, in: $0.value) }) else { return }
        insert(element, into: array.lowerBound, depth: path.count + 1)
    }

    /// Replaces the selected texts by another one, however deep they are in a value.
    ///
    /// - Parameters:
    ///   - path: The names of the value.
    ///   - new: The text, as JSON.
    ///   - isMeant: Whether a text is replaced.
    mutating func replaceTexts(in path: [String], by new: String, where isMeant: (String) -> Bool) {
        guard let value = value(at: path) else { return }
        var index = value.lowerBound
        let rest = text.count - value.upperBound
        while index < text.count - rest {
            guard text[index] == UInt8(ascii: "\"") else {
                index += 1
                continue
            }
            let end = end(ofValueAt: index)
            if let old = (try? Value(foreignJSON: Array(text[index..<end])))?.text, isMeant(old) {
                text.replaceSubrange(index..<end, with: new.utf8)
                index += new.utf8.count
            } else {
                index = end
            }
        }
    }

    /// Removes a member; `false` if it isn't there.
    mutating func remove(_ path: [String]) -> Bool {
        guard let name = path.last, let object = value(at: path.dropLast()) else { return false }
        return remove(from: object.lowerBound) { part, _ in part.name == name }
    }

    /// Removes the elements of an array that have a mark in their text; `false` if there are none.
    mutating func remove(from path: [String], having mark: String) -> Bool {
        guard let array = value(at: path), text[array.lowerBound] == UInt8(ascii: "[") else { return false }
        return remove(from: array.lowerBound) { part, edit in edit.contains(mark, in: part.value) }
    }

    /// Removes a member, and the objects around it that are empty then.
    ///
    /// - Returns: The text; `nil` if nothing is left.
    mutating func removeAndPrune(_ path: [String]) -> [UInt8]? { remove(path) ? prune(path.dropLast()) : text }

    /// Removes the elements of an array that have a mark, and what around it is empty then.
    ///
    /// - Returns: The text; `nil` if nothing is left.
    mutating func removeAndPrune(from path: [String], having mark: String) -> [UInt8]? {
        remove(from: path, having: mark) ? prune(path[...]) : text
    }

    private mutating func prune(_ path: ArraySlice<String>) -> [UInt8]? {
        var path = Array(path)
        while let place = value(at: path), parts(at: place.lowerBound).isEmpty {
            guard !path.isEmpty else { return nil }
            _ = remove(path)
            path.removeLast()
        }
        return text
    }

    /// The value of a member; `nil` if it isn't there.
    func json(at path: [String]) -> Value? { value(at: path).flatMap { try? Value(foreignJSON: Array(text[$0])) } }

    /// Whether an array has an element with a mark in its text.
    func hasElement(in path: [String], having mark: String) -> Bool {
        guard let array = value(at: path) else { return false }
        return parts(at: array.lowerBound).contains { contains(mark, in: $0.value) }
    }

    /// Whether a member is there.
    func has(_ path: [String]) -> Bool { value(at: path) != nil }

    private mutating func insert(_ part: String, into place: Int, depth: Int) {
        let indent = String(repeating: "  ", count: depth)
        if let last = parts(at: place).last {
            text.insert(contentsOf: ",\n\(indent)\(part)".utf8, at: last.value.upperBound)
        } else {
            let end = self.end(ofValueAt: place) - 1
            let outer = String(repeating: "  ", count: depth - 1)
            text.replaceSubrange((place + 1)..<end, with: "\n\(indent)\(part)\n\(outer)".utf8)
        }
    }

    private mutating func remove(from place: Int, where isMeant: (Part, JSONEdit) -> Bool) -> Bool {
        var hasRemoved = false
        while true {
            let all = parts(at: place)
            guard let index = all.firstIndex(where: { isMeant($0, self) }) else { return hasRemoved }
            hasRemoved = true
            // With the comma before it, or, for the first element, the comma after it.
            if index > 0 {
                text.removeSubrange(all[index - 1].value.upperBound..<all[index].value.upperBound)
            } else if all.count > 1 {
                text.removeSubrange(all[0].start..<all[1].start)
            } else {
                text.removeSubrange((place + 1)..<(end(ofValueAt: place) - 1))
            }
        }
    }

    // MARK: Reading

    private var start: Int { skippingSpace(0) }

    private func value(at path: [String]) -> Range<Int>? {
        var place = start
        for name in path {
            guard text[place] == UInt8(ascii: "{"), let part = parts(at: place).last(where: { $0.name == name }) else {
                return nil
            }
            place = part.value.lowerBound
        }
        return place..<end(ofValueAt: place)
    }

    private func contains(_ mark: String, in range: Range<Int>) -> Bool {
        String(decoding: text[range], as: UTF8.self).contains(mark)
    }

    /// The members of an object, or the elements of an array.
    ///
    /// The text is known to be JSON.
    private func parts(at place: Int) -> [Part] {
        let isObject = text[place] == UInt8(ascii: "{")
        guard isObject || text[place] == UInt8(ascii: "[") else { return [] }
        var parts: [Part] = []
        var index = skippingSpace(place + 1)
        while text[index] != UInt8(ascii: "}"), text[index] != UInt8(ascii: "]") {
            let start = index
            var name = ""
            if isObject {
                let end = end(ofValueAt: index)
                name = (try? Value(foreignJSON: Array(text[index..<end])).text) ?? ""
                index = skippingSpace(skippingSpace(end) + 1)
            }
            let end = end(ofValueAt: index)
            parts.append(Part(name: name, start: start, value: index..<end))
            index = skippingSpace(end)
            if text[index] == UInt8(ascii: ",") { index = skippingSpace(index + 1) }
        }
        return parts
    }

    private func end(ofValueAt place: Int) -> Int {
        var index = place
        var depth = 0
        repeat {
            switch text[index] {
            case UInt8(ascii: "\""):
                index += 1
                while text[index] != UInt8(ascii: "\"") { index += text[index] == UInt8(ascii: "\\") ? 2 : 1 }
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default:
                // A number or a word, which ends before what can't be a part of it.
                while depth == 0, index + 1 < text.count, !Self.isBreak(text[index + 1]) { index += 1 }
            }
            index += 1
        } while depth > 0
        return index
    }

    private static func isBreak(_ byte: UInt8) -> Bool { byte <= 0x20 || ",]}".utf8.contains(byte) }

    private func skippingSpace(_ place: Int) -> Int {
        var index = place
        while index < text.count, text[index] <= 0x20 { index += 1 }
        return index
    }
}
