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
import { hostileCommand } from '@berth/cli/attack/attack-installation.ts'
import { swapMounts } from '@berth/cli/attack/container-attempts.ts'
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
