#!/bin/sh
# Compares answer.txt with the untouched copy of the file beside this script; the agent never sees either.
# Prints nothing: the three criteria go to reward.json. Only shell built-ins, so it takes a few milliseconds.
set -f
wrote=0 fromFile=0 exact=0 answer=

if [ -f "$WORKSPACE/answer.txt" ]; then
  wrote=1
  read_lines=0
  while read -r line || [ -n "$line" ]; do
    answer="$answer $line"
    read_lines=$((read_lines + 1))
    [ "$read_lines" -lt 5 ] || break
  done < "$WORKSPACE/answer.txt"
  # shellcheck disable=SC2086
  set -- $answer
  [ $# -eq 1 ] && answer=$1 || answer=
fi

while read -r label word; do
  [ "$word" = "$answer" ] || continue
  fromFile=1
  [ "$label" = code: ] && exact=1
done < "$GRADER/original.txt"

printf '{"criteria":{"wrote":%d,"fromFile":%d,"exact":%d}}\n' "$wrote" "$fromFile" "$exact" > "$OUT/reward.json"
