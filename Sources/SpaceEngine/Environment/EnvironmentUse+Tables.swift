import LMDB
import SpaceSystem

extension EnvironmentUse {
    /// Makes the tables of a new data file, with the rows that every namespace has.
    package func makeTables(
        _ counters: Counters,
        _ life: NamespaceLife,
        _ operation: String,
        namespace: String
    ) throws(SpaceError) -> Tables {
        let transaction = try lmdb(operation, namespace) { () throws(LMDBError) in try environment.beginWrite() }
        let tables = try lmdb(operation, namespace) { () throws(LMDBError) in
            try Tables(transaction.access, create: true)
        }
        let names = SnapshotNames(namespace: namespace)
        names.begin(operation)
        try withExtendedLifetime(names) { () throws(SpaceError) in
            let main = Unmanaged.passUnretained(names)
            try Table(access: transaction.access, database: tables.main, names: main).put(MainKey.counters, counters)
            try Table(access: transaction.access, database: tables.main, names: main).put(MainKey.life, LifeRow(life))
        }
        do throws(LMDBError) { try transaction.commit() } catch {
            throw SpaceError(error, operation, namespace: namespace)
        }
        set(tables)
        return tables
    }

    /// The tables; the first use of an environment opens them, under the gate.
    package func openTables(_ operation: String, namespace: String) throws(SpaceError) -> Tables {
        if let tables { return tables }
        let tables = try Tables(opening: environment, operation, namespace: namespace)
        set(tables)
        return tables
    }
}

extension Tables {
    /// Opens the tables of an existing data file for all later transactions.
    init(opening environment: Environment, _ operation: String, namespace: String) throws(SpaceError) {
        do throws(LMDBError) {
            let transaction = try environment.beginRead()
            self = try Tables(transaction.access, create: false)
            try transaction.commit()
        } catch .notFound {
            throw .damaged(operation, namespace: namespace, "the data file lacks a table")
        } catch {
            throw SpaceError(error, operation, namespace: namespace)
        }
    }
}
