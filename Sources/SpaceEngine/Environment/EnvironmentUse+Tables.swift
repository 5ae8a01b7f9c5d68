import LMDB

extension EnvironmentUse {
    /// Makes the tables of a new data file, with the rows that every namespace has.
    package func makeTables(_ counters: Counters, _ life: NamespaceLife) throws(SpaceError) -> Tables {
        let transaction = try lmdb { () throws(LMDBError) in try environment.beginWrite() }
        let tables = try lmdb { () throws(LMDBError) in try Tables(transaction.access, create: true) }
        // The blocks of a new file are there.
        let meter = RoomMeter(tables.usualChanges, nil, idle: transaction.access, pageSize: environment.pageSize)
        try withExtendedLifetime(meter) { () throws(SpaceError) in
            let unlimited = Unmanaged.passUnretained(meter)
            let access = transaction.access
            try Table(access: access, database: tables.main, meter: unlimited).put(MainKey.counters, counters)
            try Table(access: access, database: tables.main, meter: unlimited).put(MainKey.life, LifeRow(life))
        }
        do throws(LMDBError) { try transaction.commit() } catch { throw SpaceError(error) }
        set(tables)
        return tables
    }

    /// The tables; the first use of an environment opens them, under the gate.
    package func openTables() throws(SpaceError) -> Tables {
        if let tables { return tables }
        let tables = try Tables(opening: environment)
        set(tables)
        return tables
    }
}

extension Tables {
    /// Opens the tables of an existing data file for all later transactions.
    init(opening environment: Environment) throws(SpaceError) {
        do throws(LMDBError) {
            let transaction = try environment.beginRead()
            self = try Tables(transaction.access, create: false)
            try transaction.commit()
        } catch .notFound {
            throw .damaged("the data file lacks a table")
        } catch {
            throw SpaceError(error)
        }
    }
}
