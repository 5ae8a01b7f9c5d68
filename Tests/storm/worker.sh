# Does jobs until it is killed: each is completed, noted and counted in one step.
export SHARED_SPACE_OWNER=$$
# What a killed shell has left says that its reader is gone, or its claim.
exec 2>/dev/null
while true; do
    claim=$(space claim jobs '["job", "?int"]' --hold --wait 60s) || continue
    # If this shell was killed, and its number is another's now, the claim is gone.
    number=$(space claims jobs "$claim" --tuple --field 1 -r) || continue
    printf '["complete", %d]\n["write", ["done", %d, "shell"]]\n["incr", "count"]\n' "$claim" "$number" | space txn jobs >/dev/null
done
