import { describe, expect, test } from 'bun:test';
import { clientFrame, closePayload, kinds } from '../../../test/servers/client-frames.ts';
import { closing, lastWord, later, opened } from '../../../test/servers/scripted-line.ts';
import type { ServerSocket } from './server-socket.ts';

const { text, close, ping } = kinds;

describe('a relay that throws', () => {
  test('at a message makes its owner hear of it, who can still close in order', () => {
    const { line, told, socket, says } = opened({
      message() {
        throw new Error('relay broke');
      },
    });
    const next = clientFrame(text, 'c');
    expect(() => says(clientFrame(text, 'a'), clientFrame(text, 'b'), next.subarray(0, 4))).toThrow('relay broke');
    socket.close(1_011);
    says(next.subarray(4), clientFrame(close, closePayload(1_011)));
    expect(line.frames).toEqual([closing(1_011)]);
    expect(told).toEqual([['message', 'a'], ['closed', '1011', ''], ['end']]);
    expect(line.deeds).toEqual(['end']);
  });

  test.each<[string, (socket: ServerSocket) => void]>([
    ['the close frame of the client', (socket) => socket.received(lastWord())],
    ['the end of the connection', (socket) => socket.gone()],
    ['being cut', (socket) => socket.terminate()],
    ['a client that is silent', (socket) => [socket.tick(later(31_000)), socket.tick(later(60_000))]],
  ])('at the end makes its owner hear of it, and everything ends nevertheless: %s', (_, end) => {
    const { told, socket } = opened({
      closed() {
        throw new Error('relay broke');
      },
    });
    expect(() => end(socket)).toThrow('relay broke');
    expect(told.map(([event]) => event)).toEqual(['closed', 'end']);
  });

  test('at a fault of the client makes its owner hear of it, and the close frame ends the line', () => {
    const { line, told, says } = opened({
      closed() {
        throw new Error('relay broke');
      },
    });
    expect(() => says(clientFrame(text, 'a', { reserved: 1 }))).toThrow('relay broke');
    says(lastWord());
    expect(told.map(([event]) => event)).toEqual(['closed', 'end']);
    expect(line.deeds).toEqual(['end']);
  });
});

describe('a relay that leaves', () => {
  test.each<[string, (socket: ServerSocket) => void, string[]]>([
    ['closing', (socket) => socket.close(1_008), []],
    ['cutting', (socket) => socket.terminate(), ['closed', 'end']],
  ])('in the middle of messages hears of no further one: %s', (_, leave, ending) => {
    const { told, socket, says } = opened({ message: () => leave(socket) });
    says(clientFrame(text, 'a'), clientFrame(text, 'b'), clientFrame(ping));
    expect(told.map(([event]) => event)).toEqual(['message', ...ending]);
  });

  test('when it hears of the end changes nothing', () => {
    const { line, told, socket, says } = opened({
      closed() {
        socket.close(1_000);
        socket.send('late');
      },
    });
    says(lastWord());
    expect(line.frames).toEqual([closing(1_000)]);
    expect(told.map(([event]) => event)).toEqual(['closed', 'end']);
  });

  test('by cutting when it hears of the end cuts once', () => {
    const { line, told, socket, says } = opened({ closed: () => socket.terminate() });
    says(lastWord());
    expect(line.deeds).toEqual(['terminate']);
    expect(told.map(([event]) => event)).toEqual(['closed', 'end']);
  });
});
