#!/bin/sh
# kustomize 5.8.0 (Go): "labels" with includeSelectors, over a Deployment and a CronJob that select pods by podAffinity.
# Guess: the label is changed wherever these objects select by it, or nowhere in an affinity.
# Seen: in the Deployment's affinity it is changed, in the CronJob's it is not: its pods then wait for a pod that has none.
set -eu
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
GOBIN=$work GOPATH=$work/go go install sigs.k8s.io/kustomize/kustomize/v5@v5.8.0
spec='{ metadata: { labels: { app: a } }, spec: { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: h, labelSelector: { matchLabels: { app: a } } }] } }, containers: [{ name: a, image: a }] } }'
cat >objects.yaml <<YAML
apiVersion: apps/v1
kind: Deployment
metadata: { name: a }
spec: { selector: { matchLabels: { app: a } }, template: $spec }
---
apiVersion: batch/v1
kind: CronJob
metadata: { name: a }
spec: { schedule: "0 0 * * *", jobTemplate: { spec: { template: $spec } } }
YAML
printf 'resources: [objects.yaml]\nlabels: [{ pairs: { app: b }, includeSelectors: true }]\n' >kustomization.yaml
echo "kustomize $(./kustomize version)"
./kustomize build . | awk '/^kind:/ { kind = $2 } /podAffinity/ { near = 1 } near && /app:/ { print kind, "selects app", $2; near = 0 }' | tee seen
grep -qx 'Deployment selects app b' seen
grep -qx 'CronJob selects app a' seen
