import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { auditHead, insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import {
  startEnginelessBerth,
  tokenIn,
  type EnginelessBerth,
  type EnginelessOptions,
} from '../support/berth-without-engine.ts'
import { pollUntil } from '../support/control-plane.ts'
import { testTemplates } from '../support/berth.ts'
import { runProgram, signIn } from '../support/program.ts'
import { observationTime } from '../support/observation-time.ts'
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'
import { onlyLong, waitLimit } from '#test/support/extent.ts'

/** Entries of the audit log at a real receiver that fails, hangs, restarts and redirects. */

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const pace = { auditWebhook: { poll: 20, firstRetry: 10, lastRetry: 50 } }

/** Appends entries, as changes do. @param age in ms */
const append = ({ database }: { database: Database }, count: number, age = 0) =>
  database.transaction((tx) =>
    insertAuditEntries(
      tx,
      Array.from({ length: count }, (_, at) => ({
        at: new Date(Date.now() - age),
        actor: { id: 1, email: 'boss@x.org', address: '192.0.2.1' },
        action: 'user.block' as const,
        target: `user:${at}`,
        reason: 'grüße 🦀',
      })),
    ),
  )

interface Delivery {
  readonly berth: EnginelessBerth
  readonly receiver: WebhookReceiver
}

async function startDelivery(t: TestContext, options: EnginelessOptions = {}): Promise<Delivery> {
  const receiver = await startReceiver(t, secret)
  const env = { AUDIT_WEBHOOK_URL: receiver.url, AUDIT_WEBHOOK_SECRET: secret, ...options.env }
  return { receiver, berth: await startEnginelessBerth(t, { pace, ...options, env }) }
}

/** The first user. @returns the token */
async function administrator(berth: EnginelessBerth): Promise<string> {
  await berth.call('POST', '/api/auth/signup', { body: { email: 'boss@x.org' } })
  const [mail] = berth.mails
  if (!mail) throw new Error('no mail was sent')
  const { body } = await berth.call('GET', `/api/auth/verify-signup?token=${tokenIn(mail)}`)
  return (body as { access_token: string }).access_token
}

const until = (what: string, isSo: () => boolean | Promise<boolean>) => pollUntil(isSo, () => what)
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at)

/** A data folder that several Berths use one after the other. */
async function sharedFolder(t: TestContext): Promise<string> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'berth-webhook-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  return dataDir
}

test('every entry arrives once and in order, signed, with the hash of the chain; those from before the setting do not', async (t) => {
  const dataDir = await sharedFolder(t)
  const before = await startEnginelessBerth(t, { dataDir })
  await append(before, 3)
  await before.close()
  const { berth, receiver } = await startDelivery(t, { dataDir })
  await until('the first look', async () => (await berth.call('GET', '/metrics')).status === 200)
  await append(berth, 250)
  await until('all entries', () => receiver.accepted.length >= 250)
  const { entries, hash } = await auditHead(berth.database.db)
  assert.deepEqual(receiver.positions, numbers(4, 253))
  const last = receiver.accepted.at(-1)
  assert.equal(last?.body.data.hash, hash)
  assert.equal(last?.id, `audit_engineless_${entries}_${hash.slice(0, 16)}`)
  assert.equal(last?.body.type, 'audit.user.block')
  assert.deepEqual(receiver.faults, [])
  assert.equal(new Set(receiver.attempts.map(({ id }) => id)).size, 250)
})

test('after a restart delivery goes on where it ended, with what was written while the receiver was away', async (t) => {
  const dataDir = await sharedFolder(t)
  const { berth, receiver } = await startDelivery(t, { dataDir })
  await append(berth, 2)
  await until('two entries', () => receiver.accepted.length === 2)
  await receiver.stop()
  await append(berth, 3)
  await berth.close()
  await receiver.start()
  const env = { AUDIT_WEBHOOK_URL: receiver.url, AUDIT_WEBHOOK_SECRET: secret }
  await startEnginelessBerth(t, { pace, env, dataDir })
  await until('the entries of before the restart', () => new Set(receiver.positions).size >= 5)
  // An entry that was accepted a moment before the end, and not recorded yet, is sent again.
  const positions = [...new Set(receiver.positions)]
  const [first = 0] = positions
  assert.deepEqual(positions, numbers(first, first + 4))
})

test('a receiver that refuses, redirects or hangs up loses no entry and gets each with the same id again', async (t) => {
  const elsewhere = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1')
  t.after(() => void elsewhere.close())
  await once(elsewhere, 'listening')
  let redirected = 0
  elsewhere.on('request', () => redirected++)
  const location = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`
  const { berth, receiver } = await startDelivery(t)
  const refuse = (status: number) => (response: ServerResponse) =>
    void response.writeHead(status, { location }).end('no')
  for (const behave of [
    refuse(500),
    refuse(400),
    refuse(410),
    refuse(302),
    refuse(307),
    (response: ServerResponse) => void response.destroy(),
  ]) {
    const [tried, got] = [receiver.attempts.length, receiver.accepted.length]
    receiver.behave = behave
    await append(berth, 2)
    await until('three attempts', () => receiver.attempts.length >= tried + 3)
    const ids = receiver.attempts.slice(tried).map(({ id }) => id)
    assert.equal(new Set(ids).size, 1, 'an entry holds back the later ones')
    receiver.behave = undefined
    await until('both entries', () => receiver.accepted.length === got + 2)
  }
  assert.equal(redirected, 0)
  const { positions } = receiver
  assert.deepEqual(positions, numbers(positions[0] ?? 0, (positions[0] ?? 0) + 11))
  const [failures] =
    /^berth_audit_webhook_failures_total (\d+)$/m.exec((await berth.call('GET', '/metrics')).text) ?? []
  assert.match(failures ?? '', / [1-9]/)
})

test('a receiver that hangs is given up after the timeout of one attempt, and does not delay the end of Berth', async (t) => {
  const { berth, receiver } = await startDelivery(t)
  receiver.behave = () => undefined
  await append(berth, 1)
  await until('an attempt', () => receiver.attempts.length === 1)
  const begun = performance.now()
  await berth.close()
  assert.ok(performance.now() - begun < waitLimit(5_000), `${performance.now() - begun} ms`)
})

test('an answer without end is not read', async (t) => {
  const { berth, receiver } = await startDelivery(t)
  let isCut = false
  receiver.behave = (response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('x'.repeat(65_536)), 5)
    response.once('close', () => {
      clearInterval(timer)
      isCut = true
    })
  }
  await append(berth, 1)
  await until('the end of the connection', () => isCut)
  await until('it counts as accepted', async () =>
    /^berth_audit_webhook_sent_total [1-9]/m.test((await berth.call('GET', '/metrics')).text),
  )
})

test('while entries wait for five minutes the system page says so, and the log names neither path nor secret', async (t) => {
  const { berth, receiver } = await startDelivery(t, { env: { ADMIN_EMAILS: 'boss@x.org' } })
  await receiver.stop()
  await append(berth, 2, 400_000)
  await until('a failure', () => berth.logs.some((line) => line.includes('does not get its entries')))
  const findings = async () => {
    const metrics = (await berth.call('GET', '/metrics')).text
    return Number(/^berth_audit_webhook_lag_seconds (\S+)$/m.exec(metrics)?.[1])
  }
  // The text of the metrics is kept for a second.
  await until('the lag', async () => (await findings()) >= 400)
  assert.equal(berth.logs.filter((line) => line.includes('does not get its entries')).length, 1)
  assert.match(berth.logs.join(''), /ECONNREFUSED/)
  assert.doesNotMatch(berth.logs.join(''), /s3cret-path|whsec_/)
  const token = await administrator(berth)
  const warnings = async () => (await berth.call('GET', '/api/admin/system', { token })).body.warnings.join()
  assert.match(await warnings(), /AUDIT_WEBHOOK_URL has not accepted entries of the audit log since 20.*: ECONNREFUSED/)
  await receiver.start()
  await until('both entries', () => receiver.accepted.length >= 2)
  assert.doesNotMatch(await warnings(), /AUDIT_WEBHOOK_URL/)
  await until('the lag is over', async () => (await findings()) === 0)
})

test('with two secrets a receiver of either accepts the messages', async (t) => {
  const next = `whsec_${Buffer.alloc(64, 9).toString('base64')}`
  const { berth, receiver } = await startDelivery(t, { env: { AUDIT_WEBHOOK_SECRET: `${next} ${secret}` } })
  await append(berth, 1)
  await until('the entry', () => receiver.accepted.length === 1)
  assert.ok(new Webhook(next))
})

test('a locked store repeats no entry: what was accepted is recorded later', async (t) => {
  let isLocked = false
  const { berth, receiver } = await startDelivery(t, {
    wrapDatabase: (database) => ({
      ...database,
      db: new Proxy(database.db, {
        get(target, name) {
          if (name === 'insertInto' && isLocked) throw new Error('database is locked')
          const value: unknown = Reflect.get(target, name)
          return typeof value === 'function' ? (value.bind(target) as unknown) : value
        },
      }),
    }),
  })
  await append(berth, 1)
  await until('the first', () => receiver.accepted.length === 1)
  receiver.behave = (response, message) => {
    isLocked = true
    receiver.accepted.push(message)
    response.writeHead(200).end()
  }
  await append(berth, 2)
  await until('the failure to record', () => berth.logs.some((line) => line.includes('the store does not answer')))
  receiver.behave = undefined
  isLocked = false
  await until('both', () => receiver.accepted.length >= 3)
  await observationTime(200)
  assert.equal(new Set(receiver.positions).size, receiver.positions.length)
})

test(
  'an API process that is killed between an answer and its record sends the entry again, and none is missing',
  onlyLong,
  async (t) => {
    const receiver = await startReceiver(t, secret)
    const env = {
      AUDIT_WEBHOOK_URL: receiver.url,
      AUDIT_WEBHOOK_SECRET: secret,
      CONTAINER_TEMPLATES: await testTemplates(),
    }
    const program = runProgram(t, env)
    const token = await signIn(program, 'boss@x.org')
    const change = async (name: string) => {
      const body = JSON.stringify({ name, scopes: ['containers:read'], expires_in: 600 })
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const made = await program.fetch('/api/user/tokens', undefined, { method: 'POST', body, headers })
      assert.equal(made.status, 200, await made.text())
    }
    let killed: string | undefined
    receiver.behave = (response, message) => {
      receiver.accepted.push(message)
      killed = message.id
      process.kill(program.api(), 'SIGKILL')
      receiver.behave = undefined
      response.writeHead(204).end()
    }
    await change('one')
    await until('the end of the process', () => killed !== undefined)
    await program.said(/"msg":"the API is back"/)
    await change('two')
    await until('the entry of after the restart', () =>
      receiver.accepted.some(({ body }) => /two/.test(JSON.stringify(body))),
    )
    const ids = receiver.accepted.map(({ id }) => id)
    assert.equal(ids.filter((id) => id === killed).length, 2, 'it is sent again, with the same id')
    const positions = [...new Set(receiver.positions)]
    assert.deepEqual(positions, numbers(positions[0] ?? 0, positions.at(-1) ?? 0))
  },
)

test('without the setting there is no cursor in the store, no metric and no warning', async (t) => {
  const berth = await startEnginelessBerth(t)
  await append(berth, 1)
  const rows = await berth.database.db.selectFrom('installation').select('name').execute()
  assert.ok(!rows.some(({ name }) => name.includes('webhook')))
  assert.doesNotMatch((await berth.call('GET', '/metrics')).text, /audit_webhook/)
})
