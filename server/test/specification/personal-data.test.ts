import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { PersonalDataResponse } from '@berth/api/schemas/personal-data.ts'
import { Value } from 'typebox/value'
import { deleteOldPersonalFacts } from '#/store/personal-facts.ts'
import { verifyAuditLog } from '#/store/verify-audit-log.ts'
import { startEnginelessBerth, tokenIn } from '../support/berth-without-engine.ts'

/** Columns that no export has, and why. Every other column that belongs to a user is exported. */
const withheld: Readonly<Record<string, readonly string[]>> = {
  magic_links: ['id', 'user_id', 'token_hash'],
  link_requests: ['id', 'email', 'mailbox'],
  sessions: ['user_id', 'sid', 'generation', 'cookie_hash', 'rotated_at', 'token_expires_at', 'acting_admin_id'],
  api_tokens: ['user_id', 'token_hash'],
  ssh_keys: ['user_id', 'blob'],
  // Numbers of accounts of an image, and what the memberships in `groups` say.
  user_containers: ['user_id', 'container_port', 'blocked_by', 'block_source', 'home_problem', 'group_folders'],
  // Listed with the homes themselves, by `GET /api/user/homes`.
  person_homes: ['user_id', 'container_type'],
  identities: ['id', 'user_id'],
  group_members: ['id', 'group_id', 'user_id'],
  group_invitations: ['id', 'group_id', 'email', 'invited_by'],
  usage_sums: ['id', 'kind', 'subject_id'],
  container_shares: ['id', 'record_id', 'email', 'group_id', 'manager_id', 'asked_in_id'],
  term_end_members: ['id', 'term_end_id', 'user_id', 'email', 'slug', 'attempts', 'retry_at'],
  home_archives: ['id', 'member_id', 'file', 'record_state'],
  archive_links: ['id', 'member_id', 'token_hash', 'created_at', 'accepted_at'],
  // Gone within an hour; the entries of the audit log say who tried what.
  environment_trials: ['id', 'user_id', 'environment', 'version', 'begun_at'],
  users: [],
}
/** Names in the export, where they differ from those of the columns. */
const renamed: Readonly<Record<string, string>> = {
  container_type: 'type',
  extra_disk: 'extra_disk_bytes',
  template_image: 'image',
  acting_admin_email: 'taken_over_by',
  token_type: 'purpose',
  key_type: 'type',
  accepted_at: 'mailed_at',
  ip_address: 'address',
}
const sections: Readonly<Record<string, string>> = {
  users: 'account',
  user_containers: 'containers',
  magic_links: 'links',
  group_members: 'groups',
  group_invitations: 'invitations',
  container_shares: 'shares',
  usage_sums: 'usage',
  term_end_members: 'term_ends',
  home_archives: 'archives',
  archive_links: 'archives',
}
/** Tables without facts about a user who has an account. */
const others = [
  'group_blocks',
  'group_folders',
  'used_slugs',
  'revoked_tokens',
  'audit_log',
  'audit_personal_facts',
  'installation',
  'kept_homes',
  'removals',
  'clock_moves',
  'provider_sessions',
  'user_groups',
  'term_ends',
  'environments',
  'environment_versions',
  'environment_logs',
  'pulled_images',
]

const berth = await startEnginelessBerth({ after })
const boss = await signUp('boss@x.org')
const ann = await signUp('ann@x.org')

async function signUp(email: string) {
  await berth.call('POST', '/api/auth/signup', { body: { email } })
  const mail = berth.mails.findLast(({ to }) => to === email)
  assert.ok(mail)
  const { body } = await berth.call('GET', `/api/auth/verify-signup?token=${tokenIn(mail)}`)
  return { token: body.access_token as string, id: body.user.id as number }
}
const dataOf = async ({ token }: { token: string }) => (await berth.call('GET', '/api/user/data', { token })).body

test('a user gets all of it as one document that the API describes', async () => {
  await berth.call('POST', '/api/user/tokens', {
    token: ann.token,
    body: { name: 'laptop', scopes: ['containers:read'], expires_in: 60 },
  })
  const reply = await berth.call('GET', '/api/user/data', { token: ann.token })
  assert.equal(reply.status, 200)
  assert.equal(reply.headers.get('content-type'), 'application/json; charset=utf-8')
  assert.ok(
    Value.Check(PersonalDataResponse, reply.body),
    JSON.stringify([...Value.Errors(PersonalDataResponse, reply.body)].slice(0, 3)),
  )
  const { account, sessions, api_tokens, audit_entries, kept_for } = reply.body
  assert.equal(account.email, 'ann@x.org')
  assert.equal(sessions.length, 1)
  assert.equal(api_tokens[0]?.name, 'laptop')
  assert.deepEqual(kept_for, {
    homes: 2_592_000,
    takeovers: 2_592_000,
    audit_addresses: 7_776_000,
    sessions: 7_776_000,
  })
  const [entry] = audit_entries
  assert.ok(entry)
  assert.equal(entry.action, 'token.create')
  assert.equal(entry.is_own, true)
  assert.equal(entry.detail.address, '127.0.0.1')
})

test('it has no secret, and nothing about the network of others', async () => {
  await berth.call('POST', `/api/admin/users/${ann.id}/block`, { token: boss.token })
  await berth.call('POST', `/api/admin/users/${ann.id}/unblock`, { token: boss.token })
  const { audit_entries } = await dataOf(ann)
  const block = audit_entries.find(({ action }: { action: string }) => action === 'user.block')
  assert.equal(block.is_own, false)
  assert.equal('address' in block.detail, false)
  const { text } = await berth.call('GET', '/api/user/data', { token: ann.token })
  assert.equal(/hash|cookie|sealed|boss@x\.org/.test(text), false)
  // What the administrator did to her is no fact about the administrator.
  const ofBoss = (await dataOf(boss)).audit_entries.find(({ action }: { action: string }) => action === 'user.block')
  assert.deepEqual(ofBoss.detail, { address: '127.0.0.1' })
})

test('every column of the store that belongs to a user is in it, or is named as withheld', async () => {
  const tables = await berth.database.db.introspection.getTables()
  const schema = PersonalDataResponse as unknown as {
    properties: Record<string, { properties?: object; items?: { properties: object } }>
  }
  for (const { name, columns } of tables) {
    if (others.includes(name) || name.startsWith('kysely')) continue
    const left = withheld[name]
    assert.ok(left, `the table ${name} is new: export it, or say here why not`)
    const section = schema.properties[sections[name] ?? name]
    const fields = Object.keys(section?.properties ?? section?.items?.properties ?? {})
    for (const column of columns.map((each) => each.name))
      assert.ok(left.includes(column) || fields.includes(renamed[column] ?? column), `${name}.${column}`)
  }
})

test('an administrator who acts for a user cannot export, and neither can an API token', async () => {
  const { body } = await berth.call('POST', `/api/admin/users/${ann.id}/takeover`, {
    token: boss.token,
    body: { reason: 'to see' },
  })
  assert.equal((await berth.call('GET', '/api/user/data', { token: body.access_token })).status, 403)
  const made = await berth.call('POST', '/api/user/tokens', {
    token: boss.token,
    body: { name: 'all', scopes: ['admin:write', 'containers:write'], expires_in: 60 },
  })
  assert.equal((await berth.call('GET', '/api/user/data', { token: made.body.token })).status, 403)
})

test('addresses in the audit log end with their retention, and the log stays verifiable', async () => {
  const carl = await signUp('carl@x.org')
  await berth.call('DELETE', `/api/admin/users/${carl.id}`, { token: boss.token })
  const newest = async () =>
    (await berth.call('GET', '/api/admin/audit?limit=1', { token: boss.token })).body.entries[0]
  const kept = await newest()
  assert.equal(kept.action, 'user.delete')
  assert.equal(kept.detail.address, '127.0.0.1')
  assert.equal(kept.detail.before.email, 'carl@x.org')
  const { db } = berth.database
  const before = await verifyAuditLog(db)
  assert.equal(before.firstBroken, null)
  await sleep(2)
  await deleteOldPersonalFacts(db, new Date())
  const { detail } = await newest()
  assert.deepEqual([detail.address, detail.before.email, detail.slug], [undefined, undefined, 'carl'])
  assert.deepEqual(await verifyAuditLog(db), before)
  const rows = await db.selectFrom('audit_log').select('detail').execute()
  assert.equal(/carl@x\.org|127\.0\.0\.1/.test(JSON.stringify(rows)), false)
})

test('an address beside the log that was changed by hand is found', async () => {
  await berth.call('POST', `/api/admin/users/${ann.id}/promote`, { token: boss.token })
  const { db } = berth.database
  await db.updateTable('audit_personal_facts').set({ facts: '{"address":"192.0.2.1"}' }).execute()
  assert.equal((await verifyAuditLog(db)).firstBroken?.what, 'changed')
})

test('a deletion leaves no invitation of the address', async () => {
  const { db } = berth.database
  const group = await berth.call('POST', '/api/admin/groups', { token: boss.token, body: { name: 'Class' } })
  await berth.call('POST', `/api/groups/${group.body.group.id}/members`, {
    token: boss.token,
    body: { emails: ['dora@x.org'], role: 'member' },
  })
  const { users } = (await berth.call('GET', '/api/admin/users?q=dora', { token: boss.token })).body
  assert.equal((await db.selectFrom('group_invitations').selectAll().execute()).length, 1)
  await berth.call('DELETE', `/api/admin/users/${users[0].id}`, { token: boss.token })
  assert.deepEqual(await db.selectFrom('group_invitations').selectAll().execute(), [])
})

// The address of an invited person stood in the audit log for good, beside its hash chain where it ends after a while.
test('no entry of the audit log keeps an address but that of who acted, and the address ends with its retention', async () => {
  const post = (path: string, body?: object) => berth.call('POST', path, { token: boss.token, ...(body && { body }) })
  const { id } = (await post('/api/admin/groups', { name: 'Log' })).body.group
  await post('/api/admin/invitations', { emails: ['eva@x.org'] })
  await post(`/api/groups/${id}/members`, { emails: ['fay@x.org', 'gil@x.org', 'ann@x.org'] })
  const { invitations } = (await berth.call('GET', `/api/groups/${id}/invitations`, { token: boss.token })).body
  const withdrawn = invitations.find(({ email }: { email: string }) => email === 'gil@x.org')
  await berth.call('DELETE', `/api/groups/${id}/invitations/${withdrawn.id}`, { token: boss.token })
  const fay = berth.mails.findLast(({ to }) => to === 'fay@x.org')
  assert.ok(fay)
  await berth.call('GET', `/api/auth/verify-signup?token=${tokenIn(fay)}`)
  const read = async () => (await berth.call('GET', '/api/admin/audit?limit=20', { token: boss.token })).body.entries
  const details = (await read()).map((each: { action: string; detail: Record<string, unknown> }) => [
    each.action,
    each.detail.email ?? each.detail.invited_by,
  ])
  for (const expected of [
    ['user.invite', 'eva@x.org'],
    ['group.withdraw-invitation', 'gil@x.org'],
    ['group.join', 'boss@x.org'],
  ])
    assert.ok(
      details.some((each: unknown[]) => each.join() === expected.join()),
      expected.join(),
    )
  const rows = await berth.database.db.selectFrom('audit_log').select(['action', 'detail']).execute()
  assert.deepEqual(
    rows.filter(({ detail }) => /@/.test(String(detail))),
    [],
  )
})

test('a deletion leaves no address of the user in invitations that they made', async () => {
  const [hal, { body }] = [
    await signUp('hal@x.org'),
    await berth.call('POST', '/api/admin/groups', { token: boss.token, body: { name: 'Made' } }),
  ]
  const path = `/api/groups/${body.group.id}/members`
  await berth.call('POST', path, { token: boss.token, body: { emails: ['hal@x.org'], role: 'manager' } })
  await berth.call('POST', path, { token: hal.token, body: { emails: ['ida@x.org'] } })
  await berth.call('DELETE', `/api/admin/users/${hal.id}`, { token: boss.token })
  const [left] = await berth.database.db
    .selectFrom('group_invitations')
    .select(['email', 'invited_by'])
    .where('group_id', '=', body.group.id)
    .execute()
  assert.deepEqual({ ...left }, { email: 'ida@x.org', invited_by: `user:${hal.id}` })
})
