import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { loadSigningKeys } from '#/accounts/sessions/signing-keys.ts'
import { Leadership, fencedRuntime, nodeTimes } from '#/nodes/leadership.ts'
import { NodeCipher, WrongNodeSecret, copySigningKeys, sharedSigningKeys } from '#/nodes/node-keys.ts'
import { OtherProtocolRuns, prepareStore } from '#/nodes/node.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { NewerStore, openDatabase } from '#/store/database.ts'
import {
  endEarlierLeaders,
  leaderConnection,
  readLease,
  releaseLease,
  renewLease,
  takeLease,
  type Leader,
} from '#/store/leader-lease.ts'
import { enterNode, listNodes, openNodeTables, removeNode, type NodeDb } from '#/store/node-records.ts'
import { migrations } from '#/store/migrations/migrations.ts'
import { StoreFailure } from '#/store/store-failure.ts'
import { waitFor } from '../support/program.ts'
import { startPostgres, type Postgres } from '../support/store/postgres.ts'
import { assertQuick } from '../support/timed-attempts.ts'

/** The lease of the leader, and what an earlier leader can still do. */

let postgres: Postgres
let db: NodeDb
before(async () => {
  postgres = await startPostgres()
  db = await openNodeTables(postgres.url)
  await prepareStore(db, postgres.url, 'a:1', program)
})
after(async () => {
  await db.destroy()
  await postgres.stop()
})

const [long, over] = [60_000, 0]
const program = { version: '1.0.0', protocol: 1 }

async function take(node: string, duration = over): Promise<number> {
  const epoch = await takeLease(db, node, duration)
  assert.ok(epoch !== undefined, `${node} could not take the lease`)
  return epoch
}

/** Node `a:1` leads, and renews its lease. `lost`: why and when it learned that it does not lead any more. */
async function lead(t: TestContext) {
  const lost: { readonly reason: string; readonly at: number }[] = []
  const leadership = new Leadership({
    db,
    address: 'a:1',
    epoch: await take('a:1'),
    onLost: (reason) => void lost.push({ reason, at: performance.now() }),
    report: () => undefined,
  })
  t.after(() => leadership.release())
  return { leadership, lost }
}

test('one node has the lease until it gives it up, or does not renew it in time; each gets a higher epoch', async () => {
  const first = await take('a:1')
  assert.equal(await takeLease(db, 'b:1', long), undefined)
  const { isFree, endsIn } = await readLease(db, long)
  assert.ok(!isFree && endsIn > long - 30_000 && endsIn <= long, `${endsIn}`)
  assert.ok((await readLease(db, over)).endsIn < 0)
  const again = await take('a:1', long)
  assert.ok(again > first, 'a process that follows another of the same node leads by an epoch of its own')
  assert.equal(await renewLease(db, { node: 'a:1', epoch: first }), false)
  await releaseLease(db, { node: 'a:1', epoch: again })
  const next = await take('b:1', long)
  const renewals = [
    { node: 'b:1', epoch: next },
    { node: 'a:1', epoch: again },
    { node: 'a:1', epoch: next },
  ].map((leader) => renewLease(db, leader))
  // The last as after a failover of the database that lost an epoch, which was then given again.
  assert.deepEqual(await Promise.all(renewals), [true, false, false])
  for (const epoch of [again, next]) await releaseLease(db, { node: 'a:1', epoch })
  assert.equal((await readLease(db, long)).node, 'b:1', 'an earlier leader gives up nothing')
})

test('nothing that an earlier leader writes counts, in a transaction that is open or on a new connection', async (t) => {
  const earlier = await openAsLeader(t, { node: 'a:1', epoch: await take('a:1') })
  const name = 'written by an earlier leader'
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const open = earlier.transaction(async (tx) => {
    await tx.insertInto('installation').values({ name, value: 'x' }).execute()
    begun.resolve()
    await ended.promise
  })
  await begun.promise
  const epoch = await take('b:1')
  await endEarlierLeaders(db, epoch)
  ended.resolve()
  await assert.rejects(open, StoreFailure)
  const write = () => earlier.db.insertInto('installation').values({ name, value: 'y' }).execute()
  for (let attempt = 0; attempt < 3; attempt++) await assert.rejects(write(), StoreFailure)
  const present = await openAsLeader(t, { node: 'b:1', epoch })
  assert.deepEqual(await present.db.selectFrom('installation').select('value').where('name', '=', name).execute(), [])
})

test('a leader whose lease lapsed gives no order until a renewal shows that no other node has led', async (t) => {
  const { leadership, lost } = await lead(t)
  let stops = 0
  const engine = { stop: async () => void stops++, ping: async () => undefined } as unknown as Runtime
  const runtime = fencedRuntime(engine, { mayOrder: () => leadership.isValid, settled: async () => undefined })
  await runtime.stop('x')
  const wall = Date.now
  // As after a pause of the machine, in which its other clock stood still.
  t.mock.method(Date, 'now', () => wall() + 3_400)
  await assert.rejects(runtime.stop('x'), /does not lead any more/)
  await runtime.ping()
  assert.equal(stops, 1)
  await waitFor('the late renewal', () => leadership.isValid)
  await runtime.stop('x')
  assert.deepEqual(lost, [])
})

test('a leader whose lease lapsed builds and removes no image, and may still look for one', async () => {
  const orders: string[] = []
  const order = (name: string) => async () => void orders.push(name)
  const fence = { isValid: true }
  const engine = {
    imageBuilds: () => ({ build: order('build'), sweep: order('sweep'), find: order('find') }),
    imageStore: () => ({ remove: order('remove'), sizesOf: order('sizesOf') }),
  } as unknown as Runtime
  const parts = { mayOrder: () => fence.isValid, settled: async () => undefined }
  const [runtime, without] = [engine, { imageStore: () => undefined } as unknown as Runtime].map((each) =>
    fencedRuntime(each, parts),
  )
  assert.equal(without?.imageStore(), undefined)
  const [builds, images] = [runtime?.imageBuilds(), runtime?.imageStore()]
  assert.ok(builds && images)
  const all = [
    () => builds.build({} as Parameters<typeof builds.build>[0], () => undefined, new AbortController().signal),
    () => builds.sweep(async () => new Set()),
    () => images.remove('x'),
  ]
  for (const each of all) await each()
  fence.isValid = false
  for (const each of all) await assert.rejects(each(), /does not lead any more/)
  await Promise.all([builds.find('x'), images.sizesOf(['x'])])
  assert.deepEqual(orders, ['build', 'sweep', 'remove', 'find', 'sizesOf'])
})

test('a leader that does not reach the database loses the lead before another node may take it', async (t) => {
  const heldWithout = async () => {
    const began = performance.now()
    const { leadership, lost } = await lead(t)
    postgres.freeze()
    try {
      await waitFor('the loss', () => lost.length > 0)
    } finally {
      postgres.thaw()
    }
    assert.equal(leadership.isValid, false)
    return lost[0]!.at - began
  }
  await assertQuick(nodeTimes.lease, heldWithout, { attempts: 3 })
})

test('a leader learns within two seconds that another node leads', async (t) => {
  const { leadership, lost } = await lead(t)
  await take('b:1')
  await waitFor('the loss', () => lost.length > 0)
  assert.equal(leadership.isValid, false)
})

test('the first leader brings its signing keys, all others get them, and the database alone opens none', async (t) => {
  const [first, second] = [folder(t), folder(t)]
  const own = await loadSigningKeys(first)
  const cipher = new NodeCipher('s'.repeat(32))
  assert.equal((await sharedSigningKeys(db, cipher, first)).kid, own.kid)
  const keys = await sharedSigningKeys(db, cipher, second)
  assert.equal(keys.kid, own.kid)
  await keys.rotate(new Date(Date.now() + long), {
    onPlanned: async () => undefined,
    onAccepted: async () => undefined,
  })
  await copySigningKeys(db, cipher, first)
  assert.equal((await loadSigningKeys(first)).kid, keys.kid)
  await assert.rejects(sharedSigningKeys(db, new NodeCipher('t'.repeat(32)), second), WrongNodeSecret)
  const { rows } = await sql<{ sealed: string }>`select sealed from node_secrets`.execute(db)
  assert.ok(rows.length > 0 && rows.every(({ sealed }) => !sealed.includes('"kty"')))
  assert.deepEqual(await cipher.linkKey(db), await cipher.linkKey(db))
})

test('keys of nodes without NODE_SECRET are sealed by the first node that has one, and then without it open no more', async () => {
  await sql`delete from node_secrets`.execute(db)
  const [open, secret] = [new NodeCipher(null), new NodeCipher('s'.repeat(32))]
  await open.write(db, 'name', 'text')
  const key = await open.linkKey(db)
  assert.equal(await secret.read(db, 'name'), 'text')
  assert.deepEqual(await secret.linkKey(db), key)
  await assert.rejects(open.read(db, 'name'), WrongNodeSecret)
  assert.equal(await secret.read(db, 'name'), 'text')
  await sql`delete from node_secrets`.execute(db)
})

test('a node starts beside others whose protocol it speaks, of any version, and changes no table beside them', async () => {
  await enterNode(db, 'a:1', program)
  await assert.rejects(prepareStore(db, postgres.url, 'b:1', { version: '1.1.0', protocol: 2 }), OtherProtocolRuns)
  // As for a newer program whose last migration the store has not had yet.
  const last = Object.keys(migrations(true)).at(-1)
  await sql`delete from kysely_migration where name = ${last}`.execute(db)
  await prepareStore(db, postgres.url, 'b:1', { version: '1.1.0', protocol: 1 })
  const applied = async () => (await sql<{ name: string }>`select name from kysely_migration`.execute(db)).rows
  assert.ok((await applied()).every(({ name }) => name !== last))
  await sql`insert into kysely_migration values (${last}, now()::text)`.execute(db)
  await removeNode(db, 'a:1')
  assert.equal(await prepareStore(db, postgres.url, 'b:1', { version: '1.1.0', protocol: 2 }), undefined)
  assert.deepEqual(await listNodes(db, long), [])
})

// The first node of a new version migrated before it led, and the copy for a way back was made by a leader alone.
test('of nodes that start alone with a new version one copies the store before its tables change', async (t) => {
  const own = await startPostgres()
  const nodes = await openNodeTables(own.url)
  t.after(async () => {
    await nodes.destroy()
    await own.stop()
  })
  await (await openDatabase(own.url, '', { until: '012-clock-moves' })).close()
  const copies = await Promise.all(['a:1', 'b:1', 'c:1'].map((node) => prepareStore(nodes, own.url, node, program)))
  const [copied, ...others] = copies.filter((each) => each !== undefined)
  assert.match(copied?.place ?? '', /^the schema public_before_/)
  assert.deepEqual(others, [])
  const { rows } = await sql<{ name: string }>`
    select name from ${sql.table(`${copied?.place.split(' ').at(-1)}.kysely_migration`)} order by name desc limit 1`.execute(
    nodes,
  )
  assert.equal(rows[0]?.name, '012-clock-moves')
})

test('a node of a version before the one that changed the tables does not start, beside others or alone', async () => {
  await sql`insert into kysely_migration values ('999-newer', now()::text)`.execute(db)
  await assert.rejects(prepareStore(db, postgres.url, 'b:1', program), NewerStore)
  await enterNode(db, 'a:1', program)
  await assert.rejects(prepareStore(db, postgres.url, 'b:1', program), NewerStore)
  await removeNode(db, 'a:1')
  await sql`delete from kysely_migration where name = '999-newer'`.execute(db)
})

test('a node whose table says no protocol is one of another', async () => {
  await sql`insert into nodes (address, version, started_at, seen_at) values ('old:1', '0.9.0', now(), now())`.execute(
    db,
  )
  await assert.rejects(prepareStore(db, postgres.url, 'b:1', program), OtherProtocolRuns)
  await removeNode(db, 'old:1')
})

async function openAsLeader(t: TestContext, leader: Leader) {
  const database = await openDatabase(postgres.url, '', { onConnect: leaderConnection(leader) })
  t.after(() => database.close())
  return database
}

function folder(t: TestContext): string {
  const made = mkdtempSync(path.join(tmpdir(), 'berth-node-'))
  t.after(() => rm(made, { recursive: true }))
  return made
}
