/**
 * `npm run test:engines`: the contract of the runtime port and the tests of the Docker adapter against Docker Engine 26.1, as Debian
 * 13 has it: installed by debootstrap into a folder (cached), and run with a network of its own beside the machine's engine.
 * Words choose files; without them all of the list.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { argv, env, execPath, exit } from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'

const root = resolve(import.meta.dirname, '../..')
const cache = env.BERTH_ENGINES_CACHE ?? join(env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'berth/engines')
const system = join(cache, 'trixie')

/** What talks to the machine's engine; tests with engines of their own start the machine's dockerd, which is another version. */
const files = [
  'engine/runtimes',
  'engine/runtime-output',
  'engine/runtime-lifecycle',
  'engine/docker-engine',
  'engine/kept-homes',
  'engine/networks',
  'engine/network-isolation',
  'specification/containers/launch',
  'specification/containers/lifecycle',
  'specification/containers/homes',
  'specification/containers/idle-and-wake',
  'specification/containers/resources',
  'specification/containers/restart',
  'specification/containers/retirement',
  'specification/containers/starter-files',
  'specification/containers/stop-and-keep',
  'specification/containers/template-fields',
].map((name) => `server/test/${name}.test.ts`)

const words = argv.slice(2)
const chosen = files
  .filter((file) => existsSync(join(root, file)))
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))

if (process.getuid?.() !== 0) fail('test:engines needs root: the engine has a network and mounts of its own')
install()
const folder = mkdtempSync('/tmp/berth-engines-')
const engine = spawn('unshare', ['--net', '--mount', join(import.meta.dirname, 'engine.sh'), system, folder], {
  stdio: ['ignore', 'inherit', 'inherit'],
})
// An interrupt ends the tests; the engine ends after them.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined)
let code = 1
try {
  const { Version } = await version()
  console.log(`Docker Engine ${Version}`)
  const flags = ['--test', '--test-reporter=spec', '--test-concurrency=1', '--test-timeout=300000']
  const command = ['--net', '--target', String(engine.pid), execPath, ...flags, ...chosen]
  const settings = { ...env, DOCKER_HOST: `unix://${folder}/docker.sock` }
  code = spawnSync('nsenter', command, { cwd: root, stdio: 'inherit', env: settings }).status ?? 1
} finally {
  engine.kill('SIGTERM')
  await Promise.race([new Promise((done) => engine.once('exit', done)), sleep(90_000)])
  rmSync(folder, { recursive: true, force: true })
}
exit(code)

/** Debian 13 with its Docker Engine, once. */
function install() {
  if (existsSync(join(system, 'usr/sbin/dockerd'))) return
  if (spawnSync('debootstrap', ['--version']).error) fail('debootstrap is missing; apt-get install debootstrap')
  console.log('installing Debian 13 with its Docker Engine into', system)
  const unfinished = `${system}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  execFileSync('mkdir', ['-p', cache])
  const options = ['--variant=minbase', '--include=docker.io,iptables', 'trixie', unfinished]
  execFileSync('debootstrap', [...options, env.BERTH_DEBIAN_MIRROR ?? 'http://deb.debian.org/debian'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  execFileSync('mv', [unfinished, system])
}

/** @returns {Promise<{ Version: string }>} once the engine answers */
async function version() {
  for (let left = 120; left > 0 && engine.exitCode === null; left--) {
    const answer = await ask('/version').catch(() => undefined)
    if (answer !== undefined) return JSON.parse(answer)
    await sleep(500)
  }
  execFileSync('tail', ['-n', '20', join(folder, 'dockerd.log')], { stdio: 'inherit' })
  throw new Error('the engine did not start; its last words are above')
}

/** @param {string} path */
function ask(path) {
  const { promise, resolve: done, reject } = Promise.withResolvers()
  const call = request({ socketPath: join(folder, 'docker.sock'), path, timeout: 3_000 }, (response) => {
    let text = ''
    response
      .setEncoding('utf8')
      .on('data', (part) => (text += part))
      .on('end', () => done(text))
      .on('error', reject)
  })
  call
    .on('error', reject)
    .on('timeout', () => call.destroy(new Error('no answer')))
    .end()
  return promise
}

/** @param {string} message @returns {never} */
function fail(message) {
  console.error(message)
  exit(1)
}
