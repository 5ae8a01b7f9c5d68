/// A set of Unicode scalars, as a regular expression describes it.
indirect enum ScalarSet: Sendable {
    case range(ClosedRange<UInt32>)
    case anything
    case newline
    case digit
    case word
    case whitespace
    case horizontalSpace
    case categories(Set<Unicode.GeneralCategory>)
    case property(@Sendable (Unicode.Scalar.Properties) -> Bool)
    case union([ScalarSet])
    case intersection(ScalarSet, ScalarSet)
    case inverted(ScalarSet)

    static func scalar(_ scalar: Unicode.Scalar) -> ScalarSet { .range(scalar.value...scalar.value) }

    /// Whether the scalar is in the set; without regard to case, the set of a range has both cases.
    func contains(_ scalar: Unicode.Scalar, ignoringCase ignoresCase: Bool) -> Bool {
        switch self {
        case .range(let range):
            range.contains(scalar.value) || ignoresCase && Self.others(of: scalar).contains(where: range.contains)
        case .anything: true
        case .newline: Self.isNewline(scalar)
        case .digit: scalar.properties.numericType != nil
        case .word: Self.isWord(scalar)
        case .whitespace: scalar.properties.isWhitespace
        case .horizontalSpace: scalar.value == 9 || scalar.properties.generalCategory == .spaceSeparator
        case .categories(let categories): categories.contains(scalar.properties.generalCategory)
        case .property(let has): has(scalar.properties)
        case .union(let sets): sets.contains { $0.contains(scalar, ignoringCase: ignoresCase) }
        case .intersection(let left, let right):
            left.contains(scalar, ignoringCase: ignoresCase) && right.contains(scalar, ignoringCase: ignoresCase)
        case .inverted(let set): !set.contains(scalar, ignoringCase: ignoresCase)
        }
    }

    /// The same letter in the other cases, if each is one scalar.
    private static func others(of scalar: Unicode.Scalar) -> [UInt32] {
        [scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping].compactMap { text in
            let scalars = text.unicodeScalars
            return scalars.count == 1 ? scalars.first?.value : nil
        }
    }

    static func isNewline(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }

    /// Letters, the digits of ASCII and "_", as in Swift's `Regex`: a combining mark is none.
    static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar == "_" || ("0"..."9").contains(scalar)
    }
}

/// A set with its answers for ASCII, and perhaps without regard to case.
struct ScalarTest: Sendable {
    private let set: ScalarSet
    private let ignoresCase: Bool
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    init(_ set: ScalarSet, ignoresCase: Bool) {
        self.set = set
        self.ignoresCase = ignoresCase
        for value in UInt32(0)..<128 {
            guard let scalar = Unicode.Scalar(value), decide(scalar) else { continue }
            if value < 64 { low |= 1 << value } else { high |= 1 << (value - 64) }
        }
    }

    @inline(__always)
    func contains(_ scalar: Unicode.Scalar) -> Bool {
        let value = scalar.value
        if value < 64 { return low >> value & 1 != 0 }
        if value < 128 { return high >> (value - 64) & 1 != 0 }
        return decide(scalar)
    }

    private func decide(_ scalar: Unicode.Scalar) -> Bool { set.contains(scalar, ignoringCase: ignoresCase) }
}
