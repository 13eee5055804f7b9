/** The labels that every workspace has, for good. They are no rows: their ids are fixed. */

export interface UniversalLabel {
  id: string;
  name: string;
  description: string;
  color: string;
}

export const universalLabels: readonly UniversalLabel[] = [
  {
    id: '00000000-0000-7000-8000-000000000001',
    name: 'production',
    description: 'What runs in production',
    color: '#2f9e44',
  },
  {
    id: '00000000-0000-7000-8000-000000000002',
    name: 'staging',
    description: 'What is tried before production',
    color: '#f08c00',
  },
  {
    id: '00000000-0000-7000-8000-000000000003',
    name: 'development',
    description: 'What is being worked on',
    color: '#1971c2',
  },
];

/** As old as a time can be: they were there before everything else. */
export const universalSince = '1970-01-01T00:00:00.000Z';

export const universalLabel = (id: string): UniversalLabel | null =>
  universalLabels.find((label) => label.id === id) ?? null;
