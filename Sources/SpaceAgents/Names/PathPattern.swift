/// The files of a repository that a hold covers: a path from the folder of a worktree, with `*`, `?` and `**` as
/// wildcards.
///
/// `*` stands for any characters of one name, `?` for one character, and `**` as a whole name for any number of
/// folders, even none. All other characters stand for themselves, brackets too: `app/[id]/page.tsx` is the name of a
/// file. If the last name has no wildcard, the pattern also covers everything below it, because it may be a folder.
struct PathPattern: Hashable, Sendable {
    private enum Token: Hashable {
        case scalar(Unicode.Scalar)
        case one
        case any
    }

    private enum Component: Hashable {
        case folders
        case name([Token])
    }

    private let components: [Component]
    /// Whether it covers files outside of the worktree, whose paths begin at the root.
    private let isAbsolute: Bool

    /// Reads a pattern.
    ///
    /// - Parameters:
    ///   - text: The pattern.
    ///   - isLiteral: Whether it is the path of a file, in which nothing is a wildcard.
    init(_ text: some StringProtocol, isLiteral: Bool = false) {
        var components: [Component] = []
        for part in text.unicodeScalars.split(separator: "/") where !part.elementsEqual(".".unicodeScalars) {
            let isDeep = !isLiteral && part.elementsEqual("**".unicodeScalars)
            if isDeep {
                if components.last != .folders { components.append(.folders) }
                continue
            }
            components.append(
                .name(part.map { isLiteral ? .scalar($0) : $0 == "*" ? .any : $0 == "?" ? .one : .scalar($0) })
            )
        }
        // The root alone is the folder of all.
        if !isLiteral, components.isEmpty { components.append(.folders) }
        if !isLiteral, case .name(let last)? = components.last, !last.contains(.any), !last.contains(.one) {
            components.append(.folders)
        }
        self.components = components
        isAbsolute = text.utf8.first == UInt8(ascii: "/")
    }

    /// Makes a pattern of all that is below a folder, in whose absolute path nothing is a wildcard.
    init(below folder: String) {
        let path = PathPattern(folder, isLiteral: true)
        (components, isAbsolute) = (path.components + [.folders], true)
    }

    /// Whether a file could match both.
    ///
    /// - Complexity: O(n · m) in the lengths of the two.
    func overlaps(_ other: PathPattern) -> Bool {
        isAbsolute == other.isAbsolute && beginsAlike(other)
            && Self.meet(components, other.components, isSpread: { $0 == .folders }) { left, right in
                guard case .name(let left) = left, case .name(let right) = right else { return true }
                return Self.meet(left, right, isSpread: { $0 == .any }) { left, right in
                    left == .one || right == .one || left == right
                }
            }
    }

    /// Whether the names before the first wildcard of either are the same: most patterns part here.
    private func beginsAlike(_ other: PathPattern) -> Bool {
        for (left, right) in zip(components, other.components) {
            guard case .name(let left) = left, case .name(let right) = right else { return true }
            if (left + right).contains(where: { $0 == .any || $0 == .one }) { return true }
            if left != right { return false }
        }
        return true
    }

    /// Whether there is a sequence that both describe; a spread element stands for any number of elements.
    private static func meet<Element>(
        _ left: [Element],
        _ right: [Element],
        isSpread: (Element) -> Bool,
        _ fits: (Element, Element) -> Bool
    ) -> Bool {
        // Whether the parts after place i of the one and place j of the other can match, computed from the ends on; one
        // row is kept.
        var below = [Bool](repeating: false, count: right.count + 1)
        for i in stride(from: left.count, through: 0, by: -1) {
            var row = [Bool](repeating: false, count: right.count + 1)
            for j in stride(from: right.count, through: 0, by: -1) {
                switch (i < left.count, j < right.count) {
                case (false, false): row[j] = true
                case (true, false): row[j] = isSpread(left[i]) && below[j]
                case (false, true): row[j] = isSpread(right[j]) && row[j + 1]
                case (true, true):
                    // A spread element ends here, or stands for the other's next element and goes on.
                    row[j] =
                        isSpread(left[i]) || isSpread(right[j])
                        ? below[j] || row[j + 1] : fits(left[i], right[j]) && below[j + 1]
                }
            }
            below = row
        }
        return below[0]
    }
}
