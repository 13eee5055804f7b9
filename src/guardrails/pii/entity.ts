/** The kinds of personal data, and one place in a text that holds some. */
export const piiCategories = [
  'EMAIL_ADDRESS',
  'PHONE_NUMBER',
  'LOCATION_ADDRESS',
  'NAME',
  'IP_ADDRESS',
  'CREDIT_CARD',
  'SSN',
] as const;

export type PiiCategory = (typeof piiCategories)[number];

export interface Entity {
  category: PiiCategory;
  start: number;
  end: number;
}
