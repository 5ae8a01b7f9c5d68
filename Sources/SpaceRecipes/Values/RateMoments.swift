/// The reserved moments of a rate limit, as far as the next reservation depends on them.
///
/// Guarantees: any interval contains at most as many of them as the limit. A reservation looks back from the last
/// moment and adds up the counts. At the first moment where the sum leaves too little of the limit, it stops: the
/// reservation starts one interval after that moment. Moments that are an interval or more before the last one no
/// longer matter.
///
/// The row stays small because it keeps few moments: if there are more, two neighbours are merged into one at the time
/// of the later. So a limit with many acquisitions spread over an interval may let some through later than necessary,
/// but never earlier.
package struct RateMoments: Equatable {
    /// Nanoseconds in a tick of the namespace's clock, which counts milliseconds.
    package static let tick = 1_000_000
    package static let most = 24

    package struct Moment: Equatable {
        /// The time on the namespace's clock, in nanoseconds.
        package var time: Int
        package var count: Int

        package init(time: Int, count: Int) {
            self.time = time
            self.count = count
        }
    }

    package let limit: Int
    package let interval: Int
    /// The moments, in order of time.
    package private(set) var moments: [Moment]

    package init(limit: Int, interval: Int, moments: [Moment] = []) {
        (self.limit, self.interval, self.moments) = (limit, interval, moments)
    }

    /// The time of the last moment; 0 if there is none.
    package var last: Int { moments.last?.time ?? 0 }

    /// Reserves the next moment.
    ///
    /// - Returns: The time until that moment, in nanoseconds.
    mutating func reserve(_ count: Int, now: Int) -> Int {
        var free = limit
        var start = Int.min
        for moment in moments.reversed() {
            free -= moment.count
            if free < count {
                start = moment.time + interval
                break
            }
        }
        // An acquisition that passes at once does so before the clock's next tick.
        let end = now + Self.tick
        // Moments follow the order of the calls, except that a call does not wait for those that pass in this same
        // tick.
        if last > end { start = max(start, last) }
        let time = start <= now ? max(end, last) : max(start, last)
        if moments.last?.time == time {
            moments[moments.count - 1].count += count
        } else {
            moments.append(Moment(time: time, count: count))
        }
        moments.removeAll { $0.time <= time - interval }
        shorten()
        return start <= now ? 0 : time - now
    }

    /// Merges the two neighbouring moments that are closest in time, apart from the last moment, until few enough are
    /// left.
    private mutating func shorten() {
        while moments.count > Self.most {
            let closest = (0..<moments.count - 2).min {
                moments[$0 + 1].time - moments[$0].time < moments[$1 + 1].time - moments[$1].time
            }
            guard let closest else { return }
            moments[closest + 1].count += moments[closest].count
            moments.remove(at: closest)
        }
    }

    // MARK: As a value

    /// The value in the object's row: `[limit, interval, now, time, count, time, count …]`.
    package func value(_ now: Int) -> Value {
        .array(
            [.int(limit), .int(interval), .int(now)] + moments.flatMap { [.int($0.time), .int($0.count)] }
        )
    }

    /// Decodes the value in the object's row; `nil` if it can't be that of a rate limit.
    package init?(_ value: Value, _ now: Int) {
        guard let elements = value.list else { return nil }
        let numbers = elements.compactMap(\.number)
        let times = 0...RateLimit.latest
        guard numbers.count == elements.count, numbers.count >= 3, numbers.count % 2 == 1,
            numbers.count <= 3 + 2 * Self.most, numbers[0] > 0, numbers[1] > 0,
            .nanoseconds(numbers[1]) <= RateLimit.longestInterval, times.contains(numbers[2])
        else { return nil }
        (limit, interval, moments) = (numbers[0], numbers[1], [])
        // If the real-time clock was set back, the reserved moments move back with it.
        let shift = max(0, numbers[2] - now)
        var left = limit
        var before = -1
        for index in stride(from: 3, to: numbers.count, by: 2) {
            let (time, count) = (numbers[index], numbers[index + 1])
            guard times.contains(time), time >= before, (1...left).contains(count) else { return nil }
            before = time
            left -= count
            moments.append(Moment(time: max(0, time - shift), count: count))
            if left == 0, index + 2 < numbers.count { return nil }
        }
    }
}
