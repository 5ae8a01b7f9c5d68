# Rinda, Ruby's tuple space: a server process and clients over drbunix.
#
#   rinda.rb URI serve                    serves a tuple space at URI until it is ended
#   rinda.rb URI one|ping-pong|claim COUNT
#   rinda.rb URI crowd COUNT PRODUCERS TAKERS
#
# Prints lines of a name and nanoseconds, as the other programs do. There is no claim: Rinda has none.

require "drb/unix"
require "rinda/tuplespace"

PAYLOAD = "x" * 64

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

def tell(name, nanoseconds)
  puts format("%s %.1f", name, nanoseconds)
  $stdout.flush
end

# The median under the name; p99 and p99.9 under the name and theirs, if at least one operation was slower; the mean.
def tell_latencies(name, times)
  sorted = times.sort
  tell(name, sorted[(sorted.size - 1) / 2])
  tell("#{name}, p99", sorted[(sorted.size * 99 + 99) / 100 - 1]) if sorted.size >= 100
  tell("#{name}, p99.9", sorted[(sorted.size * 999 + 999) / 1000 - 1]) if sorted.size >= 1000
  tell("#{name}, mean", sorted.sum / sorted.size.to_f)
end

def measure(name, count)
  tell_latencies(name, count.times.map do
    start = now
    yield
    now - start
  end)
end

def connect(uri)
  DRb.start_service("drbunix:", nil)
  Rinda::TupleSpaceProxy.new(DRbObject.new_with_uri(uri))
end

def round_trips(count)
  [false, true].each do |sleeping|
    rounds = sleeping ? count / 4 : count - count / 4
    times = rounds.times.map do
      sleep 0.001 if sleeping
      start = now
      yield
      now - start
    end
    tell_latencies(sleeping ? "hand-off sleeping" : "hand-off", times)
  end
end

uri, work, count, producers, takers = ARGV
count = count.to_i
case work
when "serve"
  DRb.start_service(uri, Rinda::TupleSpace.new)
  DRb.thread.join
when "one"
  space = connect(uri)
  measure("write", count) { space.write([:job, 1, PAYLOAD]) }
  measure("take", count) { space.take([:job, nil, nil]) }
when "ping-pong"
  partner = fork do
    space = connect(uri)
    count.times do
      space.take([:ping, nil, nil])
      space.write([:pong, 1, PAYLOAD])
    end
  end
  space = connect(uri)
  round_trips(count) do
    space.write([:ping, 1, PAYLOAD])
    space.take([:pong, nil, nil])
  end
  Process.wait(partner)
when "crowd"
  ready, ready_in = IO.pipe
  go, go_in = IO.pipe
  members = [[:write, producers.to_i], [:take, takers.to_i]].flat_map do |role, number|
    (1..number).map do
      fork do
        go_in.close
        space = connect(uri)
        ready_in.write(".")
        go.read
        (count / number).times { role == :write ? space.write([:job, 1, PAYLOAD]) : space.take([:job, nil, nil]) }
      end
    end
  end
  members.each { ready.read(1) }
  start = now
  go_in.close
  members.each do |member|
    Process.wait(member)
    abort "a member failed" unless $?.success?
  end
  tell("crowd", (now - start) / count.to_f)
else
  warn "usage: rinda.rb URI serve|one|ping-pong COUNT, or crowd COUNT PRODUCERS TAKERS"
  exit 64
end
