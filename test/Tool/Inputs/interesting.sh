#!/bin/sh
# Whether a program is whole and still holds a sum: 1 says that it is interesting.
tessera-opt "$1" >/dev/null 2>&1 || exit 0
grep -q 'tessera.reduce sum' "$1" && exit 1
exit 0
