/** The attributes of users and groups: what the schemas tell clients, and what PATCH may touch. */

type Mutability = 'readOnly' | 'readWrite' | 'immutable';

export interface Attribute {
  name: string;
  type: 'string' | 'boolean' | 'complex' | 'reference';
  description: string;
  multiValued?: true;
  required?: true;
  caseExact?: true;
  mutability?: Mutability;
  uniqueness?: 'server';
  canonicalValues?: readonly string[];
  referenceTypes?: readonly string[];
  subAttributes?: readonly Attribute[];
}

export interface ResourceKind {
  name: 'User' | 'Group';
  endpoint: '/Users' | '/Groups';
  schema: string;
  description: string;
  attributes: readonly Attribute[];
  /** Attributes of the core schema that identity providers send and this service does not keep, in small letters. */
  ignored: ReadonlySet<string>;
}

const namesOf = (text: string): ReadonlySet<string> => new Set(text.trim().toLowerCase().split(/\s+/));

const user = (userMode: boolean): ResourceKind => ({
  name: 'User',
  endpoint: '/Users',
  schema: 'urn:ietf:params:scim:schemas:core:2.0:User',
  description: 'A person of the organisation',
  attributes: [
    {
      name: 'userName',
      type: 'string',
      description: 'The name that the identity provider knows the person by; also the e-mail address where it is one',
      required: true,
      uniqueness: 'server',
    },
    {
      name: 'name',
      type: 'complex',
      description: 'The parts of the name',
      subAttributes: [
        { name: 'givenName', type: 'string', description: 'The first name' },
        { name: 'familyName', type: 'string', description: 'The last name' },
      ],
    },
    { name: 'displayName', type: 'string', description: 'The name as it is shown; split where name is absent' },
    { name: 'title', type: 'string', description: 'The title of the position' },
    {
      name: 'active',
      type: 'boolean',
      description: 'Whether the person belongs to the organisation; true where a new user does not say',
      required: true,
    },
    {
      name: 'emails',
      type: 'complex',
      multiValued: true,
      description: 'E-mail addresses; the primary or first one counts where userName is none',
      required: true,
      subAttributes: [
        { name: 'value', type: 'string', description: 'The address', required: true },
        { name: 'type', type: 'string', description: 'What it is for', canonicalValues: ['work', 'home', 'other'] },
        { name: 'primary', type: 'boolean', description: 'Whether it is the preferred one' },
      ],
    },
    {
      name: 'roles',
      type: 'complex',
      multiValued: true,
      description: 'The role in the organisation; of several the highest counts',
      subAttributes: [
        { name: 'value', type: 'string', description: 'The role', canonicalValues: ['owner', 'admin', 'member'] },
      ],
    },
    {
      name: 'groups',
      type: 'complex',
      multiValued: true,
      description: 'The groups that the person belongs to',
      mutability: userMode ? 'readWrite' : 'readOnly',
      subAttributes: [
        {
          name: 'value',
          type: 'string',
          description: 'The id of the group',
          mutability: userMode ? 'readWrite' : 'readOnly',
        },
        {
          name: '$ref',
          type: 'reference',
          description: 'The address of the group',
          referenceTypes: ['Group'],
          mutability: 'readOnly',
        },
        { name: 'display', type: 'string', description: 'The name of the group', mutability: 'readOnly' },
      ],
    },
  ],
  ignored:
    namesOf(`nickName profileUrl userType preferredLanguage locale timezone password phoneNumbers ims photos addresses
    entitlements x509Certificates name.formatted name.middleName name.honorificPrefix name.honorificSuffix emails.display
    roles.display roles.type roles.primary groups.type`),
});

const group: ResourceKind = {
  name: 'Group',
  endpoint: '/Groups',
  schema: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  description: 'A group of people',
  attributes: [
    {
      name: 'displayName',
      type: 'string',
      description: 'The name of the group',
      required: true,
      uniqueness: 'server',
    },
    {
      name: 'members',
      type: 'complex',
      multiValued: true,
      description: 'The people in the group',
      subAttributes: [
        { name: 'value', type: 'string', description: 'The id of the person', mutability: 'immutable' },
        {
          name: '$ref',
          type: 'reference',
          description: 'The address of the person',
          referenceTypes: ['User'],
          mutability: 'immutable',
        },
        {
          name: 'type',
          type: 'string',
          description: 'What kind of member it is',
          canonicalValues: ['User'],
          mutability: 'immutable',
        },
      ],
    },
  ],
  ignored: namesOf('members.display'),
};

export interface ResourceKinds {
  user: ResourceKind;
  group: ResourceKind;
}

export const resourceKinds = (userMode: boolean): ResourceKinds => ({ user: user(userMode), group });

/** Attributes that every resource has. */
const common: readonly Attribute[] = [
  { name: 'id', type: 'string', description: '', mutability: 'readOnly', caseExact: true },
  { name: 'externalId', type: 'string', description: '', caseExact: true },
  { name: 'meta', type: 'complex', description: '', mutability: 'readOnly', subAttributes: [] },
  { name: 'schemas', type: 'reference', description: '', mutability: 'readOnly', multiValued: true },
];

/** The attribute of this name, in any case. */
export const attributeOf = ({ attributes }: Pick<ResourceKind, 'attributes'>, name: string): Attribute | undefined =>
  [...attributes, ...common].find((attribute) => attribute.name.toLowerCase() === name);

export const subAttributeOf = ({ subAttributes = [] }: Attribute, name: string): Attribute | undefined =>
  subAttributes.find((attribute) => attribute.name.toLowerCase() === name);
