/** What integrations and configs keep beside their plain columns: the form of their JSON, and what each sealed column is sealed for. */
import type { RateLimit, UsageLimitTerms } from '../limits/entries.ts';
import type { Vault } from '../store/vault.ts';

/** The settings of an integration for its provider, in the wire's words. */
export type Configurations = Readonly<Record<string, unknown>>;

/** What a model of an integration has of its own. */
export interface ModelConfigurations {
  custom_host?: string;
  custom_headers?: Record<string, string>;
}

/** A field of the credentials that is read from a secret manager when it is needed. */
export interface SecretMapping {
  /** `key`, or `configurations.` and the field's name. */
  target_field: string;
  secret_reference_id: string;
  secret_key: string | null;
  value_format: 'string' | 'json';
}

interface Price {
  price: number;
}

/** Prices of one model, in US cents per unit. */
export interface PricingConfig {
  type: 'static';
  currency?: 'USD' | undefined;
  pay_as_you_go: {
    image?: Record<string, Record<string, Price>> | undefined;
    additional_units?: Record<string, Price> | undefined;
  } & { [priceKey: string]: unknown };
}

/** Factors on an integration's prices; null counts as not set. */
export interface StoredPricingAdjustments {
  multiplier: {
    image?: { default?: number | null | undefined } | null | undefined;
    additional_units?: Record<string, number | null> | null | undefined;
  } & { [priceKey: string]: unknown };
}

/** A usage limit as it is given to each workspace that is provisioned by itself. */
export type UsageLimitTemplate = UsageLimitTerms;

/** What new workspaces of the organisation get of an integration. */
export interface GlobalWorkspaceAccess {
  enabled: boolean;
  usage_limits: UsageLimitTemplate[];
  rate_limits: RateLimit[];
  create_default_provider: boolean;
  default_provider_slug: string | null;
}

type SealedColumn =
  | 'integration-key'
  | 'integration-configurations'
  | 'model-configurations'
  | 'config'
  | 'prompt'
  | 'prompt-partial';

export const sealJson = (vault: Vault, value: unknown, column: SealedColumn): string =>
  vault.seal(JSON.stringify(value), column);

/** Null reads as an empty object: what was never set needs no key to read. */
export const openConfigurations = (vault: Vault, sealed: string | null): Configurations =>
  sealed === null ? {} : JSON.parse(vault.open(sealed, 'integration-configurations'));

export const openModelConfigurations = (vault: Vault, sealed: string | null): ModelConfigurations =>
  sealed === null ? {} : JSON.parse(vault.open(sealed, 'model-configurations'));
