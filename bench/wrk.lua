-- Sends the requests of the file BENCH_REQUESTS in turn, `PUT /todos/1 {…}` for one, and prints the result as JSON.
-- Each connection waits for BENCH_PAUSE_MS before each request: on average, or those of all would come at once.
-- Each thread asks another one of the ports BENCH_PORTS, and begins elsewhere in the file.
local requests = {}
local pause = tonumber(os.getenv('BENCH_PAUSE_MS') or '')
local ports = os.getenv('BENCH_PORTS')
sent = 0

function setup(thread)
  local port, others = ports:match('^(%d+) ?(.*)$')
  thread.addr = wrk.lookup('127.0.0.1', port)[1]
  thread:set('sent', sent)
  sent, ports = sent + 3333, others
end

function init()
  for line in io.lines(os.getenv('BENCH_REQUESTS')) do
    local method, path, body = line:match('^(%S+) (%S+) ?(.*)$')
    requests[#requests + 1] = wrk.format(method, path, nil, body ~= '' and body or nil)
  end
end

if pause then
  function delay()
    return math.floor(math.random() * 2 * pause + 0.5)
  end
end

function request()
  sent = sent % #requests + 1
  return requests[sent]
end

function done(summary)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"seconds":%.6f,"bytes":%d,"failed":%d}\n', summary.requests, summary.duration / 1e6,
    summary.bytes, errors.status + errors.connect + errors.read + errors.write + errors.timeout
  ))
end
