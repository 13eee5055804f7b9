/** How a call to a cloud is authorised: said by the provider as data, carried out by the gateway, which signs and fetches tokens. */

/** Where AWS credentials come from. */
export type AwsCredentials =
  | { from: 'keys'; accessKeyId: string; secretAccessKey: string; sessionToken: string | null }
  /** A role that is assumed: with these keys, or with the gateway's own credentials where there are none. */
  | {
      from: 'role';
      roleArn: string;
      externalId: string | null;
      tags: Readonly<Record<string, string>>;
      with: Extract<AwsCredentials, { from: 'keys' }> | null;
    }
  /** The gateway's own: environment, web identity, container or instance. */
  | { from: 'gateway' };

type GoogleCredentials =
  | { from: 'service-account'; json: string }
  /** The gateway's own: the metadata server, or workload identity federation. */
  | { from: 'gateway' };

export type EntraCredentials =
  | { from: 'client'; tenantId: string; clientId: string; clientSecret: string }
  | { from: 'managed'; clientId: string | null }
  /** A token file that the platform keeps fresh is exchanged. */
  | { from: 'workload'; tenantId: string | null; clientId: string | null };

export type Authentication =
  | { kind: 'aws'; service: string; region: string; credentials: AwsCredentials }
  | { kind: 'google'; credentials: GoogleCredentials; scope: string }
  | { kind: 'entra'; credentials: EntraCredentials; scope: string }
  | {
      kind: 'oci';
      tenancy: string;
      user: string;
      fingerprint: string;
      privateKey: string;
      passphrase: string | null;
    }
  | TokenExchange;

/** A credential that lives long is exchanged for a token that does not. */
export interface TokenExchange {
  kind: 'exchange';
  /** Who exchanges it, for people. */
  service: string;
  /** Fixed by the provider: a customer's own address would be handed the credential. */
  url: `https://${string}`;
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  /** The name of a header that each asking has a new id in. */
  idHeader?: string;
  form?: Readonly<Record<string, string>>;
}
