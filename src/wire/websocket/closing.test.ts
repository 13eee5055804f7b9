import { describe, expect, test } from 'bun:test';
import { clientFrame, closePayload, kinds } from '../../../test/servers/client-frames.ts';
import { closing, lastWord, later, opened } from '../../../test/servers/scripted-line.ts';
import type { ServerSocket } from './server-socket.ts';

const { text, binary, close, ping } = kinds;

describe("the client's close frame", () => {
  test.each([
    [1_000, 'done'],
    [4_321, 'my own reason 🐎'],
  ])('with %d is answered, told, and ends the line', (code, reason) => {
    const { line, told, socket, says } = opened();
    says(clientFrame(close, closePayload(code, reason)), clientFrame(text, 'late'));
    expect(line.frames).toEqual([closing(code, reason)]);
    expect(told).toEqual([['closed', String(code), reason], ['end']]);
    expect(line.deeds).toEqual(['end']);
    socket.gone();
    socket.tick(later(60_000));
    says(clientFrame(text, 'later'));
    expect(told.length).toBe(2);
    expect(line.deeds).toEqual(['end']);
  });

  test('without a code is answered without one and told as 1005', () => {
    const { line, told, says } = opened();
    says(clientFrame(close));
    expect(line.frames).toEqual([[close, '']]);
    expect(told).toEqual([['closed', '1005', ''], ['end']]);
  });

  test('ends the line only when what waited has left', () => {
    const { line, told, socket, says } = opened();
    line.room = 0;
    socket.send('a');
    says(lastWord());
    expect(told).toEqual([['closed', '1000', '']]);
    expect(line.deeds).toEqual([]);
    expect(socket.send('b')).toBe(0);
    line.room = 100;
    socket.drained();
    expect(line.frames).toEqual([[text, 'a'], closing(1_000)]);
    expect(line.deeds).toEqual(['end']);
    expect(told).toEqual([['closed', '1000', ''], ['end']]);
  });

  test('of one that does not read what waited is cut off after 5 seconds', () => {
    const { line, told, socket, says } = opened();
    line.room = 0;
    socket.send('a');
    const before = later(0);
    says(lastWord());
    socket.tick(before + 4_990);
    expect(line.deeds).toEqual([]);
    socket.tick(later(5_001));
    expect(line.deeds).toEqual(['terminate']);
    expect(told).toEqual([['closed', '1000', ''], ['end']]);
  });

  test.each([
    ['of one byte', Buffer.from('x'), 1_002],
    ['with a code that is not for the wire', closePayload(1_015), 1_002],
    ['whose reason is no text', closePayload(1_000, Uint8Array.of(0xff)), 1_007],
  ])('%s is answered with its fault and told as none', (_, payload, code) => {
    const { line, told, says } = opened();
    says(clientFrame(close, payload));
    expect(line.frames).toEqual([closing(code, 'a close frame that cannot be read')]);
    expect(told.map(([event, of]) => [event, of])).toEqual([
      ['closed', '1006'],
      ['end', undefined],
    ]);
    expect(line.deeds).toEqual(['end']);
  });
});

describe('our close frame', () => {
  test.each<[string, [code?: number, reason?: string], [number, string]]>([
    ['1000 where nothing is said', [], closing(1_000)],
    ['its code and reason', [4_401, 'gone 🐎'], [close, closePayload(4_401, 'gone 🐎').toString('latin1')]],
    ['no code for 1005', [1_005, 'x'], [close, '']],
    ['no code for one that is not for the wire', [1_015, 'x'], [close, '']],
    ['a reason of 123 bytes', [1_000, 'x'.repeat(123)], closing(1_000, 'x'.repeat(123))],
    ['as many bytes of a reason as fit', [1_000, 'x'.repeat(200)], closing(1_000, 'x'.repeat(123))],
    ['whole letters of a reason', [1_000, `x${'🐎'.repeat(40)}`], closing(1_000, `x${'🐎'.repeat(30)}`)],
  ])('says %s', (_, said, frame) => {
    const { line, socket } = opened();
    socket.close(...said);
    socket.close(1_001);
    expect(socket.send('late')).toBe(0);
    expect(line.frames).toEqual([frame]);
  });

  test("waits for the client's, tells it, and ends the line", () => {
    const { line, told, socket, says } = opened();
    socket.close(1_000);
    says(clientFrame(text, 'late'), clientFrame(ping), clientFrame(text, 'faulty', { reserved: 4 }));
    expect(told).toEqual([]);
    expect(line.deeds).toEqual([]);
    says(clientFrame(close, closePayload(1_000, 'yes')));
    expect(line.frames).toEqual([closing(1_000)]);
    expect(told).toEqual([['closed', '1000', 'yes'], ['end']]);
    expect(line.deeds).toEqual(['end']);
  });

  test('in the middle of a message of the client waits for the end of it', () => {
    const { told, socket, says } = opened();
    const frame = clientFrame(binary, Buffer.alloc(1_000, lastWord()));
    says(frame.subarray(0, 20));
    socket.close();
    says(frame.subarray(20), lastWord());
    expect(told).toEqual([['closed', '1000', ''], ['end']]);
  });

  test('is not waited for longer than 5 seconds', () => {
    const { line, told, socket, says } = opened();
    const before = later(0);
    socket.close(1_000);
    says(clientFrame(text, 'still here'));
    socket.tick(before + 4_990);
    expect(told).toEqual([]);
    socket.tick(later(5_001));
    expect(line.deeds).toEqual(['end']);
    expect(told).toEqual([['closed', '1006', ''], ['end']]);
  });

  test('that cannot even leave is given up after 5 seconds', () => {
    const { line, told, socket } = opened();
    line.room = 0;
    socket.close(1_000);
    socket.tick(later(5_001));
    expect(line.deeds).toEqual(['terminate']);
    expect(told).toEqual([['closed', '1006', ''], ['end']]);
  });

  test('lets a client speak that was held back', () => {
    const { line, socket } = opened();
    socket.pause();
    socket.close();
    socket.pause();
    expect(line.deeds).toEqual(['pause', 'resume']);
  });

  test('that crosses the end of the connection is told as an abnormal end', () => {
    const { told, socket } = opened();
    socket.close(1_000);
    socket.gone();
    expect(told).toEqual([['closed', '1006', ''], ['end']]);
  });

  test.each<[string, (socket: ServerSocket) => void]>([
    ['1006', (socket) => socket.close(1_006)],
    ['terminating', (socket) => socket.terminate()],
    ['1006 behind another', (socket) => [socket.close(1_000), socket.close(1_006)]],
  ])('%s cuts the line at once', (_, leave) => {
    const { line, told, socket } = opened();
    // A connection that is cut says so before it returns.
    line.ends = () => socket.gone();
    leave(socket);
    socket.terminate();
    expect(line.deeds).toEqual(['terminate']);
    expect(told).toEqual([['closed', '1006', ''], ['end']]);
    expect(socket.send('late')).toBe(0);
  });
});

test('a connection that is gone is told once', () => {
  const { line, told, socket } = opened();
  line.room = 0;
  socket.send('a');
  socket.gone();
  line.room = 100;
  socket.gone();
  socket.close();
  socket.terminate();
  socket.drained();
  expect(told).toEqual([['closed', '1006', ''], ['end']]);
  expect(line.deeds).toEqual([]);
  expect(line.frames).toEqual([]);
  expect(socket.getBufferedAmount()).toBe(0);
});

test('a connection that is gone while the close frame is answered is told once', () => {
  const { line, told, socket, says } = opened();
  line.write = () => {
    socket.gone();
    return -1;
  };
  says(lastWord());
  expect(told).toEqual([['closed', '1006', ''], ['end']]);
  expect(line.deeds).toEqual([]);
});

describe('a fault of the client', () => {
  test.each([
    ['a frame without a mask', clientFrame(text, 'a', { mask: null }), 1_002],
    ['a text that is none', clientFrame(text, Uint8Array.of(0xff)), 1_007],
    ['a message of more than 32 MiB', clientFrame(binary, '', { size: 32n * 1024n * 1024n + 1n }), 1_009],
  ])('is told as soon as it is read and answered, and the line ends with its close frame: %s', (_, frame, code) => {
    const { line, told, socket, says } = opened();
    socket.pause();
    says(frame);
    expect(told).toEqual([]);
    socket.resume();
    const [[kind, content] = [0, '']] = line.frames;
    expect([kind, Buffer.from(content, 'latin1').readUInt16BE()]).toEqual([close, code]);
    expect(told.map(([event, of]) => [event, of])).toEqual([['closed', '1006']]);
    expect(line.deeds).toEqual(['pause', 'resume']);
    socket.tick(later(5_001));
    expect(line.deeds).toEqual(['pause', 'resume', 'end']);
    expect(told.length).toBe(2);
  });

  test('the rest of what was too large is passed over, up to the close frame', () => {
    const { line, told, says } = opened();
    const size = 32 * 1024 * 1024 + 1;
    says(clientFrame(binary, '', { size: BigInt(size) }));
    const piece = Buffer.alloc(64 * 1024, lastWord());
    for (let left = size; left > 0; left -= piece.length) says(piece.subarray(0, left));
    expect(line.deeds).toEqual([]);
    says(lastWord());
    expect(line.deeds).toEqual(['end']);
    expect(told.map(([event]) => event)).toEqual(['closed', 'end']);
  });

  test('a message of 32 MiB is none', () => {
    const { told, says } = opened();
    says(clientFrame(binary, Buffer.alloc(32 * 1024 * 1024), { mask: [0, 0, 0, 0] }));
    expect(told.map(([event, content]) => [event, content?.length])).toEqual([['message', 32 * 1024 * 1024]]);
  });
});
