import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDockerRuntime } from '#/engines/docker/docker-runtime.ts'
import { assertOk } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { mountBroken, skipBrokenMounts, type Fault } from '#test/support/broken-mount.ts'
import { containerBody, startBroker } from '#test/engine-broker/broker-rig.ts'
import { testImage } from '#test/support/engine/engine.ts'
import { openStream } from '#test/support/event-stream.ts'
import { waitLimit } from '#test/support/extent.ts'
import { waitFor } from '#test/support/program.ts'

/** Homes on a file system that is broken already when Berth starts (contract, section 15). `npm run test:nfs` has a real NFS. */

async function arrange(t: TestContext, fault: Fault) {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'berth-broken-')))
  const homes = path.join(root, 'homes')
  mkdirSync(homes)
  const unmount = await mountBroken(homes, fault)
  let isMounted = true
  const repair = async () => {
    if (isMounted) await unmount()
    isMounted = false
  }
  t.after(async () => {
    await repair()
    rmSync(root, { recursive: true, force: true })
  })
  const base = { image: await testImage(), port: 8080, memory: '64m' }
  const templates = { plain: base, served: { ...base, home_source: { path: `${homes}/{slug}`, create: '1000:1000' } } }
  const berth = await startBerth(t, {
    env: { CONTAINER_TEMPLATES: JSON.stringify(templates), ALLOWED_MOUNT_ROOTS: root },
  })
  const admin = await berth.administrator()
  const warnings = async () => JSON.stringify((await admin.call('GET', '/api/admin/system')).body)
  const ann = await berth.signUpWithoutContainer('ann@x.org')
  const launch = (type: string) => ann.call('POST', `/api/container/launch/${type}`)
  const stream = await openStream(berth, ann.token)
  t.after(() => stream.close())
  const failed = () =>
    stream.events.findLast(({ name, data }) => name === 'launch' && data.type === 'served' && data.stage === 'failed')
  /** What the card says of the last launch that failed. */
  const onCard = async () => {
    await waitFor('the card of the launch', () => failed() !== undefined)
    return failed()?.data.message
  }
  return { berth, homes, warnings, launch, onCard, repair }
}

test(
  'Berth starts beside a file server that is away, launches the rest, and its homes once it is back',
  { skip: skipBrokenMounts },
  async (t) => {
    const { homes, warnings, launch, onCard, repair } = await arrange(t, 'silent')
    assert.match(await warnings(), new RegExp(`file system at ${homes} cannot be used .ETIMEDOUT.`))
    assertOk(await launch('plain'))
    const refused = await launch('served')
    assert.equal(refused.status, 500)
    assert.match(refused.body.error, /file server .* does not answer/)
    assert.equal(await onCard(), refused.body.error)
    await repair()
    chmodSync(homes, 0o755)
    await waitFor('the launch', async () => (await launch('served')).status === 200)
  },
)

// `berth doctor` had printed what it had found, and stayed until the file server was back.
test('a program that has asked a file server that is away ends', { skip: skipBrokenMounts }, async (t) => {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'berth-broken-')))
  const unmount = await mountBroken(root, 'silent')
  t.after(async () => {
    await unmount()
    rmSync(root, { recursive: true, force: true })
  })
  const asks = new URL('../../src/machine/answering-paths.ts', import.meta.url).href
  const script = `const { answeringPaths } = await import('${asks}'); console.log(await answeringPaths.silentPlace('${root}/ann'))`
  const program = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => program.kill('SIGKILL'))
  const said = text(program.stdout)
  await waitFor('its end', () => program.exitCode !== null)
  assert.equal((await said).trim(), root)
})

test(
  'a stale handle is no missing folder: Berth starts, its log says what to do, and launches follow once it is mounted again',
  { skip: skipBrokenMounts },
  async (t) => {
    const { berth, homes, warnings, launch, onCard, repair } = await arrange(t, 'stale')
    assert.match(await warnings(), new RegExp(`file system at ${homes} cannot be used .ESTALE.`))
    assertOk(await launch('plain'))
    const refused = await launch('served')
    assert.equal(refused.status, 500)
    assert.match(refused.body.error, /home on a file server, is missing or cannot be used/)
    assert.equal(await onCard(), refused.body.error)
    assert.match(berth.logs.join(''), /handle is stale .* mount it again/)
    await repair()
    assertOk(await launch('served'))
  },
)

test(
  'the broker of the engine’s socket refuses a folder of a file server that is away, and answers others meanwhile',
  { skip: skipBrokenMounts },
  async (t) => {
    // The broker's folder is removed last: what is mounted in it would hold that.
    const ends: (() => unknown)[] = []
    t.after(async () => {
      for (const end of ends.toReversed()) await end()
    })
    const lifetime = { after: (end: () => unknown) => void ends.push(end) }
    const broker = await startBroker(lifetime, { allow: (folder) => `writable=${folder}/homes/*` })
    const { installation, root, address, ask } = broker
    await createDockerRuntime({ installation, dockerHost: address, network: installation }).prepare()
    const [homes, there] = [path.join(root, 'homes'), path.join(root, 'there')]
    for (const each of [homes, there]) mkdirSync(each)
    lifetime.after(await mountBroken(homes, 'silent'))
    // It would hold this process, which is the broker's, too: whatever becomes of the test, the mount answers with an error at last.
    const guard = spawn('sh', ['-c', `sleep 40; umount -f ${homes}`], { stdio: 'ignore' })
    lifetime.after(() => guard.kill())
    const create = (source: string, name: string) => {
      const mount = { Type: 'bind', Source: source, Target: '/home/berth', ReadOnly: true }
      const body = containerBody(installation, 'none:none', {
        Mounts: [{ ...mount, BindOptions: { Propagation: 'rprivate' } }],
      })
      return ask('POST', `/v1.41/containers/create?name=${installation}-${name}`, body)
    }
    const refused = create(path.join(homes, 'ann'), 'ann-dev')
    const asked = { isOver: false }
    void refused.finally(() => (asked.isOver = true))
    for (let begun = performance.now(); !asked.isOver; begun = performance.now()) {
      assert.equal((await ask('GET', '/_ping')).status, 200)
      assert.ok(performance.now() - begun < waitLimit(4_000), 'a ping waited for the file server')
      await sleep(200)
    }
    const { status, text } = await refused
    assert.equal(status, 403)
    assert.match(text, new RegExp(`the file system at ${homes} does not answer`))
    // A folder beside it is looked at: its image alone is missing.
    assert.match((await create(there, 'ann-dev')).text, /No such image/)
  },
)
