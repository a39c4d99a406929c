import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { hostileCommand } from '@berth/cli/attack/attack-installation.ts'
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
