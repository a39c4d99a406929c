import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { assertOk } from './support/api-calls.ts'
import { startBerth } from './support/berth.ts'
import { onlyLong } from '#test/support/extent.ts'

/** The program of docs/how-to/use-api-tokens.md, as it is printed there, against a Berth with real containers. */

const page = await readFile(path.resolve(import.meta.dirname, '../../docs/how-to/use-api-tokens.md'), 'utf8')
const blockOf = (language: string) => new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(page)?.[1] ?? ''

interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the printed program in a folder of its own, with nothing but the environment that the page names. */
async function runScript(t: TestContext, csv: string, env: Record<string, string>): Promise<Outcome> {
  const folder = await mkdtemp(path.join(tmpdir(), 'berth-script-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  await writeFile(path.join(folder, 'launch.mjs'), blockOf('js'))
  await writeFile(path.join(folder, 'containers.csv'), csv)
  return new Promise((resolve) => {
    const options = { cwd: folder, env, timeout: 120_000 }
    execFile(process.execPath, ['launch.mjs', 'containers.csv'], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })
}

test(
  'the program of the how-to launches a container for each line of its CSV file, and reports what fails',
  onlyLong,
  async (t) => {
    const berth = await startBerth(t)
    const ann = await berth.signUp('ann@x.org')
    const tokenWith = async (scope: string) => {
      const body = { name: 'script', scopes: [scope], expires_in: 600 }
      const made = await ann.call('POST', '/api/user/tokens', { body })
      assertOk(made)
      return made.body.token as string
    }
    const env = { BERTH_URL: `http://127.0.0.1:${berth.app.port}`, BERTH_TOKEN: await tokenWith('containers:write') }

    const done = await runScript(t, blockOf('csv'), env)
    assert.equal(done.code, 0, done.stderr)
    assert.match(done.stdout, /\/ann-dev {2}exercises of week 3\n.*\/ann-prod {2}demonstration\n$/)
    const { containers } = (await ann.call('GET', '/api/user/containers')).body
    assert.deepEqual(
      containers.map(({ type, status }: { type: string; status: string }) => [type, status]),
      [
        ['dev', 'running'],
        ['prod', 'running'],
      ],
    )

    const failed = await runScript(t, 'type,purpose\r\nnothing,x\r\ndev,y\r\n', env)
    assert.equal(failed.code, 1)
    assert.match(failed.stderr, /^nothing,x: 400 There is no such container type/)
    assert.match(failed.stdout, /\/ann-dev {2}y/)

    const refused = await runScript(t, blockOf('csv'), { ...env, BERTH_TOKEN: await tokenWith('containers:read') })
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /403 .*containers:write/)
  },
)
