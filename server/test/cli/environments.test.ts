// Part of npm run test:more: a command over what specification/environments states.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { makeStore, noEngine, resultOf, runCommand, startCommand } from '#test/support/command-line.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import { testImage } from '#test/support/engine/engine.ts'
import { runProgram } from '#test/support/program.ts'

test('the operator makes, changes, builds and deletes environments, without a running service', async (t) => {
  const dataDir = await makeStore(await mkdtemp(path.join(tmpdir(), 'berth-environments-')))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const settings = { ...noEngine, DATA_DIR: dataDir, ENVIRONMENTS: 'admins' }
  const berth = (...args: string[]) => runCommand(settings, 'environments', ...args)

  const made = await berth('set', 'statistics', '--base', 'python:3.13', '--pip', 'pandas', 'scipy')
  assert.match(made.stdout, /^Environment statistics\. Build it with:/, made.stderr)
  const ignored = await berth('set', 'statistics', '--pip', 'six')
  assert.deepEqual([ignored.code, /name it with --base/.test(ignored.stderr)], [2, true], ignored.stderr)
  const dockerfile = path.join(dataDir, 'Dockerfile')
  await writeFile(dockerfile, 'FROM python:3.13\nRUN --mount=type=cache,target=/x true\n')
  const refused = await berth('set', 'statistics', '--dockerfile', dockerfile)
  assert.deepEqual([refused.code, /Line 2: .*--mount/.test(refused.stderr)], [1, true], refused.stderr)
  await writeFile(dockerfile, 'FROM python:3.13\n')
  assert.equal((await berth('set', 'statistics', '--dockerfile', dockerfile)).code, 0)
  assert.match((await berth('list')).stdout, /statistics +- +- +-/)

  const built = await berth('build', 'statistics')
  assert.deepEqual([built.code, /engine did not answer/.test(built.stderr)], [1, true], built.stderr)
  assert.match((await berth('versions', 'statistics')).stdout, /1 +failed/)
  const log = await berth('log', 'statistics')
  assert.deepEqual([log.code, /engine did not answer/.test(log.stdout)], [0, true], log.stderr)
  assert.match((await berth('log', 'statistics', '7')).stderr, /no such version/)
  const idle = await berth('cancel', 'statistics')
  assert.deepEqual([idle.code, idle.stderr.trim()], [1, 'berth: No version of statistics is being built.'])
  assert.match((await berth('publish', 'statistics', '1')).stderr, /Only a version that is ready/)
  assert.match((await berth('delete', 'statistics')).stdout, /statistics: The environment is deleted/)
})

test('the operator follows a build of the running service, and sees what there is of it', async (t) => {
  const base = await testImage()
  const settings = { ENVIRONMENTS: 'admins', BUILD_MEMORY: '64m', HOST_RULES: 'off' }
  const templates = JSON.stringify({ dev: { image: base, port: 8080, memory: '64m' } })
  const program = runProgram(t, { ...settings, CONTAINER_TEMPLATES: templates })
  await program.said(/listening on/)
  const own = { DATA_DIR: program.dataDir, TMPDIR: program.temporary }
  const berth = (...args: string[]) => runCommand(own, 'environments', ...args)
  let shown = { stdout: '', stderr: '' }
  // It waited without end where the build did not begin, and nothing told why.
  const hasBegun = (version: string) =>
    pollUntil(
      async () => /^begun$/m.test((shown = await berth('log', 'slow', version, '--no-follow')).stdout),
      () => `the build has not begun: ${shown.stdout}${shown.stderr}`,
    )
  const steps = 'echo begun && sleep 5 && echo finished'
  assert.equal((await berth('set', 'slow', '--base', base, '--run', steps)).code, 0)
  const building = startCommand(own, ['environments', 'build', 'slow'])
  await hasBegun('1')
  const followed = await berth('log', 'slow', '1')
  assert.match(followed.stdout, /^begun\n[^]*^finished\n[^]*Successfully tagged/m)
  const built = await resultOf(building)
  assert.match(built.stdout, /^Version 1 is ready/, built.stderr)

  assert.equal((await berth('set', 'slow', '--base', base, '--run', 'echo begun && sleep 300')).code, 0)
  const endless = startCommand(own, ['environments', 'build', 'slow'])
  await hasBegun('2')
  const cancelled = await berth('cancel', 'slow')
  assert.equal(cancelled.stdout.trim(), 'The build of version 2 has ended.', cancelled.stderr)
  const ended = await resultOf(endless)
  assert.deepEqual([ended.code, /cancelled/i.test(ended.stderr)], [1, true], ended.stderr)
})
