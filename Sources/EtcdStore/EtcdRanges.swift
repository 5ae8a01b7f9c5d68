import ClusterStore
import EtcdMessages

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension StoreRange {
    /// The first key of the range, for etcd.
    var start: Data {
        switch self {
        case .key(let key): Data(key.utf8)
        // etcd has no empty key, and a NUL is the first of all.
        case .prefix(let prefix): prefix.isEmpty ? Data([0]) : Data(prefix.utf8)
        }
    }

    /// The first key behind the range; empty for one key.
    var end: Data {
        guard case .prefix(let prefix) = self else { return Data() }
        var bytes = Array(prefix.utf8)
        while let last = bytes.popLast() {
            guard last < 0xFF else { continue }
            bytes.append(last + 1)
            return Data(bytes)
        }
        // etcd: a NUL as the end stands for all keys from the start on.
        return Data([0])
    }
}

extension EtcdRangeRequest {
    init(_ range: StoreRange) {
        self.init()
        key = range.start
        rangeEnd = range.end
    }
}

extension EtcdTxnRequest {
    init(_ transaction: StoreTransaction) {
        self.init()
        compare = transaction.compares.map(EtcdCompare.init)
        success = transaction.then.map(EtcdRequestOp.init)
        failure = transaction.otherwise.map(EtcdRequestOp.init)
    }
}

extension EtcdCompare {
    init(_ compare: StoreCompare) {
        self.init()
        result = .equal
        switch compare {
        case .value(let key, let value):
            // etcd: the compare of a value fails if there is no key.
            target = .value
            self.key = StoreRange.key(key).start
            self.value = Data(value)
        case .modified(let key, let revision):
            // etcd: a key that does not exist has revision 0.
            target = .mod
            self.key = StoreRange.key(key).start
            modRevision = revision
        case .absent(let range):
            // It must hold for all keys of the range, and none that exists was made by revision 0.
            target = .create
            key = range.start
            rangeEnd = range.end
            createRevision = 0
        }
    }
}

extension EtcdRequestOp {
    init(_ operation: StoreOperation) {
        self.init()
        switch operation {
        case .put(let key, let value, let lease):
            requestPut.key = StoreRange.key(key).start
            requestPut.value = Data(value)
            requestPut.lease = lease.number
        case .delete(let range):
            requestDeleteRange.key = range.start
            requestDeleteRange.rangeEnd = range.end
        case .read(let range): requestRange = EtcdRangeRequest(range)
        }
    }
}

extension [EtcdKeyValue] {
    /// The store's rows.
    func rows() throws(StoreError) -> [StoreRow] {
        var rows: [StoreRow] = []
        rows.reserveCapacity(count)
        for pair in self { rows.append(try pair.row()) }
        return rows
    }
}

extension EtcdKeyValue {
    /// The store's row.
    func row() throws(StoreError) -> StoreRow {
        StoreRow(
            key: try text(),
            value: Array(value),
            created: createRevision,
            modified: modRevision,
            lease: StoreLease(number: lease)
        )
    }

    /// The key, which the store's users have made of text.
    func text() throws(StoreError) -> String {
        guard let text = String(validating: key, as: UTF8.self) else {
            throw .refused("a key in etcd is not UTF-8: another program writes keys here; choose another --prefix")
        }
        return text
    }
}

extension EtcdEvent {
    /// The store's change.
    func change() throws(StoreError) -> StoreChange {
        switch type {
        case .put: .put(try kv.row())
        case .delete: .deleted(try kv.text(), revision: kv.modRevision)
        case .UNRECOGNIZED(let number): throw .refused("etcd tells of a change of the unknown kind \(number)")
        }
    }
}
