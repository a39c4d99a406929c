// Part of npm run test:more: it packs and installs the client of the API, which takes npm and the compiler.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { startEnginelessBerth, tokenIn } from './support/berth-without-engine.ts'
import { onlyLong } from '#test/support/extent.ts'

/** The typed client as a program outside of the repository has it: packed, and installed from files into an empty project. */

const repository = path.resolve(import.meta.dirname, '../..')
const project = await mkdtemp(path.join(tmpdir(), 'berth-package-'))
after(() => rm(project, { recursive: true, force: true }))

const run = promisify(execFile)
const inProject = { cwd: project, timeout: 120_000 }
const write = (name: string, text: string) => writeFile(path.join(project, name), text)

/** Its dependency comes from this machine, too: the test asks no registry. */
async function installPackage(): Promise<string[]> {
  for (const folder of ['api', 'node_modules/typebox'])
    await run('npm', ['pack', '--silent', '--pack-destination', project], {
      cwd: path.join(repository, folder),
      timeout: 120_000,
    })
  const files = (await readdir(project)).filter((name) => name.endsWith('.tgz'))
  await write('package.json', JSON.stringify({ name: 'outside', private: true, type: 'module' }))
  const tarballs = files.map((name) => `./${name}`)
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--silent', ...tarballs], inProject)
  return files
}

const files = await installPackage()

test('the packed client works from an empty project: a program calls a Berth', async (t) => {
  assert.ok(files.some((name) => /^berth-api-.*\.tgz$/.test(name)))
  const packed = await readdir(path.join(project, 'node_modules/@berth/api'))
  assert.deepEqual(packed.toSorted(), ['README.md', 'dist', 'package.json'])

  const berth = await startEnginelessBerth(t)
  await berth.call('POST', '/api/auth/signup', { body: { email: 'ann@x.org' } })
  const [mail] = berth.mails
  assert.ok(mail)
  const verified = await berth.call('GET', `/api/auth/verify-signup?token=${tokenIn(mail)}`)
  const body = { name: 'outside', scopes: ['containers:read'], expires_in: 600 }
  const made = await berth.call('POST', '/api/user/tokens', { token: verified.body.access_token, body })

  await write(
    'program.mjs',
    `import { ApiError, createClient, withToken } from '@berth/api'
const api = createClient(withToken(process.env.BERTH_TOKEN), process.env.BERTH_URL)
const { user } = await api.me()
const refused = await api.restartContainer().catch((error) => error)
console.log(user.email, refused instanceof ApiError, refused.status, refused.refusal)
`,
  )
  const env = { PATH: process.env.PATH, BERTH_URL: berth.url, BERTH_TOKEN: made.body.token as string }
  const { stdout } = await run(process.execPath, ['program.mjs'], { ...inProject, env })
  assert.equal(stdout, 'ann@x.org true 403 missingScope\n')
})

test('TypeScript knows the types of the packed client', onlyLong, async () => {
  const program = (expression: string) =>
    `import { createClient } from '@berth/api'\nconst api = createClient(fetch, '')\nexport const value: string = (await api.me()).${expression}\n`
  await write('good.ts', program('user.email'))
  await write('bad.ts', program('user.id'))
  const compiler = path.join(repository, 'node_modules/typescript/bin/tsc')
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--lib', 'es2024,dom']
  await run(process.execPath, [compiler, ...options, 'good.ts'], inProject)
  await assert.rejects(
    run(process.execPath, [compiler, ...options, 'bad.ts'], inProject),
    (error: { stdout: string }) => error.stdout.includes("Type 'number' is not assignable to type 'string'"),
  )
})
