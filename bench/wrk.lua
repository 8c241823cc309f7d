-- Sends the requests of the file BENCH_REQUESTS in turn, each a length and so many bytes, and prints the result as JSON.
-- wrk itself counts the statuses from 400; where BENCH_STATUS is the one that is expected, others are counted here.
local requests = {}
local count = 0
local sent = 0
local expected = tonumber(os.getenv('BENCH_STATUS'))
local counting = nil
others = 0

function setup(thread)
  counting = thread
end

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

-- Only then, because wrk hands over every body to this function.
if expected then
  function response(status)
    if status ~= expected then others = others + 1 end
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"seconds":%.6f,"p50":%.4f,"p99":%.4f,"refused":%d,' ..
      '"unanswered":{"connect":%d,"read":%d,"write":%d,"timeout":%d}}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    expected and counting:get('others') or errors.status,
    errors.connect, errors.read, errors.write, errors.timeout
  ))
end
