/** A text that comes in small pieces, kept as its characters alone: a piece keeps all of the event alive that it was cut from. */
const firstRoom = 64;
const noRoom = new Uint16Array(0);

export class GrowingText {
  #characters = noRoom;
  #length = 0;

  push(piece: string): void {
    const start = this.#length;
    this.#length = start + piece.length;
    if (this.#length > this.#characters.length) this.#grow();
    for (let index = 0; index < piece.length; index++) this.#characters[start + index] = piece.charCodeAt(index);
  }

  get length(): number {
    return this.#length;
  }

  get whole(): string {
    return this.beginning(this.#length);
  }

  beginning(length: number): string {
    const { buffer, byteOffset } = this.#characters;
    return Buffer.from(buffer, byteOffset, 2 * Math.min(length, this.#length)).toString('utf16le');
  }

  #grow(): void {
    const larger = new Uint16Array(Math.max(firstRoom, 2 * this.#characters.length, this.#length));
    larger.set(this.#characters);
    this.#characters = larger;
  }
}
