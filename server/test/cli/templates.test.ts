// Part of npm run test:more: commands over what specification/administration/templates states.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { makeStore, noEngine, runCommand } from '#test/support/command-line.ts'

test('the operator checks a file of templates, and has the service read it again', async (t) => {
  const dataDir = await makeStore(await mkdtemp(path.join(tmpdir(), 'berth-templates-')))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const file = path.join(dataDir, 'templates.yaml')
  const settings = { ...noEngine, DATA_DIR: dataDir, CONTAINER_TEMPLATES_FILE: file }
  const berth = (...args: string[]) => runCommand(settings, 'templates', ...args)

  await writeFile(file, 'lab:\n  image: x\n')
  const right = await berth('check', file)
  assert.deepEqual([right.code, right.stdout], [0, `${file} is right: lab\n`])
  const reloaded = await berth('reload')
  assert.equal(reloaded.code, 0, reloaded.stderr)
  assert.match(reloaded.stdout, /read again: 1 type/)

  await writeFile(file, 'lab:\n  image: x\n  secrets: { KEY: { file: key } }\nnotes:\n  image: y\n  cpus: many\n')
  const wrong = await berth('check', file)
  assert.equal(wrong.code, 1)
  assert.match(wrong.stdout, /line 6, column 3: notes: cpus must be a number of cores/)
  assert.match(wrong.stdout, /line 3, column 3: lab: secrets KEY names the path key, and SECRETS_DIR is not set$/m)
  assert.match(wrong.stderr, /cannot be used/)

  const files = (from: string) => `lab:\n  image: x\n  files: [{ from: ${from} }]\n`
  const starterFiles = { ...settings, ALLOWED_MOUNT_ROOTS: dataDir }
  for (const [from, problem] of [
    [
      `{ path: ${dataDir}/none }`,
      /line 3, column 3: lab: files names the path .*none, which does not exist or cannot be read$/m,
    ],
    [`{ path: ${file} }`, /line 3, column 3: lab: files names .*templates\.yaml, which is no folder$/m],
    [
      `{ git: "file://${dataDir}/none.git" }`,
      /line 3, column 3: lab: files: the repository file:.*: git fetch failed: .*$/m,
    ],
  ] as const) {
    await writeFile(file, files(from))
    const refused = await runCommand(starterFiles, 'templates', 'check', file)
    assert.deepEqual([refused.code, problem.test(refused.stdout)], [1, true], refused.stdout)
  }
  await writeFile(file, files(`{ path: ${dataDir} }`))
  assert.match(
    (await runCommand(starterFiles, 'templates', 'check', file)).stdout,
    /lab: files names .* DATA_DIR .* is/,
  )
  await mkdir(path.join(dataDir, 'course'))
  await writeFile(file, files(`{ path: ${dataDir}/course }`))
  assert.equal((await runCommand(starterFiles, 'templates', 'check', file)).code, 0)
})

/** The check called a file right that reload and start then refused. */
test('with hosts of containers the check names types that cannot be one, where they are', async (t) => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'berth-templates-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const file = path.join(dataDir, 'templates.yaml')
  await writeFile(file, 'lab:\n  image: x\nLab_2:\n  image: x\nown:\n  image: x\n  forward_token: full\n')
  const check = (routing: string) =>
    runCommand({ ...noEngine, DATA_DIR: dataDir, CONTAINER_ROUTING: routing }, 'templates', 'check', file)
  assert.equal((await check('path')).code, 0)
  const refused = await check('subdomain')
  assert.equal(refused.code, 1)
  assert.match(refused.stdout, /line 3, column 1: CONTAINER_ROUTING=subdomain: the container type "Lab_2" cannot stand/)
  assert.match(refused.stdout, /line 5, column 1: CONTAINER_ROUTING=subdomain: forward_token: full of .*"own"/)
})

test('the operator looks at the catalogue, checks names of it, and starts from one of its templates', async (t) => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'berth-catalogue-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const berth = (...args: string[]) => runCommand({ ...noEngine, DATA_DIR: dataDir }, ...args)
  const listed = await berth('templates', 'catalogue')
  assert.match(listed.stdout, /^NAME +APPLICATION +TRIED\ncode-server +code-server +yes\n/)
  const right = await berth('templates', 'check', 'code-server,jupyterlab')
  assert.deepEqual([right.code, right.stdout], [0, 'code-server,jupyterlab is right: code-server, jupyterlab\n'])
  const wrong = await berth('templates', 'check', 'jupyter-lab')
  assert.deepEqual([wrong.code, /did you mean jupyterlab\?/.test(wrong.stdout)], [1, true], wrong.stdout)
  const file = path.join(dataDir, 'templates.yaml')
  await writeFile(file, (await berth('template', 'catalogue', 'jupyterlab')).stdout)
  assert.equal((await berth('templates', 'check', file)).stdout, `${file} is right: jupyterlab\n`)
})
