/// A page of a tree, whose offsets have all been checked against the page's bounds.
///
/// mdb.c: a page has a header of 16 bytes (number, pad, flags, lower, upper). The offsets of the nodes follow, 2 bytes
/// each, up to `lower`; the nodes themselves begin at `upper`. A node has a header of 8 bytes (size, or the child's
/// page; flags; the key's size), then the key, then the value.
struct TreePage {
    /// Why some bytes are not a page of a tree.
    struct Reason: Error {
        let text: String
        init(_ text: String) { self.text = text }
    }

    enum Value {
        /// A place in the page.
        case here(Range<Int>)
        /// `count` bytes, in overflow pages that begin at `page`.
        case overflow(page: UInt64, count: Int)
    }

    struct Node {
        let key: Range<Int>
        /// The child's page; only in a branch.
        let child: UInt64
        /// The value; only in a leaf.
        let value: Value
        /// Whether the value is the root of a named database.
        let isRoot: Bool
    }

    static let header = 16
    private static let branch: UInt16 = 1
    private static let leaf: UInt16 = 2
    private static let overflow: UInt16 = 4
    private static let nodeHeader = 8
    // mdb.c: F_BIGDATA, F_SUBDATA.
    private static let bigData: UInt16 = 1
    private static let subData: UInt16 = 2

    let bytes: [UInt8]
    /// The page number in the page's header.
    let number: UInt64
    let isLeaf: Bool
    let nodes: [Node]

    /// Checks everything that can be checked from the page alone.
    ///
    /// `integerKeys`: Whether the keys are numbers in the machine's byte order, like those of the table of free pages.
    init(_ bytes: [UInt8], integerKeys: Bool = false) throws(Reason) {
        let size = bytes.count
        self.bytes = bytes
        number = bytes.number(0)
        let flags: UInt16 = bytes.number(10)
        guard flags == Self.branch || flags == Self.leaf else {
            if !bytes.contains(where: { $0 != 0 }) { throw Reason("it is all zeros") }
            if flags == Self.overflow { throw Reason("it is an overflow page") }
            throw Reason("its flags are \(flags)")
        }
        isLeaf = flags == Self.leaf
        let (lower, upper) = (Int(bytes.number(12, UInt16.self)), Int(bytes.number(14, UInt16.self)))
        guard lower >= Self.header, lower % 2 == 0, lower <= upper, upper <= size else {
            throw Reason("its bounds are \(lower) and \(upper)")
        }
        let count = (lower - Self.header) / 2
        guard count > 0, isLeaf || count > 1 else { throw Reason("it has \(count) nodes") }
        var nodes: [Node] = []
        nodes.reserveCapacity(count)
        var used = 0
        for index in 0..<count {
            let offset = Int(bytes.number(Self.header + 2 * index, UInt16.self))
            guard offset >= upper, offset % 2 == 0, offset <= size - Self.nodeHeader else {
                throw Reason("node \(index) begins at \(offset)")
            }
            let (node, end) = try Self.node(bytes, at: offset, index, isLeaf: isLeaf)
            used += (end - offset + 1) & ~1
            if let last = nodes.last {
                guard
                    Self.isAscending(
                        bytes[last.key],
                        bytes[node.key],
                        integerKeys,
                        afterFirstOfBranch: !isLeaf && index == 1
                    )
                else { throw Reason("its keys are not in order") }
            }
            nodes.append(node)
        }
        // mdb.c packs nodes without gaps, so the nodes take exactly the bytes that the header counts as used.
        guard used == size - upper else { throw Reason("its nodes take \(used) bytes of \(size - upper)") }
        self.nodes = nodes
    }

    private static func node(_ bytes: [UInt8], at offset: Int, _ index: Int, isLeaf: Bool) throws(Reason) -> (Node, Int)
    {
        let low = UInt64(bytes.number(offset, UInt16.self))
        let high = UInt64(bytes.number(offset + 2, UInt16.self))
        let flags: UInt16 = bytes.number(offset + 4)
        let keySize = Int(bytes.number(offset + 6, UInt16.self))
        let key = offset + nodeHeader..<offset + nodeHeader + keySize
        guard key.upperBound <= bytes.count, keySize <= 511, keySize > 0 || (!isLeaf && index == 0) else {
            throw Reason("the key of node \(index) has \(keySize) bytes")
        }
        guard isLeaf else {
            let child = low | high << 16 | UInt64(flags) << 32
            return (Node(key: key, child: child, value: .here(0..<0), isRoot: false), key.upperBound)
        }
        guard flags == 0 || flags == bigData || flags == subData else {
            throw Reason("the flags of node \(index) are \(flags)")
        }
        let count = Int(low | high << 16)
        let stored = flags == bigData ? 8 : count
        guard stored <= bytes.count - key.upperBound, flags != subData || count == TreeRoot.size else {
            throw Reason("the value of node \(index) has \(count) bytes")
        }
        let value: Value =
            flags == bigData
            ? .overflow(page: bytes.number(key.upperBound), count: count)
            : .here(key.upperBound..<key.upperBound + count)
        return (Node(key: key, child: 0, value: value, isRoot: flags == subData), key.upperBound + stored)
    }

    private static func isAscending(
        _ first: ArraySlice<UInt8>,
        _ second: ArraySlice<UInt8>,
        _ integerKeys: Bool,
        afterFirstOfBranch: Bool
    ) -> Bool {
        // LMDB never uses the first key of a branch, so it may be anything.
        if afterFirstOfBranch { return true }
        if integerKeys {
            guard first.count == 8, second.count == 8 else { return false }
            return Array(first).number(0, UInt64.self) < Array(second).number(0, UInt64.self)
        }
        return first.lexicographicallyPrecedes(second)
    }

    /// How many overflow pages a value of `count` bytes takes.
    static func overflowPages(_ count: Int, pageSize: Int) -> Int { (header - 1 + count) / pageSize + 1 }

    /// Why a page can't be the first overflow page of a value of `count` bytes; `nil` if it can.
    static func refusal(overflow bytes: [UInt8], _ number: UInt64, count: Int) -> String? {
        let pages = Int(bytes.number(12, UInt32.self))
        if bytes.number(10, UInt16.self) != overflow { return "it is not an overflow page" }
        if bytes.number(0) != number { return "the page number in it is \(bytes.number(0, UInt64.self))" }
        // mdb.c: more pages than needed are allowed, because a smaller value may have replaced a larger one.
        if pages < overflowPages(count, pageSize: bytes.count) {
            return "its \(pages) pages are too few for \(count) bytes"
        }
        return nil
    }
}
