#!/bin/sh
# VRL, the language of Vector (PyPI: vrl-python 0.1.0; the crate vrl 0.38.0 does the same): JSON is parsed and written again.
# Guess: a number that a double holds comes back as it was, in its shortest form.
# Seen: of numbers with 16 and 17 digits one in ten is another double, as serde_json without float_roundtrip reads it; and
# to_syslog_severity knows neither "fatal" nor "WARN".
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --root-user-action=ignore --no-deps --target . vrl-python==0.1.0
cat >numbers.py <<'PY'
import json, random
from importlib.metadata import version
from vrl_python import VRLRuntime

run = lambda source, **event: VRLRuntime().execute(source, event).runtime_result
print('vrl-python', version('vrl-python'))
random.seed(1)
texts = [repr(random.random() * 1000) for _ in range(2000)]
back = [run('encode_json(parse_json!(.text))', text=text) for text in texts]
changed = [(text, other) for text, other in zip(texts, back) if float(text) != float(other)]
print('another double:', len(changed), 'of', len(texts), 'such as', *changed[0])
for level in ['warn', 'WARN', 'fatal']:
    print(level, run('to_syslog_severity(.level) ?? "unknown"', level=level))
assert len(changed) > 100
assert run('to_syslog_severity(.level) ?? -1', level='fatal') == -1
PY
python3 numbers.py
