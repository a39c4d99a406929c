import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { script } from './debian-machine.mjs'
import { tickingTemplates } from '../../../server/test/support/ticking-app.ts'
import { sqliteStore } from './test-stores.mjs'

/** @import { TestStore } from './test-stores.mjs' */

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */

/**
 * Versions in folders beside each other and a link `current`, as docs/how-to/install-from-the-tarball.md says, with this machine's
 * engine. It ends with the test.
 * @param {import('node:test').TestContext} t
 * @param {TestStore} [store] SQLite by default
 */
export async function createInstallation(t, store = sqliteStore) {
  const root = mkdtempSync(join(tmpdir(), 'berth-installed-'))
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const [current, dataDir, templates] = [join(root, 'current'), join(root, 'data'), join(root, 'templates.json')]
  writeFileSync(templates, tickingTemplates)
  for (const name of ['data', 'cache', 'tmp']) mkdirSync(join(root, name))
  const settings = {
    PORT: String(port),
    DATA_DIR: dataDir,
    CONTAINER_TEMPLATES_FILE: templates,
    MAGIC_LINK_RATE_LIMIT: '50',
    ...store.settings,
  }
  const env = { PATH: process.env.PATH, TMPDIR: join(root, 'tmp'), BERTH_CACHE_DIR: join(root, 'cache'), ...settings }
  /** @type {ChildProcess | undefined} */
  let service
  let log = ''

  const stop = async () => {
    if (!service || service.exitCode !== null || service.signalCode !== null) return
    service.kill('SIGTERM')
    await once(service, 'exit')
  }
  t.after(async () => {
    await stop()
    // It has no name when it was never started, and has made nothing then.
    const name = await store.installation(dataDir).catch(() => undefined)
    if (name !== undefined) removeContainers(name)
    rmSync(root, { recursive: true, force: true })
  })
  return {
    root,
    base,
    dataDir,
    installation: () => store.installation(dataDir),
    gatewayPid: () => service?.pid ?? 0,
    /** @param {string} tarball @param {string} name of its folder */
    unpack(tarball, name) {
      mkdirSync(join(root, name))
      execFileSync('tar', ['-xzf', tarball, '-C', join(root, name), '--strip-components=1'])
    },
    /** @param {string} name the version that the link names from now on */
    choose(name) {
      rmSync(current, { force: true })
      symlinkSync(name, current)
    },
    start() {
      service = spawn(join(current, 'berth'), ['start'], { cwd: root, env })
      for (const stream of [service.stdout, service.stderr])
        stream?.setEncoding('utf8').on('data', (text) => (log += text))
      return service
    },
    /** @param {string} name a version that is not chosen yet */
    warmUp: (name) => void execFileSync(join(root, name, 'berth'), ['warm-up'], { env }),
    reload: () => service?.kill('SIGHUP'),
    stop,
    berth: (/** @type {string[]} */ ...command) =>
      execFileSync(join(current, 'berth'), command, { env, encoding: 'utf8' }),
    /** @param {string} email @param {'signup' | 'login'} first */
    async doMainJob(email, first) {
      const args = ['--input-type=module', '-', base, dataDir, email, first]
      return JSON.parse(await outputOf(spawn(process.execPath, args), script('main-job.mjs')))
    },
    /** Resolves when it watches. @param {string} token @param {string} place @param {number} seconds */
    async observe(token, place, seconds) {
      const observer = spawn(process.execPath, ['--input-type=module', '-', base, token, place, String(seconds)])
      const output = outputOf(observer, script('observe.mjs'))
      await Promise.race([once(observer.stdout, 'data'), output])
      return { seen: output.then((text) => JSON.parse(text.slice(text.indexOf('{')))) }
    },
    /** Waits until it is so. @param {string} what @param {() => boolean | Promise<boolean>} isSo */
    async until(what, isSo) {
      for (const end = performance.now() + 60_000; !(await isSo()); await sleep(20))
        if (performance.now() > end) throw new Error(`not within 60 s: ${what}; log: ${log.slice(-2_000)}`)
    },
    /** Asks for a link and returns its token from the outbox, unused. @param {'signup' | 'login'} purpose @param {string} email */
    async link(purpose, email) {
      const outbox = join(dataDir, 'outbox')
      const before = readdirSync(outbox).length
      const headers = { 'content-type': 'application/json' }
      const asked = await fetch(`${base}/api/auth/${purpose}`, {
        method: 'POST',
        body: JSON.stringify({ email }),
        headers,
      })
      if (!asked.ok) throw new Error(`${purpose} answered ${asked.status}`)
      await this.until('the mail', () => readdirSync(outbox).filter((name) => name.endsWith('.eml')).length > before)
      const mail = readFileSync(join(outbox, readdirSync(outbox).sort().at(-1) ?? ''), 'utf8')
      const [, token = ''] = /token=([\w-]+)/.exec(mail.replace(/=\r?\n/g, '').replaceAll('=3D', '=')) ?? []
      return token
    },
  }
}

/** @param {ChildProcess} child @param {string} input @returns {Promise<string>} what it printed; rejects with its errors when it fails */
async function outputOf(child, input) {
  let [out, errors] = ['', '']
  child.stdout?.setEncoding('utf8').on('data', (text) => (out += text))
  child.stderr?.setEncoding('utf8').on('data', (text) => (errors += text))
  child.stdin?.end(input)
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(errors)
  return out
}

/** What this installation, and no other of this machine, made in the engine. @param {string} installation its name */
function removeContainers(installation) {
  const docker = (/** @type {string[]} */ ...args) =>
    execFileSync('docker', args, { encoding: 'utf8' }).split('\n').filter(Boolean)
  const own = ['--quiet', '--filter', `label=berth.instance=${installation}`]
  const containers = docker('ps', '--all', ...own)
  if (containers.length > 0) docker('rm', '--force', ...containers)
  for (const kind of ['volume', 'network']) for (const id of docker(kind, 'ls', ...own)) docker(kind, 'rm', id)
}

/** @returns {Promise<number>} */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  server.close()
  await once(server, 'close')
  return port
}
