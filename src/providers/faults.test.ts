import { expect, test } from 'bun:test';
import { readFault } from './faults.ts';

const read = (body: unknown, status = 400) =>
  readFault(status, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));

test.each<[body: unknown, message: string, more: object]>([
  [{ error: { message: 'm', type: 't', param: 'p', code: 'c' } }, 'm', { type: 't', param: 'p', code: 'c' }],
  [{ error: 'm', code: 7 }, 'm', { code: '7' }],
  [{ message: 'm', id: 'i' }, 'm', { code: 'i' }],
  [{ detail: 'm' }, 'm', {}],
  [{ detail: [{ loc: ['body', 'n', 0], msg: 'too many' }, { msg: 'bad' }] }, 'body.n.0: too many; bad', {}],
  [{ detail: { status: 's', message: 'm' } }, 'm', {}],
  [{ fault: { faultstring: 'm', detail: 'd' } }, 'm: d', {}],
  [{ fault: { faultstring: 'm', detail: { code: 1 } } }, 'm', {}],
  [{ errors: [{ code: 1, message: 'm' }, 'n'] }, 'm; n', {}],
  [
    [{ error: { code: 403, message: 'm', status: 'PERMISSION_DENIED' } }],
    'm',
    { type: 'PERMISSION_DENIED', code: '403' },
  ],
  [{ __type: 'ValidationException', Message: 'm' }, 'm', { type: 'ValidationException' }],
  [{ 'html-message': '<b>m</b>' }, '<b>m</b>', {}],
  ['<html>Bad Gateway</html>', '<html>Bad Gateway</html>', {}],
  ['', 'status 400 without a body', {}],
  [{ fault: {} }, '{"fault":{}}', {}],
  [{ fault: {}, errors: ['m'] }, 'm', {}],
  [{}, '{}', {}],
  [[], '[]', {}],
  [{ error: null, message: { toString: 1 } }, '{"toString":1}', {}],
])('%j says "%s"', (body, message, more) => {
  expect(read(body)).toMatchObject({ status: 400, message, ...more });
});
