import assert from 'node:assert/strict'
import { once } from 'node:events'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { openClusterAccess } from '#/engines/kubernetes/cluster-access.ts'
import { ClusterClient } from '#/engines/kubernetes/cluster-client.ts'
import { execInPod } from '#/engines/kubernetes/pod-exec.ts'
import { inspect } from '#/engines/kubernetes/container-lookup.ts'
import { timeLimit } from '#test/support/extent.ts'
import { openStandIn, reply, status, storedPod } from '../support/cluster/stand-in-api.ts'
import { eventually, ofKind } from '../support/engine/runtimes.ts'
import { writeSelfSigned } from '../support/gateway/tls-proxy.ts'

/** Credentials that do not come, or end, by a stand-in for the API server. */

async function folderFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'berth-credentials-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

/** @returns the path of a KUBECONFIG with one user */
async function writeConfig(folder: string, server: string, user: object): Promise<string> {
  const file = path.join(folder, 'kubeconfig')
  const cluster = { server, 'insecure-skip-tls-verify': true }
  const config = {
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  await writeFile(file, JSON.stringify(config))
  return file
}

const pluginOf = (script: string) => ({
  exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', args: ['-c', script] },
})

const serverOf = (server: { address(): unknown }) => `127.0.0.1:${(server.address() as AddressInfo).port}`

/** A call as any other. */
const call = { what: 'look', method: 'GET', path: '/version', timeout: 5_000 } as const

// Calls waited for it outside of their limits: the engine never counted as down, and requests went to addresses of other pods.
test('a credential that never comes makes the API server unreachable within four seconds, and ends a command', async (t) => {
  const never = () => new Promise<never>(() => {})
  const { cluster, asked } = await openStandIn(t, () => undefined, {}, { headers: never })
  const begun = performance.now()
  await assert.rejects(inspect(cluster, 'berth-abcde-ann-dev'), ofKind('unreachable'))
  assert.ok(performance.now() - begun < timeLimit(4_000))
  const signal = AbortSignal.timeout(100)
  const command = { what: 'read', pod: 'p', container: 'c', command: ['true'], signal }
  await assert.rejects(execInPod(cluster, command).next(), (error) => error === signal.reason)
  assert.equal(asked.length, 0)
})

test('a plugin that hangs at the start is ended, and said to be the reason', async (t) => {
  const folder = await folderFor(t)
  const file = path.join(folder, 'pid')
  const config = await writeConfig(folder, 'https://127.0.0.1:1', pluginOf(`echo $$ > ${file}; exec sleep 600`))
  await assert.rejects(openClusterAccess(config, 3_000), /KUBECONFIG.*(plugin sh|3 s)/)
  const pid = Number(await readFile(file, 'utf8'))
  await eventually(() => assert.throws(() => process.kill(pid, 0)))
})

test('a plugin that fails or prints no credential is told in its words, and never with what it printed', async (t) => {
  const folder = await folderFor(t)
  const open = async (script: string) =>
    openClusterAccess(await writeConfig(folder, 'https://127.0.0.1:1', pluginOf(script)))
  await assert.rejects(open('echo "no session" >&2; exit 3'), /plugin sh of KUBECONFIG failed: no session/)
  await assert.rejects(open('echo secret'), (error: Error) => {
    assert.match(error.message, /printed no credential/)
    return !error.message.includes('secret')
  })
})

/** A plugin whose credential says no end, and how often it was run. */
async function openCounted(t: TestContext) {
  const folder = await folderFor(t)
  const runs = path.join(folder, 'runs')
  const count = async () => (await readFile(runs, 'utf8')).length
  const script = `printf x >> ${runs}; sleep 0.2; printf '{"status":{"token":"t%s"}}' $(wc -c < ${runs})`
  return { folder, count, user: pluginOf(script) }
}

test('calls at the same time share one run of a plugin, and a credential that is refused is asked for again', async (t) => {
  const { folder, count, user } = await openCounted(t)
  const tokens: (string | undefined)[] = []
  let good = 't1'
  const { server } = await openStandIn(t, () => undefined)
  server.removeAllListeners('request')
  server.on('request', ({ headers }, response) => {
    tokens.push(headers.authorization)
    return headers.authorization === `Bearer ${good}`
      ? reply(response, 200, {})
      : reply(response, 401, status(401, 'no'))
  })
  const access = await openClusterAccess(await writeConfig(folder, `http://${serverOf(server)}`, user))
  const client = new ClusterClient(access)
  await Promise.all([client.ask(call), client.ask(call), client.ask(call)])
  assert.deepEqual([tokens, await count()], [['Bearer t1', 'Bearer t1', 'Bearer t1'], 1])
  good = 't2'
  await assert.rejects(client.ask(call), ofKind('unreachable'))
  await Promise.all([client.ask(call), client.ask(call)])
  assert.equal(await count(), 2)
  good = 'none'
  for (let round = 0; round < 3; round++) await assert.rejects(client.ask(call), ofKind('unreachable'))
  assert.equal(await count(), 2, 'an account that is refused always does not have the plugin run at each call')
})

// It was read once: after a year of certificates that rotate, nothing could be started until a restart.
test('a client certificate that was replaced is used by new connections, and by all after the API server refused it', async (t) => {
  const folder = await folderFor(t)
  const [old, next, own] = ['old', 'next', 'server'].map((name) => path.join(folder, name))
  const pairs = []
  for (const [at, host] of [
    [old, 'old'],
    [next, 'next'],
    [own, 'localhost'],
  ] as const) {
    const { key, cert } = await writeSelfSigned(folder, host)
    await copyFile(key, `${at}.key`)
    await copyFile(cert, `${at}.crt`)
    pairs.push({ key: await readFile(key), cert: await readFile(cert) })
  }
  let refused = ''
  const seen: string[] = []
  const server = createServer({ ...pairs[2], requestCert: true, rejectUnauthorized: false }, (request, response) => {
    const name = String((request.socket as TLSSocket).getPeerCertificate().subject?.CN)
    seen.push(name)
    reply(response, name === refused ? 401 : 200, name === refused ? status(401, 'Unauthorized') : storedPod('a', 'u'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  t.after(() => server.closeAllConnections())
  const files = { 'client-certificate': path.join(folder, 'c.crt'), 'client-key': path.join(folder, 'c.key') }
  const use = async (from = '') => {
    await copyFile(`${from}.crt`, files['client-certificate'])
    await copyFile(`${from}.key`, files['client-key'])
  }
  await use(old)
  const client = new ClusterClient(
    await openClusterAccess(await writeConfig(folder, `https://${serverOf(server)}`, files)),
  )
  const ask = async (fields: { readonly kind?: 'verb' } = {}) => {
    await client.ask({ ...call, ...fields })
    // Its connection takes the next call.
    await nextTurn()
  }
  await ask()
  await use(next)
  await ask({ kind: 'verb' })
  await ask()
  assert.deepEqual(seen, ['old', 'next', 'old'], 'a connection keeps its certificate')
  refused = 'old'
  await assert.rejects(ask(), ofKind('unreachable'))
  await ask()
  assert.deepEqual(seen.slice(3), ['old', 'next'])
})
