/** What an operator reads about one field of a provider in docs/reference/openid-providers.md. */
interface FieldDescription {
  /** Form of the value. */
  readonly form: string
  /** In words; none means required. */
  readonly default?: string
  readonly text: string
}

/** Fields of a provider in `OIDC_PROVIDERS_FILE`, in the order of the page. */
export const providerFields = {
  display_name: { form: 'text', default: 'the id', text: 'Name on the button of the login page.' },
  issuer: {
    form: 'URL',
    text: 'Issuer, as the discovery document of the provider names it: `https`, or `http` at a loopback address.',
  },
  client_id: { form: 'text', text: 'Id of the client that is registered at the provider for Berth.' },
  client_secret: { form: 'text', default: 'none: a public client', text: 'Secret of the client.' },
  client_secret_file: {
    form: 'path',
    default: 'none',
    text: 'File that holds the secret instead, under the same conditions as [the file of a secret setting](settings.md#secrets-in-files).',
  },
  scopes: {
    form: 'list of text',
    default: '`[openid, email, profile]`',
    text: 'Scopes that are requested; `openid` must be one of them.',
  },
  email_claim: { form: 'text', default: '`email`', text: 'Claim that holds the e-mail address.' },
  trust_email: {
    form: '`true` or `false`',
    default: '`false`',
    text: 'Accept addresses of which the provider does not say `email_verified: true`. Only for a provider whose users cannot choose their own address.',
  },
  groups_claim: {
    form: 'text',
    default: 'none',
    text: "Claim that lists the user's groups. At each sign-in they set the user's memberships of Berth's groups; a group that is missing is made. What a sign-in without the claim does: `groups_absent`.",
  },
  groups_absent: {
    form: '`keep` or `none`',
    default: '`keep`',
    text: 'What a sign-in without the claim means. `keep`: the provider does not say, so nothing changes. `none`: the user is in no group; for a provider that omits the claim then, such as Okta. A userinfo endpoint that fails, and a claim that is not a list or that the provider keeps elsewhere, still change nothing. Needs `groups_claim`.',
  },
  member_groups: {
    form: 'list of text',
    default: 'all groups of the claim',
    text: 'Groups of the claim that become memberships; `*` at the end of a name stands for any rest. `[]`: none. For a provider whose users make groups themselves. `allowed_groups` and `admin_groups` see the whole claim. Needs `groups_claim`.',
  },
  allowed_groups: {
    form: 'list of text',
    default: 'all users',
    text: 'Only members of one of these groups may sign in. Needs `groups_claim`.',
  },
  admin_groups: {
    form: 'list of text',
    default: 'none',
    text: 'At each sign-in members of one of these groups become administrators, and others stop being administrators, except for the last one. What a sign-in without the claim does: `groups_absent`. Needs `groups_claim`.',
  },
} as const satisfies Readonly<Record<string, FieldDescription>>

/** Name of a field; one that is not described here cannot be read. */
export type ProviderField = keyof typeof providerFields
