/** Bytes of bodies, as readers hand them over. */

export type Bytes = Uint8Array<ArrayBuffer>;

/** Sees each piece of a body that comes in several; what it throws ends the reading. */
export type Look = (piece: Bytes) => void;
