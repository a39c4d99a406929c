import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const cache = resolve(import.meta.dirname, '../../.berth/vm')

/** The versions of Debian that can be booted, by the name of the suite. */
export const suites = { trixie: 'Debian 13', bookworm: 'Debian 12' }
/** @typedef {keyof typeof suites} Suite */

/** In ms: software emulation boots within two minutes on two cores without other work. */
const limits = { boot: 900_000, command: 300_000 }

/** In MB: of the machine, and of the second disk, which is empty. */
const sizes = { memory: 4_096, secondDisk: 3_072 }

/**
 * A machine with a kernel and a systemd of its own, which ends with the test unless it is kept.
 * @typedef {object} Vm
 * @property {(command: string, options?: { input?: string, limitMs?: number }) => Promise<string>} run a shell command as root;
 *   throws with its output when it fails
 * @property {(command: string, input: string) => import('node:child_process').ChildProcess} start a command that goes on
 * @property {(file: string, to: string) => Promise<void>} copyIn
 * @property {() => Promise<number>} reboot returns once systemd has started everything, with the ms that it took
 * @property {(what: string, command: string, limitMs?: number) => Promise<string>} until a command succeeds; its output
 */

/**
 * Boots a stock Debian. Its disk is a copy that goes with the machine; the image is made once, in `.berth/vm`.
 * @param {import('node:test').TestContext} t
 * @param {Suite} suite
 * @param {boolean} isKept whether the machine goes on after the test, for the next one that says so; else it ends, as does a
 *   kept one of before
 * @returns {Promise<Vm>}
 */
export async function startVm(t, suite, isKept) {
  const image = join(cache, suite)
  ensureImage(suite, image)
  const file = join(image, 'kept.json')
  const kept = keptMachine(file)
  if (kept && isKept) {
    const vm = machineOf(join(image, 'key'), kept.port, join(kept.folder, 'ssh'))
    await vm.until('the kept machine answers', 'docker info >/dev/null', limits.boot)
    return vm
  }
  if (kept) end(kept)
  const folder = mkdtempSync(join(tmpdir(), 'berth-vm-'))
  const [port, second, serial] = [await freePort(), join(folder, 'second.img'), join(folder, 'serial.log')]
  execFileSync('truncate', ['-s', `${sizes.secondDisk}M`, second])
  const log = openSync(join(folder, 'qemu.log'), 'w')
  const qemu = spawn('nice', ['-n', '10', 'qemu-system-x86_64', ...options(image, { port, second, serial })], {
    stdio: ['ignore', log, log],
    // The copy of the disk, which holds what is written, lies there and has no name.
    env: { ...process.env, TMPDIR: folder },
    detached: isKept,
  })
  closeSync(log)
  await once(qemu, 'spawn')
  /** @type {KeptMachine} */
  const running = { pid: qemu.pid ?? 0, port, folder }
  if (isKept) {
    writeFileSync(file, JSON.stringify(running))
    qemu.unref()
  } else t.after(() => end(running))
  const vm = machineOf(join(image, 'key'), port, join(folder, 'ssh'))
  await booted(vm, () => {
    if (qemu.exitCode === null) return
    throw new Error(`QEMU ended with ${qemu.exitCode}: ${readFileSync(join(folder, 'qemu.log'), 'utf8')}`)
  }).catch((error) => {
    throw new Error(`the machine did not come up; the last lines of its console:\n${tail(serial)}`, { cause: error })
  })
  return vm
}

/** @typedef {{ pid: number, port: number, folder: string }} KeptMachine */

/** @param {string} file @returns {KeptMachine | undefined} undefined when it does not run any more */
function keptMachine(file) {
  if (!existsSync(file)) return undefined
  const kept = /** @type {KeptMachine} */ (JSON.parse(readFileSync(file, 'utf8')))
  const command = `/proc/${kept.pid}/cmdline`
  // Another program may have its number by now.
  if (existsSync(command) && readFileSync(command, 'utf8').includes(kept.folder)) return kept
  rmSync(kept.folder, { recursive: true, force: true })
  rmSync(file)
  return undefined
}

/** @param {KeptMachine} machine */
function end({ pid, folder }) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
  rmSync(folder, { recursive: true, force: true })
}

/** @param {string} image @param {{ port: number, second: string, serial: string }} own */
function options(image, { port, second, serial }) {
  const disk = 'if=virtio,format=raw,cache=unsafe'
  // Emulation in software: a machine in a cloud has no other, and one test is the same on all.
  return Object.entries({
    machine: 'q35',
    accel: 'tcg,thread=multi',
    cpu: 'max',
    smp: '2',
    m: String(sizes.memory),
    kernel: join(image, 'vmlinuz'),
    initrd: join(image, 'initrd'),
    append: 'root=/dev/vda rw console=ttyS0 quiet',
    display: 'none',
    serial: `file:${serial}`,
  })
    .flatMap(([name, value]) => [`-${name}`, value])
    .concat(nic(`user,restrict=on,mac=52:54:00:be:00:01,hostfwd=tcp:127.0.0.1:${port}-:22`), nic('user'))
    .concat(['-drive', `file=${join(image, 'disk.img')},snapshot=on,${disk}`, '-drive', `file=${second},${disk}`])
}

/** The interface of the test, which `make-image.sh` takes out of sight, and that of the machine. @param {string} how */
const nic = (how) => ['-nic', `${how},model=virtio-net-pci`]

/**
 * @param {string} key file of the SSH key
 * @param {number} port of loopback
 * @param {string} socket of the one connection that all commands share: emulation takes seconds for the ciphers of each
 * @returns {Vm}
 */
export function machineOf(key, port, socket) {
  // The machine is reached by loopback alone and lives as long as the test, so its key is not known before.
  const quiet = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR', 'ConnectTimeout=30']
  const shared = ['ControlMaster=auto', `ControlPath=${socket}`, 'ControlPersist=600']
  const alive = ['ServerAliveInterval=15', 'ServerAliveCountMax=8']
  const options = [...quiet, ...shared, ...alive].flatMap((option) => ['-o', option])
  const ssh = [...options, '-i', key, '-p', String(port), 'root@127.0.0.1']
  /** @type {Vm} */
  const vm = {
    run: (command, { input, limitMs = limits.command } = {}) =>
      new Promise((done, fail) => {
        const how = { timeout: limitMs, maxBuffer: 64 * 1024 * 1024 }
        const child = execFile('ssh', [...ssh, command], how, (error, stdout, stderr) =>
          error ? fail(new Error(`${command} failed:\n${stdout}${stderr}`)) : done(stdout + stderr),
        )
        // A command that ends before it has read its input has failed by itself.
        child.stdin?.on('error', () => undefined).end(input ?? '')
      }),
    start: (command, input) => {
      const child = spawn('ssh', [...ssh, command], { stdio: ['pipe', 'pipe', 'inherit'] })
      child.stdin.end(input)
      return child
    },
    copyIn: (file, to) =>
      new Promise((done, fail) => {
        const from = openSync(file, 'r')
        const child = spawn('ssh', [...ssh, `cat >'${to}'`], { stdio: [from, 'ignore', 'inherit'] })
        closeSync(from)
        child.once('error', fail)
        child.once('exit', (code) =>
          code === 0 ? done() : fail(new Error(`${file} was not copied: ssh said ${code}`)),
        )
      }),
    reboot: async () => {
      const bootId = () => vm.run('cat /proc/sys/kernel/random/boot_id', { limitMs: 60_000 })
      const before = await bootId()
      const begun = performance.now()
      await vm.run('systemctl reboot').catch(() => undefined)
      await untilTrue('another boot', limits.boot, async () => (await bootId()) !== before)
      await booted(vm)
      return Math.round(performance.now() - begun)
    },
    until: async (what, command, limitMs = limits.command) => {
      let output = ''
      const succeeds = async () => ((output = await vm.run(command)), true)
      await untilTrue(what, limitMs, succeeds)
      return output
    },
  }
  return vm
}

/**
 * Once systemd has started all that it starts, and the engine answers.
 * @param {Vm} vm
 * @param {() => void} [check] throws when that cannot be any more
 */
async function booted(vm, check = () => undefined) {
  let state = ''
  await untilTrue(
    'systemd has started',
    limits.boot,
    async () => {
      state = await vm.run('systemctl is-system-running --wait || true', { limitMs: 300_000 })
      return /^(running|degraded)$/m.test(state)
    },
    check,
  )
  await vm.run('docker info >/dev/null')
  if (!state.startsWith('running')) throw new Error(`units failed: ${await vm.run('systemctl --failed --no-legend')}`)
}

/**
 * @param {string} what
 * @param {number} limitMs
 * @param {() => Promise<boolean>} isSo what throws is not so
 * @param {() => void} [check] throws when it cannot be any more
 */
export async function untilTrue(what, limitMs, isSo, check = () => undefined) {
  let problem = ''
  for (const end = performance.now() + limitMs; ; await sleep(1_000)) {
    check()
    const is = await isSo().catch((error) => {
      problem = String(error)
      return false
    })
    if (is) return
    if (performance.now() > end) throw new Error(`not within ${limitMs / 1000} s: ${what}; ${problem}`)
  }
}

/** @param {string} file */
const tail = (file) => (existsSync(file) ? readFileSync(file, 'utf8').slice(-2_000) : '')

/** @returns {Promise<number>} a port of loopback on which nothing listens */
function freePort() {
  const server = createServer()
  return new Promise((done, fail) => {
    server.once('error', fail)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => done(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

/** About four minutes with a network, once. @param {Suite} suite @param {string} image */
function ensureImage(suite, image) {
  if (existsSync(join(image, 'disk.img'))) return
  const missing = ['debootstrap', 'qemu-system-x86_64', 'ssh'].filter((name) => spawnSync(name, ['--version']).error)
  if (missing.length > 0) {
    const names = 'apt-get install debootstrap qemu-system-x86 openssh-client'
    throw new Error(`missing: ${missing.join(', ')}; ${names}`)
  }
  console.log(`${suites[suite]}: making the disk image ...`)
  const begun = performance.now()
  execFileSync('nice', ['-n', '10', join(import.meta.dirname, 'make-image.sh'), suite, image], { stdio: 'inherit' })
  console.log(`${suites[suite]}: disk image made in ${Math.round((performance.now() - begun) / 1000)} s`)
}
