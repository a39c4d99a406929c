import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const cache = resolve(import.meta.dirname, '../../../.berth/release')

/** What debootstrap installs for systemd; with what the package recommends, and without. */
const bare = ['systemd-sysv', 'dbus', 'ca-certificates']
const kinds = {
  engine: { image: 'berth-release-debian:12', packages: [...bare, 'docker.io', 'iptables', 'busybox-static'] },
  bare: { image: 'berth-release-debian-bare:12', packages: bare },
}
/** @typedef {keyof typeof kinds} Kind */

/** No CAP_SYS_RESOURCE: machines that run tests often lack it, and `--privileged` asks for it. */
const rights = [
  '--cap-add=SYS_ADMIN',
  '--cap-add=NET_ADMIN',
  '--cap-add=SYS_PTRACE',
  '--security-opt=seccomp=unconfined',
]
const mounts = [
  '--tmpfs=/run:exec',
  '--tmpfs=/run/lock',
  '--tmpfs=/tmp:exec',
  '--volume=/sys/fs/cgroup:/sys/fs/cgroup:rw',
]

/**
 * Begins systemd with the control groups that this machine has mounted, and no others. With cgroup v1 systemd mounts whatever
 * /proc/cgroups names into the folder that the container shares with the machine; the hierarchies stay there unmounted, and
 * the machine's own engine then fails to read control groups: it reports neither CPU time nor a want of memory.
 */
const init = `
while read -r name rest; do
  case $name in '#'*) echo "$name $rest" ;; *) ! mountpoint -q "/sys/fs/cgroup/$name" || echo "$name $rest" ;; esac
done < /proc/cgroups | tr ' ' '\\t' > /run/cgroups
mount --bind /run/cgroups /proc/cgroups
exec /sbin/init`

/**
 * A fresh Debian 12 with systemd, as a container of this machine's engine; it has a Docker Engine of its own unless it is bare.
 * @typedef {object} Machine
 * @property {string} id of the container
 * @property {(command: string, options?: { input?: string, limitMs?: number }) => Promise<string>} run a shell command as root;
 *   throws with its output when it fails
 * @property {(file: string, to: string) => void} copyIn
 * @property {(command: string, input: string) => import('node:child_process').ChildProcess} start a command that goes on
 */

/**
 * Starts one; it ends with the test.
 * @param {import('node:test').TestContext} t
 * @param {Kind} [kind]
 * @returns {Promise<Machine>} once systemd runs, and the engine where it has one
 */
export async function startMachine(t, kind = 'engine') {
  const { image } = kinds[kind]
  ensureImage(kind)
  const volume = '--volume=/var/lib/docker'
  const args = ['run', '--detach', ...rights, ...mounts, volume, '--env=container=docker', image, 'sh', '-c', init]
  const id = execFileSync('docker', args, { encoding: 'utf8' }).trim()
  t.after(() => execFileSync('docker', ['rm', '--force', '--volumes', id], { stdio: 'ignore' }))
  const machine = machineOf(id)
  for (let tries = 60; ; tries--) {
    const state = await machine
      .run(`${kind === 'bare' ? '' : 'docker info >/dev/null && '}systemctl is-system-running`)
      .catch(String)
    if (state.startsWith('running')) return machine
    if (tries === 0) throw new Error(`the machine did not come up: ${state}`)
    await sleep(500)
  }
}

/** @param {string} id @returns {Machine} */
function machineOf(id) {
  const exec = (/** @type {string} */ command) => ['exec', '--interactive', id, 'sh', '-c', command]
  return {
    id,
    run: (command, { input, limitMs = 120_000 } = {}) =>
      new Promise((done, fail) => {
        const options = { timeout: limitMs, maxBuffer: 16 * 1024 * 1024 }
        const child = execFile('docker', exec(command), options, (error, stdout, stderr) =>
          error ? fail(new Error(`${command} failed:\n${stdout}${stderr}`)) : done(stdout + stderr),
        )
        child.stdin?.end(input ?? '')
      }),
    copyIn: (file, to) => void execFileSync('docker', ['cp', file, `${id}:${to}`], { stdio: 'ignore' }),
    start: (command, input) => {
      const child = spawn('docker', exec(command), { stdio: ['pipe', 'pipe', 'inherit'] })
      child.stdin.end(input)
      return child
    },
  }
}

/** Made once by debootstrap, two minutes with a network; then from `.berth`. @param {Kind} kind */
function ensureImage(kind) {
  const { image, packages } = kinds[kind]
  if (execFileSync('docker', ['images', '--quiet', image], { encoding: 'utf8' }) !== '') return
  const folder = join(cache, `debian12-${kind}`)
  const [root, archive] = [join(folder, 'root'), join(folder, 'root.tar')]
  if (!existsSync(archive)) {
    if (spawnSync('debootstrap', ['--version']).error)
      throw new Error('debootstrap is missing: apt-get install debootstrap')
    rmSync(root, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    console.log('debian: debootstrap of Debian 12 ...')
    execFileSync('debootstrap', [`--include=${packages.join(',')}`, 'bookworm', root], { stdio: 'ignore' })
    rmSync(join(root, 'var/cache/apt/archives'), { recursive: true })
    execFileSync('tar', ['--create', `--file=${archive}`, '--one-file-system', `--directory=${root}`, '.'])
    rmSync(root, { recursive: true })
  }
  execFileSync('docker', ['import', archive, image], { stdio: 'ignore' })
}

/** A script of this folder, for `node --input-type=module -`. @param {string} name */
export const script = (name) => readFileSync(join(import.meta.dirname, name), 'utf8')
