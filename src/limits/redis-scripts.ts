/** The scripts that count in Redis. Each is atomic; all keys of an organisation share one hash tag, so that they stay together on a cluster. */

/**
 * What every script begins with.
 * Keys below the prefix: `c:<counter>` a hash of epoch, settled and reserved; `r:<id>` a reservation, or `done` once it is
 * resolved; `x` the expiry of each reservation; `m` says that nothing was lost.
 */
const common = `
local prefix = KEYS[1]
local function whole(number) return string.format('%.0f', number) end
local function clock(given)
  if given ~= '0' then return tonumber(given) end
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
-- epoch, settled, reserved
local function counter(name)
  local fields = redis.call('HMGET', prefix .. 'c:' .. name, 'e', 's', 'r')
  return tonumber(fields[1] or '-1'), tonumber(fields[2] or '0'), tonumber(fields[3] or '0')
end
local function put(name, epoch, settled, reserved, ends, now)
  local key = prefix .. 'c:' .. name
  redis.call('HSET', key, 'e', whole(epoch), 's', whole(settled), 'r', whole(reserved))
  if ends > 0 then redis.call('PEXPIRE', key, math.max(60000, math.floor((ends - now) * 2))) end
end
-- A reservation is lines of: counter, epoch, held, kept, keep, ends
local function holdings(text)
  local found = {}
  for name, epoch, held, kept, keep, ends in text:gmatch('([^\\n]*)\\n([^\\n]*)\\n([^\\n]*)\\n([^\\n]*)\\n([^\\n]*)\\n([^\\n]*)\\n') do
    found[#found + 1] = { name = name, epoch = tonumber(epoch), held = tonumber(held), kept = tonumber(kept), keep = keep == '1', ends = tonumber(ends) }
  end
  return found
end
local function written(list)
  local lines = {}
  for _, h in ipairs(list) do
    lines[#lines + 1] = h.name .. '\\n' .. whole(h.epoch) .. '\\n' .. whole(h.held) .. '\\n' .. whole(h.kept) .. '\\n' .. (h.keep and '1' or '0') .. '\\n' .. whole(h.ends) .. '\\n'
  end
  return table.concat(lines)
end
-- Expired reservations: what counts as made is kept and told, the rest is given back.
local function sweep(now, told)
  local due = redis.call('ZRANGEBYSCORE', prefix .. 'x', '-inf', now, 'LIMIT', 0, 50)
  for _, id in ipairs(due) do
    redis.call('ZREM', prefix .. 'x', id)
    local key = prefix .. 'r:' .. id
    local text = redis.call('GET', key)
    if text and text ~= 'done' then
      local list = holdings(text)
      for _, h in ipairs(list) do
        local epoch, settled, reserved = counter(h.name)
        if h.keep then h.kept = h.held end
        if epoch == h.epoch then put(h.name, epoch, settled + h.kept, reserved - h.held, h.ends, now) end
        if h.kept ~= 0 then
          told[#told + 1] = h.name
          told[#told + 1] = whole(h.epoch)
          told[#told + 1] = whole(h.kept)
          told[#told + 1] = whole(h.ends)
        end
        h.held = 0
      end
      redis.call('SET', key, written(list), 'PX', 3600000)
    end
  end
end
`;

/** ARGV: now or 0, id, lease; for each demand: counter, epoch or 0, window length, offset, roll epoch, ends, value, least, most, usual, enforced, keep. */
export const reserveScript = `${common}
local now = clock(ARGV[1])
if redis.call('EXISTS', prefix .. 'm') == 0 then return { 'rebuild' } end
local told = {}
sweep(now, told)
local id, lease = ARGV[2], tonumber(ARGV[3])
local fields = 12
local count = (#ARGV - 3) / fields
local list, states = {}, {}
for i = 1, count do
  local at = 3 + (i - 1) * fields
  local name = ARGV[at + 1]
  local epoch, ends, expires = tonumber(ARGV[at + 2]), tonumber(ARGV[at + 6]), 0
  local length, offset, roll = tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4]), tonumber(ARGV[at + 5])
  if length > 0 then
    epoch = math.floor((now - offset) / length) * length + offset
  elseif roll > 0 and now >= roll then
    epoch = roll
  end
  local known, settled, reserved = counter(name)
  if known >= epoch then epoch = known else settled = 0 reserved = 0 end
  if length > 0 then ends = epoch + length expires = ends end
  local value, least, most, usual = tonumber(ARGV[at + 7]), tonumber(ARGV[at + 8]), tonumber(ARGV[at + 9]), tonumber(ARGV[at + 10])
  local room = value - settled - reserved
  local amount
  if ARGV[at + 11] == '1' then
    if settled >= value or least > room then
      return { 'refused', tostring(i - 1), whole(epoch), whole(ends), whole(settled), whole(reserved), told }
    end
    amount = math.max(least, math.min(most, room, math.max(usual, math.floor(room / 16))))
  else
    amount = math.max(least, math.min(most, usual))
  end
  list[i] = { name = name, epoch = epoch, held = amount, kept = 0, keep = ARGV[at + 12] == '1', ends = expires, settled = settled, reserved = reserved + amount }
  states[#states + 1] = whole(epoch)
  states[#states + 1] = whole(ends)
  states[#states + 1] = whole(settled)
  states[#states + 1] = whole(reserved + amount)
  states[#states + 1] = whole(amount)
end
for _, h in ipairs(list) do put(h.name, h.epoch, h.settled, h.reserved, h.ends, now) end
redis.call('SET', prefix .. 'r:' .. id, written(list), 'PX', lease + 3600000)
redis.call('ZADD', prefix .. 'x', now + lease, id)
return { 'granted', states, told }
`;

/** ARGV: now or 0, id, `spend` or `forget`, then for each holding: counter, epoch, ends, spent. `forget` only lets go of what is held. */
export const settleScript = `${common}
local now = clock(ARGV[1])
local id = ARGV[2]
local forget = ARGV[3] == 'forget'
local key = prefix .. 'r:' .. id
local text = redis.call('GET', key)
local told = {}
if text == 'done' then return { 'done', told } end
local list = {}
if text then
  list = holdings(text)
elseif not forget then
  -- Redis lost the reservation: what was spent counts all the same.
  for at = 4, #ARGV, 4 do
    list[#list + 1] = { name = ARGV[at], epoch = tonumber(ARGV[at + 1]), ends = tonumber(ARGV[at + 2]), held = 0, kept = 0 }
  end
end
for i, h in ipairs(list) do
  local spent = forget and h.kept or tonumber(ARGV[3 + i * 4])
  local amount = spent - h.kept
  local epoch, settled, reserved = counter(h.name)
  if epoch == h.epoch then put(h.name, epoch, settled + amount, reserved - h.held, h.ends, now) end
  if amount ~= 0 then
    told[#told + 1] = h.name
    told[#told + 1] = whole(h.epoch)
    told[#told + 1] = whole(amount)
    told[#told + 1] = whole(h.ends)
  end
end
redis.call('ZREM', prefix .. 'x', id)
redis.call('SET', key, 'done', 'PX', 3600000)
return { 'settled', told }
`;

/** ARGV: now or 0, lease; for each reservation: id, its lines. One that Redis has lost is put back. */
export const renewScript = `${common}
local now, lease = clock(ARGV[1]), tonumber(ARGV[2])
for i = 3, #ARGV, 2 do
  local id, key = ARGV[i], prefix .. 'r:' .. ARGV[i]
  if redis.call('EXISTS', key) == 1 then
    redis.call('ZADD', prefix .. 'x', 'XX', now + lease, id)
    redis.call('PEXPIRE', key, lease + 3600000)
  else
    for _, h in ipairs(holdings(ARGV[i + 1])) do
      local epoch, settled, reserved = counter(h.name)
      if epoch == h.epoch then put(h.name, epoch, settled, reserved + h.held, h.ends, now)
      elseif epoch < h.epoch then put(h.name, h.epoch, 0, h.held, h.ends, now) end
    end
    redis.call('SET', key, ARGV[i + 1], 'PX', lease + 3600000)
    redis.call('ZADD', prefix .. 'x', now + lease, id)
  end
end
return 'ok'
`;

/** ARGV: now or 0, then counters. */
export const readScript = `${common}
local now = clock(ARGV[1])
if redis.call('EXISTS', prefix .. 'm') == 0 then return { 'rebuild' } end
local told = {}
sweep(now, told)
local states = {}
for i = 2, #ARGV do
  local epoch, settled, reserved = counter(ARGV[i])
  states[#states + 1] = whole(epoch)
  states[#states + 1] = whole(settled)
  states[#states + 1] = whole(reserved)
end
return { 'read', whole(now), states, told }
`;

/** ARGV: now or 0, 1 when everything that is known was handed in, then for each: counter, epoch, settled, ends. */
export const raiseScript = `${common}
local now = clock(ARGV[1])
for i = 3, #ARGV, 4 do
  local name, epoch, settled, ends = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
  local known, counted, reserved = counter(name)
  if ends == 0 or ends > now then
    if known < epoch then put(name, epoch, settled, 0, ends, now)
    elseif known == epoch and counted < settled then put(name, epoch, settled, reserved, ends, now) end
  end
end
if ARGV[2] == '1' then redis.call('SET', prefix .. 'm', '1') end
return 'ok'
`;

/** ARGV: now or 0, counter, epoch. */
export const resetScript = `${common}
local now = clock(ARGV[1])
local epoch = tonumber(ARGV[3])
if counter(ARGV[2]) < epoch then put(ARGV[2], epoch, 0, 0, 0, now) end
return 'ok'
`;
