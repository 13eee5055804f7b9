/** Bodies that are read, and bodies that are refused before they do harm. */
import { expect, test } from 'bun:test';
import { readJsonBody } from './body.ts';
import { ApiError } from './errors.ts';

const limit = 64;

const request = (body: BodyInit | null, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
  new Request('http://gw.test/', { method: 'POST', body, headers });

async function refusal(asked: Request, timeoutMs?: number): Promise<{ status: number; code: string; message: string }> {
  try {
    await readJsonBody(asked, limit, timeoutMs === undefined ? {} : { timeoutMs });
  } catch (error) {
    if (error instanceof ApiError) return { status: error.status, code: error.code, message: error.message };
    throw error;
  }
  throw new Error('The body was read');
}

test('JSON of any shape is read', async () => {
  expect(await readJsonBody(request('{"a":["é",null]}'), limit)).toEqual({ a: ['é', null] });
  expect(await readJsonBody(request('7'), limit)).toBe(7);
});

test('no body, or an empty one, is no body', async () => {
  expect(await readJsonBody(request(null), limit)).toBeUndefined();
  expect(await readJsonBody(request(''), limit)).toBeUndefined();
  expect(await readJsonBody(request('', { 'content-type': 'text/plain' }), limit)).toBeUndefined();
});

test('parameters and relatives of application/json are JSON too, and so is a body that does not say', async () => {
  for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/scim+json']) {
    expect(await readJsonBody(request('{}', { 'content-type': type }), limit)).toEqual({});
  }
  expect(await readJsonBody(request(new Blob(['{}']), {}), limit)).toEqual({});
});

test('another media type is refused with 415', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const { status, message } = await refusal(request('{}', { 'content-type': type }));
    expect(status).toBe(415);
    expect(message).toContain(type.split(';')[0] ?? '');
  }
});

test('what is not JSON, or not UTF-8, is refused with 400 and a reason', async () => {
  for (const body of ['{', '{"a":1,}', 'undefined', '{} {}', new Uint8Array([0x22, 0xff, 0x22])]) {
    const { status, code, message } = await refusal(request(body));
    expect([status, code]).toEqual([400, 'AB01']);
    expect(message).toStartWith('The body is not valid JSON: ');
  }
});

test('a body of the limit is read, one byte more is refused with 413', async () => {
  expect(await readJsonBody(request(`"${'x'.repeat(limit - 2)}"`), limit)).toBe('x'.repeat(limit - 2));
  expect((await refusal(request(`"${'x'.repeat(limit - 1)}"`))).status).toBe(413);
});

test('a declared length over the limit is refused before anything is read', async () => {
  let pulled = 0;
  const body = new ReadableStream(
    {
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(16));
      },
    },
    { highWaterMark: 0 },
  );
  const headers = { 'content-type': 'application/json', 'content-length': String(limit + 1) };
  expect((await refusal(request(body, headers))).status).toBe(413);
  expect(pulled).toBe(0);
});

test('an endless body is refused at the limit, and no longer read', async () => {
  let pulled = 0;
  let cancelled = false;
  const body = new ReadableStream(
    {
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(16));
      },
      cancel() {
        cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  expect((await refusal(request(body))).status).toBe(413);
  expect(pulled).toBeLessThanOrEqual(limit / 16 + 2);
  expect(cancelled).toBe(true);
});

test('a client that leaves in the middle is not our fault', async () => {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"a":'));
      controller.error(new Error('connection reset'));
    },
  });
  expect(await refusal(request(body))).toMatchObject({ status: 400, code: 'AB01' });
});

test('a body that dribbles is refused with 408 when patience ends, and no longer read', async () => {
  let cancelled = false;
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"a":')),
    cancel() {
      cancelled = true;
    },
  });
  expect(await refusal(request(body), 5)).toMatchObject({ status: 408, code: 'AB01' });
  expect(cancelled).toBe(true);
});

test('a large body is counted while it comes, and given back when it is there', async () => {
  const counted: number[] = [];
  let left = 1024 * 1024;
  const room = {
    take(bytes: number) {
      if (bytes > left) return false;
      left -= bytes;
      counted.push(bytes);
      return true;
    },
    give(bytes: number) {
      left += bytes;
    },
  };
  const text = JSON.stringify('x'.repeat(700 * 1024));
  expect(await readJsonBody(request(text), 8 * 1024 * 1024, { room })).toBe(JSON.parse(text));
  expect([counted.reduce((sum, bytes) => sum + bytes, 0), left]).toEqual([768 * 1024, 1024 * 1024]);
  const refused = readJsonBody(request(JSON.stringify('x'.repeat(1100 * 1024))), 8 * 1024 * 1024, { room });
  expect(await refused.catch((fault: ApiError) => fault.status)).toBe(503);
  expect(left).toBe(1024 * 1024);
});
