#!/usr/bin/env bash
# tools/predict-host.sh [SCENARIO...]: measures this machine's processor, runs every scenario of scenarios/real on it
# (host executor, ranks as threads), predicts each from what was measured, and prints the error of every step time and
# the mean absolute error. Wants an idle machine; takes about half a minute a scenario. BUDGET (default 15s) is that of
# each scenario's calibration, which serves all of its systems; STEPS and WARMUP replace the scenarios' own. KEEP: a
# folder for the verdicts as text and JSON. Exit code 1 when a run fails, or the mean is above BAR (a fraction,
# default 0.15).
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
vsim=${VSIM:-$root/vsim}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
scenarios=("$@")
[ ${#scenarios[@]} -gt 0 ] || scenarios=("$root"/scenarios/real/*.yaml)
options=(--real --executor host --no-store --budget "${BUDGET:-15s}")
[ -z "${STEPS:-}" ] || options+=(--steps "$STEPS")
[ -z "${WARMUP:-}" ] || options+=(--warmup "$WARMUP")

failed=0
number=0
for scenario in "${scenarios[@]}"; do
  number=$((number + 1))
  printf '%d/%d %s\n' "$number" "${#scenarios[@]}" "$scenario" >&2
  if ! "$vsim" run "$scenario" "${options[@]}" --json "$folder/$number.json" >"$folder/out" 2>"$folder/err"; then
    cat "$folder/err" >&2
    failed=1
  fi
  if [ -n "${KEEP:-}" ]; then
    name=$(basename "$scenario" .yaml)
    mkdir -p "$KEEP"
    cp "$folder/out" "$KEEP/$name.txt"
    [ ! -e "$folder/$number.json" ] || cp "$folder/$number.json" "$KEEP/$name.json"
  fi
done

python3 - "$folder" "${BAR:-0.15}" <<'PYTHON' || failed=1
import glob, json, sys
rows = []
for file in sorted(glob.glob(sys.argv[1] + "/*.json"), key=lambda f: int(f.split("/")[-1].split(".")[0])):
    document = json.load(open(file))
    rows += [(document["scenario"], v) for v in document["verdicts"]]
if not rows:
    sys.exit("nothing was run")
print(f"{'scenario':30} {'system':8} {'ranks':>5} {'measured':>10} {'between quartiles':>22} {'predicted':>10} {'error':>8}")
for name, v in rows:
    step, low, high = v["step_time_s"], *v["quartiles_s"]
    print(f"{name:30} {v['system']:8} {v['ranks']:5} {step['measured'] * 1e3:7.1f} ms "
          f"{low * 1e3:8.1f} to {high * 1e3:7.1f} ms {step['predicted'] * 1e3:7.1f} ms {step['error'] * 100:+7.1f} %")
errors = [v["step_time_s"]["error"] for _, v in rows]
mean = sum(map(abs, errors)) / len(errors)
print(f"mean absolute error of {len(errors)} steps: {mean * 100:.1f} %, mean {sum(errors) / len(errors) * 100:+.1f} %")
sys.exit(mean > float(sys.argv[2]))
PYTHON
exit "$failed"
