import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';

/** Words: a file with requests, a port, connections, seconds. Prints counts and milliseconds as JSON. */
const [file = '', port = '', connections = '', seconds = ''] = process.argv.slice(2);
const requests: autocannon.Request[] = JSON.parse(readFileSync(file, 'utf8'));

/** Each connection has requests of its own, so that no two send the same one at the same time. */
const shareOf = (connection: number): autocannon.Request[] =>
  requests.length < Number(connections)
    ? requests
    : requests.filter((_, index) => index % Number(connections) === connection);

let connected = 0;
const result = await autocannon({
  url: `http://127.0.0.1:${port}`,
  connections: Number(connections),
  duration: Number(seconds),
  timeout: 30,
  setupClient(client) {
    client.setRequests(shareOf(connected));
    connected += 1;
  },
});

process.stdout.write(
  JSON.stringify({
    succeeded: result['2xx'],
    refused: result['1xx'] + result['3xx'] + result['4xx'] + result['5xx'],
    unanswered: result.errors,
    seconds: result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
  }),
);
