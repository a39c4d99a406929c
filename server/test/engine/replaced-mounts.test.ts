import assert from 'node:assert/strict'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Mount } from '#/engines/container-spec.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { testImage } from '../support/engine/engine.ts'
import { engineAfter } from '../support/engine/faulty-engines.ts'
import { containersOf, eventually, openAt, openInstallation } from '../support/engine/runtimes.ts'

/**
 * A mount is checked by its path, and the engine follows the path later. These put something else in its place meanwhile: with the real
 * engine, which mounts whatever the path leads to.
 */

/** A folder `shared` with `data`, and one outside with a secret under the same name. */
function folders(t: TestContext) {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'berth-replaced-')))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const at = (...parts: string[]) => path.join(base, ...parts)
  for (const [folder, text] of [
    ['shared/data', 'lesson'],
    ['outside', 'secret of the host'],
  ] as const) {
    mkdirSync(at(folder), { recursive: true })
    writeFileSync(at(folder, 'text'), text)
  }
  // For whatever account an image runs as; umask would take the rights out of `mkdir`'s mode.
  chmodSync(at('shared'), 0o777)
  const hide = () => renameSync(at('shared/data'), at('shared/real'))
  const back = () => {
    rmSync(at('shared/data'), { recursive: true, force: true })
    renameSync(at('shared/real'), at('shared/data'))
  }
  const link = () => {
    hide()
    symlinkSync(at('outside'), at('shared/data'))
  }
  const replace = () => {
    hide()
    mkdirSync(at('shared/data'))
  }
  const mount = (folder: string, readOnly: boolean): Mount => ({
    source: { path: at(folder) },
    target: '/data',
    readOnly,
  })
  return { at, link, replace, back, mount }
}

/** What its program has said since its last start. */
const said = async (runtime: Runtime, id: string) => (await runtime.logs(id, 1_000)).join('\n')

const printing = { command: ['/bin/sh', '-c', 'cat /data/text; echo; exec sleep 1000'] }

const saying = (reason: RegExp) => (error: unknown) =>
  error instanceof RuntimeError && error.kind === 'failed' && reason.test(error.message)

test('a loop in a container that may write above a mount does not have another folder of the host mounted', async (t) => {
  const { runtime, spec } = await openInstallation(t)
  const { at, mount } = folders(t)
  const swap = `mv data real; ln -s ${at('outside')} data; sleep 0.05; rm data; mv real data; sleep 0.05`
  const loop = { command: ['/bin/sh', '-c', `cd /data; while :; do ${swap}; done`] }
  const attacker = await runtime.create(spec('attacker', { ...loop, mounts: [mount('shared', false)] }))
  const victim = await eventually(() =>
    runtime.create(spec('victim', { command: ['cat', '/data/text'], mounts: [mount('shared/data', true)] })),
  )
  await runtime.start(attacker.id)
  const attempts = 20
  let refused = 0
  for (let attempt = 0; attempt < attempts; attempt++) {
    const isStarted = await runtime.start(victim.id).then(
      () => true,
      () => false,
    )
    if (!isStarted) refused++
    else await eventually(async () => assert.equal((await runtime.inspectId(victim.id))?.state, 'exited'))
    assert.doesNotMatch(await said(runtime, victim.id), /secret/, `at start ${attempt}`)
  }
  assert.equal(refused, attempts)
})

test('the container that may write above is named, and without it the other one starts', async (t) => {
  const { runtime, spec } = await openInstallation(t)
  const { mount } = folders(t)
  const run = { command: ['sleep', '1000'] }
  const above = await runtime.create(spec('above', { ...run, mounts: [mount('shared', false)] }))
  const reading = await runtime.create(spec('reading', { ...run, mounts: [mount('shared', true)] }))
  const below = await runtime.create(spec('below', { ...printing, mounts: [mount('shared/data', true)] }))
  const same = await runtime.create(spec('same', { ...printing, mounts: [mount('shared/data', false)] }))
  for (const { id } of [above, reading]) await runtime.start(id)
  const words = /its mount \S+\/shared\/data is below \S+\/shared, to which \S+-above may write; stop that one/
  // The second time by what the engine tells of it, as a visit does.
  for (let attempt = 0; attempt < 2; attempt++) await assert.rejects(runtime.start(below.id), saying(words))
  assert.equal((await runtime.inspectId(below.id))?.state, 'created')
  await runtime.stop(above.id, undefined, 0)
  for (const { id } of [same, below]) {
    await runtime.start(id)
    await eventually(async () => assert.match(await said(runtime, id), /lesson/))
  }
  await runtime.start(below.id)
  assert.equal((await runtime.inspectId(below.id))?.state, 'running', 'it runs already')
})

test('a folder that was replaced between creation and start, or while its container was stopped, is not mounted', async (t) => {
  const { runtime, spec } = await openInstallation(t)
  const { link, replace, back, mount } = folders(t)
  const fields = { ...printing, mounts: [mount('shared/data', true)] }
  const { id } = await runtime.create(spec('victim', fields))
  link()
  for (let attempt = 0; attempt < 2; attempt++)
    await assert.rejects(runtime.start(id), saying(/its mount \S+\/data leads to \S+\/outside by now/))
  await assert.rejects(runtime.create(spec('late', fields)), saying(/leads to \S+\/outside/))
  back()
  const other = await runtime.create(spec('other', fields))
  replace()
  await assert.rejects(runtime.start(other.id), saying(/is another folder than the one that was checked/))
  back()
  await runtime.start(id)
  await eventually(async () => assert.match(await said(runtime, id), /lesson/))
  await runtime.stop(id, undefined, 0)
  link()
  await assert.rejects(runtime.start(id), saying(/leads to/))
  assert.equal((await runtime.inspectId(id))?.state, 'exited')
  assert.doesNotMatch(await said(runtime, id), /secret/)
})

test('what was mounted is compared after the start: a container with another folder is stopped', async (t) => {
  const { at, link, back, mount } = folders(t)
  let isSwapping = true
  const address = await engineAfter(t, /^POST \S+\/start /, () => isSwapping && link())
  const { runtime, installation } = openAt(address, t)
  await runtime.prepare()
  const { spec } = containersOf(runtime, installation, await testImage())
  mkdirSync(at('shared/with space\\040'))
  const spaced: Mount = { source: { path: at('shared/with space\\040') }, target: '/var/run/spaced', readOnly: true }
  const mounts = [mount('shared/data', true), { ...mount('shared/data', false), target: '/twice' }, spaced]
  const { id } = await runtime.create(spec('victim', { ...printing, mounts }))
  await assert.rejects(runtime.start(id), saying(/something else was mounted in place of \S+\/shared\/data/))
  assert.equal((await runtime.inspectId(id))?.state, 'exited')
  back()
  isSwapping = false
  await runtime.start(id)
  assert.equal((await runtime.inspectId(id))?.state, 'running')
})

test('a folder of a claim is not mounted as the whole volume of that name', async (t) => {
  const { runtime, spec } = await openInstallation(t)
  const mounts = [{ source: { volume: 'homes', subPath: 'ann' }, target: '/home/ann', readOnly: false }]
  await assert.rejects(
    runtime.create(spec('claimant', { mounts })),
    saying(/has no claims of which a folder is mounted/),
  )
})
