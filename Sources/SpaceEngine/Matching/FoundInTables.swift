import SpaceSystem
import TupleCoding

/// The templates whose last match was in LMDB's tables, so that the next one probably is too: a guess that spares a look.
///
/// It knows a few templates, by shape and hash, each in one word.
///
/// Unchecked Sendable: the words are atomic.
final class FoundInTables: @unchecked Sendable {
    private static let capacity = 16

    private let words: UnsafeMutablePointer<UInt64>

    init() {
        words = .allocate(capacity: Self.capacity)
        words.initialize(repeating: 0, count: Self.capacity)
    }

    deinit { words.deallocate() }

    /// The template's word, and the value that names it; `nil` for a template that needs a longer look.
    @inline(__always)
    private func word(of template: TemplateForm) -> (word: SharedWord64, name: UInt64)? {
        guard case .fields(let arity, let bound) = template.shape, !template.usesPattern else { return nil }
        let name = (template.boundHash ^ bound &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(truncatingIfNeeded: arity)) | 1
        return (SharedWord64(at: words + Int(name >> 32) % Self.capacity), name)
    }

    @inline(__always)
    func has(_ template: TemplateForm) -> Bool { word(of: template).map { $0.loadRelaxed() == $1 } ?? false }

    func note(_ template: TemplateForm) { if let (word, name) = word(of: template) { word.storeRelaxed(name) } }

    func forget(_ template: TemplateForm) { if has(template) { word(of: template)?.word.storeRelaxed(0) } }
}
