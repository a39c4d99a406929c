import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { loadSigningKeys } from '#/accounts/access-tokens/signing-keys.ts'
import { fencedRuntime } from '#/nodes/fenced-runtime.ts'
import { Leadership } from '#/nodes/leadership.ts'
import { nodeTimes } from '#/nodes/node-times.ts'
import { NodeCipher, WrongNodeSecret } from '#/nodes/node-cipher.ts'
import { copySigningKeys, sharedSigningKeys } from '#/nodes/node-keys.ts'
import { OtherVersionRuns, prepareStore } from '#/nodes/prepare-store.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import { openDatabase } from '#/store/database.ts'
import { endEarlierLeaders, leaderConnection } from '#/store/nodes/leader-connections.ts'
import { readLease, releaseLease, renewLease, takeLease } from '#/store/nodes/leader-lease.ts'
import { enterNode, listNodes, removeNode } from '#/store/nodes/node-records.ts'
import { openNodeTables, type NodeDb } from '#/store/nodes/node-tables.ts'
import { StoreFailure } from '#/store/store-failure.ts'
import { timeLimit } from '../support/extent.ts'
import { waitFor } from '../support/program.ts'
import { startPostgres, type Postgres } from '../support/store/postgres.ts'

/** The lease of the leader, and what an earlier leader can still do. */

let postgres: Postgres
let db: NodeDb
before(async () => {
  postgres = await startPostgres()
  db = await openNodeTables(postgres.url)
  await prepareStore(db, postgres.url, 'a:1', '1.0.0')
})
after(async () => {
  await db.destroy()
  await postgres.stop()
})

const [long, over] = [60_000, 0]

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
  assert.equal((await readLease(db, long)).isFree, false)
  const again = await take('a:1', long)
  assert.ok(again > first, 'a process that follows another of the same node leads by an epoch of its own')
  assert.equal(await renewLease(db, first), false)
  await releaseLease(db, again)
  const next = await take('b:1', long)
  assert.deepEqual([await renewLease(db, next), await renewLease(db, again)], [true, false])
  await releaseLease(db, again)
  assert.equal((await readLease(db, long)).node, 'b:1', 'an earlier leader gives up nothing')
})

test('nothing that an earlier leader writes counts, in a transaction that is open or on a new connection', async (t) => {
  const earlier = await openAsLeader(t, await take('a:1'))
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
  const present = await openAsLeader(t, epoch)
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
  await waitFor('the late renewal', () => leadership.isValid, 5_000)
  await runtime.stop('x')
  assert.deepEqual(lost, [])
})

test('a leader that does not reach the database loses the lead before another node may take it', async (t) => {
  const { leadership, lost } = await lead(t)
  const began = performance.now()
  postgres.freeze()
  try {
    await waitFor('the loss', () => lost.length > 0)
  } finally {
    postgres.thaw()
  }
  assert.equal(leadership.isValid, false)
  assert.ok(lost[0]!.at - began < timeLimit(nodeTimes.lease))
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

test('a node of another version does not start beside those that run', async () => {
  await enterNode(db, 'a:1', '1.0.0')
  await assert.rejects(prepareStore(db, postgres.url, 'b:1', '1.1.0'), OtherVersionRuns)
  await prepareStore(db, postgres.url, 'b:1', '1.0.0')
  await removeNode(db, 'a:1')
  await prepareStore(db, postgres.url, 'b:1', '1.1.0')
  assert.deepEqual(await listNodes(db, long), [])
})

async function openAsLeader(t: TestContext, epoch: number) {
  const database = await openDatabase(postgres.url, '', { onConnect: leaderConnection(epoch) })
  t.after(() => database.close())
  return database
}

function folder(t: TestContext): string {
  const made = mkdtempSync(path.join(tmpdir(), 'berth-node-'))
  t.after(() => rm(made, { recursive: true }))
  return made
}
