/// One life of a namespace: from its creation to its deletion.
///
/// If a namespace is deleted and created again under the same name, it begins a new life, in which the numbers of its
/// changes start again. Neither a reboot nor the adoption of a durable namespace after it ends a life. A life's text is
/// 16 hexadecimal digits.
public struct NamespaceLife: Sendable, Hashable, LosslessStringConvertible, Codable, CodedAsText {
    /// A random number, never 0.
    package let number: UInt64

    package init(number: UInt64) { self.number = number }

    /// A new life: random, so two lives are equal only once in 2⁶⁴.
    package static var new: NamespaceLife { NamespaceLife(number: .random(in: 1...UInt64.max)) }

    /// Reads a life from its 16 hexadecimal digits; `nil` for any other text.
    public init?(_ description: String) {
        guard description.utf8.count == 16, description.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }),
            let number = UInt64(description, radix: 16), number != 0
        else { return nil }
        self.number = number
    }

    /// The life as 16 hexadecimal digits.
    public var description: String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    package static var misread: String { "a life is 16 hexadecimal digits" }
}

// MARK: In the data file
