/// A check of everything in the rows of ordered sets that has to agree.
///
/// - The directory's counts are the counts of its chunks, and each chunk is in the directory once.
/// - Each reference in a chunk has its element. The element names the chunk, decodes, and has the hash by which it is
///   found: that of its key, if the set has keys.
/// - A directory leads to each element and to each chunk, and no key or encoding occurs twice.
/// - Each row belongs to an existing object.
struct OrderedSetCheck {
    private let snapshot: Snapshot
    private(set) var damage: [String] = []

    init(_ snapshot: Snapshot) { self.snapshot = snapshot }

    mutating func run() throws(SpaceError) {
        var sets: [UInt64: (name: String, tally: Tally)] = [:]
        // The number 0 stands for the arguments of requests; no object has it.
        var numbers: Set<UInt64> = [0]
        try snapshot.forEachObject { (name, object) throws(SpaceError) in
            numbers.insert(object.number)
            guard object.kind == .orderedSet else { return }
            let isKeyed = CollectionDetails(object.details)?.keyType != nil
            sets[object.number] = (name, Tally(isKeyed: isKeyed))
        }
        var strays: [UInt64: Int] = [:]
        try forEachRow { (object, key, value) throws(SpaceError) in
            guard numbers.contains(object) else { return strays[object, default: 0] += 1 }
            sets[object]?.tally.take(key, value)
        }
        for (object, count) in strays.sorted(by: { $0.key < $1.key }) {
            damage.append("\(count) rows of the table of elements belong to object \(object), which there is not")
        }
        for (_, set) in sets.sorted(by: { $0.key < $1.key }) {
            for text in set.tally.findings { damage.append("the ordered set \(set.name.quotedForPeople): \(text)") }
        }
    }

    private func forEachRow(
        _ body: (UInt64, UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        var rows = try snapshot.elements.scan()
        while let (key, value) = try rows.nextBytes() { try body(key.count >= 8 ? key.big(0) : 0, key, value) }
    }

    /// The findings about one ordered set, whose rows come in the order of their keys: directory, chunks, elements.
    private struct Tally {
        private var directory: ElementDirectory?
        /// Whether the object's details say that the set identifies its elements by key.
        private let isKeyed: Bool

        init(isKeyed: Bool) { self.isKeyed = isKeyed }

        private var counts: [UInt32: Int] = [:]
        private var references: [ElementReference: UInt32] = [:]
        private var elements = 0
        private var lastOfHash: (hash: UInt64, identities: Set<[UInt8]>) = (0, [])
        private var problems: [String] = []

        mutating func take(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
            switch ElementKey(key: key)?.row {
            case nil: problems.append("a key of \(key.count) bytes is none")
            case .directory?:
                directory = ElementDirectory(value)
                if let directory, directory.isKeyed != isKeyed {
                    problems.append("its directory and its details differ on whether elements have keys")
                }
                for chunk in directory?.chunks ?? [] where counts.updateValue(chunk.count, forKey: chunk.id) != nil {
                    problems.append("chunk \(chunk.id) is in the directory twice")
                }
            case .chunk(let id)?: takeChunk(id, value)
            case .element(let reference)?: takeElement(reference, value)
            }
        }

        private mutating func takeChunk(_ id: UInt32, _ value: UnsafeRawBufferPointer) {
            guard let count = counts.removeValue(forKey: id) else {
                return problems.append("chunk \(id) is not in the directory")
            }
            guard let chunk = [ElementReference](chunk: value, count: count) else {
                return problems.append("chunk \(id) has \(value.count) bytes for \(count) elements")
            }
            for reference in chunk where references.updateValue(id, forKey: reference) != nil {
                problems.append("an element is in chunk \(id) and somewhere else")
            }
        }

        private mutating func takeElement(_ reference: ElementReference, _ value: UnsafeRawBufferPointer) {
            elements += 1
            guard let row = ElementRow(value, isKeyed: isKeyed) else {
                return problems.append("an element is too short")
            }
            guard references.removeValue(forKey: reference) == row.chunk else {
                return problems.append("an element names chunk \(row.chunk), which does not have it")
            }
            let identity = Array(row.identity)
            if hash64(identity) != reference.hash { problems.append("an element has another hash than it is found by") }
            if (try? Value(encodedElement: row.encoded)) == nil || (try? Value(encodedElement: row.identity)) == nil {
                problems.append("an element does not decode")
            }
            if lastOfHash.hash != reference.hash { lastOfHash = (reference.hash, []) }
            if !lastOfHash.identities.insert(identity).inserted { problems.append("an element is there twice") }
        }

        var findings: [String] {
            var findings = problems
            guard let directory else { return ["its directory is missing or does not decode"] + findings }
            if !counts.isEmpty { findings.append("\(counts.count) chunks of the directory are missing") }
            if !references.isEmpty { findings.append("\(references.count) elements of its chunks are missing") }
            if elements != directory.count {
                findings.append("it has \(elements) elements, and the directory says \(directory.count)")
            }
            return findings
        }
    }
}

extension IntegrityCheck {
    mutating func checkOrderedSets() throws(SpaceError) {
        var check = OrderedSetCheck(snapshot)
        try check.run()
        for text in check.damage { report(text) }
    }
}
