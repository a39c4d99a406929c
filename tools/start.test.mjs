import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { temporaryRepository } from './test-support/temporary-repository.mjs'

const root = resolve(import.meta.dirname, '..')

/** Says that it runs, then which signal it got. */
const standIn = `
process.on('SIGTERM', () => { console.log('got SIGTERM'); process.exit(7) })
setInterval(() => {}, 1000)
console.log('runs')
`

test(
  "SIGTERM to the shell that npm start runs in reaches the program, whose exit code is the shell's",
  { timeout: 60_000 },
  async (t) => {
    const { here } = temporaryRepository(t, { 'main.mjs': standIn })
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const command = `${scripts.start} ${join(here.root, 'main.mjs')}`
    const shell = spawn('sh', ['-c', command], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
    t.after(() => shell.kill('SIGKILL'))
    let said = ''
    for await (const chunk of shell.stdout.setEncoding('utf8')) {
      said += chunk
      if (said.endsWith('runs\n')) shell.kill('SIGTERM')
    }
    if (shell.exitCode === null) await once(shell, 'exit')
    assert.match(said, /got SIGTERM/)
    assert.equal(shell.exitCode, 7)
  },
)
