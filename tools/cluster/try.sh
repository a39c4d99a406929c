#!/bin/bash
# try.sh: a pod on each node of the running cluster, up to a connection to it: what has failed before is no test of Berth.
. "$(dirname "$0")/settings.sh"
cd "$STATE"
ask() { curl -sS --fail -m 10 --cacert pki/ca.crt --cert pki/admin.crt --key pki/admin.key -H 'Content-Type: application/json' "$@"; }
pods=https://$API:6443/api/v1/namespaces/default/pods
for node in kn1 kn2; do
  alive $node || continue
  pod='{"apiVersion":"v1","kind":"Pod","metadata":{"name":"try-'$node'"},"spec":{"nodeName":"'$node'","restartPolicy":"Never",
   "automountServiceAccountToken":false,"terminationGracePeriodSeconds":1,"containers":[{"name":"app","image":"local/pause:1",
   "imagePullPolicy":"Never","resources":{"limits":{"memory":"32Mi","cpu":"100m"}}}]}}'
  # The service account of the namespace is made a moment after the start.
  for _ in $(seq 100); do ask "$pods" -d "$pod" > /dev/null 2> log/try.log && break; sleep 0.2; done
  for _ in $(seq 300); do
    status=$(ask "$pods/try-$node" | jq -c .status) || { cat log/try.log >&2; exit 1; }
    [ "$(jq -r '.conditions[]? | select(.type == "Ready").status' <<< "$status")" != True ] || break
    sleep 0.1
  done
  [ "$(jq -r '.conditions[]? | select(.type == "Ready").status' <<< "$status")" = True ] || { echo "a pod of $node is not ready: $status" >&2; exit 1; }
  # Nothing listens: a refusal comes from the pod.
  said=$(timeout 5 bash -c "exec 3<> /dev/tcp/$(jq -r .podIP <<< "$status")/9" 2>&1) || true
  [[ $said == *'Connection refused'* ]] || { echo "a pod of $node is not reached: ${said:-no answer}" >&2; exit 1; }
  ask -X DELETE "$pods/try-$node" > /dev/null
done
