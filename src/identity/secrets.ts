/** The secrets handed to people: how they are made, how they are recognised, and how they look when they must not be read. */
import { randomBytes } from 'node:crypto';

const secretBytes = 32;

/** A new API key: an optional prefix and 256 random bits, with no dot in it, so that it is never taken for a JWT. */
export const newApiKeySecret = (prefix: string): string => prefix + randomBytes(secretBytes).toString('base64url');

export const sessionTokenPrefix = 'gws_';
export const newSessionToken = (): string => sessionTokenPrefix + randomBytes(secretBytes).toString('base64url');

/** A token for a link or a form, such as an invite's or a session's against forged requests. */
export const newToken = (): string => randomBytes(24).toString('base64url');

/** Stores keep this instead of the secret, and look a secret up by the whole of it. */
export const digestOf = (secret: string): string => Bun.CryptoHasher.hash('sha256', secret, 'hex');

export const maskSecret = (secret: string): string => `${secret.slice(0, 2)}*******${secret.slice(-2)}`;
