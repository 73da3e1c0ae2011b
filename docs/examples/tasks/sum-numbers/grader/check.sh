#!/bin/sh
# The last line of the output is the reward: 1 for the right sum, 0.2 for another number, 0 for none.
expected=166
sum=
if [ -f "$WORKSPACE/sum.txt" ]; then
  read -r sum < "$WORKSPACE/sum.txt" || :
fi
case $sum in
  "$expected") echo 1 ;;
  '' | *[!0-9-]*) echo 0 ;;
  *) echo 0.2 ;;
esac
