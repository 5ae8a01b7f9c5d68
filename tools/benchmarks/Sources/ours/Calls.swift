import SharedSpace

/// Calls on an empty queue in the forms that Swift has, beside the same through the C library (c/calls.c): with types, and
/// with tuples and templates as values, which are made for each call as C's are.
struct Calls {
    private static let payload = OneProcess.payload

    private let namespace: Namespace

    init(_ space: Space) throws { namespace = try space.namespace("bench") }

    func run(_ work: String, _ count: Int) throws {
        try measure("call", count) {
            switch work {
            case "typed-take": try takeTyped($0)
            case "typed-claim": try claimTyped($0)
            case "untyped-take": try takeUntyped($0)
            case "untyped-claim": try claimUntyped($0)
            default: throw Failure("there is no work \(work)")
            }
        }
        guard try namespace.count() == 0 else { throw Failure("tuples are left") }
    }

    private func takeTyped(_ number: Int) throws {
        try namespace.write("job", number, Self.payload)
        guard let (_, found, payload) = try namespace.takeIfExists("job", any(Int.self), any(String.self)) else {
            throw Failure("nothing to take")
        }
        guard found == number, payload == Self.payload else { throw Failure("tuple \(number) was not taken") }
    }

    private func claimTyped(_ number: Int) throws {
        try namespace.write("job", number, Self.payload)
        guard let claim = try namespace.claimIfExists("job", any(Int.self), any(String.self)) else {
            throw Failure("nothing to claim")
        }
        guard claim.content.1 == number, claim.content.2 == Self.payload else {
            throw Failure("tuple \(number) was not claimed")
        }
        try claim.complete()
    }

    private var next: Template { ["job", any(Int.self), any(String.self)] }

    private func takeUntyped(_ number: Int) throws {
        let tuple = Tuple("job", number, Self.payload)
        try namespace.write(tuple: tuple)
        guard try namespace.takeIfExists(matching: next) == tuple else { throw Failure("tuple \(number) was not taken") }
    }

    private func claimUntyped(_ number: Int) throws {
        let tuple = Tuple("job", number, Self.payload)
        try namespace.write(tuple: tuple)
        guard let claim = try namespace.claimIfExists(matching: next) else { throw Failure("nothing to claim") }
        guard claim.content == tuple else { throw Failure("tuple \(number) was not claimed") }
        try claim.complete()
    }
}
