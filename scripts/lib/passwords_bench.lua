-- Random prefixes below PREFIXES for wrk. Requests are formatted once, before the run; with FRESH=1 each has another
-- prefix, so that few answers come from a cache. The path is ROOT, the prefix and ENDING.
local prefixes = tonumber(os.getenv("PREFIXES") or "4820")
local root, ending = os.getenv("ROOT") or "/range/", os.getenv("ENDING") or ""
local fresh = os.getenv("FRESH") == "1"
local headers = {}
for name, value in string.gmatch(os.getenv("HEADERS") or "", "([^:;]+):([^;]+)") do
  headers[name] = value
end
local requests = {}

local function one()
  return wrk.format("GET", string.format("%s%05X%s", root, math.random(prefixes) - 1, ending), headers)
end

function init()
  math.randomseed(tonumber(os.getenv("SEED") or "20"))
  for at = 1, 4096 do
    requests[at] = one()
  end
end

local at = 0
function request()
  if fresh then
    return one()
  end
  at = at % 4096 + 1
  return requests[at]
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.timeout + errors.status
  io.write(string.format("RESULT %d %d %d %d %d\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), failed))
end
