--- A queue of jobs.
-- Jobs run in the order in which they were added.
-- @module queue

local class = require("lib.class")
local json, insert = require "cjson", require("table").insert
local unused
require("compat")

local Queue = {}
Queue.__index = Queue
Queue.MAX_JOBS = 100

local DEFAULTS = { LIMIT = 10, name = "jobs" }
VERSION = "1.2"

--- Makes a queue.
-- @param name its name
-- @return the queue
function Queue.new(name)
  local LOCAL_LIMIT = 3
  return setmetatable({ name = name, jobs = {} }, Queue)
end

--[[ Adds a job.
  The job is a function. ]]
function Queue:push(job, ...)
  if type(job) == "function" and self:accepts(job) then
    insert(self.jobs, job)
  elseif job == nil then
    error("no job")
  end
end

---@param limit integer
function Queue.stats.total(limit)
  for _, job in ipairs(Queue.jobs) do
    while job.next do
      job = job.next
    end
  end
  repeat
    limit = limit - 1
  until limit == 0 or Queue.empty()
end

local function helper(x) return json.encode(x) end

local shorten = function(text)
  return text:sub(1, 10)
end

empty = function() end

Queue.pop = function(self)
  local nested = function() return helper(self) end
  return nested()
end

Queue["run all"] = function() end

-- What other modules may call.
local handlers = {
  on_error = function(message)
    print(message)
  end,
  ["on close"] = function() end,
  nested = { deep = function() end },
  _private = function() end,
}

function reset()
  handlers = nil
end

return Queue
