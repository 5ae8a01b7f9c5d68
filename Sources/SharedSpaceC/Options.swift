import CSharedSpace
import TupleSpace

/// The flags of a call.
struct Flags: OptionSet {
    let rawValue: UInt32

    init(rawValue: UInt32) { self.rawValue = rawValue }
    private init(_ flag: Int) { rawValue = UInt32(flag) }

    static let record = Flags(SHAREDSPACE_RECORD)
    static let json = Flags(SHAREDSPACE_JSON)
    static let newest = Flags(SHAREDSPACE_NEWEST)
    static let exact = Flags(SHAREDSPACE_EXACT)
    static let observer = Flags(SHAREDSPACE_OBSERVER)
    static let persistent = Flags(SHAREDSPACE_PERSISTENT)
    static let ownLifetime = Flags(SHAREDSPACE_OWN_LIFETIME)
    static let ifAbsent = Flags(SHAREDSPACE_IF_ABSENT)
    static let ifEqual = Flags(SHAREDSPACE_IF_EQUAL)
    static let shared = Flags(SHAREDSPACE_SHARED)
    static let keep = Flags(SHAREDSPACE_KEEP)
    static let value = Flags(SHAREDSPACE_VALUE)
    static let ifVersion = Flags(SHAREDSPACE_IF_VERSION)
    static let replace = Flags(SHAREDSPACE_REPLACE)
    static let again = Flags(SHAREDSPACE_AGAIN)
    static let force = Flags(SHAREDSPACE_FORCE)
    static let gone = Flags(SHAREDSPACE_GONE)
    static let now = Flags(SHAREDSPACE_NOW)
    static let base = Flags(SHAREDSPACE_BASE)

    /// Refuses flags that a call does not know.
    func check(allowing known: Flags) throws(SpaceError) {
        let unknown = subtracting(known)
        guard unknown.isEmpty else {
            throw .misuse(
                "the flags \(unknown.rawValue) mean nothing to this call",
                advice: "leave them out, or use a newer library"
            )
        }
    }
}

/// The options of a call, copied and checked.
struct Options {
    private var how: sharedspace_how
    private(set) var flags: Flags

    /// Reads options; without any, all are the defaults.
    ///
    /// A caller that was compiled with an older header has fewer fields: the others are 0. One that was compiled with a
    /// newer header may have more, as long as they are 0.
    init(_ pointer: UnsafePointer<sharedspace_how>?, allowing known: Flags = []) throws(SpaceError) {
        how = sharedspace_how()
        flags = Flags(rawValue: 0)
        guard let pointer else { return }
        let size = Int(pointer.pointee.size)
        let ours = MemoryLayout<sharedspace_how>.size
        // A size that no version of the structure has could cut a pointer in two.
        guard (8...4096).contains(size), size.isMultiple(of: MemoryLayout<UInt64>.alignment) else {
            throw .misuse("the options have a size of \(size)", advice: "begin with sharedspace_defaults()")
        }
        let given = UnsafeRawPointer(pointer)
        if size > ours, !UnsafeRawBufferPointer(start: given + ours, count: size - ours).allSatisfy({ $0 == 0 }) {
            throw .misuse("the options have fields that this library does not know", advice: "use a newer library")
        }
        withUnsafeMutableBytes(of: &how) { $0.copyMemory(from: .init(start: given, count: min(size, ours))) }
        flags = Flags(rawValue: how.flags)
        try flags.check(allowing: known)
    }

    // MARK: Times

    /// How long to wait.
    var wait: Wait {
        get throws(SpaceError) {
            switch how.timeout_ms {
            case 0: .none
            case -1: .forever
            default: .upTo(try Self.duration(how.timeout_ms, "a time-out"))
            }
        }
    }

    /// How long to wait; `nil`: without limit.
    var timeout: Duration? {
        get throws(SpaceError) { how.timeout_ms == -1 ? nil : try Self.duration(how.timeout_ms, "a time-out") }
    }

    /// The function that is asked after signals; a look that does not wait needs none.
    var interruption: Interruption? { how.timeout_ms == 0 ? nil : interruptionOfAnyWait }

    /// The function that is asked after signals, even by a call that waits without a time-out.
    var interruptionOfAnyWait: Interruption? {
        guard let function = how.interrupted else { return nil }
        let question = Question(function: function, context: how.context)
        return Interruption { question.function(question.context) != 0 }
    }

    /// The caller's function and what it is passed.
    ///
    /// Unchecked Sendable: it is called on the thread that has passed it, during the call.
    private struct Question: @unchecked Sendable {
        let function: @convention(c) (UnsafeMutableRawPointer?) -> Int32
        let context: UnsafeMutableRawPointer?
    }

    /// The deadline; `nil`: none.
    var deadline: Duration? { get throws(SpaceError) { try Self.unlessZero(how.deadline_ms, "a deadline") } }
    var expiry: Duration? { get throws(SpaceError) { try Self.unlessZero(how.expires_ms, "an expiry") } }
    var interval: Duration { get throws(SpaceError) { try Self.duration(how.interval_ms, "an interval") } }
    var delay: Duration { get throws(SpaceError) { try Self.duration(how.delay_ms, "a delay") } }
    var lockTimeout: Duration? { get throws(SpaceError) { try Self.unlessZero(how.timeout_ms, "a time-out") } }

    private static func unlessZero(_ milliseconds: Int64, _ duty: String) throws(SpaceError) -> Duration? {
        milliseconds == 0 ? nil : try duration(milliseconds, duty)
    }

    /// A thousand years, for which all longer times count: every clock of the library can add it.
    private static let longest: Int64 = 1000 * 365 * 86_400_000

    private static func duration(_ milliseconds: Int64, _ duty: String) throws(SpaceError) -> Duration {
        let duration = Duration.milliseconds(min(milliseconds, longest))
        try duration.checkNotNegative(duty)
        return duration
    }

    // MARK: Numbers

    var max: Int { how.max == 0 ? .max : Int(clamping: how.max) }
    var byteLimit: Int? { how.limit_bytes == 0 ? nil : Int(clamping: how.limit_bytes) }
    var priority: Int { Int(how.priority) }
    var permits: Int { how.permits == 0 ? 1 : Int(how.permits) }
    var count: Int { how.count == 0 ? 1 : Int(how.count) }
    var amount: Int { Int(how.count) }
    var deliveries: Int? { Self.orNone(how.deliveries) }
    var bound: Int? { Self.orNone(how.bound) }
    var id: UInt64? { how.id == 0 ? nil : how.id }
    var version: UInt64 { how.version }

    /// A number that is given, 0 for none that counts.
    private static func orNone(_ number: Int64) -> Int? {
        number == 0 ? nil : number == SHAREDSPACE_FOREVER ? 0 : Int(number)
    }

    var order: MatchOrder { flags.contains(.newest) ? .newestFirst : .oldestFirst }
    var lifetime: Lifetime { flags.contains(.ownLifetime) ? .session : .permanent }

    // MARK: Texts

    var mode: StorageMode? {
        get throws(SpaceError) {
            guard let word = try text(how.mode, "the mode") else { return nil }
            guard let mode = StorageMode(rawValue: word) else {
                throw .misuse("there is no mode \(word.quotedForPeople)", advice: "fast, guarded or durable")
            }
            return mode
        }
    }
    var group: String? { get throws(SpaceError) { try text(how.group, "the group") } }
    var unique: String? { get throws(SpaceError) { try text(how.unique, "the unique key") } }
    var reason: String? { get throws(SpaceError) { try text(how.reason, "the reason") } }
    var subscription: String? { get throws(SpaceError) { try text(how.subscription, "the subscription") } }

    var value: sharedspace_bytes { how.value }

    /// The value, as what others see of a leader, or what is asked with; null if there is none.
    var valueOrNull: Value { get throws(SpaceError) { try value.valueOrNull(flags) } }
}

/// A string of the caller's; `nil` for NULL.
func text(_ pointer: UnsafePointer<CChar>?, _ what: String) throws(SpaceError) -> String? {
    guard let pointer else { return nil }
    guard let text = String(validatingCString: pointer) else {
        throw .misuse("\(what) is not UTF-8", advice: "encode it as UTF-8")
    }
    return text
}

/// A string that the call needs.
func required(_ pointer: UnsafePointer<CChar>?, _ what: String) throws(SpaceError) -> String {
    guard let text = try text(pointer, what) else { throw .isNull(what) }
    return text
}

extension SpaceError {
    static func isNull(_ what: String) -> SpaceError { .misuse("\(what) is NULL", advice: "give one") }
}
