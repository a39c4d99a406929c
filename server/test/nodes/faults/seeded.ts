import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import path from 'node:path'
import { test } from 'node:test'

/** Part of `npm run test:cluster`: one round of `npm run test:nodes`, with a seed of its own, which its output names. */

/** In ms: four minutes on two cores without other work. */
const timeout = 900_000

test(
  'two nodes keep every promise while cables are cut, machines freeze and end, and the database fails over',
  { timeout },
  async (t) => {
    const run = spawn(process.execPath, [path.join(import.meta.dirname, 'main.ts')], {
      signal: t.signal,
      killSignal: 'SIGTERM',
    })
    let output = ''
    for (const stream of [run.stdout, run.stderr]) stream.on('data', (bytes: Buffer) => (output += bytes.toString()))
    const code = await new Promise((resolve) => {
      run.once('close', resolve)
      run.once('error', resolve)
    })
    const lines = output.trim().split('\n')
    for (const line of lines.slice(-60)) t.diagnostic(line)
    assert.equal(code, 0, lines.slice(-60).join('\n'))
    assert.match(output, /^Violations: 0$/m)
  },
)
