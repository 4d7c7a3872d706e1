# ./dev bench: measures ours, the roofs and the peers on the same processors, in turn, and prints the table.

# bench [--no-peers] [ROWS]: with TESSERA_BENCH_THREADS="1 2", for each of these numbers of threads, and in
# TESSERA_BENCH_ROUNDS rounds, of which the fastest counts for each row and for each peer.
bench() {
  local with_peers=1 rows="" argument
  for argument in "$@"; do
    case $argument in
    --no-peers) with_peers=0 ;;
    -*) fail "unknown option $argument: './dev help' lists the commands" ;;
    *) rows=$argument ;;
    esac
  done
  # Of the variables by this script's name only, the programs would warn that they do not know them.
  export -n TESSERA_BENCH_ROUNDS TESSERA_BENCH_THREADS TESSERA_PEERS TESSERA_JOBS
  build_in build ""
  local peers_folder=${TESSERA_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/tessera-peers}
  [[ $with_peers -eq 0 ]] || bench/peers/setup.sh "$peers_folder"

  if awk '{ exit !($1 > 0.7) }' /proc/loadavg; then
    note "this machine is busy (load $(cut -d ' ' -f 1 /proc/loadavg)): the figures will be too high, and unevenly so"
  fi

  local folder=build/bench-results threads round rounds=${TESSERA_BENCH_ROUNDS:-3} peer last
  last=$(($(nproc) - 1))
  rm -rf "$folder"
  mkdir -p "$folder"
  for threads in ${TESSERA_BENCH_THREADS:-1}; do
    ((threads <= last + 1)) || fail "this machine has $((last + 1)) processors, fewer than $threads threads"
    # The last processors: the first one gets most interrupts.
    local -a pinned=(taskset -c "$((last + 1 - threads))-$last")
    # What shares the processors' cores with this machine comes and goes, so all are measured in turn, and again.
    for ((round = 1; round <= rounds; ++round)); do
      note "measuring with $threads thread(s), round $round of $rounds"
      "${pinned[@]}" build/bin/roof "$threads" >"$folder/roof-$threads.$round.json"
      "${pinned[@]}" build/bin/tessera-bench "$threads" "$folder/ours-$threads.$round.json" "$rows"
      [[ $with_peers -eq 1 ]] || continue
      for peer in torch torch.compile jax onnxruntime openvino; do
        "${pinned[@]}" "$peers_folder/bin/python" bench/peers/peer.py "$peer" "$threads" "$folder/$peer-$threads.$round.json" "$rows" ||
          note "$peer could not be measured; it is left out"
      done
    done
  done
  if [[ -z $rows || first =~ $rows ]]; then
    note "measuring first calls"
    local -a python=()
    [[ $with_peers -eq 0 ]] || python=("$peers_folder/bin/python")
    python3 bench/first.py build/bin/tessera-bench "$folder/first.json" "${python[@]}"
  fi
  python3 bench/table.py "$folder" --json build/bench.json
}
