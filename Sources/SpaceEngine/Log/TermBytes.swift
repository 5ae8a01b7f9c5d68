// What operations are made of, as bytes.

extension RowEnd {
    package func encode(into bytes: inout [UInt8]) {
        bytes.append(little: expiry)
        bytes.append(little: rawHolder)
    }

    package init?(_ reader: inout ByteReader) {
        guard let expiry = reader.next(Int64.self), let holder = reader.next(UInt64.self) else { return nil }
        self.init(expiry: expiry, rawHolder: holder)
    }
}

extension ClaimTerms {
    package func encode(into bytes: inout [UInt8]) {
        bytes.append(little: holder.raw)
        bytes.append(flag: isTake)
        bytes.append(flag: deadline != nil)
        guard let (seconds, rest) = deadline?.components else { return }
        bytes.append(little: seconds)
        bytes.append(little: rest)
    }

    package init?(_ reader: inout ByteReader) {
        guard let holder = reader.next(UInt64.self), let isTake = reader.nextFlag(),
            let hasDeadline = reader.nextFlag(),
            !isTake || !hasDeadline
        else { return nil }
        var deadline: Duration?
        if hasDeadline {
            guard let seconds = reader.next(Int64.self), let rest = reader.next(Int64.self), seconds >= 0,
                (0..<1_000_000_000_000_000_000).contains(rest)
            else { return nil }
            deadline = Duration(secondsComponent: seconds, attosecondsComponent: rest)
        }
        self.init(holder: ClaimHolder(raw: holder), deadline: deadline, isTake: isTake)
    }
}
