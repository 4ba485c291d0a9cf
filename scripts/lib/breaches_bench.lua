-- Requests a random path of the file PATHS each time, with the key KEY of the environment.
local paths = {}
for line in io.lines(os.getenv("PATHS")) do paths[#paths + 1] = line end
local headers = { ["user-agent"] = "bench", ["breach-api-key"] = os.getenv("KEY") }
math.randomseed(7)

request = function()
  return wrk.format("GET", paths[math.random(#paths)], headers)
end

done = function(summary, latency)
  local failed = summary.errors.connect + summary.errors.read + summary.errors.write
    + summary.errors.status + summary.errors.timeout
  io.write(string.format("RESULT %d %d %d %d %d\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), failed))
end
