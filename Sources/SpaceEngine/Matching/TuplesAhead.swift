import LMDB
import Synchronization

/// Copies of the tuples that the next takes from a long queue will find.
///
/// A take from the tables borrows a reader, walks through an index, and looks up a row. If a process takes several
/// times in a row by one template, one of the takes also copies the tuples after its own match; the next takes only
/// look at this list and at the marks.
///
/// Guarantees: what is found here is the oldest match as of LMDB's last commit. Within one commit the tables stay as
/// they are and marks are only added (`NearMarks`), so it is the first tuple of a list that is not marked. A list
/// belongs to one commit, and ends before the first tuple that would not be found, or that might end by itself. Whether
/// the tuple is still there is decided under the gate, as after every look.
///
/// A commit that applies marks is the last one for a moment before it drops them, and longer if its process is stopped
/// there. Such a commit may have returned tuples that the marks call claimed. So a list uses the marks of one
/// generation only: that of the commit, or a later one.
///
/// How many tuples are copied follows from how many are used before the next commit.
final class TuplesAhead: Sendable {
    private static let mostBytes = 16 << 10

    fileprivate struct Entry {
        let id: UInt64
        let origin: Origin
        let deliveries: UInt32
        let start: UInt32
        let count: UInt32
        let isRecord: Bool
    }

    /// What was copied for templates of one shape and hash.
    ///
    /// Unchecked Sendable: it belongs to the holder of the lock, or to the thread that has taken it out of its place.
    fileprivate final class List: @unchecked Sendable {
        private static let leastWish = 4

        let place: Int
        let shape: Shape
        let hash: UInt64
        var commit: Int
        /// The generation of the marks by which the list goes.
        var generation: UInt64 = 0
        /// The key of the index, or of all tuples, of which the list has the oldest that are not marked.
        var head = IndexKey.allTuples
        /// The entries before it are marked.
        var next = 0
        /// How many tuples the next copying may copy.
        var wish = leastWish
        var entries: [Entry] = []
        var bytes: [UInt8] = []

        init(for template: TemplateForm, at place: Int, asOf commit: Int) {
            (shape, hash, self.place, self.commit) = (template.shape, template.boundHash, place, commit)
        }

        @inline(__always)
        func isFor(_ template: TemplateForm) -> Bool { hash == template.boundHash && shape == template.shape }

        /// Whether a tuple was added: whether there is room for it.
        func add(_ id: UInt64, _ row: TupleRow) -> Bool {
            let (start, count) = (bytes.count, row.encoded.bytes.count)
            guard start + count <= mostBytes else { return false }
            bytes.append(contentsOf: row.encoded.bytes)
            entries.append(
                Entry(
                    id: id,
                    origin: row.origin,
                    deliveries: row.deliveries,
                    start: UInt32(start),
                    count: UInt32(count),
                    isRecord: row.isRecord
                )
            )
            return true
        }

        /// Forgets what was copied; copies more the next time if all was used, or less if most was not.
        func empty() {
            if next == entries.count {
                wish = min(wish * 2, NearMarks.capacity)
            } else if next < entries.count / 2 {
                wish = max(wish / 2, Self.leastWish)
            }
            next = 0
            entries.removeAll(keepingCapacity: true)
            bytes.removeAll(keepingCapacity: true)
        }
    }

    private struct Lists {
        private static let places = 4

        private var all = [List?](repeating: nil, count: places)
        private var nextPlace = 0
        /// The hashes of templates by which a take has looked as of a commit, and has no list yet.
        private var sightings = [(hash: UInt64, commit: Int)](repeating: (0, -1), count: places)
        private var nextSighting = 0

        /// Takes the list of a template out of its place to be filled; `nil` for the first take as of a commit.
        mutating func begin(_ template: TemplateForm, asOf commit: Int) -> List? {
            if let list = all.first(where: { $0?.isFor(template) ?? false }) ?? nil {
                let isOfCommit = list.commit == commit
                list.commit = commit
                if !list.entries.isEmpty { list.empty() }
                guard isOfCommit else { return nil }
                all[list.place] = nil
                return list
            }
            let hash = template.boundHash
            guard sightings.contains(where: { $0 == (hash, commit) }) else {
                sightings[nextSighting] = (hash, commit)
                nextSighting = (nextSighting + 1) % Self.places
                return nil
            }
            // A list of an older commit goes first.
            let place = all.firstIndex { $0.map { $0.commit != commit } ?? true } ?? nextPlace
            nextPlace = (place + 1) % Self.places
            return List(for: template, at: place, asOf: commit)
        }

        mutating func end(_ list: List) { all[list.place] = list }

        /// The first tuple that is not marked, whose bytes are copied to `buffer`.
        func first(
            _ template: TemplateForm,
            asOf commit: Int,
            _ marks: NearMarks,
            copiedTo buffer: UnsafeMutableRawBufferPointer
        ) -> (Entry, head: IndexKey)? {
            for list in all {
                guard let list, list.commit == commit, list.isFor(template) else { continue }
                guard marks.generation == list.generation else { return nil }
                let count = list.entries.count
                var next = list.next
                while next < count, marks.place(of: list.entries[next].id) != nil { next += 1 }
                list.next = next
                guard next < count else { return nil }
                let entry = list.entries[next]
                list.bytes.withUnsafeBytes { bytes in
                    let bytes = bytes[Int(entry.start)..<Int(entry.start + entry.count)]
                    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes))
                }
                return (entry, list.head)
            }
            return nil
        }
    }

    private let lists = Mutex(Lists())
    /// Asking costs one load while there is none.
    private let mayHaveAny = Atomic<Bool>(false)

    @inline(__always)
    var mayHave: Bool { mayHaveAny.load(ordering: .relaxed) }

    /// The oldest match as of a commit, copied to `buffer`, and the key of which all older tuples are marked; `nil` if that
    /// is not known.
    func first(
        _ template: TemplateForm,
        asOf commit: Int,
        _ marks: NearMarks,
        copiedTo buffer: UnsafeMutableRawBufferPointer
    ) -> (match: CopiedMatch, head: IndexKey)? {
        let found = lists.withLock { $0.first(template, asOf: commit, marks, copiedTo: buffer) }
        guard let (entry, head) = found else { return nil }
        let tuple = EncodedTuple(
            bytes: UnsafeRawBufferPointer(rebasing: buffer[..<Int(entry.count)]),
            isRecord: entry.isRecord
        )
        // Another template of this shape and hash may want another type.
        guard template.matches(tuple) else { return nil }
        let match = CopiedMatch(
            id: TupleID(rawValue: entry.id),
            tuple: tuple,
            origin: entry.origin,
            deliveries: entry.deliveries
        )
        return (match, head)
    }

    /// Copies a match and the tuples after it, if it is the second or a later match of its template as of this commit.
    ///
    /// The match itself stays the first if its taker can't use it. A row that does not decode ends the list: the look
    /// that reaches it fails.
    func copy(_ search: Search, _ template: TemplateForm, from id: UInt64, _ head: IndexKey, _ marks: NearMarks) {
        let commit = search.snapshot.commit
        guard let list = lists.withLock({ $0.begin(template, asOf: commit) }) else { return }
        list.head = head
        list.generation = marks.generation
        // With the last mark comes a commit.
        let most = min(list.wish, NearMarks.capacity - marks.count)
        do throws(SpaceError) {
            guard list.generation >= NearMarks.generation(applied: try search.snapshot.nearBounds().applied) else {
                return
            }
            try search.walkAhead(template, from: id, head) { (id, row) in
                list.entries.count < most && list.add(id, row)
            }
        } catch {}
        // Pages that were cut off read as zeros.
        guard !search.snapshot.access.isDamaged else { return }
        lists.withLock { $0.end(list) }
        mayHaveAny.store(true, ordering: .relaxed)
    }
}

extension Search {
    /// Calls `visit` for the tuples of a key from one of them on until it returns `false`, or a tuple does not match, is
    /// long, or may end by itself, or many are claimed.
    fileprivate func walkAhead(
        _ template: TemplateForm,
        from id: UInt64,
        _ key: IndexKey,
        _ visit: (UInt64, TupleRow) -> Bool
    ) throws(SpaceError) {
        var rows = try snapshot.tuples.scan(from: id)
        var claimed = 0
        func goesOn(_ id: UInt64, _ row: TupleRow) -> Bool {
            if row.isClaimed {
                claimed += 1
                return claimed < NearMarks.capacity
            }
            if snapshot.near?.pointee.isMarked(id) ?? false { return true }
            guard row.end.isNever, row.size < LongField.leastLength, template.matches(row.encoded) else { return false }
            return visit(id, row)
        }
        guard key.shape != IndexKey.allTuples.shape else {
            while let (id, row) = try rows.next(), goesOn(id, row) {}
            return
        }
        var named = try snapshot.index.scan(from: IndexKey(shape: key.shape, hash: key.hash, id: id))
        while let (name, _) = try named.next(), name.shape == key.shape, name.hash == key.hash {
            guard let row = try rows.next(name.id), goesOn(name.id, row) else { return }
        }
    }
}
