/** Asks for the health of a program without pause, in a thread of its own, until it is told to stop; then says how long the answers took. */
declare const self: Worker;

let over = false;
const took: number[] = [];

self.onmessage = ({ data }: MessageEvent<{ port: number } | 'stop'>) => {
  if (data === 'stop') over = true;
  else void probe(data.port);
};

async function probe(port: number): Promise<void> {
  while (!over) {
    const from = performance.now();
    await (await fetch(`http://127.0.0.1:${port}/v1/health`)).text();
    took.push(performance.now() - from);
    await Bun.sleep(2);
  }
  took.sort((one, other) => one - other);
  postMessage({ asked: took.length, median: took[took.length >> 1] ?? 0, worst: took.at(-1) ?? 0 });
}
