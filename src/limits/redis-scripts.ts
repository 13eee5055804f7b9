/** The scripts that count in Redis. Each is atomic; all keys of an organisation share one hash tag, so that they stay together on a cluster. */

/**
 * What every script begins with.
 * Lists go in and out as lines of one text: an argument or a reply of its own for each figure costs more than counting it.
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
-- The fields of lines, so many at a time.
local function groups(text, fields)
  return text:gmatch(string.rep('([^\\n]*)\\n', fields))
end
local function lines(list)
  if #list == 0 then return '' end
  return table.concat(list, '\\n') .. '\\n'
end
-- A reservation is lines of: counter, epoch, held, kept, keep, ends
local function holdings(text)
  local found = {}
  for name, epoch, held, kept, keep, ends in groups(text, 6) do
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

/** ARGV: now or 0, id, lease, and for each demand lines of: counter, epoch or 0, window length, offset, roll epoch, ends, value, least, most, usual, enforced, keep. */
export const reserveScript = `${common}
local now = clock(ARGV[1])
if redis.call('EXISTS', prefix .. 'm') == 0 then return { 'rebuild' } end
local told = {}
sweep(now, told)
local id, lease = ARGV[2], tonumber(ARGV[3])
local list, states = {}, {}
for name, from, length, offset, roll, to, value, least, most, usual, enforced, keep in groups(ARGV[4], 12) do
  local epoch, ends, expires = tonumber(from), tonumber(to), 0
  length, offset, roll = tonumber(length), tonumber(offset), tonumber(roll)
  if length > 0 then
    epoch = math.floor((now - offset) / length) * length + offset
  elseif roll > 0 and now >= roll then
    epoch = roll
  end
  local known, settled, reserved = counter(name)
  if known >= epoch then epoch = known else settled = 0 reserved = 0 end
  if length > 0 then ends = epoch + length expires = ends end
  value, least, most, usual = tonumber(value), tonumber(least), tonumber(most), tonumber(usual)
  local room = value - settled - reserved
  local amount
  if enforced == '1' then
    if settled >= value or least > room then
      return { 'refused', lines({ tostring(#list), whole(epoch), whole(ends), whole(settled), whole(reserved) }), lines(told) }
    end
    amount = math.max(least, math.min(most, room, math.max(usual, math.floor(room / 16))))
  else
    amount = math.max(least, math.min(most, usual))
  end
  list[#list + 1] = { name = name, epoch = epoch, held = amount, kept = 0, keep = keep == '1', ends = expires, settled = settled, reserved = reserved + amount }
  states[#states + 1] = whole(epoch)
  states[#states + 1] = whole(ends)
  states[#states + 1] = whole(settled)
  states[#states + 1] = whole(reserved + amount)
  states[#states + 1] = whole(amount)
end
for _, h in ipairs(list) do put(h.name, h.epoch, h.settled, h.reserved, h.ends, now) end
redis.call('SET', prefix .. 'r:' .. id, written(list), 'PX', lease + 3600000)
redis.call('ZADD', prefix .. 'x', now + lease, id)
return { 'granted', lines(states), lines(told) }
`;

/** ARGV: now or 0, id, `spend` or `forget`, and for each holding lines of: counter, epoch, ends, spent. `forget` only lets go of what is held. */
export const settleScript = `${common}
local now = clock(ARGV[1])
local id = ARGV[2]
local forget = ARGV[3] == 'forget'
local key = prefix .. 'r:' .. id
local text = redis.call('GET', key)
local told = {}
if text == 'done' then return { 'done', '' } end
local list, given, spends = {}, {}, {}
for name, epoch, ends, spent in groups(ARGV[4] or '', 4) do
  given[#given + 1] = { name = name, epoch = tonumber(epoch), ends = tonumber(ends), held = 0, kept = 0 }
  spends[#spends + 1] = tonumber(spent)
end
if text then
  list = holdings(text)
elseif not forget then
  -- Redis lost the reservation: what was spent counts all the same.
  list = given
end
for i, h in ipairs(list) do
  local spent = forget and h.kept or spends[i]
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
return { 'settled', lines(told) }
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
return { 'read', whole(now), lines(states), lines(told) }
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
