import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import path from 'node:path'
import { after, test } from 'node:test'
import { array, assert as check, asyncProperty, constantFrom, nat, record, subarray, type Arbitrary } from 'fast-check'
import { Capacity } from '#/containers/launch/admission-control.ts'
import { readTemplate } from '#/templates/read-templates.ts'
import { Templates } from '#/templates/template.ts'
import { Refusal } from '#/refusals/errors.ts'
import { GroupAdministration } from '#/groups/group-administration.ts'
import { GroupDirectory } from '#/templates/group-directory.ts'
import { GroupMembers } from '#/groups/group-members.ts'
import type { InviteToGroup } from '#/groups/group-invitations.ts'
import { JoinCodes } from '#/groups/join-codes.ts'
import { LaunchRules } from '#/templates/launch-rules.ts'
import { EndGroup } from '#/groups/managed-group.ts'
import { ProviderMemberships } from '#/groups/provider-memberships.ts'
import { openDatabase } from '#/store/database.ts'
import { insertUser, moveUserState } from '#/store/users.ts'
import { copyEmptyStore, quickFolder } from '#test/support/store/empty-store.ts'
import { extent } from '#test/support/extent.ts'
import { expected, flowsOf, newModelled, typeGroups, types, type Modelled } from './group-rules.ts'

/**
 * Memberships, limits, ends and claims of providers, in a generated order, against the rules of decision 059 in a few
 * lines: with the real use cases on a real store, and without an engine.
 */
const enough = extent(1_200, 12_000)
const names = ['g1', 'g2', 'g3', 'g4'] as const
const providers = ['p', 'q'] as const
const past = new Date('2020-01-01T00:00:00Z')

const folder = await mkdtemp(path.join(quickFolder(), 'berth-group-model-'))
await copyEmptyStore(folder)
const database = await openDatabase(null, folder)
after(async () => {
  await database.close()
  await rm(folder, { recursive: true, force: true })
})
const templates = new Templates(
  types.flatMap(
    (type) => readTemplate(type, { image: 'x', memory: '1g', cpus: 1, groups: typeGroups[type] }).template ?? [],
  ),
)
const users = await Promise.all(
  ['ann', 'ben', 'cem', 'dora'].map(async (slug, at) => {
    const user = await insertUser(database.db, { email: `${slug}@x.org`, slug, isAdmin: at === 0, now: past })
    await moveUserState(database.db, user.id, 'registered', 'verified')
    return user
  }),
)
const actor = { id: null, email: 'operator', address: 'test', language: 'en' } as const
const directory = new GroupDirectory(database.db)
const rules = new LaunchRules(database.db, directory, templates)
const log = { warn: () => undefined }
const groups = new GroupAdministration({
  database,
  directory,
  types: () => types,
  keepUntil: (now) => now,
  release: async () => undefined,
})
const noInvitations = { run: async () => ({ invited: [], signedUp: [], refused: [] }) } as unknown as InviteToGroup
const members = new GroupMembers({
  database,
  invite: noInvitations,
  statusOf: () => 'missing',
  onChange: () => undefined,
})
const claims = new ProviderMemberships({ database, directory, onChange: () => undefined, log })
const codes = new JoinCodes(database, () => undefined)
const ends = new EndGroup(database, directory, () => undefined)
let capacity = newCapacity()

function newCapacity(): Capacity {
  return new Capacity({ maxRunning: null, maxPerUser: null }, (type) => templates.get(type))
}

const model = new Map<string, Modelled>()
const up = new Map<number, Set<string>>()
const met = new Map<string, number>()
const walked = { steps: 0 }

const verbs = [
  'make', 'make', 'make', 'make', 'delete', 'restrict', 'limit', 'limit', 'expire', 'add', 'add', 'add', 'add', 'remove', 'remove',
  'claim', 'end', 'limit', 'join', 'join', 'launch', 'launch', 'launch', 'launch', 'stop', 'see',
] as const // prettier-ignore
interface Step {
  readonly verb: (typeof verbs)[number]
  readonly name: (typeof names)[number]
  readonly who: number
  readonly type: string
  readonly some: string[]
  readonly chance: number
}
const step: Arbitrary<Step> = record({
  verb: constantFrom(...verbs),
  name: constantFrom(...names),
  who: nat({ max: users.length - 1 }),
  type: constantFrom(...types),
  some: subarray([...names], { maxLength: 2 }),
  chance: nat({ max: 5 }),
})

test('groups do what the rules say, in whatever order they are made, joined, limited, ended and claimed', async () => {
  for (let round = 0; walked.steps < enough; round++)
    await check(asyncProperty(array(step, { minLength: 150, maxLength: 300, size: 'max' }), walk), {
      seed: 20_261_123 + round,
      numRuns: 1,
      endOnFailure: true,
    })
})

test('the walks met every rule', (t) => {
  t.diagnostic(`${walked.steps} steps: ${JSON.stringify(Object.fromEntries([...met].toSorted()))}`)
  assert.ok(walked.steps >= enough)
  for (const rule of [
    'launch 200',
    'launch 403 expired',
    'launch 403 type',
    'launch 409 running',
    'launch 409 memory',
    'make 409',
  ])
    assert.ok((met.get(rule) ?? 0) > 1, rule)
  for (const rule of [
    'add 409',
    'remove 404',
    'remove 409',
    'remove 200',
    'claim 200',
    'end 200',
    'end 403',
    'join 200',
    'join 409',
  ])
    assert.ok((met.get(rule) ?? 0) > 1, rule)
})

async function walk(steps: readonly Step[]): Promise<void> {
  for (const { id } of model.values()) await groups.remove(actor, id, new Date())
  model.clear()
  up.clear()
  capacity = newCapacity()
  for (const each of steps) {
    walked.steps++
    const outcome = await take(each)
    const rule = `${each.verb} ${outcome}`
    met.set(rule, (met.get(rule) ?? 0) + 1)
  }
  await compareStore()
}

async function take(each: Step): Promise<string> {
  const group = model.get(each.name)
  const user = users[each.who]
  assert.ok(user)
  if (each.verb === 'make') return make(each, group)
  if (each.verb === 'claim') return claim(each, user.id)
  if (each.verb === 'launch') return launch(each, user)
  if (each.verb === 'see') return see(user)
  if (each.verb === 'stop') {
    capacity.note({ userId: user.id, type: each.type }, false)
    up.get(user.id)?.delete(each.type)
    return '200'
  }
  return group ? takeOnGroup(each, group, user) : 'without a group'
}

async function takeOnGroup(each: Step, group: Modelled, user: (typeof users)[number]): Promise<string> {
  const { id, source } = group
  const now = new Date()
  switch (each.verb) {
    case 'delete':
      await groups.remove(actor, id, now)
      model.delete(each.name)
      return '200'
    case 'restrict':
      group.types = each.chance === 0 ? null : types.slice(each.chance % 2, 1 + (each.chance % 3))
      await groups.change(actor, id, { types: group.types }, now)
      return '200'
    case 'limit':
      group.running = each.chance > 1 ? null : 1 + each.chance
      group.memory = each.chance > 3 ? 1024 ** 3 : null
      await groups.change(actor, id, { limits: { running: group.running, memory: group.memory } }, now)
      return '200'
    case 'expire':
      group.isOver = each.chance < 2
      await groups.change(actor, id, { expiresAt: group.isOver ? past : null }, now)
      return '200'
    case 'end': {
      const by = { id: user.id, email: user.email, address: 'test', language: 'en' } as const
      const ended = await statusOf(() => ends.run(by, id, now))
      const isManager = user.isAdmin || group.members.get(user.id)?.role === 'manager'
      assert.equal(ended, isManager ? '200' : '403')
      if (isManager) group.isOver = true
      return ended
    }
    case 'join': {
      const joined = await statusOf(async () => {
        const { code } = await codes.create(actor, id, now)
        await codes.join({ id: user.id, email: user.email, address: 'test' }, code, now)
      })
      assert.equal(joined, source !== 'local' || group.isOver ? '409' : '200')
      if (joined === '200' && !group.members.has(user.id))
        group.members.set(user.id, { role: 'member', source: 'local' })
      return joined
    }
    case 'add': {
      const role = each.chance < 2 ? undefined : each.chance < 4 ? 'member' : 'manager'
      const added = await statusOf(() => members.add(actor, id, { emails: [user.email], role }, now, assert.ifError))
      assert.equal(added, source === 'local' ? '200' : '409')
      const before = group.members.get(user.id)
      if (added === '200') group.members.set(user.id, { role: role ?? before?.role ?? 'member', source: 'local' })
      return added
    }
    default: {
      const removed = await statusOf(() => members.remove(actor, id, user.id, now))
      const before = group.members.get(user.id)
      assert.equal(removed, source !== 'local' ? '409' : !before ? '404' : before.source === 'local' ? '200' : '409')
      if (removed === '200') group.members.delete(user.id)
      return removed
    }
  }
}

async function make({ name }: Step, group: Modelled | undefined): Promise<string> {
  let id = 0
  const made = await statusOf(async () => ({ id } = await groups.create(actor, { name }, new Date())))
  assert.equal(made, group ? '409' : '200')
  if (!group) model.set(name, newModelled(id, 'local'))
  return made
}

async function claim({ some, chance }: Step, userId: number): Promise<string> {
  const provider = providers[chance % 2] ?? 'p'
  await claims.follow({ userId, provider, address: 'test' }, some, new Date())
  for (const name of some) {
    const { id } = (await groups.list({ limit: 10, after: 0 }, name)).groups[0] ?? { id: 0 }
    const group = model.get(name) ?? newModelled(id, provider)
    model.set(name, group)
    const isTheirs = group.source === provider || group.source === 'local'
    if (isTheirs && !group.members.has(userId)) group.members.set(userId, { role: 'member', source: provider })
  }
  for (const [name, group] of model)
    if (!some.includes(name) && group.members.get(userId)?.source === provider) group.members.delete(userId)
  return '200'
}

async function launch({ type }: Step, user: (typeof users)[number]): Promise<string> {
  const template = templates.get(type)
  assert.ok(template)
  const owned = { userId: user.id, type }
  const refusal = await rules.refusalFor(user, template, new Date())
  const limits = refusal || capacity.isUp(owned) ? [] : ((await rules.limitsFor(owned)) ?? [])
  const outcome = describe(refusal ?? (capacity.isUp(owned) ? undefined : capacity.refusal(owned, limits)))
  const wanted = expected(model, user, type, up.get(user.id) ?? new Set())
  // Of two limits that are reached either may be named.
  assert.equal(outcome.slice(0, 3), wanted.slice(0, 3), `${user.email} launches ${type}: ${JSON.stringify([...model])}`)
  if (outcome.startsWith('403')) assert.equal(outcome, wanted)
  if (outcome !== '200') return outcome
  capacity.note(owned, true)
  up.set(user.id, new Set(up.get(user.id)).add(type))
  return outcome
}

function describe(refusal: Refusal | undefined): string {
  if (!refusal) return '200'
  if (refusal.status === 409) return `409 ${String(refusal.extra.limit)}`
  return `403 ${refusal.code === 'typeOfGroups' ? 'type' : 'expired'}`
}

async function see(user: (typeof users)[number]): Promise<string> {
  const isIn = (name: string) => model.get(name)?.members.has(user.id) ?? false
  const wanted = types.filter((type) => user.isAdmin || typeGroups[type]?.length === 0 || typeGroups[type]?.some(isIn))
  assert.deepEqual(
    (await rules.visible(user)).map(({ type }) => type),
    wanted,
  )
  for (const type of types)
    assert.deepEqual(
      [...((await rules.flowsOf({ userId: user.id, type })) ?? [])].sort(),
      flowsOf(model, user.id, type),
    )
  return '200'
}

async function compareStore(): Promise<void> {
  const rows = await database.db
    .selectFrom('group_members')
    .innerJoin('user_groups', 'user_groups.id', 'group_members.group_id')
    .select(['user_groups.name', 'user_id', 'role', 'group_members.source'])
    .execute()
  const wanted = [...model].flatMap(([name, group]) =>
    [...group.members].map(([userId, { role, source }]) => `${name} ${userId} ${role} ${source}`),
  )
  assert.deepEqual(
    rows.map(({ name, user_id: userId, role, source }) => `${name} ${userId} ${role} ${source}`).sort(),
    wanted.sort(),
  )
}

async function statusOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work()
    return '200'
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return String(error.status)
  }
}
