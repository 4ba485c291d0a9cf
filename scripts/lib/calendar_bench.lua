-- Requests of scripts/bench.d/calendar, chosen by CASE; prints the figures as one line.
local case = os.getenv("CASE")
local count = tonumber(os.getenv("EVENTS"))
local key = os.getenv("BENCH_KEY")
local ns = "/calendar/events/v1"
local number = 0
local run = os.time()

local function next_number(top)
   number = (number * 16807 + 12345) % 2147483647
   return number % top + 1
end

local function create()
   number = number + 1
   local body = string.format(
      '{"title":"Bench %d %d","start_date":"+%d days 19:00","end_date":"+%d days 21:00",' ..
      '"venue":%d,"categories":[%d,%d]}',
      run, number, number % 300 + 1, number % 300 + 1, count + number % 500 + 1, number % 500 + 1, number % 500 + 501)
   local headers = { ["X-API-Key"] = key, ["Content-Type"] = "application/json" }
   return wrk.format("POST", ns .. "/events", headers, body)
end

-- Sixteen words that most events have.
local common = "the+and+with+welcome+music+from+open+door+food+entry+drinks+tickets+stage+your+guests+late"

local paths = {
   plain = function() return "/healthz" end,
   list = function() return ns .. "/events" end,
   category = function() return ns .. "/events?categories=category-" .. next_number(1000) end,
   venue = function() return ns .. "/events?venue=" .. (count + next_number(500)) end,
   search = function() return ns .. "/events?search=guest" .. next_number(50021) end,
   common = function() return ns .. "/events?search=" .. common end,
   featured = function() return ns .. "/events?featured=false" end,
   title = function() return ns .. "/events?orderby=title" end,
   deep = function() return ns .. "/events?page=30000" end,
   read = function() return ns .. "/events/" .. next_number(count) end,
   ["month-page"] = function() return os.date("/events/month/%Y-%m/", run + (next_number(48) - 24) * 2630000) end,
   ["list-page"] = function() return "/events/" end,
   ["category-page"] = function() return "/events/category/category-" .. next_number(1000) .. "/" end,
   ["event-page"] = function() return "/event/evening-" .. next_number(count) .. "/" end,
   -- A thousand events of a category.
   feed = function()
      return ns .. "/ical?start_date=2000-01-01&per_page=1000&categories=category-" .. next_number(1000)
   end,
}

function request()
   if case == "create" then return create() end
   return wrk.format("GET", paths[case]())
end

local threads = {}

function setup(thread)
   table.insert(threads, thread)
end

function init()
   failed = 0
end

function response(status)
   if status ~= 200 and status ~= 201 then failed = failed + 1 end
end

function done(summary, latency)
   local failures = 0
   for _, thread in ipairs(threads) do failures = failures + thread:get("failed") end
   local errors = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
   print(string.format("RESULT %d %d %d %d %d", summary.requests, summary.duration,
      latency:percentile(50), latency:percentile(99), failures + errors))
end
