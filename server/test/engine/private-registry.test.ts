// Part of npm run test:long: it fetches Debian's registry; `image-pull-faults.test.ts` has a stand-in for one.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { EngineClient } from '#/engines/docker/engine-client.ts'
import { registryAuth } from '#/engines/docker/images.ts'
import { assertOk, until } from '../support/api-calls.ts'
import { startBerth } from '../support/berth.ts'
import { askEngine, engineAddress, testImage } from '../support/engine/engine.ts'
import { freePort } from '../support/free-port.ts'

const run = promisify(execFile)
const password = 'of-the-course?~'

/** Debian's docker-registry with one account, `lab`. @returns its host */
async function startDebianRegistry(t: TestContext, folder: string): Promise<string> {
  const apt = ['-o', 'Debug::NoLocking=1', '-o', 'APT::Sandbox::User=', 'download', 'docker-registry']
  await run('apt-get', apt, { cwd: folder }).catch(async () => {
    await run('apt-get', ['update'])
    await run('apt-get', apt, { cwd: folder })
  })
  const [deb = ''] = readdirSync(folder).filter((name) => name.endsWith('.deb'))
  await run('dpkg-deb', ['--extract', path.join(folder, deb), path.join(folder, 'debian')])
  // A password file of Apache with bcrypt, as htpasswd -B writes it.
  const hash = await run('perl', ['-e', 'print crypt($ARGV[0], q{$2b$05$abcdefghijklmnopqrstuu})', password])
  await writeFile(path.join(folder, 'htpasswd'), `lab:${hash.stdout}\n`)
  const host = `127.0.0.1:${await freePort()}`
  const config = [
    'version: 0.1',
    `storage: { filesystem: { rootdirectory: ${folder}/store } }`,
    `http: { addr: "${host}" }`,
    `auth: { htpasswd: { realm: berth, path: ${folder}/htpasswd } }`,
  ]
  await writeFile(path.join(folder, 'config.yml'), config.join('\n'))
  const program = path.join(folder, 'debian/usr/bin/docker-registry')
  const registry = spawn(program, ['serve', path.join(folder, 'config.yml')], { stdio: 'ignore' })
  t.after(() => void registry.kill())
  await until(async () => (await fetch(`http://${host}/v2/`).catch(() => undefined))?.status === 401)
  return host
}

test('an image of a private registry is pulled at the first launch, and its password is nowhere else', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'berth-registry-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const host = await startDebianRegistry(t, folder)
  const image = `${host}/course/lab:1`
  await askEngine('POST', `/images/${await testImage()}/tag`, { query: { repo: `${host}/course/lab`, tag: '1' } })
  const headers = registryAuth(image, { username: 'lab', password })
  const push = { what: 'push', method: 'POST', path: `/images/${host}/course/lab/push`, timeout: 60_000 } as const
  const pushed = await new EngineClient(engineAddress).download({ ...push, query: { tag: '1' }, headers }, 1_000_000)
  assert.doesNotMatch(String(pushed), /"error"/)
  const forget = () => askEngine('DELETE', `/images/${image}`)
  await forget()
  t.after(() => forget().catch(() => undefined))

  await mkdir(path.join(folder, 'secrets'))
  const file = path.join(folder, 'secrets/registry')
  await writeFile(file, 'wrong\n')
  const registry_auth = { username: 'lab', password_file: 'registry' }
  const templates = { dev: { image, port: 8080, memory: '64m', registry_auth } }
  const env = { CONTAINER_TEMPLATES: JSON.stringify(templates), SECRETS_DIR: path.dirname(file), LOG_LEVEL: 'debug' }
  const berth = await startBerth(t, { env })
  const ann = await berth.signUp('ann@x.org')
  const refused = await ann.call('POST', '/api/container/launch/dev')
  assert.deepEqual([refused.status, refused.body.reason], [500, 'no-image'])
  // The file is read each time.
  await writeFile(file, `${password}\n`)
  assertOk(await ann.call('POST', '/api/container/launch/dev'))
  const store = await readFile(path.join(berth.dataDir, 'berth.sqlite'), 'latin1')
  const spoken = JSON.stringify([refused.text, berth.logs, (await ann.call('GET', '/api/user/containers')).text])
  for (const text of [store, spoken]) assert.doesNotMatch(text, /of-the-course/)
})
