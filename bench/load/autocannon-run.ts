import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';
import type { LoadResult } from './load.ts';

/**
 * Words: a file with requests, a port, connections, seconds, and the status from 400 that is expected, empty when it
 * would be a failure. Prints a `LoadResult` as JSON.
 */
const [file = '', port = '', connections = '', seconds = '', status = ''] = process.argv.slice(2);
const requests: autocannon.Request[] = JSON.parse(readFileSync(file, 'utf8'));

/** Each connection has requests of its own, so that no two send the same one at the same time. */
const shareOf = (connection: number): autocannon.Request[] =>
  requests.length < Number(connections)
    ? requests
    : requests.filter((_, index) => index % Number(connections) === connection);

/** Milliseconds of every answer: autocannon's own histogram knows only whole ones. */
const times: number[] = [];
let refused = 0;
let connected = 0;
const { errors, duration } = await autocannon({
  url: `http://127.0.0.1:${port}`,
  connections: Number(connections),
  duration: Number(seconds),
  timeout: 30,
  setupClient(client) {
    client.setRequests(shareOf(connected));
    connected += 1;
    client.on('response', (answered, _bytes, milliseconds) => {
      times.push(milliseconds);
      if (status === '' ? answered >= 400 : answered !== Number(status)) refused += 1;
    });
  },
});

const sorted = Float64Array.from(times).sort();
const percentile = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
const result: LoadResult = {
  requests: times.length,
  failed: refused + errors,
  seconds: duration,
  p50: percentile(0.5),
  p99: percentile(0.99),
};
process.stdout.write(JSON.stringify(result));
