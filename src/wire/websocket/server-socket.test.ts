import { describe, expect, test } from 'bun:test';
import { clientFrame, kinds, serverFrames } from '../../../test/servers/client-frames.ts';
import { closing, later, opened, type ScriptedLine } from '../../../test/servers/scripted-line.ts';
import type { ServerSocket } from './server-socket.ts';

const { continuation, text, binary, ping, pong } = kinds;

describe('messages', () => {
  test('are told as they were meant, text as text and bytes as bytes', () => {
    const { told, says } = opened();
    says(clientFrame(text, 'žluť'), clientFrame(binary, 'žluť'), clientFrame(text, ''));
    expect(told).toEqual([
      ['message', 'žluť'],
      ['message', Buffer.from('žluť')],
      ['message', ''],
    ]);
  });

  test.each([0, 1, 125, 126, 127, 65_535, 65_536, 70_000])('of %d bytes are sent as text and as bytes', (size) => {
    const { line, socket } = opened();
    const content = 'ž'.repeat(size / 2) + 'x'.repeat(size % 2);
    const bytes = new Uint8Array(Buffer.from(content));
    expect(socket.send(content)).toBeGreaterThan(0);
    expect(socket.send(bytes)).toBeGreaterThan(0);
    bytes.fill(0);
    const frames = serverFrames(Buffer.concat(line.taken));
    expect(frames.map(({ kind }) => kind)).toEqual([text, binary]);
    for (const { payload } of frames) expect(payload.toString()).toBe(content);
  });

  test('half of a surrogate pair is sent as the letter that stands for what cannot be written', () => {
    const { line, socket } = opened();
    socket.send('a\ud800b');
    expect(serverFrames(Buffer.concat(line.taken))[0]?.payload.toString()).toBe('a\ufffdb');
  });

  test('what was sent may change afterwards, even while it waits', () => {
    const { line, socket } = opened();
    line.room = 3;
    const bytes = Buffer.from('abcdef');
    socket.send(bytes);
    bytes.fill(0);
    line.room = 100;
    socket.drained();
    expect(line.frames).toEqual([[binary, 'abcdef']]);
  });
});

describe('a ping', () => {
  test('is answered with a pong that says the same, also within a message', () => {
    const { line, told, says } = opened();
    says(
      clientFrame(ping, 'one'),
      clientFrame(text, 'a', { final: false }),
      clientFrame(ping),
      clientFrame(continuation, 'b'),
    );
    expect(line.frames).toEqual([
      [pong, 'one'],
      [pong, ''],
    ]);
    expect(told).toEqual([['message', 'ab']]);
  });

  test('of a client that does not read is answered with the last one alone, once it reads', () => {
    const { line, socket, says } = opened();
    line.room = 1;
    for (let count = 0; count < 1_000; count++) says(clientFrame(ping, `no ${count}`));
    expect(socket.getBufferedAmount()).toBeLessThan(20);
    line.room = 1_000;
    socket.drained();
    line.room = 0;
    says(clientFrame(ping, 'again'));
    line.room = 1_000;
    socket.drained();
    expect(line.frames).toEqual([
      [pong, 'no 0'],
      [pong, 'no 999'],
      [pong, 'again'],
    ]);
  });

  test('is answered among messages that wait', () => {
    const { line, socket, says } = opened();
    line.room = 0;
    socket.send('a');
    says(clientFrame(ping, 'x'));
    socket.send('b');
    line.room = 100;
    socket.drained();
    expect(line.frames).toEqual([
      [text, 'a'],
      [pong, 'x'],
      [text, 'b'],
    ]);
  });

  test('that waits for its answer gets none behind our close frame', () => {
    const { line, socket, says } = opened();
    line.room = 0;
    says(clientFrame(ping, 'x'), clientFrame(ping, 'y'));
    socket.close(1_000);
    line.room = 100;
    socket.drained();
    expect(line.frames).toEqual([[pong, 'x'], closing(1_000)]);
  });
});

describe('a line without room', () => {
  test('gets the rest byte by byte, in order and once', () => {
    const { line, told, socket } = opened();
    line.room = 5;
    const contents = Array.from({ length: 3_000 }, (_, index) => `message ${index}`);
    expect(socket.send('fits')).toBe(-1);
    for (const content of contents) expect(socket.send(content)).toBe(-1);
    const total = 6 + contents.reduce((sum, content) => sum + content.length + 2, 0);
    expect(socket.getBufferedAmount()).toBe(total - 5);
    for (let step = 0; socket.getBufferedAmount() > 0; step++) {
      expect(told).toEqual([]);
      line.room = step % 50;
      socket.drained();
    }
    expect(told).toEqual([['drained']]);
    expect(line.frames).toEqual([[text, 'fits'], ...contents.map((content): [number, string] => [text, content])]);
    socket.drained();
    expect(told).toEqual([['drained']]);
  });

  test('is told about again after another backlog, and never without one', () => {
    const { line, told, socket } = opened();
    socket.send('a');
    socket.drained();
    expect(told).toEqual([]);
    for (let round = 1; round <= 2; round++) {
      line.room = 0;
      socket.send('b');
      line.room = 100;
      socket.drained();
      expect(told.length).toBe(round);
    }
  });

  test('takes what the relay sends when it hears of the room', () => {
    const { line, socket } = opened({ drained: () => void socket.send('more') });
    line.room = 0;
    socket.send('a');
    line.room = 100;
    socket.drained();
    expect(line.frames).toEqual([
      [text, 'a'],
      [text, 'more'],
    ]);
  });

  test('that turns out to be closed takes nothing, and the end is told when it is gone', () => {
    const { line, told, socket } = opened();
    line.room = 0;
    socket.send('a');
    line.closed = true;
    socket.drained();
    expect(socket.send('b')).toBe(0);
    expect(socket.getBufferedAmount()).toBe(0);
    expect(told).toEqual([]);
    socket.gone();
    expect(told).toEqual([['closed', '1006', ''], ['end']]);
  });
});

describe('a silent client', () => {
  test('is pinged after 30 seconds, and cut off 16 seconds later', () => {
    const { line, told, socket } = opened();
    const start = later(0);
    socket.tick(start + 29_000);
    expect(line.frames).toEqual([]);
    socket.tick(start + 31_000);
    socket.tick(start + 46_990);
    expect(line.frames).toEqual([[ping, '']]);
    expect(line.deeds).toEqual([]);
    socket.tick(start + 47_001);
    expect(line.deeds).toEqual(['terminate']);
    expect(told).toEqual([['closed', '1006', ''], ['end']]);
  });

  test.each<[string, (socket: ServerSocket, line: ScriptedLine) => void]>([
    ['a pong', (socket) => socket.received(clientFrame(pong))],
    ['a piece of a frame', (socket) => socket.received(Buffer.from([0x81]))],
    ['reading what waits', (socket, line) => [line.make(1), socket.drained()]],
  ])('stays when it shows itself: %s', (_, showUp) => {
    const { line, socket } = opened();
    line.room = 0;
    socket.send('a');
    socket.tick(later(31_000));
    showUp(socket, line);
    socket.tick(later(29_000));
    expect(line.deeds).toEqual([]);
    line.room = 100;
    socket.drained();
    expect(line.frames.filter(([kind]) => kind === ping).length).toBe(1);
    socket.tick(later(31_000));
    expect(line.frames.filter(([kind]) => kind === ping).length).toBe(2);
  });

  test('is not blamed for a silence that we asked for', () => {
    const { line, socket } = opened();
    socket.tick(later(31_000));
    socket.pause();
    socket.tick(later(100_000));
    expect(line.deeds).toEqual(['pause']);
    socket.resume();
    socket.tick(later(60_000));
    expect(line.deeds).toEqual(['pause', 'resume']);
    expect(line.frames).toEqual([
      [ping, ''],
      [ping, ''],
    ]);
  });
});

test('pausing and resuming reach the line once each', () => {
  const { line, socket } = opened();
  socket.resume();
  socket.pause();
  socket.pause();
  socket.resume();
  socket.resume();
  expect(line.deeds).toEqual(['pause', 'resume']);
});
