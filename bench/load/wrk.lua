-- Sends the requests of the file BENCH_REQUESTS in turn, each a length and so many bytes, and prints the result as JSON.
local requests = {}
local count = 0
local sent = 0

function init()
  local file = io.open(os.getenv('BENCH_REQUESTS'), 'rb')
  for line in file:lines() do
    count = count + 1
    requests[count] = file:read(tonumber(line))
  end
  file:close()
end

function request()
  sent = sent % count + 1
  return requests[sent]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"seconds":%.6f,"p50":%.4f,"p99":%.4f,' ..
      '"errors":{"status":%d,"connect":%d,"read":%d,"write":%d,"timeout":%d}}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.status, errors.connect, errors.read, errors.write, errors.timeout
  ))
end
