import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { readConfig } from '#/config/config.ts'
import type { Mount } from '#/engines/container-spec.ts'
import { Templates } from '#/templates/template.ts'
import { hostileCommand, type AttackInstallation } from '@berth/cli/attack/attack-installation.ts'
import { exhaustMemory, exhaustProcesses, gainRights, swapMounts } from '@berth/cli/attack/container-attempts.ts'
import { freePort } from '#test/support/free-port.ts'
import { eventually } from '#test/support/engine/runtimes.ts'

/** The hostile program of `berth doctor attack` as a process of this machine, without a container. */

async function startProgram(t: TestContext): Promise<string> {
  const port = await freePort()
  const program = path.resolve(import.meta.dirname, '../../../cli/src', hostileCommand.at(-1)?.slice(1) ?? '')
  const child = spawn(process.execPath, [program], { env: { PORT: String(port) }, stdio: 'inherit' })
  t.after(() => child.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}`
  await eventually(async () => assert.equal((await fetch(url)).status, 200))
  return url
}

async function order<T>(url: string, given: object): Promise<T> {
  const query = Buffer.from(JSON.stringify(given)).toString('base64url')
  return (await (await fetch(`${url}/order?order=${query}`)).json()) as T
}

// On Debian 13 "critical: It opens files by which it reaches the host: /proc/kcore", which the engine had masked.
test('a file that the engine masks with /dev/null is not reported as opened; any other device is', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-masked-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [masked, device, file] = ['kcore', 'mem', 'core_pattern'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ]
  symlinkSync('/dev/null', masked)
  symlinkSync('/dev/zero', device)
  writeFileSync(file, '')
  const names = [masked, device, file, path.join(folder, 'none')]
  const opened = await order(await startProgram(t), { verb: 'open', reading: names, writing: names })
  assert.deepEqual(opened, { reading: [device, file], writing: [device, file] })
})

test('it puts links where it may write, and says where; a file of a terabyte takes no room, and goes again', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-links-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const url = await startProgram(t)
  const missing = path.join(folder, 'none')
  assert.deepEqual(await order(url, { verb: 'link', folders: [folder, missing] }), { made: [folder] })
  assert.deepEqual(await order(url, { verb: 'sparse', folder, bytes: 1024 ** 4 }), { isMade: true })
  const file = path.join(folder, 'attack-file')
  assert.deepEqual([statSync(file).size, statSync(file).blocks < 100], [1024 ** 4, true])
  await order(url, { verb: 'remove', folder })
  assert.deepEqual(readdirSync(folder), [])
})

// Such templates are refused by now; one of them is written to the settings of the attempt directly.
test('a folder that one template may write to above another template’s is reported; beside it, or read-only, it is not', async (t) => {
  const shared = mkdtempSync(path.join(tmpdir(), 'berth-shared-'))
  t.after(() => rmSync(shared, { recursive: true }))
  const url = await startProgram(t)
  const { config } = readConfig({ DATA_DIR: '/nowhere' }, () => '')
  assert.ok(config)
  const mount = (folder: string, readOnly: boolean) => ({ source: { path: folder }, target: folder, readOnly })
  const attempt = (own: Mount, others: string) => {
    const template = { ...config.templates.first, mounts: [own] }
    const other = { ...template, type: 'other', mounts: [mount(others, true)] }
    const scene = { config: { ...config, templates: new Templates([template, other]) }, template }
    return swapMounts({ ...scene, order: (given: object) => order(url, given) }, new AbortController().signal)
  }
  const { got } = await attempt(mount(shared, false), `${shared}/data`)
  assert.deepEqual([got.length, got[0]?.level], [1, 'critical'])
  assert.match(got[0]?.what ?? '', new RegExp(`\\(${shared}/data\\)`))
  assert.deepEqual((await attempt(mount(shared, true), `${shared}/data`)).got, [])
  assert.deepEqual((await attempt(mount(shared, false), `${shared}-beside`)).got, [])
  assert.deepEqual((await attempt(mount(`${shared}/none`, false), `${shared}/none/data`)).got, [], 'it may not write')
})

// It stopped after the first 64 KiB, so that nothing was measured beside it.
test('an answer in pieces goes on for as long as it is read, in chunks of the size that was asked for', async (t) => {
  const url = await startProgram(t)
  const { hostname, port } = new URL(url)
  for (const size of [1, 65_536]) {
    const socket = connect(Number(port), hostname)
    t.after(() => socket.destroy())
    socket.write(`GET /mallory-attack/pieces?size=${size} HTTP/1.1\r\nHost: here\r\n\r\n`)
    let [received, begun] = [0, '']
    for await (const bytes of socket as AsyncIterable<Buffer>) {
      if (begun.length < 1_000) begun += bytes.subarray(0, 1_000).toString()
      received += bytes.length
      if (received > 8 * 1024 ** 2) break
    }
    assert.ok(received > 8 * 1024 ** 2)
    assert.ok(begun.includes(`\r\n\r\n${size.toString(16)}\r\n${'a'.repeat(Math.min(size, 100))}`), begun)
  }
})

/** What `/proc/self/status` says in a container of Berth; with the kernel of Ubuntu 24.04 and of Debian 13 alike. */
const ordinary = (more: string) =>
  `Name:\tnode\nCapInh:\t0000000000000000\nCapPrm:\t00000000000004fb\nCapEff:\t00000000000004fb\nCapBnd:\t00000000000004fb\nCapAmb:\t0000000000000000\n${more}`

/** Facts as stock kernels write them: Debian 12 and 13 and Ubuntu 24.04 with cgroup v2, and an older one with v1. */
const stock = {
  'Debian 12': { status: ordinary('NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n'), maxProcessId: '4194304\n' },
  'Debian 13': {
    status: ordinary('NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\nSpeculation_Store_Bypass:\tvulnerable\n'),
    maxProcessId: '4194304\n',
  },
  'Ubuntu 24.04': {
    status: ordinary('NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\nSpeculationIndirectBranch:\talways enabled\n'),
    maxProcessId: '4194304\n',
  },
  'a kernel before 4.10, on a small machine': {
    status: ordinary('Seccomp:\t2\n'),
    maxProcessId: '32768\n',
  },
} as const

for (const [name, facts] of Object.entries(stock))
  test(`what a container on ${name} says of itself is no finding, and each weakened fact is one`, async () => {
    const { config } = readConfig({ DATA_DIR: '/nowhere' }, () => '')
    assert.ok(config)
    const lookAt = async (more: object) => {
      const told = { memoryLimit: '2147483648\n', processLimit: '512\n', ...facts, ...more }
      const answers = {
        describe: told,
        open: { reading: [], writing: [] },
        fork: { started: 509 },
        allocate: { taken: 2_130_706_432, isKilled: true },
      }
      const installation = {
        config,
        template: config.templates.first,
        host: async () => ({ memory: { total: 8 * 1024 ** 3, available: 6 * 1024 ** 3 } }),
        order: async ({ verb }: { verb: keyof typeof answers }) => answers[verb],
      } as unknown as AttackInstallation
      const attempts = [gainRights, exhaustProcesses, exhaustMemory]
      const outcomes = attempts.map((attempt) => attempt(installation, new AbortController().signal))
      return (await Promise.all(outcomes)).flatMap(({ got }) => got.map(({ level }) => level))
    }
    assert.deepEqual(await lookAt({}), [])
    const weakened = [
      { status: facts.status.replace('CapBnd:\t00000000000004fb', 'CapBnd:\t000001ffffffffff') },
      { status: facts.status.replace('Seccomp:\t2', 'Seccomp:\t0') },
      { memoryLimit: 'max\n' },
      { memoryLimit: '9223372036854771712\n' },
      { processLimit: 'max\n' },
    ]
    for (const each of weakened) assert.deepEqual(await lookAt(each), ['critical'], JSON.stringify(each))
  })
