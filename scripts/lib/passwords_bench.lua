-- Random prefixes below PREFIXES for wrk; requests are formatted once, before the run.
local prefixes = tonumber(os.getenv("PREFIXES") or "4820")
local headers = {}
for name, value in string.gmatch(os.getenv("HEADERS") or "", "([^:;]+):([^;]+)") do
  headers[name] = value
end
local requests = {}

function init()
  math.randomseed(20)
  for at = 1, 4096 do
    requests[at] = wrk.format("GET", string.format("/range/%05X", math.random(prefixes) - 1), headers)
  end
end

local at = 0
function request()
  at = at % 4096 + 1
  return requests[at]
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.timeout + errors.status
  io.write(string.format("RESULT %d %d %d %d %d\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), failed))
end
