import Type from 'typebox'
import { instant, MapOf, OrNull } from './shapes.ts'

const optionalInstant = (description: string) => OrNull(instant(description), { description })
const text = (description: string) => Type.String({ description })
const optionalText = (description: string) => OrNull(Type.String(), { description })
const seconds = (description: string) => Type.Integer({ description })

/** Everything that is kept about a user, without secrets and hashes of secrets. */
export const PersonalDataResponse = Type.Object({
  format: Type.Literal(1, { description: 'Version of this format' }),
  made_at: instant('When the document was made'),
  kept_for: Type.Object(
    {
      homes: seconds('Files after the deletion of the account'),
      takeovers: seconds('Sessions in which an administrator acted for the user'),
      audit_addresses: seconds('Network addresses in the audit log, and e-mail addresses of deleted accounts'),
      sessions: seconds('Max duration of a session, with network address and browser'),
    },
    { description: 'Retention times of this installation, in seconds' },
  ),
  account: Type.Object({
    id: Type.Integer({ description: 'Number of the account' }),
    email: text('E-mail address'),
    slug: text('Part of the addresses of the containers'),
    state: text('`registered`, `verified` or `active`'),
    is_admin: Type.Boolean({ description: 'Whether the user is an administrator' }),
    is_blocked: Type.Boolean({ description: 'Whether the account is blocked' }),
    last_used: optionalInstant('Last sign-in or use'),
    created_at: instant('When the account was made'),
    extra_disk_bytes: OrNull(Type.Integer(), { description: 'Bytes beyond the disk limits' }),
  }),
  containers: Type.Array(
    Type.Object({
      id: Type.Integer({ description: 'Number of the record' }),
      type: text('Container type'),
      container_id: optionalText('Id in the engine'),
      image: text('Image of the last start'),
      parameters: OrNull(MapOf(Type.Unknown()), { description: 'What was chosen at the last launch' }),
      created_at: instant('First launch'),
      last_used: optionalInstant('Last use'),
      stopped_at: optionalInstant('When Berth stopped it last'),
      stop_reason: optionalText('Why, see `why` of the events of containers'),
      is_stop_requested: Type.Boolean({ description: 'Whether that stop was asked for, and was not for lack of use' }),
      running_since: optionalInstant('Since when it is to run'),
      retired_at: optionalInstant('When it was removed for lack of use; its files stay'),
      full_layer: OrNull(Type.Integer(), { description: 'Bytes outside of its home for which Berth stopped it' }),
      is_blocked: Type.Boolean({ description: 'Whether it is blocked' }),
      blocked_at: optionalInstant('Since when'),
    }),
    { description: 'Records of containers; the files in them are not part of this document' },
  ),
  sessions: Type.Array(
    Type.Object({
      id: Type.Integer({ description: 'Number of the session' }),
      created_at: instant('Sign-in'),
      expires_at: instant('When it ends without use'),
      last_used: optionalInstant('Last use'),
      began: optionalText('`link` or `oidc:{provider}`'),
      address: text('Network address of the sign-in'),
      browser: optionalText('Browser and system'),
      ended_at: optionalInstant('When it was ended'),
      ended_why: optionalText('Why'),
      taken_over_by: optionalText('Administrator who acted for the user'),
      reason: optionalText('Reason that the administrator gave'),
    }),
    { description: 'Sessions, and takeovers by administrators' },
  ),
  links: Type.Array(
    Type.Object({
      purpose: text('`signup` or `login`'),
      created_at: instant('When it was made'),
      expires_at: instant('When it expires and is deleted'),
      used_at: optionalInstant('When it was used'),
      mailed_at: optionalInstant('When the mail server accepted the mail'),
      address: text('Network address of the request'),
    }),
    { description: 'Mailed links that have not expired, without the links' },
  ),
  link_requests: Type.Array(Type.Object({ requested_at: instant('When a link was asked for') }), {
    description: 'Requests that the limit of links counts; deleted after two hours',
  }),
  api_tokens: Type.Array(
    Type.Object({
      id: Type.Integer({ description: 'Number of the token' }),
      name: text('Name'),
      scopes: Type.Array(Type.String(), { description: 'What it may do' }),
      created_at: instant('When it was made'),
      expires_at: instant('When it ends'),
      last_used: optionalInstant('Last use'),
    }),
    { description: 'API tokens, without the tokens' },
  ),
  ssh_keys: Type.Array(
    Type.Object({
      id: Type.Integer({ description: 'Number of the key' }),
      title: text('Title'),
      type: text('Type, such as `ssh-ed25519`'),
      fingerprint: text('SHA-256 of the public key'),
      created_at: instant('When it was added'),
      last_used: optionalInstant('Last use'),
    }),
    { description: 'Public keys for SSH' },
  ),
  identities: Type.Array(
    Type.Object({
      issuer: text('OpenID Connect provider'),
      subject: text('Name of the user there (claim `sub`)'),
      created_at: instant('First sign-in by it'),
    }),
    { description: 'Accounts at providers that sign in to this one' },
  ),
  groups: Type.Array(
    Type.Object({
      group: text('Name of the group'),
      name: OrNull(Type.String(), { description: 'Of the user, as the list of a manager has it' }),
      role: text('`member` or `manager`'),
      source: text('`local`, or the provider whose claim made the membership'),
      created_at: instant('Since when'),
    }),
    { description: 'Groups of the user' },
  ),
  invitations: Type.Array(
    Type.Object({
      group: text('Name of the group'),
      name: OrNull(Type.String(), { description: 'Of the user, as the list of a manager has it' }),
      role: text('Role'),
      created_at: instant('Since when'),
    }),
    { description: 'Invitations to groups that were not accepted' },
  ),
  shares: Type.Array(
    Type.Object({
      is_own: Type.Boolean({ description: 'Whether the user shared an own container, or was given one' }),
      type: text('Container type'),
      with: text('Address or group that it is shared with'),
      asked_in: text('Group whose manager had asked to look; empty where none had'),
      may: text('What visitors may do'),
      port: OrNull(Type.Integer(), { description: 'Further port of the container that it opens; null: the main one' }),
      created_at: instant('Since when'),
      expires_at: instant('When it ends'),
    }),
    { description: 'Shares of own containers, and of containers of others with the address of the user' },
  ),
  term_ends: Type.Array(
    Type.Object({
      group: text('Group whose term ended'),
      state: text('How far its end is for the user'),
      problem: optionalText('The step that failed'),
      stays: optionalText('Why the account is not removed; null: it is'),
      downloads: Type.Integer({ description: 'Downloads by the mailed link' }),
      started_at: instant('When it began'),
      kept_until: instant('Until when archives are kept, and this entry'),
    }),
    { description: 'Ends of terms of groups that concern the user' },
  ),
  archives: Type.Array(
    Type.Object({
      group: text('Group whose term ended'),
      type: text('Type of the container whose home it is'),
      bytes: Type.Integer({ description: 'Of the archive' }),
      created_at: instant('When it was made'),
    }),
    { description: 'Archives of homes, from ends of terms' },
  ),
  usage: Type.Array(
    Type.Object({
      type: text('Container type'),
      unit: text('`day` or `month`'),
      period: text('Which day or month'),
      running_s: seconds('Running or paused, in seconds'),
      paused_s: seconds('Of these, paused'),
      used_s: seconds('Of these, in use'),
      core_s: seconds('Cores that were allowed, times seconds'),
      memory_mib_s: seconds('MiB of memory that were allowed, times seconds'),
      idle_5_s: seconds('Idle for more than 5 minutes, up to the next such field'),
      idle_15_s: seconds('Idle for more than 15 minutes, up to the next such field'),
      idle_30_s: seconds('Idle for more than 30 minutes, up to the next such field'),
      idle_60_s: seconds('Idle for more than 60 minutes, up to the next such field'),
      idle_120_s: seconds('Idle for more than 120 minutes, up to the next such field'),
      idle_240_s: seconds('Idle for more than 240 minutes, up to the next such field'),
      measured_s: seconds('Time for which CPU time and memory were measured, in seconds'),
      cpu_used_ms: Type.Integer({ description: 'CPU time, in milliseconds' }),
      memory_used_mib_s: Type.Integer({ description: 'MiB of memory that were used, times seconds' }),
      home_mib_s: Type.Integer({ description: 'MiB of homes, times seconds' }),
      gpu_s: Type.Integer({ description: 'GPUs, times seconds running or paused' }),
    }),
    { description: 'Sums of use' },
  ),
  audit_entries: Type.Array(
    Type.Object({
      id: Type.Integer({ description: 'Number of the entry' }),
      at: instant('When'),
      action: text('What was done'),
      target: text('To what'),
      is_own: Type.Boolean({ description: 'Whether the user did it' }),
      detail: MapOf(Type.Unknown(), { description: 'Facts about the user alone' }),
    }),
    { description: 'Entries of the audit log by or about the user, the oldest first' },
  ),
})
export type PersonalDataResponse = Type.Static<typeof PersonalDataResponse>
